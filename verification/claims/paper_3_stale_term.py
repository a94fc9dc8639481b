"""C3: the order of the theorem's stale term once the delay law is put in, and its exact coefficients."""

import sympy as sp

from pdtheory.derivations.convergence.building import Derivation, Found
from pdtheory.proof.model import Model, Parameter, Sign
from pdtheory.proof.terms import ONE, Term, integer, parameter
from verification.claim import Claim, Finding, Group, all_of
from verification.claims.paper_2_delay import law_finding
from verification.proofs import REMAINDER, Statement

S, c = integer("S"), integer("c")
S_, c_ = parameter("S"), parameter("c")
#: c stands for ceil(S/2): 2c is S or S + 1.
_MODEL = Model(
    "S stages and c = ceil(S/2)",
    (
        Parameter("S", "number of stages", Sign.POSITIVE, integer=True),
        Parameter("c", "ceil(S/2)", Sign.POSITIVE, integer=True),
    ),
    (2 * c >= S, 2 * c <= S + 1),
    (),
    (),
)
_SEVERAL = Model(_MODEL.name, _MODEL.parameters, (*_MODEL.constraints, S >= 2), (), ())
DELAY: Term = S_**2 - c_


def _lower(d: Derivation) -> Found:
    """delta^2 = S^4 - 2c S^2 + c^2, and 2c <= S + 1."""
    up = d.whole("2c is at most S + 1", (), S + 1 - 2 * c)
    small = d.weigh("times S^2", (), [(up, S_**2)])
    return d.weigh("lower", (), [(small, ONE), (d.evident("c^2", c_**2), ONE)], DELAY**2 - S_**4 + S_**3 + S_**2)


def _upper(d: Derivation) -> Found:
    low = d.whole("2c is at least S", (), 2 * c - S)
    product = d.multiply(
        "c^2 is at most (S + 1)^2/4",
        (),
        d.whole("2c is at most S + 1", (), S + 1 - 2 * c),
        d.whole("2c and S + 1", (), S + 1 + 2 * c),
    )
    parts = [(low, S_**2), (product, ONE / 4)]
    return d.weigh("upper", (), parts, S_**4 - S_**3 + (S_ + 1) ** 2 / 4 - DELAY**2)


def _quarter(d: Derivation) -> Found:
    """delta^2 - S^4/4 is at least S^2 (3S + 2)(S - 2)/4."""
    factors = d.multiply("(S - 2)(3S + 2)", (), d.whole("S - 2", (), S - 2), d.whole("3S + 2", (), 3 * S + 2))
    return d.weigh("a quarter", (), [(_lower(d), ONE), (factors, S_**2 / 4)], DELAY**2 - S_**4 / 4)


_LOWER = Statement("delta^2 >= S^4 - S^3 - S^2", _MODEL, _lower, DELAY**2 - S_**4 + S_**3 + S_**2)
_UPPER = Statement("delta^2 <= S^4 - S^3 + (S + 1)^2/4", _MODEL, _upper, S_**4 - S_**3 + (S_ + 1) ** 2 / 4 - DELAY**2)
_QUARTER = Statement("delta^2 >= S^4/4", _SEVERAL, _quarter, DELAY**2 - S_**4 / 4)


def _check() -> Finding:
    law = law_finding(sp.Symbol("S", integer=True) ** 2 - sp.ceiling(sp.Symbol("S", integer=True) / 2))
    return all_of(law, _LOWER.check(), _UPPER.check(), _QUARTER.check())


CLAIM = Claim(
    "C3",
    Group.PAPER,
    "with the exact delay law the stale term gamma^2 L^2 G^2 delta^2 is Theta(gamma^2 S^4): coefficient 1, "
    "S^4 - S^3 - S^2 <= delta^2 <= S^4 - S^3 + (S + 1)^2/4, and at least S^4/4 for S >= 2",
    "arXiv 2606.03498; the coefficients are this project's",
    _check,
    (
        _UPPER.off("delta^2 <= S^4 - 2 S^3 + (S + 1)^2/4", S_**4 - 2 * S_**3 + (S_ + 1) ** 2 / 4 - DELAY**2),
        _LOWER.off("delta^2 >= S^4 - S^2", DELAY**2 - S_**4 + S_**2),
        _QUARTER.off("delta^2 >= S^4/2", DELAY**2 - S_**4 / 2, REMAINDER),
    ),
)

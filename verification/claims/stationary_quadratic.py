"""What staleness truly costs on a quadratic: the stationary state, for every lag."""

from fractions import Fraction

import sympy as sp

from pdtheory.derivations.convergence.building import Derivation, Found
from pdtheory.proof import Proof, check
from pdtheory.proof.model import Hypothesis, Model, Parameter, Sign
from pdtheory.proof.steps import SumByDifference, Total
from pdtheory.proof.terms import parameter
from verification.claim import Claim, Control, Finding, Group, all_of, counted
from verification.proofs import REMAINDER, Statement
from verification.stale_quadratic import is_stable, stationary_variance

s, c, u, v, X, Y = map(parameter, ("s", "c", "u", "v", "X", "Y"))
_MODEL = Model(
    "angles omega/2, psi = (tau + 1/2) omega and x = (j - 1/2) omega by their sines and cosines",
    (
        Parameter("s", "sin(omega/2)", Sign.POSITIVE),
        Parameter("c", "cos(omega/2)", Sign.POSITIVE),
        Parameter("u", "sin(psi)", Sign.ANY),
        Parameter("v", "cos(psi)", Sign.POSITIVE),
        Parameter("X", "cos(x)", Sign.ANY),
        Parameter("Y", "sin(x)", Sign.ANY),
    ),
    (),
    (),
    (Hypothesis("circle", "sin^2 + cos^2 = 1 for psi", (), (), u**2 + v**2 - 1, equality=True),),
)
#: r_j is a multiple of (1 + u) cos(j omega) - v sin(j omega); j omega = x + omega/2, tau omega = psi - omega/2.
_A, _B, _STEP = 1 + u, -v, 2 * s
_HERE = _A * (X * c - Y * s) + _B * (Y * c + X * s)
_BEFORE = _A * (X * c + Y * s) + _B * (Y * c - X * s)
_STALE = _A * (v * X + u * Y) + _B * (u * X - v * Y)
_LAST = _A * (v * c + u * s) + _B * (u * c - v * s)


def _recursion(d: Derivation) -> Found:
    return d.weigh("recursion", (), [(d.assume("circle", ()), _STEP * Y)], _TERM, equality=True)


_TERM = _HERE - _BEFORE + _STEP * _STALE
_LEVEL = 2 * _STEP * _LAST - _STEP**2 * _A - 4 * s * c * v


def _level(d: Derivation) -> Found:
    return d.weigh("level", (), [(d.assume("circle", ()), 4 * s**2)], _LEVEL, equality=True)


_RECURSION = Statement("r_j = r_{j-1} - a r_{tau+1-j}", _MODEL, _recursion, _TERM, True)
_NOISE = Statement("2 a r_tau - a^2 r_0 = gamma^2 sigma^2", _MODEL, _level, _LEVEL, True)


def _excess(coefficient: Fraction) -> Finding:
    """Return the finding that the excess over lag 0, tends to coefficient times tau as a falls."""
    for lag in range(9):
        small = [Fraction(1, 10**k) for k in (6, 7)]
        excess = [stationary_variance(lag, a) - stationary_variance(0, a) for a in small]
        if any(abs(e - coefficient * lag) > 10 * lag**3 * a for e, a in zip(excess, small, strict=True)):
            return counted(False, f"the excess at tau={lag} is about {float(excess[-1]):.4f} gamma^2 sigma^2")
    return counted(True, "exact linear systems, tau <= 8, a = 1e-6 and 1e-7: the excess tends to tau/2 gamma^2 sigma^2")


def _sum(divisor: int) -> Finding:
    """Return what the checker says of the sum of tau/2 over the stages."""
    tau, S = sp.Symbol("tau", integer=True), sp.Symbol("S", integer=True)
    step = SumByDifference("stages", (S >= 1,), tau, sp.Integer(0), S, tau, tau * (tau - 1) / 2)
    found = check(Proof("sum of the lags", (step,)))
    total = found.conclusion.value if isinstance(found.conclusion, Total) else None
    same = isinstance(total, sp.Expr) and sp.expand(total / 2 - S * (S - 1) / divisor) == 0
    words = f"sum of tau/2 over tau < S: half of {total}"
    return Finding(found.verdict if same else found.verdict.REFUTED, (words,))


def _formula() -> Finding:
    """Return whether the formula gives the solution of the linear system, where its angle is exact: tau = 1."""
    # tau = 1: psi = 3 omega/2, so that sin(psi) and cos(psi) sin(omega) are polynomials in sin(omega/2) = a/2.
    for k in range(1, 20):
        a = Fraction(k, 20)
        half = a / 2
        sine_psi = 3 * half - 4 * half**3
        # cos(psi) sin(omega) = 2 sin(omega/2) cos(omega/2)^2 (4 cos(omega/2)^2 - 3)
        square = 1 - half**2
        below = 2 * 2 * half * square * (4 * square - 3)
        if is_stable(1, a) and (1 + sine_psi) / below != stationary_variance(1, a):
            return counted(False, f"differs at tau=1, a={a}")
    return counted(True, "equal to the exact solution of the linear system at tau=1, a = 1/20..19/20")


CLAIM = Claim(
    "stationary-quadratic",
    Group.TRUTH,
    "on (L/2) w^2 with i.i.d. noise and lag tau the stationary E w^2 is gamma^2 sigma^2 (1 + sin psi)/(2 sin omega "
    "cos psi), gamma L = 2 sin(omega/2), psi = (tau + 1/2) omega: it solves the Yule-Walker equations for every tau",
    "this project",
    lambda: all_of(_RECURSION.check(), _NOISE.check()),
    (
        _NOISE.off("without the factor 2 in 2 sin omega cos psi", _LEVEL + 2 * s * c * v),
        _RECURSION.with_hypothesis("another circle", "circle", REMAINDER, term=u**2 + v**2 - 2),
        _RECURSION.without("circle"),
    ),
)
EXCESS = Claim(
    "staleness-excess",
    Group.TRUTH,
    "so staleness costs gamma^2 L^2 sigma^2 tau/2 per block to leading order, S(S - 1)/4 in all: S^2 is the true order",
    "this project",
    lambda: all_of(_formula(), _excess(Fraction(1, 2)), _sum(4)),
    (
        Control("tau per block", lambda: _excess(Fraction(1)), "the excess at tau=1"),
        Control("S(S - 1)/6 in all", lambda: _sum(6)),
    ),
)
CLAIMS = (EXCESS,)

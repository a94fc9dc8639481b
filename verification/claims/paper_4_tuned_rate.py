"""C4: the stale term at the tuned step size."""

from pdtheory.derivations.convergence.building import Derivation, Found
from pdtheory.proof.model import Hypothesis, Model, Parameter, Sign
from pdtheory.proof.terms import parameter
from verification.claim import Claim, Finding, Group, all_of
from verification.claims.lemma_13_tuned import CLAIM as TUNED
from verification.claims.paper_3_stale_term import CLAIM as STALE
from verification.proofs import Statement

S, K, delta, L, D = map(parameter, ("S", "K", "delta", "L", "D"))
_MODEL = Model(
    "the stale term of L13 with the delays of C3",
    (
        Parameter("S", "number of stages", Sign.POSITIVE, integer=True),
        Parameter("K", "number of block updates", Sign.POSITIVE, integer=True),
        Parameter("delta", "largest block delay", Sign.NONNEGATIVE, integer=True),
        Parameter("L", "smoothness", Sign.POSITIVE),
        Parameter("D", "f(w_0) - f*", Sign.NONNEGATIVE),
    ),
    (),
    (),
    (
        Hypothesis("at least", "delta^2 >= S^4/4 (C3)", (), (), delta**2 - S**4 / 4),
        Hypothesis("at most", "delta^2 <= S^4 (C2: delta <= S^2)", (), (), S**4 - delta**2),
    ),
)
_RATE = 2 * D * L * delta**2 / K


def _least(d: Derivation) -> Found:
    return d.weigh("at least", (), [(d.assume("at least", ()), 2 * D * L / K)], _RATE - D * L * S**4 / (2 * K))


def _most(d: Derivation) -> Found:
    return d.weigh("at most", (), [(d.assume("at most", ()), 2 * D * L / K)], 2 * D * L * S**4 / K - _RATE)


_LEAST = Statement("2DL delta^2/K >= DL S^4/(2K)", _MODEL, _least, _RATE - D * L * S**4 / (2 * K))
_MOST = Statement("2DL delta^2/K <= 2DL S^4/K", _MODEL, _most, 2 * D * L * S**4 / K - _RATE)


def _check() -> Finding:
    return all_of(TUNED.check(), STALE.check(), _LEAST.check(), _MOST.check())


CLAIM = Claim(
    "C4",
    Group.PAPER,
    "at the tuned step size the stale term is Theta(S^4/K): between D L S^4/(2K) and 2 D L S^4/K for S >= 2",
    "arXiv 2606.03498; the constants are this project's",
    _check,
    (
        _MOST.off("at most D L S^4/K", D * L * S**4 / K - _RATE),
        _LEAST.off("at least D L S^5/K", _RATE - D * L * S**5 / K),
        _LEAST.without("at least"),
    ),
)

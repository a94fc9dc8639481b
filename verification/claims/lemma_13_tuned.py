"""L13: the bound at the step size that makes optimization and noise equal, and with the cap 1/L."""

from pdtheory.derivations.convergence.building import Derivation, Found
from pdtheory.proof.model import Hypothesis, Model, Parameter, Sign
from pdtheory.proof.terms import ONE, Term, parameter
from verification.claim import Claim, Group, all_of
from verification.proofs import REMAINDER, Statement

S, K, delta, gamma, L, G, D, R = map(parameter, ("S", "K", "delta", "gamma", "L", "G", "D", "R"))
_PARAMETERS = (
    Parameter("S", "number of stages", Sign.POSITIVE, integer=True),
    Parameter("K", "number of block updates", Sign.POSITIVE, integer=True),
    Parameter("delta", "largest block delay", Sign.NONNEGATIVE, integer=True),
    Parameter("gamma", "step size", Sign.POSITIVE),
    Parameter("L", "smoothness", Sign.POSITIVE),
    Parameter("G", "bound on the root of every block's second moment", Sign.POSITIVE),
    Parameter("D", "f(w_0) - f*", Sign.POSITIVE),
    Parameter("R", "S sqrt(8 D L G^2/K)", Sign.POSITIVE),
)
_ROOT = Hypothesis("root", "R^2 = 8 S^2 D L G^2/K", (), (), R**2 - 8 * S**2 * D * L * G**2 / K, equality=True)
_TUNED = Model(
    "the tuned step size",
    _PARAMETERS,
    (),
    (),
    (Hypothesis("tuned", "gamma^2 = 2D/(L G^2 K)", (), (), gamma**2 * L * G**2 * K - 2 * D, equality=True), _ROOT),
)
_CAPPED = Model(
    "the step size 1/L, where the tuned one is larger",
    _PARAMETERS,
    (),
    (),
    (
        Hypothesis("capped", "gamma = 1/L", (), (), gamma * L - 1, equality=True),
        Hypothesis("tuned step is larger", "1/L^2 <= 2D/(L G^2 K)", (), (), 2 * D * L - G**2 * K),
        _ROOT,
    ),
)
_FALL, _NOISE, _STALE = 2 * S * D / (gamma * K), gamma * S * L * G**2, gamma**2 * L**2 * delta**2 * G**2


def _equal(d: Derivation) -> Found:
    return d.weigh("equal terms", (), [(d.assume("tuned", ()), -S / (gamma * K))], _FALL - _NOISE, equality=True)


def _square(d: Derivation) -> Found:
    tuned = d.assume("tuned", ())
    return d.weigh(
        "the square of both terms",
        (),
        [(tuned, 4 * S**2 * L * G**2 / K), (d.assume("root", ()), -ONE)],
        (2 * _NOISE) ** 2 - R**2,
        equality=True,
    )


def _stale(d: Derivation) -> Found:
    parts = [(d.assume("tuned", ()), L * delta**2 / K)]
    return d.weigh("the stale term", (), parts, _STALE - 2 * D * L * delta**2 / K, equality=True)


def _cap(d: Derivation) -> Found:
    """1/L: noise is S G^2 <= R/2, for R^2 >= 4 S^2 G^4; stale is delta^2 G^2."""
    capped, larger, root = d.assume("capped", ()), d.assume("tuned step is larger", ()), d.assume("root", ())
    level = 2 * S * G**2
    # R - level >= 0 from R^2 >= level^2: half of (R - level)^2/R + (R^2 - level^2)/R.
    squares = d.squares("a square", [R - level], [1 / R])
    above = d.weigh("R^2 is large", (), [(root, ONE), (larger, 4 * S**2 * G**2 / K)], R**2 - level**2)
    noise = d.weigh("R is large", (), [(squares, ONE / 2), (above, 1 / (2 * R))], R - level)
    stale = delta**2 * G**2
    return d.weigh(
        "all three terms at 1/L",
        (),
        [
            (noise, ONE / 2),
            (d.evident("half of R", R / 2), ONE),
            (larger, delta**2 / K),
            (capped, 2 * S * D / (gamma * K) - S * G**2 - stale * (gamma * L + 1)),
        ],
        _CAP_BOUND - _FALL - _NOISE - _STALE,
    )


_CAP_BOUND: Term = R + 2 * D * L * delta**2 / K + 2 * S * D * L / K
_PARTS = (
    Statement("optimization = noise", _TUNED, _equal, _FALL - _NOISE, True),
    Statement("(optimization + noise)^2 = 8 S^2 D L G^2/K", _TUNED, _square, (2 * _NOISE) ** 2 - R**2, True),
    Statement("stale = 2 D L delta^2/K", _TUNED, _stale, _STALE - 2 * D * L * delta**2 / K, True),
    Statement("at gamma = 1/L", _CAPPED, _cap, _CAP_BOUND - _FALL - _NOISE - _STALE),
)
CLAIM = Claim(
    "L13",
    Group.CHAIN,
    "gamma^2 = 2D/(L G^2 K) makes the first two terms equal: S sqrt(8 D L G^2/K) + 2 D L delta^2/K, "
    "and + 2 S D L/K where 1/L is the smaller step",
    "arXiv 2606.03498, reconstructed",
    lambda: all_of(*(part.check() for part in _PARTS)),
    (
        _PARTS[2].off("stale = 2 D L delta/K", _STALE - 2 * D * L * delta / K),
        _PARTS[0].with_hypothesis("gamma^2 = D/(L G^2 K)", "tuned", REMAINDER, term=gamma**2 * L * G**2 * K - D),
        _PARTS[3].off(
            "the cap without its own term 2 S D L/K", _CAP_BOUND - 2 * S * D * L / K - _FALL - _NOISE - _STALE
        ),
        _PARTS[3].without("tuned step is larger"),
    ),
)

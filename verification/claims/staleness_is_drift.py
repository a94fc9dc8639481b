"""PipeDream's stale term is LocalSGD's drift term at H = S."""

from pdtheory.derivations.convergence.building import Derivation, Found
from pdtheory.derivations.convergence.theorems import THEOREMS
from pdtheory.proof.model import Model, Parameter, Sign
from pdtheory.proof.terms import ONE, integer, parameter
from verification.claim import Claim, Group
from verification.proofs import Statement

S, H, S_, H_, G, L, gamma = integer("S"), integer("H"), *map(parameter, ("S", "H", "G", "L", "gamma"))
_MODEL = Model(
    "as many local steps as stages",
    (
        Parameter("S", "number of stages", Sign.POSITIVE, integer=True),
        Parameter("H", "local steps", Sign.POSITIVE, integer=True),
        Parameter("gamma", "step size", Sign.POSITIVE),
        Parameter("L", "smoothness", Sign.POSITIVE),
        Parameter("G", "bound on the root of every block's second moment", Sign.POSITIVE),
    ),
    (S <= H, H <= S),
    (),
    (),
)
_STALE, _DRIFT = THEOREMS["pipedream-aligned"].terms["stale"], THEOREMS["local-sgd"].terms["stale"]


def _build(d: Derivation) -> Found:
    """(S-1)(2S-1) - (H-1)(2H-1) is (S - H)(2S + 2H - 3)."""
    same = d.whole("H is S", (), S - H, equality=True)
    rate = gamma**2 * L**2 * S_ * G**2 / 6
    return d.weigh("drift", (), [(same, rate * (2 * S_ + 2 * H_ - 3 * ONE))], _STALE - _DRIFT, equality=True)


_SAME = Statement("stale = drift at H = S", _MODEL, _build, _STALE - _DRIFT, True)
CLAIM = Claim(
    "staleness-is-drift",
    Group.SHARPER,
    "PipeDream's stale term (Theorem 2) is LocalSGD's drift term at H = S, exactly",
    "this project",
    _SAME.check,
    (
        _SAME.off("with twice the drift", _STALE - 2 * _DRIFT),
        Statement(
            "at H = S + 1",
            Model("one local step more", _MODEL.parameters, (S + 1 <= H, H <= S + 1), (), ()),
            lambda d: _plus_one(d),
            _STALE - _DRIFT,
            True,
        ).off("at H = S + 1", _STALE - _DRIFT),
    ),
)


def _plus_one(d: Derivation) -> Found:
    more = d.whole("H is S + 1", (), S + 1 - H, equality=True)
    return d.weigh("drift", (), [(more, gamma**2 * L**2 * S_ * G**2 / 6 * (2 * S_ + 2 * H_ - 3 * ONE))], equality=True)

"""L11: f cannot fall by more than D."""

from pdtheory.derivations.convergence.building import Derivation, Found
from pdtheory.derivations.convergence.randomized_model import RPD, D, K, f, k
from pdtheory.proof.terms import ONE, total
from verification.claim import Claim, Group
from verification.proofs import Statement

_FALLS = total(f(k) - f(k + 1), k, 0, K)


def _build(d: Derivation) -> Found:
    parts = [
        (d.telescope((), f(k), k, (0, K)), ONE),
        (d.assume("lower bound", (), {k: K}), ONE),
        (d.assume("start", ()), ONE),
    ]
    return d.weigh("all falls", (), parts, D - _FALLS)


_L11 = Statement("sum of falls <= D", RPD, _build, D - _FALLS)
CLAIM = Claim(
    "L11",
    Group.CHAIN,
    "sum over k < K of f(w_k) - f(w_{k+1}) <= D",
    "arXiv 2606.03498, reconstructed",
    _L11.check,
    (
        _L11.off("at most D/2", D / 2 - _FALLS),
        _L11.without("lower bound"),
        _L11.with_hypothesis("f is at least f* only before the last update", "lower bound", "", domain=(k >= 0, k < K)),
    ),
)

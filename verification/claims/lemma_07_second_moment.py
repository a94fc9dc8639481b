"""L7: the update of an iteration has second moment at most G^2."""

from pdtheory.derivations.convergence.randomized import block_noise
from pdtheory.derivations.convergence.randomized_model import ITERATION, RPD, S_, STAGE, G, g, k, over_blocks, p, r
from pdtheory.proof.terms import square
from verification.claim import Claim, Group
from verification.proofs import Statement

_NORM = over_blocks(p(k, r) * square(g(k, r)))
_L7 = Statement("E||g_k||^2 <= G^2", RPD, block_noise, G**2 - _NORM, under=ITERATION)
CLAIM = Claim(
    "L7",
    Group.CHAIN,
    "E||g_k||^2 <= G^2 for the block that is drawn",
    "arXiv 2606.03498, reconstructed",
    _L7.check,
    (
        _L7.off("E||g_k||^2 <= G^2/S", G**2 / S_ - _NORM),
        _L7.without("second moment"),
        _L7.without(STAGE),
    ),
)

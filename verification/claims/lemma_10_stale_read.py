"""L10: how far a stale read is off, on average."""

from pdtheory.derivations.convergence.randomized import PAPER, stale_read_of_paper
from pdtheory.derivations.convergence.randomized_model import (
    ITERATION,
    RPD,
    G,
    delta_,
    gamma,
    j,
    k,
    over_blocks,
    q,
    r,
    w,
    z,
)  # fmt: skip
from pdtheory.proof.terms import square
from verification.claim import Claim, Group
from verification.proofs import REMAINDER, Statement

_DISTANCE = over_blocks(square(w(k, r) - z(k, r)))
_L10 = Statement(
    "E||w_k - z_k||^2 <= gamma^2 delta^2 G^2", RPD, stale_read_of_paper, PAPER - _DISTANCE, under=ITERATION
)
CLAIM = Claim(
    "L10",
    Group.CHAIN,
    "E||w_k - z_k||^2 <= gamma^2 delta^2 G^2 for delays of at most delta",
    "arXiv 2606.03498, reconstructed",
    _L10.check,
    (
        _L10.off("with delta in place of delta^2", gamma**2 * delta_ * G**2 - _DISTANCE),
        _L10.without("missed"),
        _L10.with_hypothesis("a read that counts an update up to twice", "missed", REMAINDER, term=2 - q(k, r, j)),
    ),
)

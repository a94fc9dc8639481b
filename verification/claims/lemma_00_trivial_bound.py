"""L0: what is known without any theorem."""

from pdtheory.derivations.convergence.building import Derivation, Found
from pdtheory.derivations.convergence.randomized_model import (
    BLOCK,
    ITERATION,
    RPD,
    S_,
    UNBIASED,
    G,
    S,
    b,
    g,
    k,
    over_blocks,
    r,
)
from pdtheory.proof.terms import square
from verification.claim import Claim, Group
from verification.proofs import Statement


def _build(d: Derivation) -> Found:
    under = ITERATION + BLOCK
    apart = d.squares("distance of the gradient from its mean", [g(k, r) - b(k, r)])
    moment = d.assume("second moment", under)
    mean = d.assume(UNBIASED, under, times=b(k, r))
    block = d.weigh("Jensen for one block", under, [(moment, 1), (apart, 1), (mean, 2)], G**2 - square(b(k, r)))
    blocks = d.sum_over(block, ITERATION, r, (0, S))
    count = d.count(ITERATION, r, (0, S))
    value = S_ * G**2 - over_blocks(square(b(k, r)))
    return d.weigh("all blocks", ITERATION, [(blocks, 1), (count, -(G**2))], value)


_L0 = Statement("||grad f(z)||^2 <= S G^2", RPD, _build, S_ * G**2 - over_blocks(square(b(k, r))), under=ITERATION)
CLAIM = Claim(
    "L0",
    Group.CHAIN,
    "||grad f(z)||^2 <= S G^2: where a bound is above this, it says nothing",
    "Jensen's inequality",
    _L0.check,
    (
        _L0.off("||grad f(z)||^2 <= (S - 1) G^2", (S_ - 1) * G**2 - over_blocks(square(b(k, r)))),
        _L0.without(UNBIASED),
        _L0.without("second moment"),
    ),
)

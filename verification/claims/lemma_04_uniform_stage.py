"""L4: a uniform stage that the read does not depend on turns one block into the average over all."""

from pdtheory.derivations.convergence.building import Derivation, Found
from pdtheory.derivations.convergence.randomized_model import (
    BLOCK,
    ITERATION,
    RPD,
    S_,
    STAGE,
    S,
    a,
    b,
    k,
    over_blocks,
    p,
    r,
)
from pdtheory.proof.terms import dot
from verification.claim import Claim, Group
from verification.proofs import Statement

_PRODUCTS = dot(a(k, r), b(k, r))
_TERM = over_blocks(p(k, r) * _PRODUCTS) - over_blocks(_PRODUCTS) / S_


def _build(d: Derivation) -> Found:
    drawn = d.assume(STAGE, ITERATION + BLOCK, times=_PRODUCTS)
    return d.weigh("all blocks", ITERATION, [(d.sum_over(drawn, ITERATION, r, (0, S)), 1)], _TERM, equality=True)


_L4 = Statement("E<a_s, b_s> = E<a, b>/S", RPD, _build, _TERM, True, ITERATION)
CLAIM = Claim(
    "L4",
    Group.CHAIN,
    "E<grad_s f(w), grad_s f(z)> = (1/S) E<grad f(w), grad f(z)> for a uniform s that z does not depend on",
    "arXiv 2606.03498, reconstructed",
    _L4.check,
    (
        _L4.off("without the factor 1/S", over_blocks(p(k, r) * _PRODUCTS) - over_blocks(_PRODUCTS)),
        _L4.without(STAGE),
        _L4.with_family("z_k depends on the stage that is drawn, as in PipeDream", "b", known=(3 * k + 1,)),
    ),
)

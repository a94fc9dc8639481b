"""L3: a fresh sample, unbiased at the point that was read, replaces the stochastic gradient on average."""

from pdtheory.derivations.convergence.building import Derivation, Found
from pdtheory.derivations.convergence.randomized_model import (
    BLOCK,
    ITERATION,
    RPD,
    UNBIASED,
    S,
    a,
    b,
    g,
    k,
    over_blocks,
    p,
    r,
)
from pdtheory.proof.terms import dot
from verification.claim import Claim, Group
from verification.proofs import Statement

_TERM = over_blocks(p(k, r) * dot(a(k, r), g(k, r))) - over_blocks(p(k, r) * dot(a(k, r), b(k, r)))


def _build(d: Derivation) -> Found:
    fresh = d.assume(UNBIASED, ITERATION + BLOCK, times=p(k, r) * a(k, r))
    return d.weigh("all blocks", ITERATION, [(d.sum_over(fresh, ITERATION, r, (0, S)), 1)], _TERM, equality=True)


_L3 = Statement("E<grad_s f(w), g> = E<grad_s f(w), grad_s f(z)>", RPD, _build, _TERM, True, ITERATION)
CLAIM = Claim(
    "L3",
    Group.CHAIN,
    "E[<grad_s f(w_k), g_k> | past, s_k] = <grad_s f(w_k), grad_s f(z_k)>",
    "arXiv 2606.03498, reconstructed",
    _L3.check,
    (
        _L3.off(
            "with the gradient at w in place of z",
            over_blocks(p(k, r) * dot(a(k, r), g(k, r))) - over_blocks(p(k, r) * dot(a(k, r), a(k, r))),
        ),
        _L3.without(UNBIASED),
        _L3.with_family("grad f(w_k) is known only with the sample of iteration k", "a", known=(3 * k + 2,)),
    ),
)

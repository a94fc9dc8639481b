"""L2: what the move of one block does to the two terms of the quadratic upper bound."""

from pdtheory.derivations.convergence.building import Derivation, Found
from pdtheory.derivations.convergence.randomized_model import (
    BLOCK,
    ITERATION,
    RPD,
    S,
    a,
    g,
    gamma,
    k,
    movement,
    over_blocks,
    p,
    r,
)
from pdtheory.proof.terms import dot, square
from verification.claim import Claim, Group, all_of
from verification.proofs import REMAINDER, Statement

_UNDER = ITERATION + BLOCK
_SLOPE = over_blocks(dot(a(k, r), movement())) + gamma * over_blocks(p(k, r) * dot(a(k, r), g(k, r)))
_LENGTH = over_blocks(square(movement())) - gamma**2 * over_blocks(p(k, r) * square(g(k, r)))


def _slope(d: Derivation) -> Found:
    moved = d.sum_over(d.assume("update", _UNDER, times=a(k, r)), ITERATION, r, (0, S))
    return d.weigh("slope", ITERATION, [(moved, 1)], _SLOPE, equality=True)


def _length(d: Derivation) -> Found:
    drawn = gamma * p(k, r) * g(k, r)
    moved = d.sum_over(d.assume("update", _UNDER, times=movement() - drawn), ITERATION, r, (0, S))
    once = d.sum_over(d.assume("indicator", _UNDER, times=square(g(k, r))), ITERATION, r, (0, S))
    return d.weigh("length", ITERATION, [(moved, 1), (once, gamma**2)], _LENGTH, equality=True)


_FIRST = Statement("<grad f(w), h> = -gamma <grad_s f(w), g>", RPD, _slope, _SLOPE, True, ITERATION)
_SECOND = Statement("||h||^2 = gamma^2 ||g||^2", RPD, _length, _LENGTH, True, ITERATION)
CLAIM = Claim(
    "L2",
    Group.CHAIN,
    "for h = -gamma U_s g: <grad f(w), h> = -gamma <grad_s f(w), g> and ||h||^2 = gamma^2 ||g||^2",
    "arXiv 2606.03498, reconstructed",
    lambda: all_of(_FIRST.check(), _SECOND.check()),
    (
        _SECOND.off(
            "||h||^2 = gamma ||g||^2", over_blocks(square(movement())) - gamma * over_blocks(p(k, r) * square(g(k, r)))
        ),
        _SECOND.without("indicator"),
        _FIRST.with_hypothesis(
            "an update of twice the step", "update", REMAINDER, term=movement() + 2 * gamma * p(k, r) * g(k, r)
        ),
    ),
)

"""Lemma A: every update moves one block only, so that the windows of the blocks are disjoint."""

import dataclasses

import sympy as sp

from pdtheory.derivations.convergence.building import Derivation, Found, inside
from pdtheory.derivations.convergence.randomized import LEMMA_A, stale_read_of_lemma_a
from pdtheory.derivations.convergence.randomized_model import (
    BLOCK,
    FIRST,
    ITERATION,
    LENGTH,
    RPD,
    S_,
    STAGE,
    WINDOW,
    G,
    S,
    delta_,
    gamma,
    i,
    j,
    k,
    over_blocks,
    p,
    q,
    r,
    w,
    z,
)
from pdtheory.proof.model import Family, Hypothesis, Timing
from pdtheory.proof.steps import Hypotheses
from pdtheory.proof.terms import ONE, Term, square, total, vectors, whole
from verification.claim import Claim, Group
from verification.proofs import Statement

c = vectors("c")
_DISTANCE = over_blocks(square(w(k, r) - z(k, r)))
_A = Statement("Lemma A", RPD, stale_read_of_lemma_a, LEMMA_A - _DISTANCE, under=ITERATION)

LEMMA = Claim(
    "lemma-A",
    Group.SHARPER,
    "E||w_k - z_k||^2 <= gamma^2 G^2 delta (S + delta - 1)/S for any delays of at most delta, even adaptive ones",
    "this project",
    _A.check,
    (
        _A.off("with delta^2/S", gamma**2 * G**2 * delta_**2 / S_ - _DISTANCE),
        _A.off("with S + delta - 2", gamma**2 * G**2 * delta_ * (S_ + delta_ - 2) / S_ - _DISTANCE),
        _A.without(STAGE),
        _A.with_family("the stage is known only with the sample", "p", known=(3 * k + 2,)),
    ),
)

#: f is linear: every block's gradient is one vector of length G, and every update of the window is missed.
_LINEAR = dataclasses.replace(
    RPD,
    name="randomized PipeDream on a linear f, all of the last delta updates missed",
    families=(*RPD.families, Family("c", "block r of the gradient", (r,), True, Timing.FIXED)),
    hypotheses=(
        *(h for h in RPD.hypotheses if h.name in ("update", "read", "indicator", STAGE)),
        Hypothesis(
            "linear",
            "the gradient is c everywhere, without noise",
            (k, r),
            ITERATION + BLOCK,
            vectors("g")(k, r) - c(r),
            equality=True,
        ),
        Hypothesis("length", "every block of it has length G", (r,), BLOCK, square(c(r)) - G**2, equality=True),
        Hypothesis(
            "all missed",
            "the last delta updates are missed",
            (k, r, j),
            ITERATION + BLOCK + inside(j, WINDOW),
            q(k, r, j) - 1,
            equality=True,
        ),
    ),
)
_UNDER = ITERATION + BLOCK
_N = whole(LENGTH)
_DRAWS = total(p(j, r), j, *WINDOW)


def _draws(d: Derivation) -> Found:
    """Add: the squared number of draws of a block in a window of n is n/S + n (n - 1)/S^2 on average."""
    here = _UNDER + inside(i, WINDOW)
    draw = p(j, r)

    def pair(under: Hypotheses, late: sp.Symbol, early: sp.Symbol) -> Found:
        parts = [
            (d.assume(STAGE, under, {k: late}, times=p(early, r)), ONE),
            (d.assume(STAGE, under, {k: early}), ONE / S_),
        ]
        return d.weigh("two draws", under, parts, p(i, r) * draw - 1 / S_**2, equality=True)

    before = pair((*here, j >= FIRST, j < i), i, j)
    after = pair((*here, j > i, j < k), j, i)
    row = d.weigh(
        "a draw with all of its window",
        here,
        [
            (d.split(here, draw, j, WINDOW, i), p(i, r)),
            (d.split(here, draw, j, (i, k), i + 1), p(i, r)),
            (d.one_term(draw, j, i), p(i, r)),
            (d.sum_over(before, here, j, (FIRST, i)), ONE),
            (d.sum_over(after, here, j, (i + 1, k)), ONE),
            (d.assume("indicator", here, {k: i}), ONE),
            (d.assume(STAGE, here, {k: i}), ONE),
            (d.count(here, j, (FIRST, i)), 1 / S_**2),
            (d.count(here, j, (i + 1, k)), 1 / S_**2),
        ],
        p(i, r) * _DRAWS - 1 / S_ - (_N - 1) / S_**2,
        equality=True,
    )
    rows = d.sum_over(row, _UNDER, i, WINDOW)
    each = 1 / S_ + (_N - 1) / S_**2
    return d.weigh(
        "all draws of a window",
        _UNDER,
        [(rows, ONE), (d.count(_UNDER, i, WINDOW), each)],
        _DRAWS**2 - _N * each,
        equality=True,
    )


def _equal(d: Derivation) -> Found:
    each, drift = _UNDER + inside(j, WINDOW), w(k, r) - z(k, r)
    moved = d.assume("update", each, {k: j}, times=q(k, r, j))
    slope = d.assume("linear", each, {k: j}, times=q(k, r, j) * p(j, r))
    missed = d.assume("all missed", each, times=p(j, r) * c(r))
    off = d.weigh(
        "the read is off by the drawn gradients",
        _UNDER,
        [
            (d.assume("read", _UNDER), ONE),
            (d.sum_over(moved, _UNDER, j, WINDOW), ONE),
            (d.sum_over(slope, _UNDER, j, WINDOW), -gamma),
            (d.sum_over(missed, _UNDER, j, WINDOW), -gamma),
        ],
        drift + gamma * c(r) * _DRAWS,
        equality=True,
    )
    block = d.weigh(
        "one block",
        _UNDER,
        [
            (off, drift - gamma * c(r) * _DRAWS),
            (d.assume("length", _UNDER), gamma**2 * _DRAWS**2),
            (_draws(d), gamma**2 * G**2),
        ],
        square(drift) - gamma**2 * G**2 * (_N / S_ + _N * (_N - 1) / S_**2),
        equality=True,
    )
    blocks = d.sum_over(block, ITERATION, r, (0, S))
    count = d.count(ITERATION, r, (0, S))
    each_block = gamma**2 * G**2 * (_N / S_ + _N * (_N - 1) / S_**2)
    return d.weigh("all blocks", ITERATION, [(blocks, ONE), (count, each_block)], _LINEAR_TERM, equality=True)


_LINEAR_TERM: Term = _DISTANCE - gamma**2 * G**2 * _N * (S_ + _N - 1) / S_
_EQUAL = Statement("Lemma A with equality", _LINEAR, _equal, _LINEAR_TERM, True, ITERATION)
EQUALITY = Claim(
    "lemma-A-equality",
    Group.TIGHTNESS,
    "Lemma A is an equality for linear f: E||w_k - z_k||^2 = gamma^2 G^2 n (S + n - 1)/S with n = min(k, delta) missed",
    "this project",
    _EQUAL.check,
    (
        _EQUAL.off("with n^2 in place of n (S + n - 1)/S", _DISTANCE - gamma**2 * G**2 * _N**2),
        _EQUAL.without("all missed"),
        _EQUAL.without(STAGE),
    ),
)
CLAIMS = (LEMMA, EQUALITY)

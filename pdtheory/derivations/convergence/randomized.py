"""Randomized PipeDream with bounded second moments: the paper's theorem, Lemma A and Theorem 1."""

from __future__ import annotations

from collections.abc import Callable

from pdtheory.derivations.convergence.building import Derivation, Found, inside
from pdtheory.derivations.convergence.randomized_descent import averaged, one_step
from pdtheory.derivations.convergence.randomized_model import (
    BLOCK,
    FIRST,
    ITERATION,
    LENGTH,
    S_,
    STAGE,
    WINDOW,
    G,
    K,
    L,
    S,
    a,
    b,
    delta,
    delta_,
    g,
    gamma,
    h,
    i,
    j,
    k,
    over_blocks,
    p,
    q,
    r,
    w,
    z,
)  # fmt: skip
from pdtheory.proof.terms import ONE, Term, dot, square, term, total, whole

PAPER = gamma**2 * delta_**2 * G**2
LEMMA_A = gamma**2 * G**2 * delta_ * (S_ + delta_ - 1) / S_


def block_noise(d: Derivation) -> Found:
    """Add that the drawn block's gradient has second moment at most G^2."""
    under = ITERATION + BLOCK
    moment = d.assume("second moment", under, times=p(k, r))
    drawn = d.assume(STAGE, under)
    each = d.weigh(
        "second moment of a drawn block",
        under,
        [(moment, 1), (drawn, -(G**2))],
        G**2 / S_ - p(k, r) * square(g(k, r)),
    )
    summed = d.sum_over(each, ITERATION, r, (0, S))
    return d.weigh(
        "second moment of an update",
        ITERATION,
        [(summed, 1), (d.count(ITERATION, r, (0, S)), -(G**2) / S_)],
        G**2 - over_blocks(p(k, r) * square(g(k, r))),
    )


def missed_updates(d: Derivation) -> Found:
    """Add L8: the stale read is off by the drawn gradients that it missed; their squared norm, per block."""
    under = ITERATION + BLOCK
    read = d.assume("read", under)
    moved = d.assume("update", under + inside(j, WINDOW), {k: j}, times=q(k, r, j))
    unseen = d.sum_over(moved, under, j, WINDOW)
    drift = w(k, r) - z(k, r)
    off = d.weigh(
        "the read is off by the missed updates",
        under,
        [(read, 1), (unseen, 1)],
        drift + gamma * missed_gradient(),
        equality=True,
    )
    return d.weigh(
        "squared distance of the read",
        under,
        [(off, drift - gamma * missed_gradient())],
        square(drift) - gamma**2 * square(missed_gradient()),
        equality=True,
    )


def missed_gradient() -> Term:
    """Return the sum of the gradients that the read of block r in iteration k missed."""
    return total(q(k, r, j) * p(j, r) * g(j, r), j, *WINDOW)


def stale_read_of_paper(d: Derivation) -> Found:
    """Add L10: the average squared distance of a stale read is at most gamma^2 delta^2 G^2."""
    under = ITERATION + BLOCK
    distance = missed_updates(d)
    jensen = d.jensen(under, lambda m: q(k, r, m) * p(m, r) * g(m, r), (i, h), WINDOW)
    masked = total(square(q(k, r, j) * p(j, r) * g(j, r)), j, *WINDOW)
    longer = d.multiply(
        "a window has at most delta updates",
        under,
        d.whole("length of a window", ITERATION, delta - LENGTH),
        d.evident("squared norms", masked),
    )
    each = under + inside(j, WINDOW)
    seen = d.assume("missed", each, times=(1 + q(k, r, j)) * square(p(j, r) * g(j, r)))
    once = d.assume("indicator", each, {k: j}, times=square(g(j, r)))
    unmasked = d.sum_over(
        d.weigh(
            "all updates of the window, missed or not",
            each,
            [(seen, 1), (once, -1)],
            p(j, r) * square(g(j, r)) - square(q(k, r, j) * p(j, r) * g(j, r)),
        ),
        under,
        j,
        WINDOW,
    )
    block = d.weigh(
        "one block's missed updates",
        under,
        [(distance, -1), (jensen, gamma**2), (longer, gamma**2), (unmasked, gamma**2 * delta_)],
        gamma**2 * delta_ * total(p(j, r) * square(g(j, r)), j, *WINDOW) - square(w(k, r) - z(k, r)),
    )
    blocks = d.sum_over(block, ITERATION, r, (0, S))
    noise = d.specialize(block_noise(d), ITERATION + inside(j, WINDOW), {k: j})
    window_noise = d.sum_over(noise, ITERATION, j, WINDOW)
    count = d.count(ITERATION, j, WINDOW)
    longest = d.whole("length of a window", ITERATION, delta - LENGTH)
    return d.weigh(
        "stale read, as in the paper",
        ITERATION,
        [
            (blocks, 1),
            (window_noise, gamma**2 * delta_),
            (count, -(gamma**2) * delta_ * G**2),
            (longest, gamma**2 * delta_ * G**2),
        ],
        PAPER - over_blocks(square(w(k, r) - z(k, r))),
    )


def stale_read_of_lemma_a(d: Derivation) -> Found:
    """Add Lemma A: it is at most gamma^2 G^2 delta (S + delta - 1)/S, for any delays up to delta."""
    under = ITERATION + BLOCK
    distance = missed_updates(d)
    pair = under + inside(i, WINDOW) + inside(j, WINDOW)
    both, norms = p(i, r) * p(j, r), (square(g(i, r)) + square(g(j, r))) / 2
    apart = d.squares("two missed updates", [g(i, r) - g(j, r)], [q(k, r, i) * q(k, r, j) * both / 2])
    first = d.assume("missed", pair, {j: i}, times=both * norms)
    second = d.assume("missed", pair, times=q(k, r, i) * both * norms)
    product = d.weigh(
        "two missed updates of one block",
        pair,
        [(apart, 1), (first, 1), (second, 1)],
        both * norms - q(k, r, i) * q(k, r, j) * both * dot(g(i, r), g(j, r)),
    )
    pairs = d.sum_over(d.sum_over(product, under + inside(i, WINDOW), j, WINDOW), under, i, WINDOW)
    blocks = d.sum_over(
        d.weigh("one block's missed updates", under, [(pairs, gamma**2), (distance, -1)]), ITERATION, r, (0, S)
    )
    products = d.sum_over(d.sum_over(update_with_all(d), under, i, WINDOW), ITERATION, r, (0, S))
    n = whole(LENGTH)
    bound = G**2 * n * (S_ + n - 1) / S_
    counts = [d.count(ITERATION, i, WINDOW), d.count(ITERATION, r, (0, S))]
    each = G**2 / S_ + (n - 1) * G**2 / S_**2
    members = total(term(1), i, *WINDOW)
    window = d.weigh(
        "stale read of a window",
        ITERATION,
        [
            (blocks, 1),
            (products, gamma**2),
            (counts[1], -(gamma**2) * each * members),
            (counts[0], -(gamma**2) * each * S_),
        ],
        gamma**2 * bound - over_blocks(square(w(k, r) - z(k, r))),
    )
    longer = d.multiply(
        "a longer window is worse",
        ITERATION,
        d.whole("length of a window", ITERATION, delta - LENGTH),
        d.whole("two lengths and the stages", ITERATION, S + delta + LENGTH - 1),
    )
    return d.weigh(
        "Lemma A",
        ITERATION,
        [(window, 1), (longer, gamma**2 * G**2 / S_)],
        LEMMA_A - over_blocks(square(w(k, r) - z(k, r))),
    )


def update_with_all(d: Derivation) -> Found:
    """Add: how often the window draws the stage of update i again, weighed with the squared norm of update i."""
    here = ITERATION + BLOCK + inside(i, WINDOW)
    drawn, moment = STAGE, "second moment"
    norm = p(i, r) * square(g(i, r))
    itself = d.weigh(
        "an update's second moment",
        here,
        [(d.assume(moment, here, {k: i}, times=p(i, r)), 1), (d.assume(drawn, here, {k: i}), -(G**2))],
        G**2 / S_ - norm,
    )
    earlier = (*here, j >= FIRST, j < i)
    before = d.weigh(
        "an update and an earlier draw",
        earlier,
        [
            (d.assume(moment, earlier, {k: i}, times=p(i, r) * p(j, r)), 1),
            (d.assume(drawn, earlier, {k: i}, times=p(j, r)), -(G**2)),
            (d.assume(drawn, earlier, {k: j}), -(G**2) / S_),
        ],
        G**2 / S_**2 - p(j, r) * norm,
    )
    later = (*here, j > i, j < k)
    after = d.weigh(
        "an update and a later draw",
        later,
        [(itself, 1 / S_), (d.assume(drawn, later, {k: j}, times=norm), -1)],
        G**2 / S_**2 - p(j, r) * norm,
    )
    same = d.assume("indicator", here, {k: i}, times=square(g(i, r)))
    draws = p(j, r)
    parts = [
        d.split(here, draws, j, WINDOW, i),
        d.split(here, draws, j, (i, k), i + 1),
        d.one_term(draws, j, i),
    ]
    n = whole(LENGTH)
    return d.weigh(
        "an update and all draws of its window",
        here,
        [
            (d.sum_over(before, here, j, (FIRST, i)), 1),
            (d.sum_over(after, here, j, (i + 1, k)), 1),
            (itself, 1),
            (same, -1),
            (parts[0], -norm),
            (parts[1], -norm),
            (parts[2], -norm),
            (d.count(here, j, (FIRST, i)), -(G**2) / S_**2),
            (d.count(here, j, (i + 1, k)), -(G**2) / S_**2),
        ],
        G**2 / S_ + (n - 1) * G**2 / S_**2 - norm * total(draws, j, *WINDOW),
    )


def theorem(d: Derivation, stale: Callable[[Derivation], Found], distance: Term, *, both: bool = False) -> Found:
    """Add a theorem from a bound on the squared distance of a stale read.

    It bounds the average of |grad f(w_k)|^2; with `both`, that of |grad f(w_k)|^2 + |grad f(z_k)|^2.
    """
    step = one_step(d, block_noise(d), G**2, term(0))
    there = over_blocks(square(b(k, r)))
    kept = over_blocks(square(a(k, r))) + (there if both else 0)
    parts: list[tuple[Found, Term]] = [(step, ONE), (stale(d), L**2)]
    if not both:
        parts.append((d.evident("the gradient at z", there), ONE))
    each = d.weigh("one step with its stale read", ITERATION, parts)
    return averaged(d, d.sum_over(each, (), k, (0, K)), S_ * gamma * L * G**2 + L**2 * distance, kept)


def theorem_of_paper(d: Derivation) -> Found:
    """Add the paper's theorem: stale term gamma^2 L^2 delta^2 G^2."""
    return theorem(d, stale_read_of_paper, PAPER)


def theorem_1(d: Derivation) -> Found:
    """Add Theorem 1: stale term gamma^2 L^2 G^2 delta (S + delta - 1)/S."""
    return theorem(d, stale_read_of_lemma_a, LEMMA_A)

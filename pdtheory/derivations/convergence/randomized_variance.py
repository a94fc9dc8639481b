"""Randomized PipeDream with bounded variance and delays that do not depend on the draws: Theorem 4.

A drawn gradient is grad f(z)/S plus a noise that has mean 0 given the past, the draw of the stage included.
"""

from __future__ import annotations

import sympy as sp

from pdtheory.derivations.convergence.building import Derivation, Found, inside
from pdtheory.derivations.convergence.randomized import missed_updates
from pdtheory.derivations.convergence.randomized_descent import averaged, one_step
from pdtheory.derivations.convergence.randomized_model import (
    BLOCK,
    ITERATION,
    K_,
    LENGTH,
    S_,
    STAGE,
    UNBIASED,
    WINDOW,
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
    sigma,
    w,
    z,
)  # fmt: skip
from pdtheory.proof.steps import Hypotheses
from pdtheory.proof.terms import ONE, Term, dot, square, term, total


def drawn_noise(index: sp.Expr) -> Term:
    """Return what the drawn gradient of block r is off its mean given the past."""
    return p(index, r) * g(index, r) - b(index, r) / S_


def _drawn_norm(d: Derivation, under: Hypotheses, index: sp.Expr) -> Found:
    """Add: the drawn block's squared norm is at most |grad_r f(z)|^2/S + sigma^2/S on average."""
    at = {k: index}
    return d.weigh(
        "squared norm of a drawn gradient",
        under,
        [
            (d.assume("variance", under, at, times=p(index, r)), 1),
            (d.assume(UNBIASED, under, at, times=p(index, r) * b(index, r)), -2),
            (d.assume(STAGE, under, at, times=square(b(index, r))), -1),
            (d.assume(STAGE, under, at), -(sigma**2)),
        ],
        (square(b(index, r)) + sigma**2) / S_ - p(index, r) * square(g(index, r)),
    )


def _noise_sum(d: Derivation) -> Found:
    """Add: the noises of a window are uncorrelated, for the delays are not random."""
    under = ITERATION + BLOCK

    def noise(index: sp.Expr) -> Term:
        return q(k, r, index) * drawn_noise(index)

    def vanish(domain: Hypotheses, late: sp.Symbol, early: sp.Symbol) -> Found:
        other = noise(early)
        both = d.weigh(
            "a drawn noise has mean 0",
            domain,
            [
                (d.assume(UNBIASED, domain, {k: late}, times=p(late, r) * other), 1),
                (d.assume(STAGE, domain, {k: late}, times=dot(b(late, r), other)), 1),
            ],
            dot(drawn_noise(late), other),
            equality=True,
        )
        return d.weigh("two noises", domain, [(both, q(k, r, late))], dot(noise(late), other), equality=True)

    here = under + inside(i, WINDOW)
    row = d.uncorrelated(under, noise, (i, j), WINDOW, vanish)
    once = d.weigh(
        "q^2 is at most 1", here, [(d.assume("missed", here, {j: i}, times=1 + q(k, r, i)), 1)], 1 - q(k, r, i) ** 2
    )
    masked = d.multiply("a noise, missed or not", here, once, d.squares("a squared noise", [drawn_noise(i)]))
    variance = d.weigh(
        "variance of a drawn noise",
        here,
        [
            (row, -1),
            (masked, 1),
            (_drawn_norm(d, here, i), 1),
            (d.assume("indicator", here, {k: i}, times=square(g(i, r))), -1),
            (d.assume(UNBIASED, here, {k: i}, times=p(i, r) * b(i, r)), 2 / S_),
            (d.assume(STAGE, here, {k: i}, times=square(b(i, r))), 2 / S_),
        ],
        square(b(i, r)) * (1 / S_ - 1 / S_**2) + sigma**2 / S_ - total(dot(noise(i), noise(j)), j, *WINDOW),
    )
    return d.weigh(
        "variance of a window",
        under,
        [
            (d.sum_over(variance, under, i, WINDOW), 1),
            (d.count(under, i, WINDOW), -(sigma**2) / S_),
            (d.whole("length of a window", under, delta - LENGTH), sigma**2 / S_),
        ],
        (1 / S_ - 1 / S_**2) * total(square(b(i, r)), i, *WINDOW)
        + delta_ * sigma**2 / S_
        - square(total(noise(i), i, *WINDOW)),
    )


def _drift(d: Derivation) -> Found:
    """Add: the missed means grad f(z)/S."""
    under = ITERATION + BLOCK
    each = under + inside(j, WINDOW)
    norms = total(square(q(k, r, j) * b(j, r)), j, *WINDOW)
    jensen = d.jensen(under, lambda index: q(k, r, index) * b(index, r), (i, h), WINDOW)
    longer = d.multiply(
        "a window has at most delta updates",
        under,
        d.whole("length of a window", under, delta - LENGTH),
        d.evident("squared gradients", norms),
    )
    masked = d.assume("missed", each, times=(1 + q(k, r, j)) * square(b(j, r)))
    return d.weigh(
        "missed means",
        under,
        [(jensen, 1), (longer, 1), (d.sum_over(masked, under, j, WINDOW), delta_)],
        delta_ * total(square(b(j, r)), j, *WINDOW) - square(total(q(k, r, j) * b(j, r), j, *WINDOW)),
    )


def stale_reads(d: Derivation) -> Found:
    """Add: over a whole run, stale reads weigh the gradients at z and the variance."""
    under = ITERATION + BLOCK
    means = total(q(k, r, j) * b(j, r), j, *WINDOW) / S_
    noises = total(q(k, r, j) * drawn_noise(j), j, *WINDOW)
    block = d.weigh(
        "one block's stale read",
        under,
        [
            (missed_updates(d), -1),
            (d.squares("mean and noise", [means - noises]), gamma**2),
            (_drift(d), 2 * gamma**2 / S_**2),
            (_noise_sum(d), 2 * gamma**2),
        ],
        2 * gamma**2 * (delta_ + S_ - 1) / S_**2 * total(square(b(j, r)), j, *WINDOW)
        + 2 * gamma**2 * delta_ * sigma**2 / S_
        - square(w(k, r) - z(k, r)),
    )
    every = d.sum_over(d.sum_over(block, ITERATION, r, (0, S)), (), k, (0, K))
    last = sp.Min(K, j + delta + 1)
    gradients = over_blocks(square(b(j, r)))
    exchanged = d.exchange((), gradients, (k, (0, K)), (j, WINDOW), (0, K), (j + 1, last))
    update = inside(j, (0, K))
    readers = d.multiply(
        "an update is missed by at most delta iterations",
        update,
        d.whole("number of iterations that can miss an update", update, delta - (last - j - 1)),
        d.evident("a squared gradient", gradients),
    )
    counted = d.count(update, k, (j + 1, last))
    missed = d.sum_over(d.weigh("an update's readers", update, [(readers, 1), (counted, -gradients)]), (), j, (0, K))
    rate = 2 * gamma**2 * (delta_ + S_ - 1) / S_**2
    late = d.multiply("in every window", (), missed, d.whole("delta and stages", (), S + delta - 1))
    return d.weigh(
        "stale reads of a run",
        (),
        [
            (every, 1),
            (exchanged, -rate),
            (late, 2 * gamma**2 / S_**2),
            (d.count((), r, (0, S)), -2 * gamma**2 * delta_ * sigma**2 / S_ * total(term(1), k, 0, K)),
            (d.count((), k, (0, K)), -2 * gamma**2 * delta_ * sigma**2),
        ],
        rate * delta_ * total(over_blocks(square(b(k, r))), k, 0, K)
        + 2 * gamma**2 * delta_ * sigma**2 * K_
        - total(over_blocks(square(w(k, r) - z(k, r))), k, 0, K),
    )


def theorem_4(d: Derivation) -> Found:
    """Add Theorem 4: stale term 2 gamma^2 L^2 delta sigma^2, below a step size."""
    norms = d.sum_over(_drawn_norm(d, ITERATION + BLOCK, k), ITERATION, r, (0, S))
    blocks = d.count(ITERATION, r, (0, S))
    noise = d.weigh("second moment of an update", ITERATION, [(norms, 1), (blocks, -(sigma**2) / S_)])
    steps = d.sum_over(one_step(d, noise, sigma**2, ONE), (), k, (0, K))
    everywhere = total(over_blocks(square(b(k, r))), k, 0, K)
    extra = 2 * gamma**2 * L**2 * delta_ * sigma**2
    every = d.weigh(
        "a run with its stale reads",
        (),
        [
            (steps, 1),
            (stale_reads(d), L**2),
            (d.assume("step size", (), times=everywhere), 1),
            (d.count((), k, (0, K)), extra),
        ],
    )
    return averaged(d, every, S_ * gamma * L * sigma**2 + extra, over_blocks(square(a(k, r))))

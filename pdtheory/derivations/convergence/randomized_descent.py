"""Randomized PipeDream: the decrease in one iteration, and its average over a run."""

from __future__ import annotations

from pdtheory.derivations.convergence.building import Derivation, Found
from pdtheory.derivations.convergence.randomized_model import (
    BLOCK,
    ITERATION,
    K_,
    S_,
    STAGE,
    UNBIASED,
    D,
    K,
    L,
    S,
    a,
    b,
    f,
    g,
    gamma,
    k,
    movement,
    over_blocks,
    p,
    r,
    w,
    z,
)  # fmt: skip
from pdtheory.proof.terms import Term, dot, square, total


def descent(d: Derivation) -> Found:
    """Add L1 to L4: f falls along the gradient at z, on average, but for the drawn block's squared norm."""
    under = ITERATION + BLOCK
    linear = d.sum_over(d.assume("update", under, times=a(k, r)), ITERATION, r, (0, S))
    drawn = gamma * p(k, r) * g(k, r)
    quadratic = d.sum_over(d.assume("update", under, times=movement() - drawn), ITERATION, r, (0, S))
    indicator = d.sum_over(d.assume("indicator", under, times=square(g(k, r))), ITERATION, r, (0, S))
    cross = d.sum_over(d.assume(UNBIASED, under, times=p(k, r) * a(k, r)), ITERATION, r, (0, S))
    aligned = d.sum_over(d.assume(STAGE, under, times=dot(a(k, r), b(k, r))), ITERATION, r, (0, S))
    return d.weigh(
        "descent along the drawn block",
        ITERATION,
        [
            (d.assume("smooth", ITERATION), 1),
            (linear, -1),
            (quadratic, -L / 2),
            (indicator, -L / 2 * gamma**2),
            (cross, gamma),
            (aligned, gamma),
        ],
        f(k)
        - f(k + 1)
        - gamma / S_ * over_blocks(dot(a(k, r), b(k, r)))
        + L / 2 * gamma**2 * over_blocks(p(k, r) * square(g(k, r))),
    )


def one_step(d: Derivation, noise: Found, level: Term, kept: Term) -> Found:
    """Add the one-step inequality.

    `noise` bounds the drawn block's squared norm by `level` and, divided by S, `kept` times |grad f(z)|^2.
    """
    return d.weigh(
        "one step",
        ITERATION,
        [(descent(d), 2 * S_ / gamma), (noise, S_ * gamma * L), (d.assume("Lipschitz", ITERATION), 1)],
        2 * S_ / gamma * (f(k) - f(k + 1))
        - over_blocks(square(a(k, r)))
        - (1 - kept * gamma * L) * over_blocks(square(b(k, r)))
        + L**2 * over_blocks(square(w(k, r) - z(k, r)))
        + S_ * gamma * L * level,
    )


def averaged(d: Derivation, every: Found, bound: Term, kept: Term) -> Found:
    """Add the theorem, from an estimate of the sum over all iterations; `kept` is what is bounded in one."""
    falls = d.telescope((), f(k), k, (0, K))
    weight = 2 * S_ / (gamma * K_)
    return d.weigh(
        "average over the iterations",
        (),
        [
            (every, 1 / K_),
            (d.count((), k, (0, K)), -bound / K_),
            (falls, weight),
            (d.assume("lower bound", (), {k: K}), weight),
            (d.assume("start", ()), weight),
        ],
        weight * D + bound - total(kept, k, 0, K) / K_,
    )

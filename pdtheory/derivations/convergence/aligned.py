"""Deterministic PipeDream with weight stashing, seen one microbatch at a time: Theorems 2 and 3.

x_m is the model whose every stage has made m updates; microbatch m reads block r at x_{m - (S - 1 - r)}, or at
x_0 while there is none so old. Time 2m is before the sample of microbatch m is drawn, 2m + 1 after.
"""

from __future__ import annotations

import sympy as sp

from pdtheory.derivations.convergence.building import Derivation, Found, inside
from pdtheory.proof.model import Family, Hypothesis, Model, Parameter, Sign, Timing
from pdtheory.proof.steps import Hypotheses
from pdtheory.proof.terms import ONE, Term, dot, integer, parameter, scalars, square, total, vectors, whole

S, M, m, n, r, i, j = map(integer, ("S", "M", "m", "n", "r", "i", "j"))
S_, M_, gamma, L, G, D, sigma, fstar = map(parameter, ("S", "M", "gamma", "L", "G", "D", "sigma", "fstar"))
f = scalars("f")
x, z, a, b, g = map(vectors, "xzabg")

MICROBATCH = inside(m, (0, M))
BLOCK = inside(r, (0, S))
LAG = S - 1 - r
FIRST = sp.Max(0, m - LAG)
WINDOW = (FIRST, m)
LENGTH = m - FIRST
lag = whole(LAG)
UNBIASED = "unbiased at z, fresh sample"


def over_blocks(summand: Term) -> Term:
    """Return the sum over all blocks r."""
    return total(summand, r, 0, S)


def _movement() -> Term:
    return x(m + 1, r) - x(m, r)


_PARAMETERS = (
    Parameter("S", "number of stages, one block each", Sign.POSITIVE, integer=True),
    Parameter("M", "number of microbatches", Sign.POSITIVE, integer=True),
    Parameter("gamma", "step size", Sign.POSITIVE),
    Parameter("L", "smoothness of f", Sign.POSITIVE),
    Parameter("D", "f(x_0) - f*", Sign.NONNEGATIVE),
    Parameter("fstar", "lower bound on f", Sign.ANY),
)
_FAMILIES = (
    Family("f", "f(x_m)", (m,), False, Timing.TIMED, (2 * m,)),
    Family("x", "block r of x_m", (m, r), True, Timing.TIMED, (2 * m,)),
    Family("z", "block r of the model z_m that microbatch m reads", (m, r), True, Timing.TIMED, (2 * m,)),
    Family("a", "block r of grad f(x_m)", (m, r), True, Timing.TIMED, (2 * m,)),
    Family("b", "block r of grad f(z_m)", (m, r), True, Timing.TIMED, (2 * m,)),
    Family("g", "block r of grad f(z_m; xi_m)", (m, r), True, Timing.TIMED, (2 * m + 1,)),
)
_SHARED = (
    Hypothesis(
        "smooth",
        "f lies below its quadratic upper bound at x_m",
        (m,),
        MICROBATCH,
        f(m) - f(m + 1) + over_blocks(dot(a(m, r), _movement())) + L / 2 * over_blocks(square(_movement())),
    ),
    Hypothesis(
        "Lipschitz",
        "grad f is L-Lipschitz between x_m and z_m",
        (m,),
        MICROBATCH,
        L**2 * over_blocks(square(x(m, r) - z(m, r))) - over_blocks(square(a(m, r) - b(m, r))),
    ),
    Hypothesis(
        "update",
        "every block moves by its gradient at z_m",
        (m, r),
        MICROBATCH + BLOCK,
        _movement() + gamma * g(m, r),
        equality=True,
    ),
    Hypothesis(
        "read",
        "block r is read S - 1 - r updates late, at most m",
        (m, r),
        MICROBATCH + BLOCK,
        z(m, r) - x(FIRST, r),
        equality=True,
    ),
    Hypothesis(
        UNBIASED,
        "given the past the stochastic gradient has mean grad f(z_m)",
        (m, r),
        MICROBATCH + BLOCK,
        g(m, r) - b(m, r),
        equality=True,
        conditional=True,
        given=(2 * m,),
    ),
    Hypothesis("start", "D is the initial suboptimality", (), (), D - f(sp.Integer(0)) + fstar, equality=True),
    Hypothesis("lower bound", "f is at least f*", (m,), (m >= 0, m <= M), f(m) - fstar),
)

PIPEDREAM = Model(
    "PipeDream with weight stashing",
    (*_PARAMETERS, Parameter("G", "bound on the root of every block's second moment", Sign.POSITIVE)),
    (),
    _FAMILIES,
    (
        *_SHARED,
        Hypothesis(
            "second moment",
            "given the past the second moment of every block is at most G^2",
            (m, r),
            MICROBATCH + BLOCK,
            G**2 - square(g(m, r)),
            conditional=True,
            given=(2 * m,),
        ),
    ),
)
PIPEDREAM_VARIANCE = Model(
    "PipeDream with weight stashing, bounded variance",
    (*_PARAMETERS, Parameter("sigma", "bound on the root of every block's variance", Sign.NONNEGATIVE)),
    (),
    _FAMILIES,
    (
        *_SHARED,
        Hypothesis(
            "variance",
            "given the past the variance of every block is at most sigma^2",
            (m, r),
            MICROBATCH + BLOCK,
            sigma**2 - square(g(m, r) - b(m, r)),
            conditional=True,
            given=(2 * m,),
        ),
        Hypothesis(
            "step size",
            "gamma L + 2 (S - 1)^2 gamma^2 L^2 <= 1",
            (),
            (),
            1 - gamma * L - 2 * (S_ - 1) ** 2 * gamma**2 * L**2,
        ),
    ),
)


def _descent(d: Derivation) -> Found:
    """Add: f falls along the gradient, with the cross term on average."""
    under = MICROBATCH + BLOCK
    linear = d.sum_over(d.assume("update", under, times=a(m, r)), MICROBATCH, r, (0, S))
    quadratic = d.sum_over(d.assume("update", under, times=_movement() - gamma * g(m, r)), MICROBATCH, r, (0, S))
    cross = d.sum_over(d.assume(UNBIASED, under, times=a(m, r)), MICROBATCH, r, (0, S))
    return d.weigh(
        "descent",
        MICROBATCH,
        [(d.assume("smooth", MICROBATCH), 1), (linear, -1), (quadratic, -L / 2), (cross, gamma)],
        f(m) - f(m + 1) - gamma * over_blocks(dot(a(m, r), b(m, r))) + L / 2 * gamma**2 * over_blocks(square(g(m, r))),
    )


def _one_step(d: Derivation, noise: Found, level: Term, kept: Term) -> Found:
    """Add the one-step inequality; `noise` bounds |g|^2 by `level` and a multiple `kept` of |grad f(z)|^2."""
    return d.weigh(
        "one step",
        MICROBATCH,
        [(_descent(d), 2 / gamma), (noise, gamma * L), (d.assume("Lipschitz", MICROBATCH), 1)],
        2 / gamma * (f(m) - f(m + 1))
        - over_blocks(square(a(m, r)))
        - (1 - kept * gamma * L) * over_blocks(square(b(m, r)))
        + L**2 * over_blocks(square(x(m, r) - z(m, r)))
        + gamma * L * level,
    )


def _missed(d: Derivation) -> Found:
    """Add: the squared distance of a read is that of the updates it missed."""
    under = MICROBATCH + BLOCK
    read = d.assume("read", under)
    path = d.telescope(under, x(j, r), j, WINDOW)
    moved = d.sum_over(d.assume("update", under + inside(j, WINDOW), {m: j}), under, j, WINDOW)
    drift, gradients = x(m, r) - z(m, r), total(g(j, r), j, *WINDOW)
    off = d.weigh(
        "the read is off by the missed updates",
        under,
        [(read, -1), (path, -1), (moved, 1)],
        drift + gamma * gradients,
        equality=True,
    )
    return d.weigh(
        "squared distance of the read",
        under,
        [(off, drift - gamma * gradients)],
        square(drift) - gamma**2 * square(gradients),
        equality=True,
    )


def _shorter(d: Derivation) -> Found:
    """Add: a window is no longer than the lag of its stage."""
    return d.whole("length of a window", MICROBATCH + BLOCK, LAG - LENGTH)


def stale_read_bounded(d: Derivation) -> Found:
    """Add: the stale read with second moments at most G^2 is at most gamma^2 G^2 S (S - 1)(2S - 1)/6."""
    under = MICROBATCH + BLOCK
    jensen = d.jensen(under, lambda index: g(index, r), (i, n), WINDOW)
    moments = d.sum_over(d.assume("second moment", under + inside(j, WINDOW), {m: j}), under, j, WINDOW)
    count = d.count(under, j, WINDOW)
    each = d.weigh("squared norms of a window", under, [(moments, 1), (count, -(G**2))])
    weighed = d.multiply("weighed by their number", under, each, d.whole("its length", under, LENGTH))
    longer = d.multiply("a longer window is worse", under, _shorter(d), d.whole("sum of lengths", under, LAG + LENGTH))
    block = d.weigh(
        "one block's stale read",
        under,
        [(_missed(d), -1), (jensen, gamma**2), (weighed, gamma**2), (longer, gamma**2 * G**2)],
        gamma**2 * G**2 * lag**2 - square(x(m, r) - z(m, r)),
    )
    blocks = d.sum_over(block, MICROBATCH, r, (0, S))
    squares = d.telescope((), sum_of_squares(S_ - r), r, (0, S))
    return d.weigh(
        "stale read",
        MICROBATCH,
        [(blocks, 1), (squares, gamma**2 * G**2)],
        gamma**2 * G**2 * sum_of_squares(S_) - over_blocks(square(x(m, r) - z(m, r))),
    )


def sum_of_squares(number: Term) -> Term:
    """Return 0^2 + 1^2 + ... + (number - 1)^2."""
    return number * (number - 1) * (2 * number - 1) / 6


def _averaged(d: Derivation, every: Found, bound: Term) -> Found:
    """Add the theorem, from a bound on the sum over all microbatches."""
    falls = d.telescope((), f(m), m, (0, M))
    weight = 2 / (gamma * M_)
    kept = over_blocks(square(a(m, r)))
    return d.weigh(
        "average over the microbatches",
        (),
        [
            (every, 1 / M_),
            (d.count((), m, (0, M)), -bound / M_),
            (falls, weight),
            (d.assume("lower bound", (), {m: M}), weight),
            (d.assume("start", ()), weight),
        ],
        weight * D + bound - total(kept, m, 0, M) / M_,
    )


def theorem_2(d: Derivation) -> Found:
    """Add Theorem 2: deterministic PipeDream with bounded second moments, at any step size."""
    under = MICROBATCH + BLOCK
    moments = d.sum_over(d.assume("second moment", under), MICROBATCH, r, (0, S))
    noise = d.weigh(
        "second moment of an update",
        MICROBATCH,
        [(moments, 1), (d.count(MICROBATCH, r, (0, S)), -(G**2))],
        S_ * G**2 - over_blocks(square(g(m, r))),
    )
    step = _one_step(d, noise, S_ * G**2, ONE - ONE)
    there = over_blocks(square(b(m, r)))
    bound = gamma * L * S_ * G**2 + gamma**2 * L**2 * G**2 * sum_of_squares(S_)
    each = d.weigh(
        "one step with its stale read",
        MICROBATCH,
        [(step, 1), (stale_read_bounded(d), L**2), (d.evident("the gradient at z", there), 1)],
        2 / gamma * (f(m) - f(m + 1)) - over_blocks(square(a(m, r))) + bound,
    )
    return _averaged(d, d.sum_over(each, (), m, (0, M)), bound)


def _noise_sum(d: Derivation) -> Found:
    """Add: noise of different microbatches is uncorrelated, so that its sum has the summed variances."""
    under = MICROBATCH + BLOCK

    def noise(index: sp.Expr) -> Term:
        return g(index, r) - b(index, r)

    def vanish(domain: Hypotheses, late: sp.Symbol, early: sp.Symbol) -> Found:
        return d.assume(UNBIASED, domain, {m: late}, times=noise(early))

    here = under + inside(i, WINDOW)
    row = d.uncorrelated(under, noise, (i, j), WINDOW, vanish)
    variance = d.assume("variance", here, {m: i})
    each = d.sum_over(d.weigh("variance of a row", here, [(row, -1), (variance, 1)]), under, i, WINDOW)
    return d.weigh(
        "variance of a window",
        under,
        [(each, 1), (d.count(under, i, WINDOW), -(sigma**2)), (_shorter(d), sigma**2)],
        lag * sigma**2 - square(total(noise(i), i, *WINDOW)),
    )


def stale_read_variance(d: Derivation) -> Found:
    """Add: over a whole run, stale reads weigh the gradients at z and the variance."""
    under = MICROBATCH + BLOCK
    drift, noise = total(b(j, r), j, *WINDOW), total(g(j, r) - b(j, r), j, *WINDOW)
    parts = d.squares("gradient and noise", [drift - noise])
    jensen = d.jensen(under, lambda index: b(index, r), (i, n), WINDOW)
    norms = total(square(b(j, r)), j, *WINDOW)
    longer = d.multiply("a longer window is worse", under, _shorter(d), d.evident("squared gradients", norms))
    block = d.weigh(
        "one block's stale read",
        under,
        [
            (_missed(d), -1),
            (parts, gamma**2),
            (jensen, 2 * gamma**2),
            (longer, 2 * gamma**2),
            (_noise_sum(d), 2 * gamma**2),
        ],
        2 * gamma**2 * lag * (norms + sigma**2) - square(x(m, r) - z(m, r)),
    )
    run = d.sum_over(block, BLOCK, m, (0, M))
    last = sp.Min(M, j + LAG + 1)
    exchanged = d.exchange(BLOCK, square(b(j, r)), (m, (0, M)), (j, WINDOW), (0, M), (j + 1, last))
    read = BLOCK + inside(j, (0, M))
    readers = d.multiply(
        "an update is missed by at most as many microbatches as the lag",
        read,
        d.whole("number of microbatches that miss an update", read, LAG - (last - j - 1)),
        d.evident("a squared gradient", square(b(j, r))),
    )
    counted = d.count(read, m, (j + 1, last))
    missed = d.sum_over(
        d.weigh("an update's readers", read, [(readers, 1), (counted, -square(b(j, r)))]), BLOCK, j, (0, M)
    )
    gradients = total(square(b(j, r)), j, 0, M)
    steeper = d.multiply(
        "the first stage's lag is the largest",
        BLOCK,
        d.multiply("lags", BLOCK, d.whole("a lag", BLOCK, S - 1 - LAG), d.whole("two lags", BLOCK, S - 1 + LAG)),
        d.evident("all squared gradients", gradients),
    )
    late = d.multiply("a lag and a run", BLOCK, missed, d.whole("a lag is no less than 0", BLOCK, LAG))
    blocks = d.sum_over(
        d.weigh(
            "one block's stale reads",
            BLOCK,
            [
                (run, 1),
                (exchanged, -2 * gamma**2 * lag),
                (late, 2 * gamma**2),
                (steeper, 2 * gamma**2),
                (d.count(BLOCK, m, (0, M)), -2 * gamma**2 * lag * sigma**2),
            ],
            2 * gamma**2 * (S_ - 1) ** 2 * gradients
            + 2 * gamma**2 * lag * sigma**2 * M_
            - total(square(x(m, r) - z(m, r)), m, 0, M),
        ),
        (),
        r,
        (0, S),
    )
    lags = d.telescope((), (S_ - r) * (S_ - r - 1) / 2, r, (0, S))
    return d.weigh(
        "stale reads of a run",
        (),
        [(blocks, 1), (lags, 2 * gamma**2 * sigma**2 * M_)],
        2 * gamma**2 * (S_ - 1) ** 2 * total(over_blocks(square(b(m, r))), m, 0, M)
        + gamma**2 * sigma**2 * M_ * S_ * (S_ - 1)
        - total(over_blocks(square(x(m, r) - z(m, r))), m, 0, M),
    )


def theorem_3(d: Derivation) -> Found:
    """Add Theorem 3: deterministic PipeDream with bounded variance alone, below a step size."""
    under = MICROBATCH + BLOCK
    cross = d.sum_over(d.assume(UNBIASED, under, times=b(m, r)), MICROBATCH, r, (0, S))
    variance = d.sum_over(d.assume("variance", under), MICROBATCH, r, (0, S))
    noise = d.weigh(
        "second moment of an update",
        MICROBATCH,
        [(variance, 1), (cross, -2), (d.count(MICROBATCH, r, (0, S)), -(sigma**2))],
        S_ * sigma**2 + over_blocks(square(b(m, r))) - over_blocks(square(g(m, r))),
    )
    step = _one_step(d, noise, S_ * sigma**2, ONE)
    everywhere = total(over_blocks(square(b(m, r))), m, 0, M)
    bound = gamma * L * S_ * sigma**2 + gamma**2 * L**2 * sigma**2 * S_ * (S_ - 1)
    run = d.weigh(
        "a run with its stale reads",
        (),
        [
            (d.sum_over(step, (), m, (0, M)), 1),
            (stale_read_variance(d), L**2),
            (d.assume("step size", (), times=everywhere), 1),
        ],
    )
    count = d.count((), m, (0, M))
    extra = gamma**2 * L**2 * sigma**2 * S_ * (S_ - 1)
    every = d.weigh("a run", (), [(run, 1), (count, extra)])
    return _averaged(d, every, bound)

"""LocalSGD: N workers, H local steps between averages, C rounds, T = C H steps.

Step (c, h) is step h of round c. Time (c, 2h) is before its samples are drawn, (c, 2h + 1) after.
"""

from __future__ import annotations

import sympy as sp

from pdtheory.derivations.convergence.aligned import sum_of_squares
from pdtheory.derivations.convergence.building import Derivation, Found, inside
from pdtheory.proof.model import Family, Hypothesis, Model, Parameter, Sign, Timing
from pdtheory.proof.steps import Hypotheses
from pdtheory.proof.terms import ONE, Term, dot, integer, parameter, scalars, square, total, vectors

N, H, C, c, h, i, j, n, u, v = map(integer, ("N", "H", "C", "c", "h", "i", "j", "n", "u", "v"))
N_, H_, C_, h_ = map(parameter, ("N", "H", "C", "h"))
gamma, L, S, G, D, sigma, fstar = map(parameter, ("gamma", "L", "S", "G", "D", "sigma", "fstar"))
f = scalars("f")
x, y, a, b, g = map(vectors, "xyabg")

ROUND = inside(c, (0, C))
STEP = ROUND + inside(h, (0, H))
WORKER = inside(u, (0, N))
PAST = (0, h)
UNBIASED, APART = "unbiased at every worker, fresh samples", "workers draw independently"


def mean(summand: Term) -> Term:
    """Return the average over the workers u."""
    return total(summand, u, 0, N) / N_


def _movement() -> Term:
    return x(c, h + 1) - x(c, h)


_FAMILIES = (
    Family("f", "f(x_c,h)", (c, h), False, Timing.TIMED, (c, 2 * h)),
    Family("x", "average model", (c, h), True, Timing.TIMED, (c, 2 * h)),
    Family("y", "model of worker u", (c, h, u), True, Timing.TIMED, (c, 2 * h)),
    Family("a", "grad f at the average model", (c, h), True, Timing.TIMED, (c, 2 * h)),
    Family("b", "grad f at worker u's model", (c, h, u), True, Timing.TIMED, (c, 2 * h)),
    Family("g", "stochastic gradient of worker u", (c, h, u), True, Timing.TIMED, (c, 2 * h + 1)),
)
_PARAMETERS = (
    Parameter("N", "number of workers", Sign.POSITIVE, integer=True),
    Parameter("H", "local steps between averages", Sign.POSITIVE, integer=True),
    Parameter("C", "number of rounds", Sign.POSITIVE, integer=True),
    Parameter("S", "number of blocks of the model", Sign.POSITIVE, integer=True),
    Parameter("gamma", "step size", Sign.POSITIVE),
    Parameter("L", "smoothness of f", Sign.POSITIVE),
    Parameter("sigma", "bound on the root of every block's variance", Sign.NONNEGATIVE),
    Parameter("D", "f(x_0,0) - f*", Sign.NONNEGATIVE),
    Parameter("fstar", "lower bound on f", Sign.ANY),
)


def _error(index: sp.Expr, worker: sp.Expr) -> Term:
    return g(c, index, worker) - b(c, index, worker)


_SHARED = (
    Hypothesis(
        "smooth",
        "f lies below its quadratic upper bound at the average model",
        (c, h),
        STEP,
        f(c, h) - f(c, h + 1) + dot(a(c, h), _movement()) + L / 2 * square(_movement()),
    ),
    Hypothesis(
        "Lipschitz",
        "grad f is L-Lipschitz between the average and every worker",
        (c, h, u),
        STEP + WORKER,
        L**2 * square(x(c, h) - y(c, h, u)) - square(a(c, h) - b(c, h, u)),
    ),
    Hypothesis(
        "local step",
        "every worker moves by its own gradient",
        (c, h, u),
        STEP + WORKER,
        y(c, h + 1, u) - y(c, h, u) + gamma * g(c, h, u),
        equality=True,
    ),
    Hypothesis(
        "average",
        "x is the average of the workers",
        (c, h),
        (*ROUND, h >= 0, h <= H),
        x(c, h) - mean(y(c, h, u)),
        equality=True,
    ),
    Hypothesis(
        "synchronization",
        "every round starts at the average",
        (c, u),
        ROUND + WORKER,
        y(c, sp.Integer(0), u) - x(c, sp.Integer(0)),
        equality=True,
    ),
    Hypothesis(
        "next round",
        "a round starts where the one before ended",
        (c,),
        ROUND,
        f(c + 1, sp.Integer(0)) - f(c, H),
        equality=True,
    ),
    Hypothesis(
        UNBIASED,
        "given the past every worker's gradient has mean grad f at its model",
        (c, h, u),
        STEP + WORKER,
        _error(h, u),
        equality=True,
        conditional=True,
        given=(c, 2 * h),
    ),
    Hypothesis(
        APART,
        "given the past the errors of two workers are uncorrelated",
        (c, h, u, v),
        STEP + WORKER + (v >= 0, v < N, sp.Ne(u, v)),
        dot(_error(h, u), _error(h, v)),
        equality=True,
        conditional=True,
        given=(c, 2 * h),
    ),
    Hypothesis(
        "variance",
        "given the past every block's variance is at most sigma^2",
        (c, h, u),
        STEP + WORKER,
        S * sigma**2 - square(_error(h, u)),
        conditional=True,
        given=(c, 2 * h),
    ),
    Hypothesis(
        "start",
        "D is the initial suboptimality",
        (),
        (),
        D - f(sp.Integer(0), sp.Integer(0)) + fstar,
        equality=True,
    ),
    Hypothesis("lower bound", "f is at least f*", (c,), (c >= 0, c <= C), f(c, sp.Integer(0)) - fstar),
)
LOCAL_SGD = Model(
    "LocalSGD",
    (*_PARAMETERS, Parameter("G", "bound on the root of every block's second moment", Sign.POSITIVE)),
    (),
    _FAMILIES,
    (
        *_SHARED,
        Hypothesis(
            "second moment",
            "given the past every block's second moment is at most G^2",
            (c, h, u),
            STEP + WORKER,
            S * G**2 - square(g(c, h, u)),
            conditional=True,
            given=(c, 2 * h),
        ),
        Hypothesis("step size", "gamma L <= 1", (), (), 1 - gamma * L),
    ),
)
LOCAL_SGD_VARIANCE = Model(
    "LocalSGD, bounded variance",
    _PARAMETERS,
    (),
    _FAMILIES,
    (
        *_SHARED,
        Hypothesis(
            "step size",
            "gamma L + gamma^2 L^2 H (H - 1) <= 1",
            (),
            (),
            1 - gamma * L - gamma**2 * L**2 * H_ * (H_ - 1),
        ),
    ),
)


def _workers(d: Derivation) -> Found:
    """Add: the average model moves by the average gradient."""
    step = d.sum_over(d.assume("local step", STEP + WORKER), STEP, u, (0, N))
    return d.weigh(
        "the average moves by the average gradient",
        STEP,
        [
            (d.assume("average", STEP, {h: h + 1}), 1),
            (d.assume("average", STEP), -1),
            (step, 1 / N_),
        ],
        _movement() + gamma * mean(g(c, h, u)),
        equality=True,
    )


def _noise(d: Derivation) -> Found:
    """Add: the average of independent errors has a variance of at most S sigma^2/N."""
    here = STEP + WORKER

    def vanish(domain: Hypotheses, late: sp.Symbol, early: sp.Symbol) -> Found:
        return d.assume(APART, domain, {u: late, v: early})

    row = d.uncorrelated(STEP, lambda worker: _error(h, worker), (u, v), (0, N), vanish)
    each = d.weigh("variance of a row", here, [(row, -1), (d.assume("variance", here), 1)])
    return d.weigh(
        "variance of the average",
        STEP,
        [
            (d.sum_over(each, STEP, u, (0, N)), 1 / N_**2),
            (d.count(STEP, u, (0, N)), -S * sigma**2 / N_**2),
        ],
        S * sigma**2 / N_ - square(mean(_error(h, u))),
    )


def _one_step(d: Derivation) -> Found:
    """Add: f falls at the average model, against the average slope and the noise."""
    moved = _workers(d)
    slope = mean(b(c, h, u))
    linear = d.weigh("along the gradient", STEP, [(moved, a(c, h))], equality=True)
    step = _movement() - gamma * mean(g(c, h, u))
    quadratic = d.weigh("squared step", STEP, [(moved, step)], equality=True)
    errors = d.sum_over(d.assume(UNBIASED, STEP + WORKER, times=a(c, h)), STEP, u, (0, N))
    # Every worker's slope is known before the samples: it may be multiplied with any worker's error.
    other = (*STEP, v >= 0, v < N)
    cross = d.sum_over(d.assume(UNBIASED, other + WORKER, times=b(c, h, v)), other, u, (0, N))
    return d.weigh(
        "descent",
        STEP,
        [
            (d.assume("smooth", STEP), 2 / gamma),
            (linear, -2 / gamma),
            (quadratic, -L / gamma),
            (errors, 2 / N_),
            (d.sum_over(cross, STEP, v, (0, N)), -2 * gamma * L / N_**2),
            (_noise(d), gamma * L),
        ],
        2 / gamma * (f(c, h) - f(c, h + 1))
        - 2 * dot(a(c, h), slope)
        + gamma * L * square(slope)
        + gamma * L * S * sigma**2 / N_,
    )


def _spread(d: Derivation) -> Found:
    """Add: the average slope is no longer than the slopes of the workers."""
    return d.jensen(STEP, lambda worker: b(c, h, worker), (u, v), (0, N))


def _differences(d: Derivation) -> Found:
    """Add: the workers' slopes differ from the gradient at the average by no more than L times their distance."""
    return d.sum_over(d.assume("Lipschitz", STEP + WORKER), STEP, u, (0, N))


def _path(d: Derivation) -> Found:
    """Add: a worker is away from the start of its round by its gradients there."""
    here = STEP + WORKER
    path = d.telescope(here, y(c, j, u), j, PAST)
    steps = d.sum_over(d.assume("local step", here + inside(j, PAST), {h: j}), here, j, PAST)
    start = d.assume("synchronization", ROUND + WORKER)
    return d.weigh(
        "a worker's path",
        here,
        [(path, -1), (steps, 1), (start, 1)],
        y(c, h, u) - x(c, sp.Integer(0)) + gamma * total(g(c, j, u), j, *PAST),
        equality=True,
    )


def drift_bounded(d: Derivation) -> Found:
    """Add: the workers' squared distance from their average is at most gamma^2 h^2 S G^2."""
    here = STEP + WORKER
    start, gradients = x(c, sp.Integer(0)), total(g(c, j, u), j, *PAST)
    path = _path(d)
    distance = d.weigh("squared path", here, [(path, y(c, h, u) - start - gamma * gradients)], equality=True)
    jensen = d.jensen(here, lambda index: g(c, index, u), (i, n), PAST)
    moments = d.sum_over(d.assume("second moment", here + inside(j, PAST), {h: j}), here, j, PAST)
    count = d.count(here, j, PAST)
    each = d.weigh("squared norms so far", here, [(moments, 1), (count, -S * G**2)])
    weighed = d.multiply("weighed by their number", here, each, d.whole("steps so far", here, h))
    worker = d.weigh(
        "a worker's distance from the start",
        here,
        [(distance, -1), (jensen, gamma**2), (weighed, gamma**2)],
        gamma**2 * S * G**2 * h_**2 - square(y(c, h, u) - start),
    )
    return _about_average(d, worker, start, gamma**2 * S * G**2 * h_**2)


def _about_average(d: Derivation, worker: Found, start: Term, bound: Term) -> Found:
    """Add: no point is closer to all workers than their average, from `bound` on each squared distance to `start`."""
    here = x(c, h)
    return d.weigh(
        "distance from the average",
        STEP,
        [
            (d.sum_over(worker, STEP, u, (0, N)), 1 / N_),
            (d.squares("the average from the start", [here - start]), 1),
            (d.assume("average", STEP), 2 * start - 2 * here),
            (d.count(STEP, u, (0, N)), (square(start) - square(here) - bound) / N_),
        ],
        bound - mean(square(here - y(c, h, u))),
    )


def _averaged(d: Derivation, every: Found, bound: Term) -> Found:
    """Add the theorem, from an estimate of the sum over all steps."""
    steps = d.sum_over(d.telescope(ROUND, f(c, h), h, (0, H)), (), c, (0, C))
    rounds = d.telescope((), f(c, sp.Integer(0)), c, (0, C))
    joints = d.sum_over(d.assume("next round", ROUND), (), c, (0, C))
    weight = 2 / (gamma * C_ * H_)
    return d.weigh(
        "average over the steps",
        (),
        [
            (every, 1 / (C_ * H_)),
            (d.count((), h, (0, H)), -bound / (C_ * H_) * total(ONE, c, 0, C)),
            (d.count((), c, (0, C)), -bound / C_),
            (steps, weight),
            (joints, -weight),
            (rounds, weight),
            (d.assume("lower bound", (), {c: C}), weight),
            (d.assume("start", ()), weight),
        ],
        weight * D + bound - total(total(square(a(c, h)), h, 0, H), c, 0, C) / (C_ * H_),
    )


def local_sgd_bounded(d: Derivation) -> Found:
    """Add the LocalSGD bound with second moments at most G^2 per block, gamma L <= 1."""
    slope = mean(b(c, h, u))
    small = d.multiply("a small step", STEP, d.assume("step size", ()), d.squares("squared average slope", [slope]))
    noise = gamma * L * S * sigma**2 / N_
    each = d.weigh(
        "one step with its drift",
        STEP,
        [
            (_one_step(d), 1),
            (small, 1),
            (_spread(d), 1 / N_**2),
            (d.count(STEP, u, (0, N)), square(a(c, h)) / N_),
            (_differences(d), 1 / N_),
            (drift_bounded(d), L**2),
        ],
        2 / gamma * (f(c, h) - f(c, h + 1)) - square(a(c, h)) + noise + gamma**2 * L**2 * S * G**2 * h_**2,
    )
    rounds = d.sum_over(each, ROUND, h, (0, H))
    squares = d.telescope((), sum_of_squares(h_), h, (0, H))
    drift = gamma**2 * L**2 * S * G**2
    mended = d.weigh(
        "a round",
        ROUND,
        [(rounds, 1), (squares, -drift), (d.count((), h, (0, H)), drift * (H_ - 1) * (2 * H_ - 1) / 6)],
    )
    every = d.sum_over(mended, (), c, (0, C))
    return _averaged(d, every, noise + drift * (H_ - 1) * (2 * H_ - 1) / 6)


def _errors(d: Derivation) -> Found:
    """Add: the workers' summed errors about their average have variance h (N - 1) S sigma^2 in all."""
    here, two = STEP + WORKER, (*STEP, *WORKER, v >= 0, v < N)

    def fresh(domain: Hypotheses, late: sp.Symbol, early: sp.Symbol, one: sp.Symbol, other: sp.Symbol) -> Found:
        return d.assume(UNBIASED, domain, {h: late, u: one}, times=_error(early, other))

    def own(domain: Hypotheses, late: sp.Symbol, early: sp.Symbol) -> Found:
        return fresh(domain, late, early, u, u)

    row = d.uncorrelated(here, lambda step: _error(step, u), (i, j), PAST, own)
    itself = d.sum_over(row, here, i, PAST)
    apart = (*two, sp.Ne(u, v))
    step = apart + inside(i, PAST)
    products = dot(_error(i, u), _error(j, v))
    others = d.sum_over(
        d.weigh(
            "errors of two workers",
            step,
            [
                (d.split(step, products, j, PAST, i), 1),
                (d.split(step, products, j, (i, h), i + 1), 1),
                (d.one_term(products, j, i), 1),
                (d.assume(APART, step, {h: i}), 1),
                (d.sum_over(fresh((*step, j >= 0, j < i), i, j, u, v), step, j, (0, i)), 1),
                (d.sum_over(fresh((*step, j > i, j < h), j, i, v, u), step, j, (i + 1, h)), 1),
            ],
            total(products, j, *PAST),
            equality=True,
        ),
        apart,
        i,
        PAST,
    )
    summed = {worker: total(_error(i, worker), i, *PAST) for worker in (u, v)}

    def between(domain: Hypotheses, late: sp.Symbol, early: sp.Symbol) -> Found:
        return d.specialize(others, domain, {u: late, v: early})

    workers = d.uncorrelated(STEP, lambda worker: total(_error(i, worker), i, *PAST), (u, v), (0, N), between)
    variance = d.sum_over(d.assume("variance", here + inside(i, PAST), {h: i}), here, i, PAST)
    each = d.weigh(
        "variance of a worker's errors",
        here,
        [(variance, 1), (itself, -1), (d.count(here, i, PAST), -S * sigma**2)],
        h_ * S * sigma**2 - square(summed[u]),
    )
    weighed = d.multiply(
        "all but one",
        STEP,
        d.sum_over(each, STEP, u, (0, N)),
        d.whole("other workers", (), N - 1),
    )
    return d.weigh(
        "variance about the average",
        STEP,
        [
            (weighed, 1 / N_),
            (d.sum_over(workers, STEP, u, (0, N)), 1 / N_),
            (d.count(STEP, u, (0, N)), -(N_ - 1) / N_ * h_ * S * sigma**2),
        ],
        (N_ - 1) * h_ * S * sigma**2 - total(square(summed[u]), u, 0, N) + square(total(summed[u], u, 0, N)) / N_,
    )


def drift_variance(d: Derivation) -> Found:
    """Add: in each round the drift weighs the workers' slopes and the variance."""
    here = STEP + WORKER
    start = x(c, sp.Integer(0))
    slopes, errors = total(b(c, i, u), i, *PAST), total(_error(i, u), i, *PAST)
    path = d.weigh(
        "a worker's path, slopes and errors",
        here,
        [(_path(d), 1)],
        y(c, h, u) - start + gamma * (slopes + errors),
        equality=True,
    )
    paths = d.weigh(
        "the average's path",
        STEP,
        [
            (d.sum_over(path, STEP, u, (0, N)), 1 / N_),
            (d.assume("average", STEP), 1),
            (d.count(STEP, u, (0, N)), start / N_),
        ],
        x(c, h) - start + gamma * (mean(slopes) + mean(errors)),
        equality=True,
    )
    off = x(c, h) - y(c, h, u)
    moved = gamma * (slopes - mean(slopes) + errors - mean(errors))
    apart = d.weigh("a worker from the average", here, [(paths, 1), (path, -1)], off - moved, equality=True)
    distance = d.weigh("squared distance", here, [(apart, off + moved)], square(off) - square(moved), equality=True)
    parts = d.squares("slopes and errors", [slopes - mean(slopes) - errors + mean(errors)])
    each = d.sum_over(d.weigh("a worker's distance", here, [(distance, -1), (parts, gamma**2)]), STEP, u, (0, N))
    workers = d.count(STEP, u, (0, N))
    jensen = d.sum_over(d.jensen(here, lambda index: b(c, index, u), (i, n), PAST), STEP, u, (0, N))
    shorter = d.squares("squared average slope", [total(slopes, u, 0, N)])
    norms = total(total(square(b(c, i, u)), i, *PAST), u, 0, N)
    summed, noise = total(slopes, u, 0, N), total(errors, u, 0, N)
    return d.weigh(
        "drift",
        STEP,
        [
            (each, 1 / N_),
            (workers, -2 * gamma**2 * (square(summed) + square(noise)) / N_**3),
            (shorter, 2 * gamma**2 / N_**2),
            (jensen, 2 * gamma**2 / N_),
            (_errors(d), 2 * gamma**2 / N_),
        ],
        2 * gamma**2 * h_ * norms / N_ + 2 * gamma**2 * h_ * S * sigma**2 * (N_ - 1) / N_ - mean(square(off)),
    )


def local_sgd_variance(d: Derivation) -> Found:
    """Add the LocalSGD bound with bounded variance alone, below a step size."""
    noise = gamma * L * S * sigma**2 / N_
    workers = d.count(STEP, u, (0, N))
    squares = total(square(b(c, h, u)), u, 0, N)
    each = d.weigh(
        "one step with its drift",
        STEP,
        [
            (_one_step(d), 1),
            (_spread(d), gamma * L / N_**2),
            (workers, square(a(c, h)) / N_),
            (_differences(d), 1 / N_),
            (drift_variance(d), L**2),
        ],
        2 / gamma * (f(c, h) - f(c, h + 1))
        - square(a(c, h))
        - (1 - gamma * L) * squares / N_
        + noise
        + 2 * gamma**2 * L**2 * h_ * total(squares.at({h: j}), j, *PAST) / N_
        + 2 * gamma**2 * L**2 * h_ * S * sigma**2 * (N_ - 1) / N_,
    )
    rounds = d.sum_over(each, ROUND, h, (0, H))
    norms = squares.at({h: j})
    exchanged = d.exchange(ROUND, h_ * norms, (h, (0, H)), (j, PAST), (0, H), (j + 1, H))
    step = ROUND + inside(j, (0, H))
    later = d.telescope(step, h_ * (h_ - 1), h, (j + 1, H))
    pair = d.multiply("j (j + 1)", step, d.whole("a step", step, j), d.whole("the step after", step, j + 1))
    weights = d.multiply("steps that see it", step, pair, d.evident("squared slopes", norms))
    seen = d.sum_over(
        d.weigh(
            "a step's weight in the later drifts",
            step,
            [(later, -norms), (weights, 1)],
            norms * (H_ * (H_ - 1) - 2 * total(h_, h, j + 1, H)),
        ),
        ROUND,
        j,
        (0, H),
    )
    rate = gamma**2 * L**2 / N_
    linear = d.telescope((), h_ * (h_ - 1) / 2, h, (0, H))
    extra = 2 * gamma**2 * L**2 * S * sigma**2 * (N_ - 1) / N_
    everywhere = total(squares, h, 0, H)
    mended = d.weigh(
        "a round",
        ROUND,
        [
            (rounds, 1),
            (exchanged, -2 * rate),
            (seen, rate),
            (linear, -extra),
            (d.assume("step size", (), times=everywhere / N_), 1),
            (d.count((), h, (0, H)), extra * (H_ - 1) / 2),
        ],
    )
    return _averaged(d, d.sum_over(mended, (), c, (0, C)), noise + extra * (H_ - 1) / 2)

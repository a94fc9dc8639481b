"""Randomized PipeDream (RPD): the paper's setting as a model.

Time 3k is before iteration k, 3k + 1 after its stage is drawn, 3k + 2 after its sample is drawn.
"""

from __future__ import annotations

import dataclasses

import sympy as sp

from pdtheory.derivations.convergence.building import inside
from pdtheory.proof.model import Family, Hypothesis, Model, Parameter, Sign, Timing
from pdtheory.proof.terms import Term, dot, integer, parameter, scalars, square, term, total, vectors

S, K, delta = map(integer, ("S", "K", "delta"))
k, r, j, i, h = map(integer, "krjih")
S_, K_, delta_ = map(parameter, ("S", "K", "delta"))
gamma, L, G, D = map(parameter, ("gamma", "L", "G", "D"))
f, p, q = map(scalars, "fpq")
w, z, a, b, g = map(vectors, "wzabg")

ITERATION = inside(k, (0, K))
BLOCK = inside(r, (0, S))
FIRST = sp.Max(0, k - delta)
WINDOW = (FIRST, k)
LENGTH = k - FIRST
sigma, fstar = map(parameter, ("sigma", "fstar"))


def over_blocks(summand: Term) -> Term:
    """Return the sum over all blocks r."""
    return total(summand, r, 0, S)


_PARAMETERS = (
    Parameter("S", "number of stages, one block each", Sign.POSITIVE, integer=True),
    Parameter("K", "number of block updates", Sign.POSITIVE, integer=True),
    Parameter("delta", "bound on the block delay", Sign.NONNEGATIVE, integer=True),
    Parameter("gamma", "step size", Sign.POSITIVE),
    Parameter("L", "smoothness of f", Sign.POSITIVE),
    Parameter("D", "f(w_0) - f*", Sign.NONNEGATIVE),
    Parameter("fstar", "lower bound on f", Sign.ANY),
)
_FAMILIES = (
    Family("f", "f(w_k)", (k,), False, Timing.TIMED, (3 * k,)),
    Family("w", "block r of w_k", (k, r), True, Timing.TIMED, (3 * k,)),
    Family("z", "block r of the model z_k that iteration k reads", (k, r), True, Timing.TIMED, (3 * k,)),
    Family("a", "block r of grad f(w_k)", (k, r), True, Timing.TIMED, (3 * k,)),
    Family("b", "block r of grad f(z_k)", (k, r), True, Timing.TIMED, (3 * k,)),
    Family("p", "1 if stage r is drawn in iteration k, else 0", (k, r), False, Timing.TIMED, (3 * k + 1,), True),
    Family("g", "block r of grad f(z_k; xi_k)", (k, r), True, Timing.TIMED, (3 * k + 2,)),
)
_UNSEEN = Family(
    "q", "1 if the read of block r in iteration k misses update j, else 0", (k, r, j), False, Timing.UNSAID,
    nonnegative=True,
)  # fmt: skip


def movement() -> Term:
    """Return what iteration k adds to block r."""
    return w(k + 1, r) - w(k, r)


HYPOTHESES = {
    "smooth": Hypothesis(
        "smooth",
        "f lies below its quadratic upper bound at w_k",
        (k,),
        ITERATION,
        f(k) - f(k + 1) + over_blocks(dot(a(k, r), movement())) + L / 2 * over_blocks(square(movement())),
    ),
    "Lipschitz": Hypothesis(
        "Lipschitz",
        "grad f is L-Lipschitz between w_k and z_k",
        (k,),
        ITERATION,
        L**2 * over_blocks(square(w(k, r) - z(k, r))) - over_blocks(square(a(k, r) - b(k, r))),
    ),
    "update": Hypothesis(
        "update",
        "only the drawn block moves",
        (k, r),
        ITERATION + BLOCK,
        movement() + gamma * p(k, r) * g(k, r),
        equality=True,
    ),
    "read": Hypothesis(
        "read",
        "z_k is w_k without updates that the read missed, all among the last delta",
        (k, r),
        ITERATION + BLOCK,
        w(k, r) - z(k, r) - total(q(k, r, j) * (w(j + 1, r) - w(j, r)), j, *WINDOW),
        equality=True,
    ),
    "missed": Hypothesis("missed", "q is at most 1", (k, r, j), ITERATION + BLOCK + inside(j, WINDOW), 1 - q(k, r, j)),
    "indicator": Hypothesis(
        "indicator", "p is 0 or 1", (k, r), ITERATION + BLOCK, p(k, r) ** 2 - p(k, r), equality=True
    ),
    "uniform stage, independent of the read": Hypothesis(
        "uniform stage, independent of the read",
        "the stage is uniform given the past, z_k is part of the past",
        (k, r),
        ITERATION + BLOCK,
        p(k, r) - term(1) / parameter("S"),
        equality=True,
        conditional=True,
        given=(3 * k,),
    ),
    "unbiased at z, fresh sample": Hypothesis(
        "unbiased at z, fresh sample",
        "given past and stage the stochastic gradient has mean grad f(z_k)",
        (k, r),
        ITERATION + BLOCK,
        g(k, r) - b(k, r),
        equality=True,
        conditional=True,
        given=(3 * k + 1,),
    ),
    "second moment": Hypothesis(
        "second moment",
        "given past and stage the second moment of every block is at most G^2",
        (k, r),
        ITERATION + BLOCK,
        G**2 - square(g(k, r)),
        conditional=True,
        given=(3 * k + 1,),
    ),
    "start": Hypothesis("start", "D is the initial suboptimality", (), (), D - f(sp.Integer(0)) + fstar, equality=True),
    "lower bound": Hypothesis("lower bound", "f is at least f*", (k,), (k >= 0, k <= K), f(k) - fstar),
}

STAGE, UNBIASED = "uniform stage, independent of the read", "unbiased at z, fresh sample"
RPD = Model(
    "randomized PipeDream",
    (*_PARAMETERS, Parameter("G", "bound on the root of every block's second moment", Sign.POSITIVE)),
    (),
    (*_FAMILIES, _UNSEEN),
    tuple(HYPOTHESES.values()),
)
RPD_VARIANCE = Model(
    "randomized PipeDream, bounded variance, delays independent of the draws",
    (*_PARAMETERS, Parameter("sigma", "bound on the root of every block's variance", Sign.NONNEGATIVE)),
    (),
    (*_FAMILIES, dataclasses.replace(_UNSEEN, timing=Timing.FIXED)),
    (
        *(h for name, h in HYPOTHESES.items() if name != "second moment"),
        Hypothesis(
            "variance",
            "given past and stage the variance of every block is at most sigma^2",
            (k, r),
            ITERATION + BLOCK,
            sigma**2 - square(g(k, r) - b(k, r)),
            conditional=True,
            given=(3 * k + 1,),
        ),
        Hypothesis(
            "step size",
            "gamma L + 2 rho gamma^2 L^2 <= 1 with rho = delta (delta + S - 1)/S^2",
            (),
            (),
            1 - gamma * L - 2 * delta_ * (delta_ + S_ - 1) / S_**2 * gamma**2 * L**2,
        ),
    ),
)

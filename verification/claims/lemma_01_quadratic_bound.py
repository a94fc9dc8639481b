"""L1: from a Lipschitz gradient to the quadratic upper bound, on n pieces of the way, for n without end."""

import sympy as sp

from pdtheory.derivations.convergence.building import Derivation, Found, inside
from pdtheory.proof.model import Family, Hypothesis, Model, Parameter, Sign, Timing
from pdtheory.proof.terms import dot, integer, parameter, scalars, square, vectors
from verification.claim import Claim, Group
from verification.proofs import REMAINDER, Statement

n, j = integer("n"), integer("j")
n_, j_, L, start, end = map(parameter, ("n", "j", "L", "start", "end"))
F, A, a_, h_ = scalars("F"), vectors("A"), vectors("a"), vectors("h")
a, h = a_(), h_()
PIECE = (n >= 1, *inside(j, (0, n)))
_MODEL = Model(
    "a way from w to w + h in n pieces",
    (
        Parameter("L", "Lipschitz constant of the gradient", Sign.POSITIVE),
        Parameter("start", "f(w)", Sign.ANY),
        Parameter("end", "f(w + h)", Sign.ANY),
    ),
    (),
    (
        Family("F", "f(w + (j/n) h)", (n, j), False, Timing.FIXED),
        Family("A", "gradient at a point of piece j", (n, j), True, Timing.FIXED),
        Family("a", "grad f(w)", (), True, Timing.FIXED),
        Family("h", "the way", (), True, Timing.FIXED),
    ),
    (
        Hypothesis(
            "mean value",
            "on every piece f rises by the gradient at some point of it",
            (n, j),
            PIECE,
            n_ * (F(n, j + 1) - F(n, j)) - dot(A(n, j), h),
            equality=True,
        ),
        Hypothesis(
            "Lipschitz",
            "a point of piece j is at most (j + 1)/n of the way from w",
            (n, j),
            PIECE,
            L**2 * (j_ + 1) ** 2 * square(h) - n_**2 * square(A(n, j) - a),
        ),
        Hypothesis("start", "the way starts at w", (n,), (n >= 1,), F(n, sp.Integer(0)) - start, equality=True),
        Hypothesis("end", "the way ends at w + h", (n,), (n >= 1,), F(n, n) - end, equality=True),
    ),
)


def _build(d: Derivation) -> Found:
    off = n_ * (A(n, j) - a) - L * (j_ + 1) * h
    rise = L * (j_ + 1) * square(h) - n_ * dot(A(n, j) - a, h)
    both = d.weigh(
        "a square and the Lipschitz bound",
        PIECE,
        [(d.squares("a square", [off]), 1 / (2 * L)), (d.assume("Lipschitz", PIECE), 1 / (2 * L))],
        rise * (j_ + 1),
    )
    piece = d.cancel(both, PIECE, j + 1, rise)
    mean = d.assume("mean value", PIECE)
    here = (n >= 1,)
    pieces = d.sum_over(d.weigh("one piece", PIECE, [(piece, 1), (mean, -n_)]), here, j, (0, n))
    slack = end - start - dot(a, h)
    every = d.weigh(
        "all pieces",
        here,
        [
            (pieces, 1),
            (d.telescope(here, F(n, j), j, (0, n)), n_**2),
            (d.telescope(here, j_ * (j_ + 1) / 2, j, (0, n)), -L * square(h)),
            (d.count(here, j, (0, n)), -n_ * dot(a, h)),
            (d.assume("end", here), n_**2),
            (d.assume("start", here), -(n_**2)),
        ],
        n_ * (L * square(h) * (n_ + 1) / 2 - n_ * slack),
    )
    divided = d.cancel(every, here, n, L * square(h) * (n_ + 1) / 2 - n_ * slack)
    value = L / 2 * square(h) - slack
    limit = d.limit(divided, (), n, 1, value)
    return d.weigh("the quadratic upper bound", (), [(limit, 1)], value)


_CLAIMED = start + dot(a, h) + L / 2 * square(h) - end
_L1 = Statement("f(w + h) <= f(w) + <grad f(w), h> + (L/2)||h||^2", _MODEL, _build, _CLAIMED)
CLAIM = Claim(
    "L1",
    Group.CHAIN,
    "f(w + h) <= f(w) + <grad f(w), h> + (L/2)||h||^2 for an L-Lipschitz gradient",
    "textbook; the descent lemma",
    _L1.check,
    (
        _L1.off("with L/4 in place of L/2", start + dot(a, h) + L / 4 * square(h) - end),
        _L1.without("Lipschitz"),
        _L1.with_hypothesis(
            "the points of piece j may be (j + 2)/n of the way from w",
            "Lipschitz",
            REMAINDER,
            term=L**2 * (j_ + 2) ** 2 * square(h) - n_**2 * square(A(n, j) - a),
        ),
    ),
)

"""The largest steady block delay as a function of S and NOAM n, for every n."""

from __future__ import annotations

import sympy as sp

from pdtheory import laws
from pdtheory.delays import TieRule
from pdtheory.derivations.finding import shortened
from pdtheory.derivations.ordering import before_read, before_update
from pdtheory.derivations.steady import SteadyDelays, count_before
from pdtheory.proof.steps import (
    CountDifference,
    CountInterval,
    CountOver,
    CountUnion,
    Decide,
    FollowsPolicy,
    Hypotheses,
    Largest,
    LargestValue,
    Proof,
    Step,
    Substitute,
    SumByDifference,
)
from pdtheory.proof.timing import M, S, Wait, integers, n

RULE = TieRule.STAGE_ORDER
m, a, s, r, k = integers("m a s r k")
ZERO = sp.Integer(0)


def wide() -> Proof:
    """Return the proof for n >= S; more than 2 S - 1 microbatches never fit in flight."""
    run = SteadyDelays(laws.WIDE, FollowsPolicy("law", laws.WIDE, Wait.FIRST_STAGE), (S >= 1, n >= S))
    fits = sp.Min(n, 2 * S - 1)
    steady: Hypotheses = (*run.setting, sp.Eq(k, fits), m >= k, m + S <= M)
    everyone = (*steady, a >= 0, a < S, s >= 0, s < S)
    made, seen = run.updates_before_update(ZERO, m, RULE), run.updates_before_read(ZERO, m, RULE)
    words = "largest steady block delay, n >= S"
    steps: list[Step] = [
        run.follows,
        *count_before("made", sp.And(r >= 0, r < S, made), 2 * m + r, steady, [(ZERO, S, True)]),
        # The first stage reads microbatch m at tick 2 m - 2 k + 2 S.
        *count_before("seen", sp.And(r >= 0, r < S, seen), 2 * m - 2 * k + r + 1, steady, [(ZERO, S, True)]),
        CountDifference("delay", "made", "seen", steady, run.window(ZERO, ZERO, m, RULE)),
        Largest("largest", words, "delay", everyone, run.window(a, s, m, RULE), {a: ZERO, s: ZERO}),
    ]
    short = shortened(words, steps)
    return Proof(words, (*short.steps, Substitute("result", short.steps[-1].name, k, fits)))


def narrow() -> Proof:
    """Return the proof for n <= S: a round of 2 S ticks holds n updates of every stage, less a tail.

    Between the first stage's read and its update of one microbatch lie all updates of one round's length,
    but its own and those that follow it in the same tick.
    """
    law = laws.NARROW
    indexing = law.indexing
    x, y = indexing.variables(), indexing.variables("_2")
    (base, i), (base_2, i_2) = x, y
    # Multiples of S from the second round on; the last step but two shows which updates must exist.
    steady: Hypotheses = (S >= 1, n >= 1, n <= S, i >= 0, i < n, sp.Or(sp.Eq(base, S), base >= 2 * S))
    stage = (r >= 0, r < S)
    tick = law.backward(r, y)
    start, stop = 2 * base + 2 * i, 2 * base + 2 * i + 2 * S
    period = sp.And(start <= tick, tick < stop)
    tail = sp.And(*stage, sp.Eq(tick, stop - 1))
    half = sp.floor((S - 1) / 2)
    ahead = 2 * i_2 - 2 * i - 1 - r
    round_of = sp.Piecewise((base - S, ahead >= 0), (base + S, ahead + 2 * S < 0), (base, True))
    exists = sp.And(*indexing.is_index(y), indexing.related(x, y))

    def between(update: sp.Expr, read: sp.Expr) -> sp.Basic:
        return sp.And(
            *stage,
            exists,
            before_update(law, (r, y), (update, x), RULE),
            sp.Not(before_read(law, (r, y), (read, x), RULE)),
        )

    words = "largest steady block delay, n <= S"
    steps: list[Step] = [
        FollowsPolicy("law", law, Wait.FIRST_STAGE),
        CountInterval("round per stage", (*steady, *stage), i_2, period, ZERO, n - 1, {base_2: round_of}, exists),
        SumByDifference("round: sum", steady, r, ZERO, S, n, n * r),
        CountOver("round", "round per stage", "round: sum"),
        CountInterval(
            "tail in this round",
            steady,
            i_2,
            sp.And(tail, sp.Eq(base_2, base)),
            i,
            sp.Min(n - 1, i + half),
            {r: 2 * i_2 - 2 * i, base_2: base},
            exists,
        ),
        CountInterval(
            "tail in the next round",
            steady,
            i_2,
            sp.And(tail, sp.Ne(base_2, base)),
            ZERO,
            sp.Max(-1, i - S + half),
            {r: 2 * i_2 - 2 * i + 2 * S, base_2: base + S},
            exists,
        ),
        CountUnion("tail", ("tail in this round", "tail in the next round"), steady, sp.And(tail, exists)),
        CountDifference("delay", "round", "tail", steady, between(ZERO, ZERO)),
        Decide("no later round is touched", steady, sp.Implies(between(ZERO, ZERO), base_2 <= base + S)),
        Largest(
            "largest of a microbatch",
            "largest block delay of the i-th microbatch of a round",
            "delay",
            (*steady, a >= 0, a < S, s >= 0, s < S),
            between(a, s),
            {a: ZERO, s: ZERO},
        ),
        LargestValue(
            "result", "largest of a microbatch", words, i, n - 1, n * S - 1 - sp.Max(0, n - 1 - sp.floor(S / 2))
        ),
    ]
    return Proof(words, tuple(steps))

"""The largest steady block delay as a function of S and NOAM n, for every n."""

from __future__ import annotations

import sympy as sp

from pdtheory import laws
from pdtheory.derivations.finding import shortened
from pdtheory.derivations.steady import SteadyDelays, count_before
from pdtheory.proof.steps import (
    CountDifference,
    CountInterval,
    CountOver,
    CountUnion,
    FollowsPolicy,
    Hypotheses,
    LargestValue,
    LargestWindow,
    Proof,
    Step,
    Substitute,
    SumByDifference,
)
from pdtheory.proof.timing import M, S, Wait, integers, n
from pdtheory.proof.windows import exists, window
from pdtheory.tie_rules import TieRule

RULE = TieRule.STAGE_ORDER
m, a, s, r, j, k = integers("m a s r j k")
ZERO = sp.Integer(0)


def wide() -> Proof:
    """Return the proof for n >= S; more than 2 S - 1 microbatches never fit in flight."""
    run = SteadyDelays(laws.WIDE, FollowsPolicy("law", laws.WIDE, Wait.FIRST_STAGE), (S >= 1, n >= S))
    fits = sp.Min(n, 2 * S - 1)
    steady: Hypotheses = (*run.setting, sp.Eq(k, fits), m >= k, m + S <= M)
    made, seen = run.updates_before_update(ZERO, m, RULE), run.updates_before_read(ZERO, m, RULE)
    words = "largest steady block delay, n >= S"
    steps: list[Step] = [
        run.follows,
        *count_before("made", sp.And(r >= 0, r < S, made), 2 * m + r, steady, [(ZERO, S, True)]),
        # The first stage reads microbatch m at tick 2 m - 2 k + 2 S.
        *count_before("seen", sp.And(r >= 0, r < S, seen), 2 * m - 2 * k + r + 1, steady, [(ZERO, S, True)]),
        CountDifference("delay", "made", "seen", steady, window(laws.WIDE, RULE, r, (j,), ZERO, ZERO)),
        LargestWindow("largest", "law", "delay", RULE, steady, r, (j,), {a: ZERO, s: ZERO}),
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
    (base_end, i_end) = indexing.end
    # The second round or a later one, the next one complete; Q is a multiple of S.
    steady: Hypotheses = (
        S >= 1,
        n >= 1,
        n <= S,
        i >= 0,
        i < n,
        sp.Or(sp.Eq(base, S), base >= 2 * S),
        base + 2 * S <= base_end,
        i_end >= 0,
        i_end < n,
    )
    stage = (r >= 0, r < S)
    tick = law.backward(r, y)
    start, stop = 2 * base + 2 * i, 2 * base + 2 * i + 2 * S
    period = sp.And(start <= tick, tick < stop)
    tail = sp.And(*stage, sp.Eq(tick, stop - 1))
    half = sp.floor((S - 1) / 2)
    ahead = 2 * i_2 - 2 * i - 1 - r
    round_of = sp.Piecewise((base - S, ahead >= 0), (base + S, ahead + 2 * S < 0), (base, True))
    real = exists(law, y)
    first = window(law, RULE, r, y, ZERO, ZERO)
    words = "largest steady block delay, n <= S"
    steps: list[Step] = [
        FollowsPolicy("law", law, Wait.FIRST_STAGE),
        CountInterval("round per stage", (*steady, *stage), i_2, period, ZERO, n - 1, {base_2: round_of}, real),
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
            real,
        ),
        CountInterval(
            "tail in the next round",
            steady,
            i_2,
            sp.And(tail, sp.Ne(base_2, base)),
            ZERO,
            sp.Max(-1, i - S + half),
            {r: 2 * i_2 - 2 * i + 2 * S, base_2: base + S},
            real,
        ),
        CountUnion("tail", ("tail in this round", "tail in the next round"), steady, sp.And(tail, real)),
        CountDifference("delay", "round", "tail", steady, first),
        LargestWindow("largest of i", "law", "delay", RULE, steady, r, y, {a: ZERO, s: ZERO}),
        LargestValue("result", "largest of i", i, ZERO, n, n - 1, n * S - 1 - sp.Max(0, n - 1 - sp.floor(S / 2))),
    ]
    return Proof(words, tuple(steps))

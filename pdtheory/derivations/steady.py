"""Delays where F runs at 2 m + s and B at 2 m + 2 S - 1 - s once the pipeline is full: 1F1B, NOAM = S.

Counts of updates per stage, summed over stages, for every S at once. The start-up differs between the
schedules that share this steady state, so every derivation is made for one law.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from pdtheory.derivations.finding import shortened, value_of
from pdtheory.proof.steps import (
    AddUp,
    Average,
    Combine,
    CountDifference,
    CountInterval,
    CountOver,
    CountUnion,
    Decide,
    Hypotheses,
    IdleFraction,
    LargestWindow,
    LastTick,
    Proof,
    Step,
    SumByDifference,
    TickOf,
    Window,
)
from pdtheory.proof.timing import Law, M, S, integers
from pdtheory.proof.windows import before_read, before_update, window
from pdtheory.summation import antidifference
from pdtheory.tie_rules import TieRule

m, a, s, r, j = integers("m a s r j")
STAGE_A: Hypotheses = (a >= 0, a < S)
STAGE_S: Hypotheses = (s >= 0, s < S)
ZERO = sp.Integer(0)
Pieces = list[tuple[sp.Expr, sp.Expr, bool]]


def last_index(gap: sp.Expr, strict: bool) -> sp.Expr:
    """Return the largest j with 2 j <= gap, or 2 j < gap."""
    return sp.ceiling(gap / 2) - 1 if strict else sp.floor(gap / 2)


def count_before(name: str, member: sp.Basic, gap: sp.Expr, hypotheses: Hypotheses, pieces: Pieces) -> list[Step]:
    """Return steps that count the updates (r, j), 0 <= r < S, with `member`.

    Parameters
    ----------
    name : str
        Of the last step.
    gap : expression
        The member's condition on j is 2 j <= gap or 2 j < gap.
    pieces : list of (lower, upper, strict)
        Ranges of r, and which of the two holds there.
    """
    steps: list[Step] = []
    # A range that is empty whatever the stage would have nothing to say.
    pieces = [piece for piece in pieces if piece[0] != piece[1]]
    for k, (lower, upper, strict) in enumerate(pieces):
        part = f"{name}, part {k}"
        top = last_index(gap, strict)
        here = (*hypotheses, lower <= r, r < upper)
        steps += [
            CountInterval(f"{part}: per stage", here, j, member, ZERO, top),
            SumByDifference(f"{part}: sum", hypotheses, r, lower, upper, top + 1, antidifference(top + 1, r)),
            CountOver(f"{part}", f"{part}: per stage", f"{part}: sum"),
        ]
    whole = sp.And(r >= 0, r < S, member)
    return [
        *steps,
        CountUnion(name, tuple(f"{name}, part {k}" for k in range(len(pieces))), hypotheses, whole),
    ]


def split_at(stage: sp.Expr, rule: TieRule) -> Pieces:
    """Return the ranges of r whose updates precede, or not, an update of `stage` in the same tick."""
    if rule is TieRule.REVERSE_STAGE_ORDER:
        return [(ZERO, stage + 1, True), (stage + 1, S, False)]
    return [(ZERO, stage, False), (stage, S, True)]


def read_split(stage: sp.Expr, rule: TieRule) -> Pieces:
    """Return the ranges of r whose updates are seen, or not, by a read of `stage` in the same tick."""
    if rule is TieRule.READS_FIRST:
        return [(ZERO, S, True)]
    if rule is TieRule.UPDATES_FIRST:
        return [(ZERO, S, False)]
    return split_at(stage, rule)


def add_up(
    steps: list[Step],
    index: sp.Symbol,
    hypotheses: Hypotheses,
    name: str,
    words: str,
    power: int = 1,
    lower: sp.Expr = ZERO,
    upper: sp.Expr = S,
) -> list[Step]:
    """Return steps that add up the value of the last step, or its square, over a range of stages."""
    summand = value_of(steps) ** power
    total = SumByDifference(f"{name}: sum", hypotheses, index, lower, upper, summand, antidifference(summand, index))
    return [total, AddUp(name, steps[-1].name, f"{name}: sum", words, power)]


@dataclass(frozen=True)
class SteadyDelays:
    """Derivations for one schedule.

    Attributes
    ----------
    law : Law
        Equal, from microbatch S on, to the steady state above.
    follows : Step
        Proves that the law is the schedule's run.
    setting : tuple of SymPy booleans
        What S and the schedule's parameters satisfy.
    """

    law: Law
    follows: Step
    setting: Hypotheses

    @property
    def steady(self) -> Hypotheses:
        """A microbatch that is read when the pipeline is full, and whose window's updates all exist."""
        return (*self.setting, m >= S, m + S <= M)

    @property
    def repeats(self) -> Decide:
        """The steady state is steady: one microbatch later everything happens two ticks later."""
        law, inside = self.law, (*self.setting, *STAGE_S, m >= S)
        shift = sp.And(
            sp.Eq(law.forward(s, (m + 1,)), law.forward(s, (m,)) + 2),
            sp.Eq(law.backward(s, (m + 1,)), law.backward(s, (m,)) + 2),
        )
        return Decide("steady state", inside, shift)

    def updates_before_update(self, stage: sp.Expr, microbatch: sp.Expr, rule: TieRule) -> sp.Basic:
        """Say that the update (r, j) comes before the update (stage, microbatch)."""
        return sp.And(j >= 0, j < M, before_update(self.law, (r, (j,)), (stage, (microbatch,)), rule))

    def updates_before_read(self, stage: sp.Expr, microbatch: sp.Expr, rule: TieRule) -> sp.Basic:
        """Say that the update (r, j) is seen by the read (stage, microbatch)."""
        return sp.And(j >= 0, j < M, before_read(self.law, (r, (j,)), (stage, (microbatch,)), rule))

    def block_delay_steps(self, update: sp.Expr, read: sp.Expr, rule: TieRule, hypotheses: Hypotheses) -> list[Step]:
        """Return steps that count the window between the read of one stage and the update of another."""
        made = self.updates_before_update(update, m, rule)
        seen = self.updates_before_read(read, m, rule)
        # Ticks: update (r, j) is at 2 j + 2 S - 1 - r, update (a, m) at 2 m + 2 S - 1 - a, read (s, m) at 2 m + s.
        return [
            self.follows,
            self.repeats,
            *count_before("made", sp.And(r >= 0, r < S, made), 2 * m + r - update, hypotheses, split_at(update, rule)),
            *count_before(
                "seen", sp.And(r >= 0, r < S, seen), 2 * m + read + r + 1 - 2 * S, hypotheses, read_split(read, rule)
            ),
            CountDifference("count", "made", "seen", hypotheses, window(self.law, rule, r, (j,), update, read)),
            Window("delay", "law", "count", rule, update, read, r, (j,)),
        ]

    def block_delay(self, rule: TieRule) -> Proof:
        """Return the proof of the block delay of the read of stage s by an update of stage a."""
        words = f"block delay of the read of stage s by an update of stage a ({rule})"
        return shortened(words, self.block_delay_steps(a, s, rule, (*self.steady, *STAGE_A, *STAGE_S)))

    def max_block_delay(self, rule: TieRule) -> Proof:
        """Return the proof of the largest block delay: that of the first stage's read by its own update."""
        largest = LargestWindow("largest", "law", "count", rule, self.steady, r, (j,), {a: ZERO, s: ZERO})
        steps = [*self.block_delay_steps(ZERO, ZERO, rule, self.steady), largest]
        return shortened(f"largest steady block delay ({rule})", steps)

    def mean_block_delay(self, rule: TieRule) -> Proof:
        """Return the proof of the mean block delay over all pairs of update and read stage."""
        words = f"mean steady block delay over update and read stages ({rule})"
        delay = self.block_delay(rule)
        steps = [*delay.steps]
        steps += add_up(
            steps,
            s,
            (*self.steady, *STAGE_A),
            "over read stages",
            "sum of the delays of an update of stage a",
        )
        steps += add_up(steps, a, self.steady, "over update stages", "sum of the delays of all updates of a microbatch")
        total = shortened("sum of the delays", steps).steps
        mean = sp.expand(value_of(total) / S**2)
        return Proof(words, (*total, Average("mean", total[-1].name, words, (S, S), mean)))

    def version_lag(self) -> Proof:
        """Return the proof of the number of own updates between a read and the update made from it."""
        rule = TieRule.STAGE_ORDER
        own = window(self.law, rule, s, (j,), s, s)
        count = CountInterval("count", (*self.steady, *STAGE_S), j, own, m - S + s + 1, m - 1)
        lag = Window("lag", "law", "count", rule, s, s, s, (j,))
        return shortened("own-stage version lag", [self.follows, count, lag])

    def _own_reads(self, from_s_on: bool) -> list[Step]:
        """Return the count of updates of stage r between the read of r and the update of s, r >= s or r < s."""
        rule = TieRule.STAGE_ORDER
        between = window(self.law, rule, r, (j,), s, r)
        here = (r >= s, r < S) if from_s_on else (r >= 0, r < s)
        name = "stages from s on" if from_s_on else "stages before s"
        top = last_index(2 * m + r - s, from_s_on)
        count = CountInterval(f"{name}: count", (*self.steady, *STAGE_S, *here), j, between, m - S + r + 1, top)
        return [count, Window(name, "law", count.name, rule, s, r, r, (j,))]

    def updates_between(self, from_s_on: bool) -> Proof:
        """Return the proof of the number of updates of stage r that an update of s finds the read of r to miss."""
        where = "r >= s" if from_s_on else "r < s"
        return shortened(
            f"updates of stage r between the read of r and the update of s, {where}",
            [self.follows, *self._own_reads(from_s_on)],
        )

    def squares_per_stage(self) -> Proof:
        """Return the proof of the sum over r of the squared number of missed updates."""
        steps: list[Step] = [self.follows]
        for strict, lower, upper in ((False, ZERO, s), (True, s, S)):
            steps += self._own_reads(strict)
            steps += add_up(
                steps,
                r,
                (*self.steady, *STAGE_S),
                f"squares, {steps[-1].name}",
                "sum of squares",
                2,
                lower,
                upper,
            )
        parts = {"squares, stages before s": sp.Integer(1), "squares, stages from s on": sp.Integer(1)}
        words = "sum over r of the squared updates of r between the read of r and the update of s"
        return shortened(words, [*steps, Combine("squares", words, parts)])

    def squares(self) -> Proof:
        """Return the proof of the double sum of the squared numbers of missed updates."""
        words = "sum over r and s of the squared updates of r between the read of r and the update of s"
        steps = [*self.squares_per_stage().steps]
        return shortened(words, [*steps, *add_up(steps, s, self.steady, "all squares", words)])

    def whole_run_max(self, rule: TieRule) -> Proof:
        """Return the proof of the largest block delay of a whole run, start-up included.

        Nothing is updated before tick S, when microbatch S - 1 has been read by the first stage. Its update
        there comes after every update that any other window holds, moved to the start of the run.
        """
        run = (*self.setting, M >= 2 * S)
        critical = S - 1
        made = self.updates_before_update(ZERO, critical, rule)
        at = {a: ZERO, s: ZERO, m: critical}
        shift = {j: j - sp.Max(0, m - critical)}
        steps: list[Step] = [
            self.follows,
            *count_before("made", sp.And(r >= 0, r < S, made), 2 * critical + r, run, split_at(ZERO, rule)),
            LargestWindow("largest", "law", "made", rule, run, r, (j,), at, shift),
        ]
        return shortened(f"largest block delay of the whole run ({rule})", steps)

    def ticks(self) -> Proof:
        """Return the proof of the number of ticks of a run of M microbatches."""
        value = 2 * M + 2 * S - 2
        return Proof("ticks of the run", (self.follows, LastTick("ticks", "law", (*self.setting, M >= 1), value)))

    def idle(self, over_ideal: bool) -> Proof:
        """Return the proof of the idle fraction of a run of M microbatches."""
        words = f"idle time over {'ideal' if over_ideal else 'total'} time"
        total = self.ticks()
        value = (S - 1) / M if over_ideal else (S - 1) / (M + S - 1)
        return Proof(words, (*total.steps, IdleFraction("idle", "ticks", words, over_ideal, value)))

    def tick_of(self, backward: bool) -> Proof:
        """Return the proof of the tick of every forward, or backward, of the whole run."""
        kind = "B" if backward else "F"
        return Proof(f"tick of {kind} of microbatch m on stage s", (self.follows, TickOf("tick", "law", backward)))

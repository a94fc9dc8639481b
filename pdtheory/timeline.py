"""When each op runs: every op starts as soon as its worker and its inputs are there."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from pdtheory.durations import Durations, ScaledDurations, plain
from pdtheory.engine import longest_paths
from pdtheory.errors import ParameterError
from pdtheory.schedule import IntArray, Op, Schedule


@dataclass(frozen=True, eq=False)
class Timeline:
    """Start and end of every op of a schedule.

    Build one with `run`. Times are kept as integers over one denominator; the methods return exact ones.

    Attributes
    ----------
    schedule : Schedule
    durations : Durations
    scaled : ScaledDurations
    starts, ends : ndarray, shape (num_ops,)
        Scaled times, in the numbering of the schedule's ops.

    Examples
    --------
    >>> from pdtheory import get_schedule
    >>> t = run(get_schedule("gpipe", num_stages=4, num_microbatches=8))
    >>> t.makespan, t.idle_over_total, t.idle_over_ideal
    (22, Fraction(3, 11), Fraction(3, 8))
    """

    schedule: Schedule
    durations: Durations
    scaled: ScaledDurations
    starts: IntArray
    ends: IntArray

    def start(self, op: Op | str) -> int | Fraction:
        """Return the exact start of an op."""
        return self.scaled.exact(self.starts[self._number(op)])

    def end(self, op: Op | str) -> int | Fraction:
        """Return the exact end of an op."""
        return self.scaled.exact(self.ends[self._number(op)])

    def _number(self, op: Op | str) -> int:
        op = Op.parse(op) if isinstance(op, str) else op
        s = self.schedule
        found = np.flatnonzero((s.stage == op.stage) & (s.kind == op.kind) & (s.microbatch == op.microbatch))
        if not found.size:
            raise KeyError(str(op))
        return int(found[0])

    @property
    def makespan(self) -> int | Fraction:
        """End of the last op; the first op starts at 0."""
        return self.scaled.exact(self.ends.max())

    @cached_property
    def busy(self) -> tuple[int | Fraction, ...]:
        """Time that each worker spends in ops."""
        spent = np.zeros(self.schedule.num_workers, dtype=self.ends.dtype)
        np.add.at(spent, self.schedule.worker, self.ends - self.starts)
        return tuple(self.scaled.exact(value) for value in spent)

    @property
    def idle_over_total(self) -> Fraction:
        """Idle time of all workers over workers times makespan."""
        total = Fraction(self.makespan) * self.schedule.num_workers
        return (total - sum(self.busy)) / total if total else Fraction(0)

    @property
    def idle_over_ideal(self) -> Fraction:
        """Idle time of all workers over their busy time (what the run would take without idle time)."""
        busy = Fraction(sum(self.busy))
        return (Fraction(self.makespan) * self.schedule.num_workers - busy) / busy if busy else Fraction(0)

    @property
    def in_flight(self) -> tuple[int, ...]:
        """Largest number of (stage, microbatch) pairs that each worker holds between F and its last B or W."""
        s = self.schedule
        change = np.zeros(s.num_ops + 1, dtype=np.int64)
        change[s.forward] = 1
        change[s.last_backward] = -1
        held = np.cumsum(change)
        return tuple(int(held[a:b].max(initial=0)) for a, b in zip(s.offsets[:-1], s.offsets[1:], strict=True))

    def __repr__(self) -> str:
        return f"Timeline({self.schedule!r}, makespan={plain(Fraction(self.makespan))})"


def run(schedule: Schedule, durations: Durations | None = None) -> Timeline:
    """Run a schedule: every op starts when its worker is free and what it needs has arrived.

    The definition is the longest path in `Schedule.graph`; this is its fast engine, linear in the ops.

    Parameters
    ----------
    schedule : Schedule
    durations : Durations, optional
        One time step per op and no latency by default.

    Raises
    ------
    DeadlockError
        If ops wait for each other; the message shows the shortest cycle.

    Examples
    --------
    >>> s = Schedule.from_orders([["0F0", "0B0"], ["1F0", "1B0"]])
    >>> run(s, Durations(F=1, B=2, latency="1/2")).makespan
    7
    """
    durations = Durations() if durations is None else durations
    if not isinstance(durations, Durations):
        raise ParameterError("must be a Durations", where="durations", value=durations, mend="Durations(F=1, B=2)")
    scaled = durations.scaled(schedule.num_stages)
    length = scaled.table[schedule.kind, schedule.stage]
    starts = longest_paths(schedule, length, scaled.latency)
    return Timeline(schedule, durations, scaled, starts, starts + length)

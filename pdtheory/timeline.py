"""When each op runs: every op starts as soon as its worker and its inputs are there."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from pdtheory.deadlock import shortest_cycle
from pdtheory.durations import Durations, ScaledDurations, plain
from pdtheory.schedule import IntArray, Op, Schedule

# Below this many ready ops a plain loop beats the overhead of array calls.
_NARROW = 12


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
        return tuple(
            int(held[a:b].max(initial=0)) for a, b in zip(s.offsets[:-1], s.offsets[1:], strict=True)
        )

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
    durations = durations or Durations()
    scaled = durations.scaled(schedule.num_stages)
    length = scaled.table[schedule.kind, schedule.stage]
    starts = np.zeros(schedule.num_ops, dtype=length.dtype)
    waits = _Waits(schedule, scaled.latency)
    done = waits.sweep(starts, length)
    if done < schedule.num_ops:
        raise shortest_cycle(schedule, np.flatnonzero(waits.open > 0))
    return Timeline(schedule, durations, scaled, starts, starts + length)


class _Waits:
    """The waits of a schedule, counted down as ops end."""

    def __init__(self, schedule: Schedule, latency: int) -> None:
        n = schedule.num_ops
        data = schedule.data_dependency()
        order = schedule.worker_predecessor()
        self.next_on_worker = _inverse(order, n)
        # W follows I on the same stage while I also feeds the stage before, so I can have two data successors.
        weight = schedule.kind == 3
        self.next_weight = _inverse(np.where(weight, data, -1), n) if weight.any() else None
        self.next_data = _inverse(np.where(weight, -1, data), n)
        worker = schedule.worker
        crosses = (self.next_data >= 0) & (worker[self.next_data] != worker)
        self.transfer = np.where(crosses, latency, 0) if latency else None
        self.open = ((data >= 0).astype(np.int32) + (order >= 0)).astype(np.int32)
        self.barriers: dict[int, IntArray] = {}
        if len(schedule.barriers):
            np.add.at(self.open, schedule.barriers[:, 1], 1)
            by_first = schedule.barriers[np.argsort(schedule.barriers[:, 0], kind="stable")]
            firsts, at = np.unique(by_first[:, 0], return_index=True)
            self.barriers = dict(zip(firsts.tolist(), np.split(by_first[:, 1], at[1:]), strict=True))

    def sweep(self, starts: IntArray, length: IntArray) -> int:
        """Set `starts` of every op that can run; return how many can."""
        ready = np.flatnonzero(self.open == 0)
        done = 0
        while ready.size:
            if ready.size <= _NARROW:
                ready, count = self._sweep_narrow(ready.tolist(), starts, length)
                done += count
                continue
            done += ready.size
            end = starts[ready] + length[ready]
            freed = [self._release(self.next_on_worker[ready], end, starts)]
            arrival = end if self.transfer is None else end + self.transfer[ready]
            freed.append(self._release(self.next_data[ready], arrival, starts))
            if self.next_weight is not None:
                freed.append(self._release(self.next_weight[ready], end, starts))
            if self.barriers:
                for op, time in zip(ready.tolist(), end.tolist(), strict=True):
                    if op in self.barriers:
                        freed.append(self._release(self.barriers[op], time, starts))
            ready = np.concatenate(freed)
        return done

    def _release(self, followers: IntArray, end: Any, starts: IntArray) -> IntArray:
        exists = followers >= 0
        if not exists.all():
            followers = followers[exists]
            end = end[exists]
        starts[followers] = np.maximum(starts[followers], end)
        self.open[followers] -= 1
        freed: IntArray = followers[self.open[followers] == 0]
        return freed

    def _sweep_narrow(self, ready: list[int], starts: IntArray, length: IntArray) -> tuple[IntArray, int]:
        """Run ops one by one while few are ready."""
        done = 0
        while ready and len(ready) <= _NARROW:
            op = ready.pop()
            done += 1
            end = starts[op] + length[op]
            followers = [(self.next_on_worker[op], end)]
            followers.append((self.next_data[op], end if self.transfer is None else end + self.transfer[op]))
            if self.next_weight is not None:
                followers.append((self.next_weight[op], end))
            followers.extend((f, end) for f in self.barriers.get(op, ()))
            for follower, time in followers:
                if follower >= 0:
                    if starts[follower] < time:
                        starts[follower] = time
                    self.open[follower] -= 1
                    if self.open[follower] == 0:
                        ready.append(int(follower))
        return np.array(ready, dtype=np.int64), done


def _inverse(needs: IntArray, n: int) -> IntArray:
    """Return for every op the op that needs it, -1 for none; every op is needed at most once."""
    followers = np.full(n, -1, dtype=np.int64)
    having = np.flatnonzero(needs >= 0)
    followers[needs[having]] = having
    return followers

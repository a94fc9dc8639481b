"""The fast engine of timelines: longest paths in a schedule's graph of waits.

The start of an op is the largest arrival among what it waits for, or 0 if it waits for nothing. On a graph
without cycles these equations have one solution. The engine solves them from the front, and where the
starts of whole microbatches begin to repeat it continues the pattern to the end, checks the equations of
all ops at once, keeps what comes before the first one that fails, and goes on from there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pdtheory.deadlock import shortest_cycle
from pdtheory.schedule import IntArray, Schedule

# Below this many ready ops a plain loop beats the overhead of array calls.
_NARROW = 12
_FIRST_BUDGET = 4096
_MOST_PERIODS = 64


def longest_paths(schedule: Schedule, length: IntArray, latency: int) -> IntArray:
    """Return the start of every op.

    Parameters
    ----------
    schedule : Schedule
    length : ndarray of integers, shape (num_ops,)
        Duration of every op.
    latency : int
        Of a transfer between workers.

    Raises
    ------
    DeadlockError
        If ops wait for each other.
    """
    waits = _Waits(schedule, length, latency)
    budget = _FIRST_BUDGET
    while waits.ready.size:
        waits.sweep(budget)
        budget *= 2
        if waits.ready.size:
            guess = waits.continued()
            if guess is not None:
                waits.accept(guess)
    stuck = np.flatnonzero(waits.open > 0)
    if stuck.size:
        raise shortest_cycle(schedule, stuck)
    return waits.starts


class _Waits:
    """The waits of a schedule, counted down as ops end.

    An op is done when nothing is open before it and it is not among the ready ones; then its start is final.
    """

    def __init__(self, schedule: Schedule, length: IntArray, latency: int) -> None:
        n = schedule.num_ops
        self.schedule, self.length = schedule, length
        self.starts = np.zeros(n, dtype=length.dtype)
        self.data, self.order = schedule.data_dependency(), schedule.worker_predecessor()
        self.next_on_worker = _inverse(self.order, n)
        # W follows I on the same stage while I also feeds the stage before, so I can have two data successors.
        weight = schedule.kind == 3
        self.next_weight = _inverse(np.where(weight, self.data, -1), n) if weight.any() else None
        self.next_data = _inverse(np.where(weight, -1, self.data), n)
        worker = schedule.worker
        self.incoming = self._transfer(latency, (self.data >= 0) & (worker[self.data] != worker))
        self.outgoing = self._transfer(latency, (self.next_data >= 0) & (worker[self.next_data] != worker))
        self.barriers: dict[int, IntArray] = {}
        if len(schedule.barriers):
            by_first = schedule.barriers[np.argsort(schedule.barriers[:, 0], kind="stable")]
            firsts, at = np.unique(by_first[:, 0], return_index=True)
            self.barriers = dict(zip(firsts.tolist(), np.split(by_first[:, 1], at[1:]), strict=True))
        self.open = self._count_open(np.zeros(n, dtype=bool))
        self.ready = np.flatnonzero(self.open == 0)

    def _transfer(self, latency: int, crosses: IntArray) -> IntArray | None:
        """Return the latency of every op's transfer, in the integers of the durations, None without any."""
        if not latency:
            return None
        transfer = np.zeros(len(crosses), dtype=self.length.dtype)
        transfer[crosses] = latency
        return transfer

    def _count_open(self, done: IntArray) -> IntArray:
        """Return for every op how many of those it waits for are not done."""
        count = ((self.data >= 0) & ~done[self.data]).astype(np.int32)
        count += (self.order >= 0) & ~done[self.order]
        barriers = self.schedule.barriers
        if len(barriers):
            np.add.at(count, barriers[~done[barriers[:, 0]], 1], 1)
        return count

    def arrivals(self, starts: IntArray, counted: IntArray | None = None) -> IntArray:
        """Return for every op the largest arrival of what it waits for, 0 for none.

        Parameters
        ----------
        counted : ndarray of bool, optional
            Only what these ops send; all by default.
        """
        ends = starts + self.length
        if counted is not None:
            ends = np.where(counted, ends, 0)
        after_data = np.where(self.data >= 0, ends[self.data], 0)
        if self.incoming is not None:
            sent = self.data >= 0 if counted is None else (self.data >= 0) & counted[self.data]
            after_data = after_data + np.where(sent, self.incoming, 0)
        latest: IntArray = np.maximum(after_data, np.where(self.order >= 0, ends[self.order], 0))
        if len(self.schedule.barriers):
            np.maximum.at(latest, self.schedule.barriers[:, 1], ends[self.schedule.barriers[:, 0]])
        return latest

    def sweep(self, budget: int) -> None:
        """Set the starts of about `budget` more ops, as many as can run at once together."""
        starts, length = self.starts, self.length
        while self.ready.size and budget > 0:
            if self.ready.size <= _NARROW:
                budget -= self._sweep_narrow(budget)
                continue
            ready = self.ready
            budget -= ready.size
            end = starts[ready] + length[ready]
            freed = [self._release(self.next_on_worker[ready], end)]
            freed.append(
                self._release(self.next_data[ready], end if self.outgoing is None else end + self.outgoing[ready])
            )
            if self.next_weight is not None:
                freed.append(self._release(self.next_weight[ready], end))
            if self.barriers:
                for op, time in zip(ready.tolist(), end.tolist(), strict=True):
                    if op in self.barriers:
                        freed.append(self._release(self.barriers[op], time))
            self.ready = np.concatenate(freed)

    def _release(self, followers: IntArray, end: Any) -> IntArray:
        exists = followers >= 0
        if not exists.all():
            followers, end = followers[exists], end[exists]
        self.starts[followers] = np.maximum(self.starts[followers], end)
        self.open[followers] -= 1
        freed: IntArray = followers[self.open[followers] == 0]
        return freed

    def _sweep_narrow(self, budget: int) -> int:
        """Run ops one by one while few are ready; return how many."""
        ready, done = self.ready.tolist(), 0
        starts, length, open_ = self.starts, self.length, self.open
        while ready and len(ready) <= _NARROW and done < budget:
            done += len(ready)
            followers = []
            for op in ready:
                end = starts[op] + length[op]
                followers.append((self.next_on_worker[op], end))
                followers.append((self.next_data[op], end if self.outgoing is None else end + self.outgoing[op]))
                if self.next_weight is not None:
                    followers.append((self.next_weight[op], end))
                if op in self.barriers:
                    followers.extend((follower, end) for follower in self.barriers[op])
            ready = []
            for follower, time in followers:
                if follower >= 0:
                    if starts[follower] < time:
                        starts[follower] = time
                    open_[follower] -= 1
                    if open_[follower] == 0:
                        ready.append(int(follower))
        self.ready = np.array(ready, dtype=np.int64)
        return done

    def continued(self) -> IntArray | None:
        """Return starts in which the last complete microbatches are repeated to the end, None without a pattern."""
        done = self.open == 0
        done[self.ready] = False
        tables = [self.schedule.forward, self.schedule.backward]
        if self.next_weight is not None:
            tables.append(self.schedule.last_backward)
        numbers = np.concatenate(tables)
        complete = np.logical_and.reduce(done[numbers], axis=0)
        count = int(np.argmin(complete)) if not complete.all() else len(complete)
        for period in range(1, min(_MOST_PERIODS, count // 2) + 1):
            times = self.starts[numbers[:, count - 2 * period : count]]
            steps = times[:, period:] - times[:, :period]
            if (steps == steps[0, 0]).all():
                microbatch = np.arange(count, numbers.shape[1])
                ahead = (microbatch - count) // period + 1
                source = count - period + (microbatch - count) % period
                guess = self.starts.copy()
                guess[numbers[:, count:]] = self.starts[numbers[:, source]] + steps[0, 0] * ahead.astype(guess.dtype)
                guess[done] = self.starts[done]
                return guess
        return None

    def accept(self, guess: IntArray) -> None:
        """Take over all guessed starts that come before the first one that does not fulfil its equation.

        What such an op waits for starts no later than it does, so it is among them too: their equations are
        complete, and fulfilled.
        """
        wrong = guess != self.arrivals(guess)
        done = guess < guess[wrong].min() if wrong.any() else np.ones(len(guess), dtype=bool)
        known = self.open == 0
        known[self.ready] = False
        if done.sum() <= known.sum():
            return
        # A wrong op may start before an op that is known to be right: that one stays done.
        done |= known
        self.open = self._count_open(done)
        self.open[done] = 0
        self.starts = np.where(done, guess, self.arrivals(guess, done))
        self.ready = np.flatnonzero((self.open == 0) & ~done)


def _inverse(needs: IntArray, n: int) -> IntArray:
    """Return for every op the op that needs it, -1 for none; every op is needed at most once."""
    followers = np.full(n, -1, dtype=np.int64)
    having = np.flatnonzero(needs >= 0)
    followers[needs[having]] = having
    return followers

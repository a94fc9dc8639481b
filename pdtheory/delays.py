"""Block delays under four tie rules, and the steady state found as a repeating pattern."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property

import numpy as np

from pdtheory.errors import ParameterError
from pdtheory.schedule import IntArray
from pdtheory.tie_rules import TieRule
from pdtheory.timeline import Timeline
from pdtheory.weight_versions import count_earlier, updates


class Window(StrEnum):
    """A part of a run: before, within and after the repeating pattern, or the whole."""

    WARMUP = "warmup"
    STEADY = "steady"
    DRAIN = "drain"
    ALL = "all"


@dataclass(frozen=True)
class SteadyState:
    """The longest stretch of microbatches whose delays repeat, whole periods only.

    Attributes
    ----------
    first, stop : int
        Microbatches first..stop-1.
    period : int
        In microbatches.
    """

    first: int
    stop: int
    period: int


@dataclass(frozen=True)
class DelayStatistics:
    """Largest and mean delay of a window, over all its updates and read stages; None if it is empty."""

    max: int | None
    mean: Fraction | None


@dataclass(frozen=True, eq=False, repr=False)
class BlockDelays:
    """Block delays of a run: D[a, s, m] = ``made[a, m] - seen[s, m]``.

    The block delay counts updates of any stage, on the same copy of the model, after the read of stage s
    by the forward of microbatch m and before the update of stage a that m feeds (paper: k - j_k^(s)).

    Attributes
    ----------
    tie_rule : TieRule
    made : ndarray of int, shape (num_stages, num_microbatches)
        Number of updates before the update of stage a that microbatch m feeds: its serial number.
    seen : ndarray of int, shape (num_stages, num_microbatches)
        Number of updates before the read of stage s by the forward of microbatch m.
    """

    tie_rule: TieRule
    made: IntArray
    seen: IntArray

    def __repr__(self) -> str:
        return (
            f"BlockDelays(tie_rule={str(self.tie_rule)!r}, num_stages={self.num_stages}, "
            f"num_microbatches={self.num_microbatches}, steady={self.statistics(Window.STEADY)})"
        )

    @property
    def num_stages(self) -> int:
        """Number of stages S."""
        return int(self.made.shape[0])

    @property
    def num_microbatches(self) -> int:
        """Number of microbatches M."""
        return int(self.made.shape[1])

    def of(self, microbatch: int) -> IntArray:
        """Return the delays of one microbatch, shape (update stage, read stage)."""
        delays: IntArray = self.made[:, microbatch, None] - self.seen[None, :, microbatch]
        return delays

    @cached_property
    def _rows(self) -> IntArray:
        """Per microbatch its serials relative to stage 0's update: equal rows have equal delays."""
        base = self.made[0]
        return np.ascontiguousarray(np.concatenate([self.made - base, self.seen - base]).T)

    @cached_property
    def steady(self) -> SteadyState | None:
        """The steady state, found as the stretch whose delay pattern repeats at least three times."""
        return find_steady_state(_labels(self._rows))

    def window(self, window: Window) -> range:
        """Return the microbatches of a window; empty where no steady state exists, but for `all`."""
        if window is Window.ALL:
            return range(self.num_microbatches)
        if self.steady is None:
            return range(0)
        return {
            Window.WARMUP: range(self.steady.first),
            Window.STEADY: range(self.steady.first, self.steady.stop),
            Window.DRAIN: range(self.steady.stop, self.num_microbatches),
        }[window]

    def statistics(self, window: Window) -> DelayStatistics:
        """Return largest and mean delay over the updates and read stages of a window."""
        part = self.window(window)
        if not len(part):
            return DelayStatistics(None, None)
        cut = slice(part.start, part.stop)
        made, seen = self.made[:, cut], self.seen[:, cut]
        largest = int((made.max(axis=0) - seen.min(axis=0)).max())
        total = int(made.sum(dtype=np.int64)) - int(seen.sum(dtype=np.int64))
        return DelayStatistics(largest, Fraction(total, self.num_stages * len(part)))

    def histogram(self, updates_included: IntArray | None = None) -> IntArray:
        """Return how often each delay 0, 1, 2, ... occurs, over updates and read stages.

        Parameters
        ----------
        updates_included : ndarray of bool, shape (num_stages, num_microbatches), optional
            The updates that count; all by default. Equal rows are counted once and multiplied.
        """
        rows = self._rows
        if updates_included is None:
            updates_included = np.ones(self.made.shape, dtype=bool)
        labels = _labels(np.concatenate([rows, updates_included.T.astype(rows.dtype)], axis=1))
        _, first, count = np.unique(labels, return_index=True, return_counts=True)
        largest = int((self.made.max(axis=0) - self.seen.min(axis=0)).max())
        total = np.zeros(largest + 1, dtype=np.int64)
        for microbatch, times in zip(first.tolist(), count.tolist(), strict=True):
            chosen = self.of(microbatch)[updates_included[:, microbatch]]
            total += times * np.bincount(chosen.ravel(), minlength=largest + 1)
        return total


def block_delays(timeline: Timeline, tie_rule: TieRule | str = TieRule.STAGE_ORDER) -> BlockDelays:
    """Return the block delays of a run.

    Parameters
    ----------
    timeline : Timeline
        Order and durations.
    tie_rule : TieRule or str

    Raises
    ------
    ParameterError
        If a forward or an updating op takes no time: the order of its read and update is then undefined.

    Examples
    --------
    >>> from pdtheory import get_schedule, run
    >>> d = block_delays(run(get_schedule("pipedream", num_stages=4, num_microbatches=40)))
    >>> d.statistics(Window.STEADY)
    DelayStatistics(max=14, mean=Fraction(15, 2))
    """
    rule = TieRule.named(tie_rule)
    schedule = timeline.schedule
    made = updates(schedule)
    forward, update = schedule.forward, made.op
    if (timeline.starts[forward] == timeline.ends[forward]).any() or (
        timeline.starts[update] == timeline.ends[update]
    ).any():
        raise ParameterError(
            "block delays need a positive duration of every F and every op that ends with an update",
            where="durations",
            mend="Give them a small one",
        )
    read_times = (timeline.starts if rule is TieRule.READS_FIRST else timeline.ends)[forward]
    update_times = timeline.ends[update]
    stages = schedule.num_stages
    stage = np.arange(stages, dtype=np.int64)[:, None]
    rank = stages - 1 - stage if rule is TieRule.REVERSE_STAGE_ORDER else stage
    reads_last = rule in (TieRule.READS_FIRST, TieRule.UPDATES_FIRST)
    read_times, update_times = _compact(read_times, update_times, 4 * stages * schedule.weights.num_copies)
    update_keys = update_times * (2 * stages) + rank
    read_keys = read_times * (2 * stages) + (stages if reads_last else rank)
    serial, seen = count_earlier(update_keys, made.copy[None, :], read_keys, made.copy[made.update_of][None, :])
    return BlockDelays(rule, serial[:, made.update_of], seen)


def _compact(reads: IntArray, changes: IntArray, factor: int) -> tuple[IntArray, IntArray]:
    """Return the times as int64 with the same order, small enough to be multiplied by `factor`."""
    if reads.dtype != object and int(max(reads.max(), changes.max())) < 2**62 // factor:
        return reads, changes
    _, codes = np.unique(np.concatenate([reads.ravel(), changes.ravel()]), return_inverse=True)
    codes = codes.astype(np.int64)
    return codes[: reads.size].reshape(reads.shape), codes[reads.size :].reshape(changes.shape)


def _labels(rows: IntArray) -> IntArray:
    """Return an integer per row, equal exactly where the rows are equal."""
    rows = np.ascontiguousarray(rows)
    packed = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, labels = np.unique(packed, return_inverse=True)
    return labels.ravel()


_LEAST_PERIODS = 3
_ANCHORS = 8
_OCCURRENCES = 64


def find_steady_state(labels: IntArray) -> SteadyState | None:
    """Return the longest periodic stretch of a sequence, or None if nothing repeats three times.

    Periods are proposed by where the label of a few places occurs again, and each is checked on the whole
    sequence. Among those that cover at least half of what the best covers, the shortest is taken.

    Parameters
    ----------
    labels : ndarray of int, shape (n,)

    Examples
    --------
    >>> find_steady_state(np.array([9, 8, 1, 2, 1, 2, 1, 2, 1, 7]))
    SteadyState(first=2, stop=8, period=2)
    """
    size = len(labels)
    periods: set[int] = set()
    for anchor in np.unique(np.linspace(0, size - 1, _ANCHORS).astype(int)).tolist():
        again = np.flatnonzero(labels[anchor + 1 :] == labels[anchor])[:_OCCURRENCES] + 1
        periods.update(again.tolist())
    found = []
    for period in sorted(p for p in periods if _LEAST_PERIODS * p <= size):
        first, length = _longest_run(labels[:-period] == labels[period:])
        whole = (length + period) // period * period
        if whole >= _LEAST_PERIODS * period:
            found.append(SteadyState(first, first + whole, period))
    if not found:
        return None
    covered = max(state.stop - state.first for state in found)
    return next(state for state in found if 2 * (state.stop - state.first) >= covered)


def _longest_run(flags: IntArray) -> tuple[int, int]:
    """Return start and length of the longest run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    if not edges.size:
        return 0, 0
    starts, stops = edges[::2], edges[1::2]
    best = int(np.argmax(stops - starts))
    return int(starts[best]), int(stops[best] - starts[best])

"""Which update a microbatch feeds, which version of a stage its forward reads; counts that need no clock."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pdtheory.schedule import IntArray, Schedule


@dataclass(frozen=True, eq=False)
class Updates:
    """The updates that a schedule makes on every stage, from its weight policy.

    Attributes
    ----------
    update_of : ndarray of int, shape (num_microbatches,)
        The update that a microbatch's gradient goes into, 0..num_updates-1 on every stage.
    copy : ndarray of int, shape (num_updates,)
        The copy of the model that an update changes.
    op : ndarray of int, shape (num_stages, num_updates)
        Number of the op that ends with the update: the last B or W among its microbatches.
    """

    update_of: IntArray
    copy: IntArray
    op: IntArray

    @property
    def num_updates(self) -> int:
        """Number of updates of one stage, on all copies."""
        return len(self.copy)


def updates(schedule: Schedule) -> Updates:
    """Return the updates of a schedule.

    Examples
    --------
    >>> from pdtheory import get_schedule
    >>> updates(get_schedule("gpipe", num_stages=2, num_microbatches=3)).num_updates
    1
    """
    policy, count = schedule.weights, schedule.num_microbatches
    every = policy.microbatches_per_update or count
    microbatch = np.arange(count)
    copy_of = microbatch % policy.num_copies
    batch = (microbatch // policy.num_copies) // every
    _, first, update_of = np.unique(batch * policy.num_copies + copy_of, return_index=True, return_inverse=True)
    op = np.zeros((schedule.num_stages, len(first)), dtype=np.int64)
    if len(first) == count:
        op[:, update_of] = schedule.last_backward
    else:
        np.maximum.at(op, (np.arange(schedule.num_stages)[:, None], update_of[None, :]), schedule.last_backward)
    return Updates(update_of, copy_of[first], op)


def count_earlier(
    events: IntArray, group: IntArray, queries: IntArray, query_group: IntArray
) -> tuple[IntArray, IntArray]:
    """Count, for events and for queries, the events of the same group with a smaller key.

    Parameters
    ----------
    events, queries : ndarray of int64
        Keys >= 0; events are distinct within a group.
    group, query_group : ndarray of int64
        Groups 0, 1, ..., broadcast against the keys.

    Returns
    -------
    ndarray, ndarray
        The counts, in the shapes of events and queries.

    Examples
    --------
    >>> count_earlier(np.array([5, 1]), np.array([0, 0]), np.array([3]), np.array([0]))
    (array([1, 0]), array([1]))
    """
    span = int(max(events.max(), queries.max())) + 1
    keys = np.ascontiguousarray(group * span + events).ravel()
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    rank = np.empty(keys.size, dtype=np.int64)
    rank[order] = np.arange(keys.size)
    groups = np.arange(int(max(np.max(group), np.max(query_group))) + 1, dtype=np.int64)
    starts = np.searchsorted(ordered, groups * span)
    earlier = np.searchsorted(ordered, (query_group * span + queries).ravel())
    return (
        rank.reshape(events.shape) - starts[np.broadcast_to(group, events.shape)],
        earlier.reshape(queries.shape) - starts[np.broadcast_to(query_group, queries.shape)],
    )


@dataclass(frozen=True, eq=False)
class Versions:
    """Versions of the weights, counted from 0 on every stage and copy.

    Attributes
    ----------
    read : ndarray of int, shape (num_stages, num_microbatches)
        The version that a microbatch's forward reads: updates of that stage and copy before it.
    made_from : ndarray of int, shape (num_stages, num_microbatches)
        The version that the microbatch's update changes: updates of that stage and copy before that one.
    alive : ndarray of int, shape (num_stages,)
        Largest number of versions that a stage keeps at once with weight stashing, on all copies: the
        live one of each copy and every older one that a microbatch between its forward and its last
        backward has read.
    """

    read: IntArray
    made_from: IntArray
    alive: IntArray

    @property
    def lag(self) -> IntArray:
        """Updates of a stage between a forward's read and its own update, shape (stages, microbatches)."""
        return self.made_from - self.read


def versions(schedule: Schedule) -> Versions:
    """Return the versions that forwards read and updates change; depends on the order alone.

    Examples
    --------
    >>> from pdtheory import get_schedule
    >>> versions(get_schedule("pipedream-strict", num_stages=4, num_microbatches=8)).lag[:, -1]
    array([3, 2, 1, 0])
    """
    made = updates(schedule)
    num_copies = schedule.weights.num_copies
    stage = np.arange(schedule.num_stages, dtype=np.int64)[:, None]
    group = stage * num_copies + made.copy
    read_group = stage * num_copies + made.copy[made.update_of]
    order, read = count_earlier(made.op, group, schedule.forward, read_group)
    return Versions(read, order[:, made.update_of], _most_alive(schedule, made, order, read, group, read_group))


def _most_alive(
    schedule: Schedule, made: Updates, order: IntArray, read: IntArray, group: IntArray, read_group: IntArray
) -> IntArray:
    """Return the largest number of versions alive at once on each stage."""
    width = int(max(order.max() + 1, read.max())) + 1
    num_groups = schedule.num_stages * schedule.weights.num_copies
    born = np.full((num_groups, width), -1, dtype=np.int64)
    born[group, order + 1] = made.op
    superseded = np.full((num_groups, width), schedule.num_ops, dtype=np.int64)
    superseded[group, order] = made.op
    last_use = np.full((num_groups, width), -1, dtype=np.int64)
    np.maximum.at(last_use, (read_group, read), schedule.last_backward)
    exists = born >= 0
    exists[:, 0] = True
    dies = np.maximum(superseded, last_use)
    span = schedule.num_ops + 2
    stage = np.repeat(np.arange(schedule.num_stages), schedule.weights.num_copies)[:, None]
    births = np.sort((stage * span + born + 1)[exists])
    deaths = np.sort((stage * span + dies + 1)[exists])
    # At one op the old version dies before the new one is born: an update in place needs no second buffer.
    alive = np.arange(1, births.size + 1) - np.searchsorted(deaths, births, side="right")
    most = np.zeros(schedule.num_stages, dtype=np.int64)
    np.maximum.at(most, births // span, alive)
    return most

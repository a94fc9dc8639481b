"""Ops and schedules: for every worker the order of its ops, with the stage written on the op."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pdtheory.durations import Durations
from pdtheory.errors import ParameterError, ScheduleError, positive_int

if TYPE_CHECKING:
    import networkx as nx

IntArray = NDArray[Any]
#: offsets, stage, kind and microbatch of `Schedule`.
OrderArrays = tuple[IntArray, IntArray, IntArray, IntArray]


class Kind(IntEnum):
    """What an op does, in PyTorch's letters.

    F is a forward, B a full backward; I and W are its two halves, the gradient of the stage's input and
    the gradient of its weights.
    """

    F = 0
    B = 1
    I = 2  # noqa: E741 - the field's own letter
    W = 3


OP_PATTERN = re.compile(r"(\d+)([FBIW])(\d+)", re.ASCII)
LARGEST_INDEX = 2**24
LONGEST_OP = 18
#: Row of the op table that a kind belongs to: F, B or I, W.
_SLOT = np.array([0, 1, 1, 2])
_FROM_ZERO = "Number stages and microbatches from 0 without gaps"


@dataclass(frozen=True, order=True, slots=True)
class Op:
    """One forward or backward of one microbatch on one stage; "2F0" is stage 2, F, microbatch 0.

    Examples
    --------
    >>> Op.parse("2F0")
    Op(stage=2, kind=<Kind.F: 0>, microbatch=0)
    >>> str(Op(1, Kind.B, 3))
    '1B3'
    """

    stage: int
    kind: Kind
    microbatch: int

    def __str__(self) -> str:
        return f"{self.stage}{self.kind.name}{self.microbatch}"

    @classmethod
    def parse(cls, text: str) -> Op:
        """Read an op from its short form.

        Raises
        ------
        ParameterError
            If the text is not stage, then F, B, I or W, then microbatch.
        """
        match = OP_PATTERN.fullmatch(text) if isinstance(text, str) else None
        if match is None or len(text) > LONGEST_OP:
            raise ParameterError(
                "is not an op", where="op", value=text, mend="Write stage, F|B|I|W, microbatch, like 2F0"
            )
        stage, microbatch = int(match[1]), int(match[3])
        if max(stage, microbatch) >= LARGEST_INDEX:
            raise ParameterError(f"has an index above {LARGEST_INDEX - 1}", where="op", value=text)
        return cls(stage, Kind[match[2]], microbatch)


@dataclass(frozen=True, slots=True)
class WeightPolicy:
    """When weights are updated, and on how many copies of the model.

    Parameters
    ----------
    microbatches_per_update : int or None
        Gradients of this many microbatches make one update of a stage (1 in PipeDream). None means all
        microbatches of the schedule: one update behind a flush.
    num_copies : int
        Microbatch m trains copy ``m % num_copies`` (R in LocalSGD, else 1).

    Examples
    --------
    >>> WeightPolicy().describe()
    'one update per microbatch'
    """

    microbatches_per_update: int | None = 1
    num_copies: int = 1

    def __post_init__(self) -> None:
        if self.microbatches_per_update is not None:
            positive_int(self.microbatches_per_update, "microbatches_per_update")
        positive_int(self.num_copies, "num_copies")

    def describe(self) -> str:
        """Return the policy in words."""
        every = self.microbatches_per_update
        text = (
            "one update per batch (flush)"
            if every is None
            else "one update per microbatch"
            if every == 1
            else f"one update per {every} microbatches"
        )
        return text if self.num_copies == 1 else f"{text}, on {self.num_copies} copies of the model"


@dataclass(frozen=True, eq=False)
class Schedule:
    """An order of ops for every worker, checked to be complete.

    A stage lives on one worker; a worker may hold several stages. Every pair of stage and microbatch has
    one F, and either one B or one I and one W. Build one with `from_orders`, `pdtheory.get_schedule` or a
    reader of `pdtheory.formats`.

    Attributes
    ----------
    name : str
    num_stages, num_microbatches : int
        S and M.
    offsets : ndarray of int, shape (num_workers + 1,)
        The ops of worker w have the numbers ``offsets[w]:offsets[w + 1]``.
    stage, kind, microbatch : ndarray of int, shape (num_ops,)
        The ops, worker by worker, in the order in which a worker runs them.
    barriers : ndarray of int, shape (k, 2)
        Pairs of op numbers: the second op waits for the first one beyond the waits of the data flow.
    weights : WeightPolicy
    """

    name: str
    num_stages: int
    num_microbatches: int
    offsets: IntArray
    stage: IntArray
    kind: IntArray
    microbatch: IntArray
    weights: WeightPolicy = WeightPolicy()
    barriers: IntArray = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))

    def __post_init__(self) -> None:
        _check_complete(self)

    @classmethod
    def from_orders(
        cls,
        orders: Iterable[Iterable[Op | str]],
        *,
        name: str = "custom",
        weights: WeightPolicy = WeightPolicy(),
    ) -> Schedule:
        """Build a schedule from one sequence of ops per worker.

        Parameters
        ----------
        orders : iterable of iterables of Op or str
            Strings are read by `Op.parse`.

        Raises
        ------
        ScheduleError
            If an op is missing, occurs twice or sits on two workers.

        Examples
        --------
        >>> Schedule.from_orders([["0F0", "0B0"], ["1F0", "1B0"]])
        Schedule('custom', num_stages=2, num_microbatches=1, num_workers=2)
        """
        rows = [[op if isinstance(op, Op) else Op.parse(op) for op in order] for order in orders]
        flat = [op for row in rows for op in row]
        if not flat:
            raise ScheduleError("a schedule needs at least one op")
        return cls(
            name=name,
            num_stages=1 + max(op.stage for op in flat),
            num_microbatches=1 + max(op.microbatch for op in flat),
            offsets=np.cumsum([0] + [len(row) for row in rows]),
            stage=np.array([op.stage for op in flat], dtype=np.int32),
            kind=np.array([op.kind for op in flat], dtype=np.int8),
            microbatch=np.array([op.microbatch for op in flat], dtype=np.int32),
            weights=weights,
        )

    def __repr__(self) -> str:
        return (
            f"Schedule({self.name!r}, num_stages={self.num_stages}, "
            f"num_microbatches={self.num_microbatches}, num_workers={self.num_workers})"
        )

    @property
    def num_workers(self) -> int:
        """Number of workers W."""
        return len(self.offsets) - 1

    @property
    def num_ops(self) -> int:
        """Number of ops on all workers."""
        return len(self.stage)

    def op(self, number: int) -> Op:
        """Return the op with this number."""
        return Op(int(self.stage[number]), Kind(int(self.kind[number])), int(self.microbatch[number]))

    def ops(self, worker: int) -> list[Op]:
        """Return the ops of one worker in order."""
        return [self.op(i) for i in range(self.offsets[worker], self.offsets[worker + 1])]

    def __iter__(self) -> Iterator[list[Op]]:
        return (self.ops(worker) for worker in range(self.num_workers))

    @cached_property
    def worker(self) -> IntArray:
        """The worker of every op, shape (num_ops,)."""
        return np.repeat(np.arange(self.num_workers, dtype=np.int32), np.diff(self.offsets))

    @cached_property
    def worker_of_stage(self) -> IntArray:
        """The worker that holds each stage, shape (num_stages,)."""
        result = np.empty(self.num_stages, dtype=np.int32)
        result[self.stage] = self.worker
        return result

    @cached_property
    def _table(self) -> IntArray:
        return _op_table(self)

    @property
    def forward(self) -> IntArray:
        """Number of the op F of each stage and microbatch, shape (num_stages, num_microbatches)."""
        forward: IntArray = self._table[0]
        return forward

    @property
    def backward(self) -> IntArray:
        """Number of the op B or I of each stage and microbatch, shape (num_stages, num_microbatches)."""
        backward: IntArray = self._table[1]
        return backward

    @property
    def last_backward(self) -> IntArray:
        """Number of the op that completes the weight gradient, B or W, same shape as `backward`."""
        last: IntArray = np.where(self._table[2] >= 0, self._table[2], self._table[1])
        return last

    def data_dependency(self) -> IntArray:
        """Return for every op the number of the op whose result it needs, -1 for none, shape (num_ops,).

        F needs F of the stage before; B and I need the B or I of the stage after, at the last stage its
        own F; W needs its own I.
        """
        needs = np.full(self.num_ops, -1, dtype=np.int64)
        forward, backward, weight = self._table
        needs[forward[1:]] = forward[:-1]
        needs[backward[-1]] = forward[-1]
        needs[backward[:-1]] = backward[1:]
        split = weight >= 0
        needs[weight[split]] = backward[split]
        return needs

    def worker_predecessor(self) -> IntArray:
        """Return for every op the number of the op before it on its worker, -1 for none, (num_ops,)."""
        before = np.arange(-1, self.num_ops - 1, dtype=np.int64)
        starts = self.offsets[:-1]
        before[starts[starts < self.num_ops]] = -1
        return before

    def graph(self, durations: Durations | None = None) -> nx.DiGraph:
        """Return the schedule's graph of waits: its definition, as a networkx.DiGraph.

        Nodes are `Op`; attributes stage, kind, microbatch, worker and duration. An edge (u, v) means that
        v waits for u; attributes `reason` ("worker", "data" or "barrier") and latency.

        Parameters
        ----------
        durations : Durations, optional
            One time step per op and no latency by default.

        Examples
        --------
        >>> s = Schedule.from_orders([["0F0", "0B0"], ["1F0", "1B0"]])
        >>> [f"{u}->{v}" for u, v in s.graph().edges]
        ['0F0->0B0', '0F0->1F0', '1F0->1B0', '1B0->0B0']
        """
        import networkx as nx

        times = (durations or Durations()).scaled(self.num_stages)
        graph = nx.DiGraph(name=self.name)
        ops = [self.op(i) for i in range(self.num_ops)]
        for i, op in enumerate(ops):
            graph.add_node(
                op,
                stage=op.stage,
                kind=op.kind.name,
                microbatch=op.microbatch,
                worker=int(self.worker[i]),
                duration=times.exact(times.table[op.kind, op.stage]),
            )
        edges = [
            *((int(p), i, "worker") for i, p in enumerate(self.worker_predecessor())),
            *((int(p), i, "data") for i, p in enumerate(self.data_dependency())),
            *((int(p), int(i), "barrier") for p, i in self.barriers),
        ]
        latency = times.exact(times.latency)
        for p, i, reason in edges:
            crosses = p >= 0 and reason == "data" and self.worker[p] != self.worker[i]
            if p >= 0 and not graph.has_edge(ops[p], ops[i]):
                graph.add_edge(ops[p], ops[i], reason=reason, latency=latency if crosses else 0)
        return graph

    def relabel(self, permutation: Sequence[int] | IntArray) -> Schedule:
        """Return the same schedule with microbatch m called ``permutation[m]``."""
        order = np.asarray(permutation)
        if not np.array_equal(np.sort(order), np.arange(self.num_microbatches)):
            raise ParameterError("must be a permutation of the microbatches", where="permutation")
        return Schedule(
            self.name,
            self.num_stages,
            self.num_microbatches,
            self.offsets,
            self.stage,
            self.kind,
            order[self.microbatch].astype(np.int32),
            self.weights,
            self.barriers,
        )


def _op_table(schedule: Schedule) -> IntArray:
    """Return op numbers by (F | B or I | W, stage, microbatch), -1 where there is none."""
    table = np.full((3, schedule.num_stages, schedule.num_microbatches), -1, dtype=np.int64)
    table[_SLOT[schedule.kind], schedule.stage, schedule.microbatch] = np.arange(schedule.num_ops)
    return table


def _check_complete(schedule: Schedule) -> None:
    stages, microbatches = schedule.num_stages, schedule.num_microbatches
    first, count = int(schedule.offsets[0]), int(schedule.offsets[-1])
    if first != 0 or count != schedule.num_ops or (np.diff(schedule.offsets) < 0).any():
        raise ScheduleError("the workers' offsets do not cover the ops", value=schedule.offsets.tolist())
    if stages * microbatches > 4 * schedule.num_ops:
        # Far fewer ops than the table has places: name a missing one without building the table.
        _raise_missing(schedule)
    on_two = np.flatnonzero(schedule.worker_of_stage[schedule.stage] != schedule.worker)
    table = schedule._table
    slot = _SLOT[schedule.kind]
    repeated = np.flatnonzero(table[slot, schedule.stage, schedule.microbatch] != np.arange(schedule.num_ops))
    if repeated.size:
        i = int(repeated[0])
        other = int(table[slot[i], schedule.stage[i], schedule.microbatch[i]])
        first_op, second_op = schedule.op(i), schedule.op(other)
        places = [f"worker {int(schedule.worker[k])}" for k in (i, other)]
        if first_op != second_op:
            what = f"stage {first_op.stage}, microbatch {first_op.microbatch} has both a B and an I"
        elif places[0] != places[1]:
            what = f"op {first_op} is on two workers: {places[0]} and {places[1]}"
        else:
            what = f"op {first_op} occurs twice on {places[0]}"
        raise ScheduleError(what, mend="Keep one of them")
    if on_two.size:
        op = schedule.op(int(on_two[0]))
        workers = sorted({int(w) for w in schedule.worker[schedule.stage == op.stage]})
        raise ScheduleError(
            f"stage {op.stage} is on several workers",
            value=workers,
            mend="Put every op of a stage on one worker",
        )
    has_forward, has_backward, has_weight = table >= 0
    split = np.zeros((stages, microbatches), dtype=bool)
    halves = np.flatnonzero(schedule.kind == Kind.I)
    split[schedule.stage[halves], schedule.microbatch[halves]] = True
    for present, letter in (
        (has_forward, "F"),
        (has_backward, "B"),
        (has_weight | ~split, "W"),
        (~has_weight | split, "I"),
    ):
        if not present.all():
            s, m = np.argwhere(~present)[0]
            unused = not (table[:, s] >= 0).any() or not (table[:, :, m] >= 0).any()
            mend = _FROM_ZERO if unused else "Add it to the worker of its stage"
            raise ScheduleError(f"op {s}{letter}{m} is missing", mend=mend)

    for first, then in ((table[0], table[1]), (table[1], schedule.last_backward)):
        late = np.argwhere(first > then)
        if late.size:
            before, after = (schedule.op(int(t[tuple(late[0])])) for t in (then, first))
            raise ScheduleError(
                f"op {before} comes before {after} on worker {int(schedule.worker_of_stage[before.stage])}",
                mend=f"{before} needs the result of {after}: exchange them",
            )


def _raise_missing(schedule: Schedule) -> None:
    present = set(zip(schedule.stage.tolist(), schedule.microbatch.tolist(), schedule.kind.tolist(), strict=True))
    for stage in range(schedule.num_stages):
        for microbatch in range(schedule.num_microbatches):
            if (stage, microbatch, int(Kind.F)) not in present:
                raise ScheduleError(
                    f"op {stage}F{microbatch} is missing",
                    mend=_FROM_ZERO,
                )

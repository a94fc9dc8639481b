"""Random valid schedules and durations for hypothesis."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from pdtheory.durations import Durations
from pdtheory.schedule import Kind, Op, Schedule, WeightPolicy


@st.composite
def schedules(draw: st.DrawFn, *, max_stages: int = 4, max_microbatches: int = 5, policies: bool = True) -> Schedule:
    """Draw an order that can run: ops are taken one at a time among those whose inputs are made."""
    stages = draw(st.integers(1, max_stages))
    count = draw(st.integers(1, max_microbatches))
    workers = draw(st.integers(1, stages))
    home = [draw(st.integers(0, workers - 1)) for _ in range(stages)]
    for worker in range(workers):
        # Every worker that is counted holds a stage, so that the CSV has no empty rows.
        home[worker] = worker
    split = draw(st.booleans())
    orders: list[list[Op]] = [[] for _ in range(workers)]
    done: set[Op] = set()
    todo = [
        Op(s, k, m)
        for m in range(count)
        for s in range(stages)
        for k in ((Kind.F, Kind.I, Kind.W) if split else (Kind.F, Kind.B))
    ]
    back = Kind.I if split else Kind.B

    def ready(op: Op) -> bool:
        if op.kind is Kind.F:
            return op.stage == 0 or Op(op.stage - 1, Kind.F, op.microbatch) in done
        if op.kind is Kind.W:
            return Op(op.stage, Kind.I, op.microbatch) in done
        if op.stage == stages - 1:
            return Op(op.stage, Kind.F, op.microbatch) in done
        return Op(op.stage + 1, back, op.microbatch) in done

    while todo:
        possible = [op for op in todo if ready(op)]
        op = possible[draw(st.integers(0, len(possible) - 1))]
        todo.remove(op)
        done.add(op)
        orders[home[op.stage]].append(op)
    policy = WeightPolicy()
    if policies:
        every = draw(st.sampled_from([None, 1, 1, 2, 3]))
        policy = WeightPolicy(every, draw(st.sampled_from([1, 1, 2])))
    return Schedule.from_orders(orders, weights=policy)


def times(*, least: int = 1) -> st.SearchStrategy[Fraction]:
    """Draw a duration: a small fraction, sometimes huge, so that 64 bits do not hold a run."""
    small = st.fractions(min_value=Fraction(least, 4), max_value=6, max_denominator=12)
    return st.one_of(small, st.integers(max(least, 1), 3).map(Fraction), st.just(Fraction(10**12 + 1, 7)))


@st.composite
def durations(draw: st.DrawFn, num_stages: int) -> Durations:
    """Draw durations per kind and stage, and a latency."""

    def row() -> list[Fraction]:
        return [draw(times()) for _ in range(num_stages)]

    return Durations(
        F=row(),
        B=row(),
        I=row(),
        W=row(),
        latency=draw(st.sampled_from([0, 0, Fraction(1, 3), 2, 4 * 10**18, Fraction(10**20, 1000000007)])),
    )

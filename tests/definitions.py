"""What the package computes, written down again straight from the definitions, with no array code."""

from __future__ import annotations

from fractions import Fraction

import networkx as nx

from pdtheory.durations import Durations
from pdtheory.schedule import Kind, Op, Schedule
from pdtheory.tie_rules import TieRule


def starts(schedule: Schedule, durations: Durations) -> dict[Op, Fraction]:
    """Longest paths in the schedule's networkx graph."""
    graph = schedule.graph(durations)
    found: dict[Op, Fraction] = {}
    for op in nx.topological_sort(graph):
        found[op] = max(
            (
                found[before] + graph.nodes[before]["duration"] + edge["latency"]
                for before, _, edge in graph.in_edges(op, data=True)
            ),
            default=Fraction(0),
        )
    return found


def update_of(schedule: Schedule, microbatch: int) -> tuple[int, int]:
    """Return (copy, number of the update on that copy) that a microbatch feeds."""
    policy = schedule.weights
    copy = microbatch % policy.num_copies
    every = policy.microbatches_per_update or schedule.num_microbatches
    return copy, (microbatch // policy.num_copies) // every


def last_op(schedule: Schedule, stage: int, microbatch: int) -> Op:
    ops = {op for row in schedule for op in row}
    weight = Op(stage, Kind.W, microbatch)
    return weight if weight in ops else Op(stage, Kind.B, microbatch)


def block_delay(schedule: Schedule, durations: Durations, rule: TieRule) -> dict[tuple[int, int, int], int]:
    """Return the delay by (update stage, read stage, microbatch): events sorted, updates between counted."""
    begin = starts(schedule, durations)
    graph = schedule.graph(durations)
    end = {op: begin[op] + graph.nodes[op]["duration"] for op in begin}
    updates: dict[tuple[int, int, int], Fraction] = {}
    for stage in range(schedule.num_stages):
        for microbatch in range(schedule.num_microbatches):
            key = (stage, *update_of(schedule, microbatch))
            time = end[last_op(schedule, stage, microbatch)]
            updates[key] = max(updates.get(key, time), time)

    def key_of_update(update: tuple[int, int, int]) -> tuple[Fraction, int, int]:
        stage = update[0]
        if rule in (TieRule.READS_FIRST, TieRule.UPDATES_FIRST):
            return updates[update], 0, stage
        return updates[update], 0, -stage if rule is TieRule.REVERSE_STAGE_ORDER else stage

    def key_of_read(stage: int, microbatch: int) -> tuple[Fraction, int, int]:
        op = Op(stage, Kind.F, microbatch)
        if rule is TieRule.READS_FIRST:
            return begin[op], 1, stage
        if rule is TieRule.UPDATES_FIRST:
            return end[op], 1, stage
        return end[op], 0, -stage if rule is TieRule.REVERSE_STAGE_ORDER else stage

    result = {}
    for microbatch in range(schedule.num_microbatches):
        copy, number = update_of(schedule, microbatch)
        same_copy = [u for u in updates if u[1] == copy]
        for a in range(schedule.num_stages):
            own = key_of_update((a, copy, number))
            for s in range(schedule.num_stages):
                read = key_of_read(s, microbatch)
                before_own = sum(key_of_update(u) < own for u in same_copy)
                before_read = sum(key_of_update(u) < read for u in same_copy)
                result[a, s, microbatch] = before_own - before_read
    return result


def version_walk(schedule: Schedule) -> tuple[dict[tuple[int, int], int], list[int], list[int]]:
    """Walk each worker's order; return lags by (stage, microbatch), most versions per stage, most held per worker."""
    lags: dict[tuple[int, int], int] = {}
    most = [0] * schedule.num_stages
    held_most = []
    for row in schedule:
        made: dict[tuple[int, int], int] = {}
        read: dict[tuple[int, int], int] = {}
        waiting: dict[tuple[int, int, int], set[int]] = {}
        for microbatch in range(schedule.num_microbatches):
            for stage in range(schedule.num_stages):
                waiting.setdefault((stage, *update_of(schedule, microbatch)), set()).add(microbatch)
        stages = {op.stage for op in row}
        in_use: dict[int, dict[int, tuple[int, int]]] = {stage: {} for stage in stages}
        held, peak = 0, 0

        def count(stage: int, made: dict[tuple[int, int], int], in_use: dict[int, dict[int, tuple[int, int]]]) -> None:
            live = {(copy, made.get((stage, copy), 0)) for copy in range(schedule.weights.num_copies)}
            most[stage] = max(most[stage], len(live | set(in_use[stage].values())))

        for stage in stages:
            count(stage, made, in_use)
        for op in row:
            stage, microbatch = op.stage, op.microbatch
            copy, number = update_of(schedule, microbatch)
            if op.kind is Kind.F:
                read[stage, microbatch] = made.get((stage, copy), 0)
                in_use[stage][microbatch] = (copy, read[stage, microbatch])
                held += 1
                peak = max(peak, held)
            elif op == last_op(schedule, stage, microbatch):
                held -= 1
                del in_use[stage][microbatch]
                group = waiting[stage, copy, number]
                group.discard(microbatch)
                if not group:
                    version = made.get((stage, copy), 0)
                    made[stage, copy] = version + 1
                    for other in range(schedule.num_microbatches):
                        if update_of(schedule, other) == (copy, number):
                            lags[stage, other] = version - read[stage, other]
            count(stage, made, in_use)
        held_most.append(peak)
    return lags, most, held_most

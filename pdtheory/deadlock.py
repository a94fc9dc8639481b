"""Deadlocks: the shortest cycle of waits among ops that can never run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdtheory.errors import DeadlockError
from pdtheory.schedule import IntArray, Schedule

if TYPE_CHECKING:
    import networkx as nx

_MOST_WAITS = 1500


def shortest_cycle(schedule: Schedule, waiting: IntArray) -> DeadlockError:
    """Return the error that names the shortest cycle of waits among the ops `waiting`.

    Parameters
    ----------
    waiting : ndarray of int
        Numbers of the ops that can never start. Waiting behind an earlier op of the same worker counts as
        one wait however many ops lie between.
    """
    import networkx as nx

    data, stuck = schedule.data_dependency(), set(waiting.tolist())
    needs: dict[int, int] = {i: int(data[i]) for i in stuck if int(data[i]) in stuck}
    extra = [(int(v), int(u)) for u, v in schedule.barriers if int(u) in stuck and int(v) in stuck]
    # Nodes are cross waits (op, what it needs); one follows another if it sits at or before the needed op.
    waits = [*needs.items(), *extra]
    by_worker: dict[int, list[tuple[int, int]]] = {}
    for wait in sorted(waits):
        by_worker.setdefault(int(schedule.worker[wait[0]]), []).append(wait)
    graph = nx.DiGraph()
    for wait in waits:
        behind = by_worker.get(int(schedule.worker[wait[1]]), [])
        graph.add_edges_from((wait, other) for other in behind[:_MOST_WAITS] if other[0] <= wait[1])
        if graph.number_of_edges() > _MOST_WAITS**2:
            break
    cycle = min(
        (_cycle_through(graph, wait) for wait in list(graph)[:_MOST_WAITS]),
        key=lambda found: len(found) or len(waits) + 1,
    )
    sentences = []
    for position, (op, needed) in enumerate(cycle):
        follower = cycle[(position + 1) % len(cycle)][0]
        sentences.append(f"{schedule.op(op)} waits for {schedule.op(needed)}")
        if follower != needed:
            sentences.append(
                f"{schedule.op(needed)} comes after {schedule.op(follower)} on worker {int(schedule.worker[needed])}"
            )
    return DeadlockError(sentences, where=schedule.name)


def _cycle_through(graph: nx.DiGraph, node: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the shortest cycle through `node`, empty if there is none."""
    import networkx as nx

    if graph.has_edge(node, node):
        return [node]
    best: list[tuple[int, int]] = []
    back = nx.single_source_shortest_path_length(graph.reverse(copy=False), node)
    nexts = [n for n in graph.successors(node) if n in back]
    if nexts:
        start = min(nexts, key=lambda n: back[n])
        best = [node, *nx.shortest_path(graph, start, node)[:-1]]
    return best

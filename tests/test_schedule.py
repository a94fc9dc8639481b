"""Ops, schedules and what they refuse."""

import networkx as nx
import numpy as np
import pytest

from pdtheory.errors import ParameterError, ScheduleError
from pdtheory.schedule import Kind, Op, Schedule, WeightPolicy

GOOD = [["0F0", "0F1", "0B0", "0B1"], ["1F0", "1B0", "1F1", "1B1"]]


@pytest.mark.parametrize("text", ["2F0", "10B3", "0I7", "3W12"])
def test_op_text_round_trip(text):
    assert str(Op.parse(text)) == text


@pytest.mark.parametrize("text", ["", "F0", "0X0", "0F", "-1F0", "0F0 ", "0f0", "1.5F0", "0F٣", "0" * 30 + "F0"])
def test_op_text_refused(text):
    with pytest.raises(ParameterError, match="is not an op"):
        Op.parse(text)


def test_huge_index_refused():
    with pytest.raises(ParameterError, match="index above"):
        Op.parse("0F99999999")


@pytest.mark.parametrize(
    ("orders", "message"),
    [
        ([["0F0", "0B0"], ["1F0"]], "op 1B0 is missing"),
        ([["0F0", "0B0"], ["1B0"]], "op 1F0 is missing"),
        ([["0F0", "0F0", "0B0"]], "op 0F0 occurs twice on worker 0"),
        ([["0F0", "0B0"], ["0F0"]], "op 0F0 is on two workers"),
        ([["0F0"], ["0B0"]], "stage 0 is on several workers"),
        ([["0F0", "0I0", "0B0"]], "both a B and an I"),
        ([["0F0", "0I0"]], "op 0W0 is missing"),
        ([["0F0", "0W0"]], "op 0B0 is missing"),
        ([["0F0", "0B0", "0W0"]], "op 0I0 is missing"),
        ([["0B0", "0F0"]], "op 0B0 comes before 0F0 on worker 0"),
        ([["0F0", "0W0", "0I0"]], "op 0W0 comes before 0I0"),
        ([["0F1", "0B1"]], "op 0F0 is missing"),
        ([["2F0", "2B0"]], "op 0F0 is missing"),
        ([["0F0", "0B0", "0F900000"]], "missing"),
        ([], "at least one op"),
        ([[]], "at least one op"),
    ],
)
def test_incomplete_orders_are_named(orders, message):
    with pytest.raises(ScheduleError, match=message):
        Schedule.from_orders(orders)


def test_offsets_must_cover_the_ops():
    with pytest.raises(ScheduleError, match="offsets"):
        Schedule("x", 1, 1, np.array([0, 1]), np.zeros(2, int), np.array([0, 1]), np.zeros(2, int))


def test_graph_is_the_definition():
    schedule = Schedule.from_orders(GOOD)
    graph = schedule.graph()
    assert nx.is_directed_acyclic_graph(graph)
    assert graph.nodes[Op(1, Kind.F, 0)] == {
        "stage": 1, "kind": "F", "microbatch": 0, "worker": 1, "duration": 1,
    }  # fmt: skip
    assert graph.edges[Op(0, Kind.F, 0), Op(1, Kind.F, 0)]["reason"] == "data"
    assert graph.edges[Op(0, Kind.F, 0), Op(0, Kind.F, 1)]["reason"] == "worker"
    # Six data waits and six of worker order; the last stage's F to B is both, twice.
    assert graph.number_of_edges() == 6 + 6 - 2


def test_a_worker_is_not_a_stage():
    looped = Schedule.from_orders([["0F0", "2F0", "2B0", "0B0"], ["1F0", "3F0", "3B0", "1B0"]])
    assert (looped.num_workers, looped.num_stages) == (2, 4)
    assert looped.worker_of_stage.tolist() == [0, 1, 0, 1]


def test_relabel_needs_a_permutation():
    with pytest.raises(ParameterError, match="permutation"):
        Schedule.from_orders(GOOD).relabel([0, 0])


def test_policy_in_words():
    assert WeightPolicy(None).describe() == "one update per batch (flush)"
    assert WeightPolicy(3, 2).describe() == "one update per 3 microbatches, on 2 copies of the model"

"""The catalog: orders against the plain simulator, against rules written out, and what it refuses."""

import pytest

from pdtheory import ParameterError, UnknownNameError, Window, analyze, get_schedule, run, systems
from pdtheory.schedule import Kind
from tests.plain_simulator import simulate


@pytest.mark.parametrize("stages", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("in_flight", [1, 2, 3, 4, 6, 9, 20])
@pytest.mark.parametrize("count", [1, 3, 17, 60])
def test_greedy_order_and_ticks(stages, in_flight, count):
    expected, _ = simulate(stages, count, in_flight)
    schedule = get_schedule("pipedream", stages, count, num_in_flight=in_flight)
    timeline = run(schedule)
    found = [[(op.kind.name, op.microbatch, timeline.start(op)) for op in schedule.ops(s)] for s in range(stages)]
    assert found == expected


@pytest.mark.parametrize(("stages", "count"), [(1, 1), (3, 8), (5, 4), (4, 30)])
def test_naive_is_greedy_with_one_in_flight(stages, count):
    naive, greedy = get_schedule("naive", stages, count), get_schedule("pipedream", stages, count, num_in_flight=1)
    assert list(naive) == list(greedy)


@pytest.mark.parametrize(("stages", "count"), [(1, 1), (4, 2), (4, 10)])
def test_strict_order_is_the_rule(stages, count):
    schedule = get_schedule("pipedream-strict", stages, count)
    for stage in range(stages):
        forwards, backwards = [f"{stage}F{m}" for m in range(count)], [f"{stage}B{m}" for m in range(count)]
        warmup = min(stages - 1 - stage, count)
        expected, forwards = forwards[:warmup], forwards[warmup:]
        while forwards:
            expected += [forwards.pop(0), backwards.pop(0)]
        assert [str(op) for op in schedule.ops(stage)] == expected + backwards
    assert list(get_schedule("1f1b", stages, count)) == list(schedule)


def test_gpipe_runs_all_forwards_first():
    kinds = [op.kind for op in get_schedule("gpipe", 3, 5).ops(1)]
    assert kinds == [Kind.F] * 5 + [Kind.B] * 5


@pytest.mark.parametrize(
    ("stages", "runs", "steps", "rounds"), [(4, 4, 3, 2), (4, 6, 2, 3), (5, 2, 3, 2), (3, 1, 2, 4)]
)
def test_local_sgd_waits_for_its_run_and_for_the_round(stages, runs, steps, rounds):
    per_round = runs * steps
    count = per_round * rounds
    timeline = run(get_schedule("local-sgd", stages, count, num_runs=runs, local_steps=steps))
    for microbatch in range(runs, count):
        for stage in range(stages):
            assert timeline.start(f"{stage}F{microbatch}") >= timeline.end(f"{stage}B{microbatch - runs}")
    for first in range(per_round, count, per_round):
        for stage in range(stages):
            assert timeline.start(f"{stage}F{first}") >= timeline.end(f"0B{first - 1}")
    assert timeline.makespan == rounds * (2 * steps * max(runs, stages) + 2 * (min(runs, stages) - 1))


def test_two_schedules_share_the_name_1f1b():
    greedy = analyze("pipedream", num_stages=6, num_microbatches=60)
    strict = analyze("pipedream-strict", num_stages=6, num_microbatches=60)
    assert greedy.timeline.in_flight == tuple(min(6, 2 * (6 - s) - 1) for s in range(6))
    assert strict.timeline.in_flight == strict.weight_versions == tuple(6 - s for s in range(6))
    assert greedy.delays.statistics(Window.STEADY) == strict.delays.statistics(Window.STEADY)
    assert greedy.version_lag == strict.version_lag == (5, 4, 3, 2, 1, 0)


def test_flush_has_no_version_lag():
    for name in ("gpipe", "1f1b"):
        assert analyze(name, num_stages=4, num_microbatches=12).max_version_lag == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("name", "arguments", "error", "message"),
    [
        ("pipedrem", (2, 2), UnknownNameError, "Did you mean 'pipedream'"),
        ("pipedream", (0, 2), ParameterError, "num_stages: must be at least 1"),
        ("pipedream", (2, 0), ParameterError, "num_microbatches: must be at least 1"),
        ("pipedream", (2.5, 2), ParameterError, "num_stages: must be an integer"),
        ("pipedream", (True, 2), ParameterError, "must be an integer"),
        ("pipedream", ("2", 2), ParameterError, "must be an integer"),
        ("pipedream", (10**6, 10**6), ParameterError, "at most"),
    ],
)
def test_bad_parameters(name, arguments, error, message):
    with pytest.raises(error, match=message):
        get_schedule(name, *arguments)


def test_bad_options():
    with pytest.raises(UnknownNameError, match="Did you mean 'num_in_flight'"):
        get_schedule("pipedream", 2, 2, in_flight=1)
    with pytest.raises(ParameterError, match="num_runs: must be at least 1"):
        get_schedule("local-sgd", 2, 2, num_runs=0)
    with pytest.raises(UnknownNameError):
        get_schedule("gpipe", 2, 2, num_runs=1)


def test_every_system_has_a_summary_and_a_source():
    for name, entry in systems().items():
        assert entry.name == name
        assert entry.summary
        assert entry.source

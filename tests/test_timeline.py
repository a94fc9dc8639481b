"""Timelines: the fast engine against longest paths in networkx, and numbers from the literature."""

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from pdtheory import Durations, Schedule, get_schedule, run, systems
from pdtheory.errors import DeadlockError, ParameterError
from tests import definitions
from tests.strategies import durations, schedules, times


def same_as_definition(schedule, timing):
    timeline = run(schedule, timing)
    expected = definitions.starts(schedule, timing)
    assert {op: timeline.start(op) for row in schedule for op in row} == expected
    return timeline


@given(st.data())
def test_random_orders_and_durations(data):
    schedule = data.draw(schedules())
    same_as_definition(schedule, data.draw(durations(schedule.num_stages)))


@pytest.mark.parametrize("name", systems())
@pytest.mark.parametrize(("stages", "count"), [(1, 1), (1, 7), (3, 1), (2, 60), (5, 40), (7, 23)])
@pytest.mark.parametrize("timing", [Durations(), Durations(F=1, B=2, latency="1/2"), Durations(F=[3], B=["1/7"])])
def test_catalog_at_sizes_where_starts_repeat(name, stages, count, timing):
    same_as_definition(get_schedule(name, stages, count), timing)


def test_repetition_with_unequal_stages_and_a_wrong_continuation():
    # The bottleneck makes starts repeat early; the drain then breaks the pattern.
    timing = Durations(F=[1, 5, 1, 2], B=[2, 7, 1, 3], latency=1)
    same_as_definition(get_schedule("pipedream-strict", 4, 400), timing)


def test_pattern_that_is_broken_late():
    orders = [list(row) for row in get_schedule("pipedream-strict", 2, 1200)]
    first = orders[0]
    swapped = first.index(next(op for op in first if str(op) == "0F1100"))
    first[swapped], first[swapped + 1] = first[swapped + 1], first[swapped]
    same_as_definition(Schedule.from_orders(orders), Durations(F=2, B=3))


@given(st.data())
def test_makespan_never_falls_when_a_duration_grows(data):
    schedule = data.draw(schedules())
    timing = data.draw(durations(schedule.num_stages))
    letter = data.draw(st.sampled_from("FBIW"))
    stage = data.draw(st.integers(0, schedule.num_stages - 1))
    longer = {k: list(getattr(timing, k)) for k in "FBIW"}
    longer[letter][stage] += data.draw(times())
    grown = Durations(**longer, latency=timing.latency + data.draw(st.sampled_from([0, 1])))
    assert run(schedule, grown).makespan >= run(schedule, timing).makespan


@pytest.mark.parametrize("name", ["gpipe", "1f1b"])
def test_gpipe_and_1f1b_have_the_same_bubble(name):
    timeline = run(get_schedule(name, 8, 32))
    assert (timeline.makespan, timeline.idle_over_total) == (78, Fraction(7, 39))


@pytest.mark.parametrize(("stages", "count", "makespan", "idle"), [(8, 1, 16, "7/8"), (2, 1, 4, "1/2")])
def test_fewer_microbatches_than_stages(stages, count, makespan, idle):
    timeline = run(get_schedule("1f1b", stages, count))
    assert (timeline.makespan, timeline.idle_over_total) == (makespan, Fraction(idle))


def test_both_denominators_and_buffers():
    timeline = run(get_schedule("1f1b", 4, 8))
    assert (timeline.idle_over_total, timeline.idle_over_ideal) == (Fraction(3, 11), Fraction(3, 8))
    assert timeline.in_flight == (4, 3, 2, 1)


@pytest.mark.parametrize(("steps", "ticks"), [(2, 1770), (5, 1440), (30, 1260)])
def test_published_ticks_of_local_sgd(steps, ticks):
    assert run(get_schedule("local-sgd", 16, 600, local_steps=steps)).makespan == ticks


def test_exact_numbers_stay_exact():
    timeline = run(get_schedule("1f1b", 2, 2), Durations(F=0.1, B="1/3"))
    # 3 F and 3 B on the longest path; 0.1 is the decimal, not the binary number next to it.
    assert timeline.makespan == 3 * Fraction(1, 10) + 3 * Fraction(1, 3)
    assert run(get_schedule("1f1b", 2, 2), Durations(F=10**25, B=1)).makespan == 3 * 10**25 + 3


@pytest.mark.parametrize(
    "timing",
    [
        Durations(latency=4 * 10**18),
        Durations(latency="1e30"),
        Durations(F="1/1000000007", B="1/998244353", latency="1/3"),
        Durations(
            F=[Fraction(1, p) for p in (101, 103, 107, 109)],
            B=[Fraction(1, p) for p in (211, 223, 227, 229)],
            latency="1/3",
        ),
    ],
)
def test_numbers_beyond_64_bits(timing):
    for name, count in (("gpipe", 2), ("pipedream", 300)):
        same_as_definition(get_schedule(name, 4, count), timing)


def test_latency_only_between_workers():
    looped = Schedule.from_orders([["0F0", "1F0", "1B0", "0B0"]])
    assert run(looped, Durations(latency=5)).makespan == 4


def test_deadlock_shows_its_shortest_cycle():
    orders = [["0F0", "0B0", "0F1", "0B1"], ["1F0", "1F1", "1B0", "1B1"]]
    with pytest.raises(DeadlockError) as error:
        run(Schedule.from_orders(orders))
    assert set(error.value.cycle) == {
        "0B0 waits for 1B0",
        "1B0 comes after 1F1 on worker 1",
        "1F1 waits for 0F1",
        "0F1 comes after 0B0 on worker 0",
    }


def test_deadlock_behind_a_long_run_is_found():
    # Stage 0 wants the gradient of microbatch 290 before it sends 291; stage 1 wants them the other way.
    orders = [[f"{s}{k}{m}" for m in range(300) for k in "FB"] for s in range(2)]
    at = orders[1].index("1B290")
    orders[1][at], orders[1][at + 1] = orders[1][at + 1], orders[1][at]
    with pytest.raises(DeadlockError) as error:
        run(Schedule.from_orders(orders))
    assert "1B290 comes after 1F291 on worker 1" in error.value.cycle
    assert len(error.value.cycle) == 4


@pytest.mark.parametrize(
    "value", [-1, "nan", b"1", "1e9999", float("nan"), float("inf"), "x", None, True, "1/0", [], "9" * 50]
)
def test_durations_refused(value):
    with pytest.raises(ParameterError):
        Durations(F=[value] if value is None else value)


@pytest.mark.parametrize("text", ["F", "F=", "X=1", "F=1,F=2", "F=1;B=2", "=1", ""])
def test_duration_texts_refused(text):
    with pytest.raises(ParameterError):
        Durations.parse(text)


def test_durations_per_stage_must_fit():
    with pytest.raises(ParameterError, match="one per stage"):
        run(get_schedule("1f1b", 3, 3), Durations(F=[1, 2]))


def test_half_backwards_follow_from_the_full_one():
    assert (Fraction(3, 2),) == Durations(B=3).I
    assert Durations(I=[1, 2], W=1).B == (2, 3)


def test_numpy_durations():
    assert Durations(F=np.float64(0.5), B=np.array([1, 2])).B == (1, 2)
    assert (Fraction(1, 10),) == Durations(F=np.float32(0.1), B=np.array(3)).F


@settings(max_examples=25)
@given(schedules())
def test_counts_of_microbatches_in_flight(schedule):
    assert list(run(schedule).in_flight) == definitions.version_walk(schedule)[2]

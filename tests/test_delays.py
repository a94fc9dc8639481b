"""Delays: against the definition on random orders, windows, invariances, and figure 3's published numbers."""

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from pdtheory import Durations, TieRule, Window, block_delays, get_schedule, run, versions
from pdtheory.delays import SteadyState, find_steady_state
from pdtheory.errors import ParameterError, UnknownNameError
from tests import definitions
from tests.plain_simulator import simulate
from tests.strategies import durations, schedules


def as_dict(delays):
    stages, count = delays.made.shape
    return {(a, s, m): int(delays.of(m)[a, s]) for m in range(count) for a in range(stages) for s in range(stages)}


@given(st.data())
def test_random_orders_durations_and_tie_rules(data):
    schedule = data.draw(schedules())
    timing = data.draw(durations(schedule.num_stages))
    rule = data.draw(st.sampled_from(list(TieRule)))
    assert as_dict(block_delays(run(schedule, timing), rule)) == definitions.block_delay(schedule, timing, rule)


@pytest.mark.parametrize(("stages", "in_flight"), [(1, 1), (2, 2), (4, 4), (5, 5), (5, 3), (4, 6), (6, 1)])
def test_the_papers_tie_rule_is_the_plain_simulators(stages, in_flight):
    count = 6 * stages
    _, updates = simulate(stages, count, in_flight)
    delays = block_delays(run(get_schedule("pipedream", stages, count, num_in_flight=in_flight)))
    for stage, microbatch, found in updates:
        assert delays.of(microbatch)[stage].tolist() == found


@settings(max_examples=40)
@given(st.data())
def test_relabelling_microbatches_changes_no_delay(data):
    schedule = data.draw(schedules(policies=False))
    permutation = data.draw(st.permutations(range(schedule.num_microbatches)))
    timing = data.draw(durations(schedule.num_stages))
    rule = data.draw(st.sampled_from(list(TieRule)))
    renamed = schedule.relabel(permutation)
    before, after = (block_delays(run(s, timing), rule) for s in (schedule, renamed))
    lag_before, lag_after = versions(schedule).lag, versions(renamed).lag
    for old, new in enumerate(permutation):
        assert np.array_equal(before.of(old), after.of(new))
        assert np.array_equal(lag_before[:, old], lag_after[:, new])


@given(schedules())
def test_versions_against_a_walk_along_each_worker(schedule):
    lags, most, _ = definitions.version_walk(schedule)
    found = versions(schedule)
    assert {key: int(found.lag[key]) for key in lags} == lags
    assert found.alive.tolist() == most


def test_windows_of_the_paper_schedule():
    delays = block_delays(run(get_schedule("pipedream", 8, 80)))
    assert delays.steady == SteadyState(8, 77, 1)
    assert delays.statistics(Window.STEADY).max == 60
    assert delays.statistics(Window.STEADY).mean == Fraction(63, 2)
    assert delays.statistics(Window.ALL).max == 72
    assert [len(delays.window(w)) for w in (Window.WARMUP, Window.STEADY, Window.DRAIN)] == [8, 69, 3]


def test_the_tie_rule_fixes_the_lower_order():
    timeline = run(get_schedule("pipedream", 8, 80))
    largest = {str(rule): block_delays(timeline, rule).statistics(Window.STEADY).max for rule in TieRule}
    assert largest == {"stage-order": 60, "reverse-stage-order": 59, "reads-first": 60, "updates-first": 56}


def test_local_sgd_counts_on_its_own_copy():
    delays = block_delays(run(get_schedule("local-sgd", 4, 32, local_steps=2)))
    # Only the later stages' updates from the same microbatch lie between: no update of another microbatch.
    assert (delays.of(9) == np.array([[3] * 4, [2] * 4, [1] * 4, [0] * 4])).all()
    assert versions(get_schedule("local-sgd", 4, 32, local_steps=2)).lag.max() == 0


def test_no_steady_state_is_said():
    delays = block_delays(run(get_schedule("pipedream", 4, 2)))
    assert delays.steady is None
    assert delays.statistics(Window.STEADY).max is None
    assert delays.statistics(Window.ALL).max is not None


@given(st.integers(0, 6), st.integers(1, 5), st.integers(3, 6), st.integers(0, 6))
def test_a_planted_period_is_found(before, period, repeats, after):
    rng = np.random.default_rng(before + 10 * period)
    pattern = np.arange(100, 100 + period)
    tail = np.arange(300, 300 + after)
    labels = np.concatenate([rng.permutation(np.arange(before)), np.tile(pattern, repeats), tail])
    assert find_steady_state(labels) == SteadyState(before, before + period * repeats, period)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40))
def test_what_is_called_steady_repeats(labels):
    found = find_steady_state(np.array(labels))
    if found is not None:
        window = labels[found.first : found.stop]
        assert len(window) >= 3 * found.period
        assert len(window) % found.period == 0
        assert all(a == b for a, b in zip(window, window[found.period :], strict=False))


@given(st.data())
def test_histogram_counts_every_delay(data):
    schedule = data.draw(schedules())
    delays = block_delays(run(schedule))
    included = np.array(
        data.draw(st.lists(st.booleans(), min_size=delays.made.size, max_size=delays.made.size))
    ).reshape(delays.made.shape)
    counts = delays.histogram(included)
    expected: dict[int, int] = {}
    for (a, _, m), value in as_dict(delays).items():
        if included[a, m]:
            expected[value] = expected.get(value, 0) + 1
    assert {k: int(v) for k, v in enumerate(counts) if v} == expected


def test_zero_durations_leave_delays_undefined():
    with pytest.raises(ParameterError, match="positive duration"):
        block_delays(run(get_schedule("1f1b", 2, 2), Durations(F=0)))


def test_unknown_tie_rule_names_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'stage-order'"):
        block_delays(run(get_schedule("1f1b", 2, 2)), "stage-ordr")

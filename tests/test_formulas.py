"""Closed forms against enumerations that know nothing of them, verdicts, twins, and a second solver."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import pdtheory as pd
from pdtheory import ParameterError, TieRule, UnknownNameError, Window, closed_form, quantities
from pdtheory.formulas import negative_control, simplified
from pdtheory.proof import Proof, Verdict, check, smt
from pdtheory.proof import steps as ps
from pdtheory.proof.timing import S

ALL = [(name, quantity) for name in pd.systems() for quantity in quantities(name)]
RULES = list(TieRule)


def form(name, quantity):
    base, _, rule = quantity.partition("/")
    return closed_form(name, base, tie_rule=rule or None)


@pytest.mark.parametrize(("name", "quantity"), ALL)
def test_every_formula_is_proved_and_its_twin_refused(name, quantity):
    found = form(name, quantity)
    assert found.verdict is Verdict.PROVED
    assert found.negative_control.verdict is Verdict.REFUTED
    assert all(result.verdict is Verdict.PROVED for result in found.evidence)
    assert found.domain
    assert found.to_dict()["formula"] == str(found.expr)


@pytest.mark.parametrize(("name", "quantity"), ALL)
def test_a_second_solver_agrees_on_every_statement(name, quantity):
    for _, text in form(name, quantity).obligations():
        assert smt.solve(text, "cvc5").verdict is Verdict.PROVED


def runs(name, stages, count=None):
    timeline = pd.run(pd.get_schedule(name, stages, count or 6 * stages + 2))
    return {rule: pd.block_delays(timeline, rule) for rule in RULES}


@pytest.mark.parametrize("name", ["pipedream", "pipedream-strict"])
@pytest.mark.parametrize("stages", range(1, 12))
def test_delay_formulas_against_enumeration(name, stages):
    for rule, delays in runs(name, stages).items():
        steady = delays.statistics(Window.STEADY)
        values = {
            q: closed_form(name, q, tie_rule=rule).evaluate(S=stages)
            for q in ("max_block_delay", "mean_block_delay", "whole_run_max_block_delay")
        }
        assert values["max_block_delay"] == steady.max
        assert values["mean_block_delay"] == steady.mean
        assert values["whole_run_max_block_delay"] == delays.statistics(Window.ALL).max
        pairs = closed_form(name, "block_delay", tie_rule=rule)
        table = [[pairs.evaluate(S=stages, a=a, s=s) for s in range(stages)] for a in range(stages)]
        assert np.array_equal(delays.of(2 * stages), table)


@pytest.mark.parametrize("stages", range(1, 9))
def test_updates_between_and_squares_against_enumeration(stages):
    schedule = pd.get_schedule("pipedream", stages, 4 * stages + 2)
    timeline = pd.run(schedule)
    m = 2 * stages
    start = timeline.starts

    def between(r, s):
        read, own = start[schedule.forward[r, m]], start[schedule.backward[s, m]]
        ticks = start[schedule.backward[r]]
        # Paper's tie rule: in one tick ascending stages; no stage does two things in one tick.
        return sum(1 for t in ticks if t > read and (t < own or (t == own and r < s)))

    counts = {(r, s): between(r, s) for r, s in itertools.product(range(stages), repeat=2)}
    formula = closed_form("pipedream", "updates_between")
    assert counts == {(r, s): formula.evaluate(S=stages, r=r, s=s) for r, s in counts}
    per_stage = closed_form("pipedream", "squared_updates_per_stage")
    for s in range(stages):
        assert per_stage.evaluate(S=stages, s=s) == sum(counts[r, s] ** 2 for r in range(stages))
    assert closed_form("pipedream", "squared_updates").evaluate(S=stages) == sum(c**2 for c in counts.values())


@pytest.mark.parametrize("stages", range(1, 8))
def test_largest_delay_against_noam(stages):
    formula = closed_form("pipedream", "max_block_delay_noam")
    for in_flight in range(1, 2 * stages + 3):
        count = 8 * stages + 6 * in_flight
        delays = pd.block_delays(pd.run(pd.get_schedule("pipedream", stages, count, num_in_flight=in_flight)))
        assert formula.evaluate(S=stages, n=in_flight) == delays.statistics(Window.STEADY).max


@pytest.mark.parametrize("name", ["pipedream", "pipedream-strict", "gpipe", "1f1b", "naive"])
def test_ticks_and_idle_time_against_timelines(name):
    for stages, count in itertools.product(range(1, 6), range(1, 9)):
        timeline = pd.run(pd.get_schedule(name, stages, count))
        assert closed_form(name, "ticks").evaluate(S=stages, M=count) == timeline.makespan
        if name != "naive":
            assert closed_form(name, "idle_over_total").evaluate(S=stages, M=count) == timeline.idle_over_total
            assert closed_form(name, "idle_over_ideal").evaluate(S=stages, M=count) == timeline.idle_over_ideal
            for kind, which in (("F", "tick_of_forward"), ("B", "tick_of_backward")):
                law = closed_form(name, which)
                for s, m in itertools.product(range(stages), range(count)):
                    point = {"S": stages, "s": s, "m": m, "M": count, "n": stages}
                    names = {x.name for x in law.expr.free_symbols}
                    value = law.evaluate(**{k: v for k, v in point.items() if k in names})
                    assert value == timeline.start(f"{s}{kind}{m}")


@pytest.mark.parametrize(("runs_", "steps"), [(4, 1), (4, 3), (6, 2), (9, 1)])
def test_ticks_of_local_sgd(runs_, steps):
    ticks = closed_form("local-sgd", "ticks")
    for stages, count in itertools.product(range(1, 5), range(1, 40, 3)):
        schedule = pd.get_schedule("local-sgd", stages, count, num_runs=runs_, local_steps=steps)
        assert ticks.evaluate(S=stages, R=runs_, H=steps, M=count) == pd.run(schedule).makespan


def test_ticks_of_a_round_with_few_runs():
    ticks = closed_form("local-sgd", "ticks_of_round")
    for stages in range(1, 7):
        for few, steps in itertools.product(range(1, stages + 1), range(1, 4)):
            schedule = pd.get_schedule("local-sgd", stages, few * steps, num_runs=few, local_steps=steps)
            assert ticks.evaluate(S=stages, R=few, H=steps) == pd.run(schedule).makespan


def test_own_lag_does_not_depend_on_op_times():
    lag = closed_form("pipedream-strict", "version_lag")
    for durations in ("F=1,B=1", "F=5,B=1", "F=1:7:2,B=3:1:9"):
        found = pd.analyze("pipedream-strict", num_stages=3, num_microbatches=40, durations=durations)
        assert found.version_lag == tuple(lag.evaluate(S=3, s=s) for s in range(3))


def test_the_headline():
    law = closed_form("pipedream", "max_block_delay")
    assert law.expr == S**2 - sp.ceiling(S / 2)
    assert law.evaluate(S=8) == 60
    assert closed_form("pipedream", "mean_block_delay").evaluate(S=8) == Fraction(63, 2)
    assert law._repr_latex_() == r"$S^{2} - \left\lceil{\frac{S}{2}}\right\rceil$"
    assert sp.sympify(law.to_dict()["formula"], {"S": S}) == law.expr


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "a value is needed for S"),
        ({"S": 0}, "outside the domain S >= 1"),
        ({"S": 2.5}, "S: must be an integer"),
        ({"S": True}, "must be an integer"),
        ({"S": 2, "X": 1}, "unknown symbol"),
        ({"S": 3, "M": 4, "m": 3}, "outside the domain"),
        ({"S": 4, "M": 4}, "outside the domain"),
    ],
)
def test_evaluation_outside_the_domain(values, message):
    with pytest.raises((ParameterError, UnknownNameError), match=message):
        closed_form("pipedream", "max_block_delay").evaluate(**values)


def test_each_case_has_its_own_domain():
    law = closed_form("pipedream", "max_block_delay_noam")
    assert law.evaluate(S=4, n=1) == 3
    with pytest.raises(ParameterError, match="outside the domain n >= 1"):
        law.evaluate(S=4, n=0)


def test_each_case_has_its_own_twin():
    control = closed_form("pipedream", "max_block_delay_noam").negative_control
    assert "n <= S = " in control.statement
    assert "n >= S = " in control.statement
    assert control.verdict is Verdict.REFUTED


def test_unknown_quantities_and_rules():
    with pytest.raises(UnknownNameError, match="Did you mean 'max_block_delay'"):
        closed_form("pipedream", "max_blok_delay")
    with pytest.raises(UnknownNameError, match="tie rule"):
        closed_form("pipedream", "max_block_delay", tie_rule="up")
    with pytest.raises(UnknownNameError, match="schedule"):
        quantities("pipedram")


def test_a_proof_that_cannot_be_perturbed_is_rejected():
    proof = Proof("nothing to change", (ps.Decide("d", (S >= 1,), S >= 0),))
    assert check(proof).verdict is Verdict.PROVED
    with pytest.raises(AssertionError, match="nothing to perturb"):
        negative_control(proof, S)


def test_domains_are_told_once():
    n = sp.Symbol("n", integer=True)
    assert simplified((S >= 1, sp.Le(1, S), n >= S, sp.Eq(n, S))) == [S >= 1, sp.Eq(n, S)]

"""Formulas fitted to counts: they find proved laws again, and say what they are."""

import pytest
import sympy as sp

import pdtheory as pd
from pdtheory import ParameterError, TieRule, UnknownNameError, Verdict, closed_form, fitted_form
from pdtheory.fitting import COUNTED
from pdtheory.proof.timing import S


def greedy(size):
    return pd.get_schedule("pipedream", size, 6 * size + 2)


@pytest.mark.parametrize("rule", list(TieRule))
@pytest.mark.parametrize("quantity", ["max_block_delay", "mean_block_delay", "whole_run_max_block_delay"])
def test_counts_lead_to_the_proved_formula(rule, quantity):
    proved = closed_form("pipedream", quantity, tie_rule=rule)
    if quantity == "mean_block_delay" and rule in (TieRule.READS_FIRST, TieRule.UPDATES_FIRST):
        # These means have a term in 1/S: no polynomial, and none is made up.
        with pytest.raises(ParameterError, match="no polynomial"):
            fitted_form(greedy, quantity, tie_rule=rule)
        return
    found = fitted_form(greedy, quantity, tie_rule=rule)
    assert found.verdict is Verdict.CHECKED
    assert found.negative_control.verdict is Verdict.REFUTED
    assert sp.simplify(found.expr - proved.expr) == 0
    assert found.domain == "S >= 1, S <= 16"
    with pytest.raises(ParameterError, match="outside the domain"):
        found.evaluate(S=17)


def test_start_up_memory_of_the_two_1f1b():
    held = fitted_form(greedy, "total_in_flight", sizes=range(2, 26))
    assert [held.evaluate(S=k) for k in (2, 3, 8)] == [
        sum(min(k, 2 * (k - s) - 1) for s in range(k)) for k in (2, 3, 8)
    ]
    strict = fitted_form(lambda size: pd.get_schedule("pipedream-strict", size, 4 * size), "total_in_flight")
    assert sp.expand(strict.expr - S * (S + 1) / 2) == 0


def test_period_three_is_told_by_cases():
    def family(size):
        return pd.get_schedule("gpipe", 1, 1 + size % 3)

    found = fitted_form(family, "ticks", sizes=range(1, 13))
    assert [found.evaluate(S=k) for k in range(1, 7)] == [4, 6, 2, 4, 6, 2]


def test_too_few_sizes_and_no_pattern():
    with pytest.raises(ParameterError, match="no polynomial"):
        fitted_form(greedy, "max_block_delay", sizes=range(1, 6))
    with pytest.raises(ParameterError, match="no polynomial"):
        fitted_form(lambda size: pd.get_schedule("gpipe", 1, 2**size), "ticks", sizes=range(1, 10))
    with pytest.raises(ParameterError, match="no steady state"):
        fitted_form(lambda size: pd.get_schedule("pipedream", size, 2), "max_block_delay", sizes=range(4, 9))
    with pytest.raises(ParameterError, match="consecutive"):
        fitted_form(greedy, "ticks", sizes=[2, 4, 6])
    with pytest.raises(UnknownNameError, match="max_block_delay"):
        fitted_form(greedy, "max_blok_delay")


@pytest.mark.parametrize("quantity", COUNTED)
def test_every_counted_quantity_can_be_fitted(quantity):
    found = fitted_form(lambda size: pd.get_schedule("pipedream-strict", size, 4 * size + 4), quantity)
    assert found.verdict is Verdict.CHECKED

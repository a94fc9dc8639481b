"""Formulas for schedules of your own: fitted to counts, and CHECKED on more counts than the fit needs.

A family is a function from the number of stages to a schedule. A quantity of it is counted for a range of
sizes; an exact polynomial in S, or one per residue class of S, is laid through some of the counts, and the
rest must lie on it. This finds laws; it proves none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

import sympy as sp

from pdtheory.analysis import Analysis, analyze
from pdtheory.delays import Window
from pdtheory.durations import Durations
from pdtheory.errors import ParameterError, UnknownNameError
from pdtheory.formulas import ClosedForm, NegativeControl
from pdtheory.proof import StepResult, Verdict
from pdtheory.proof.timing import S
from pdtheory.schedule import Schedule
from pdtheory.summation import readable
from pdtheory.tie_rules import TieRule

MOST_PERIODS = 4
LEAST_SPARE = 2

Count = int | Fraction | None
COUNTED: dict[str, Callable[[Analysis], Count]] = {
    "ticks": lambda found: found.timeline.makespan,
    "max_block_delay": lambda found: found.delays.statistics(Window.STEADY).max,
    "mean_block_delay": lambda found: found.delays.statistics(Window.STEADY).mean,
    "whole_run_max_block_delay": lambda found: found.delays.statistics(Window.ALL).max,
    "max_version_lag": lambda found: max(found.max_version_lag),
    "total_weight_versions": lambda found: sum(found.weight_versions),
    "total_in_flight": lambda found: sum(found.timeline.in_flight),
}


def fitted_form(
    family: Callable[[int], Schedule],
    quantity: str,
    *,
    sizes: Iterable[int] = range(1, 17),
    durations: Durations | None = None,
    tie_rule: TieRule | str = TieRule.STAGE_ORDER,
    name: str = "custom family",
) -> ClosedForm:
    """Return a formula in S that all counts of a family lie on, with the verdict CHECKED and its range.

    Parameters
    ----------
    family : callable
        Takes S, returns the schedule of S stages.
    quantity : str
        One of `COUNTED`.
    sizes : iterable of int
        The sizes to count; in each residue class two more than the degree needs are kept for the check.
    durations, tie_rule
        As in `analyze`.

    Raises
    ------
    ParameterError
        If no polynomial of low degree, with a period of up to 4, fits the counts, or one cannot be counted.

    Examples
    --------
    >>> from pdtheory import get_schedule
    >>> law = fitted_form(lambda size: get_schedule("pipedream", size, 6 * size + 2), "max_block_delay")
    >>> law.expr, law.verdict.value, law.domain
    (S**2 - ceiling(S/2), 'CHECKED', 'S >= 1, S <= 16')
    """
    if quantity not in COUNTED:
        raise UnknownNameError("quantity", quantity, COUNTED)
    counts: dict[int, Fraction] = {}
    for size in sorted(set(sizes)):
        value = COUNTED[quantity](analyze(family(size), durations=durations, tie_rule=tie_rule))
        if value is None:
            raise ParameterError(
                "has no steady state", where=f"{quantity} at S = {size}", mend="Give the family more microbatches"
            )
        counts[size] = Fraction(value)
    if not counts or list(counts) != list(range(min(counts), max(counts) + 1)):
        raise ParameterError("must be consecutive integers", where="sizes", value=list(counts))
    expr = _through(counts)
    wrong = _disagreement(expr + 1, counts)
    rule = TieRule.named(tie_rule)
    found = StepResult(
        "counts", "FiniteEnumeration", Verdict.CHECKED, f"all counts for S = {min(counts)}..{max(counts)} lie on it"
    )
    return ClosedForm(
        name,
        quantity,
        quantity.replace("_", " "),
        rule,
        expr,
        ((sp.true, (min(counts) <= S, max(counts) >= S)),),
        Verdict.CHECKED,
        (found,),
        NegativeControl(f"{quantity} = {expr + 1}", Verdict.REFUTED if wrong else Verdict.CHECKED, wrong),
    )


def _through(counts: dict[int, Fraction]) -> sp.Expr:
    """Return the polynomial of the shortest period and the lowest degree that all counts lie on."""
    for period in range(1, MOST_PERIODS + 1):
        classes = [{k: v for k, v in counts.items() if k % period == rest} for rest in range(period)]
        pieces = [_polynomial(points) for points in classes]
        if all(piece is not None for piece in pieces):
            return _joined(pieces)
    raise ParameterError(
        f"no polynomial with a period of up to {MOST_PERIODS} fits the counts",
        where="sizes",
        value=list(counts),
        mend="Count more sizes, or give the family more microbatches",
    )


def _polynomial(points: dict[int, Fraction]) -> sp.Expr | None:
    """Return the polynomial of the lowest degree through all points, if at least two of them are to spare."""
    known = [(sp.Integer(k), sp.Rational(v.numerator, v.denominator)) for k, v in points.items()]
    for size in range(1, len(known) - LEAST_SPARE + 1):
        candidate = sp.expand(sp.interpolate(known[:size], S))
        if all(candidate.subs(S, k) == v for k, v in known):
            return candidate
    return None


def _joined(pieces: list[sp.Expr]) -> sp.Expr:
    """Return one expression for the polynomials of all residue classes."""
    if len(pieces) == 1:
        return sp.factor(pieces[0]) if sp.count_ops(sp.factor(pieces[0])) < sp.count_ops(pieces[0]) else pieces[0]
    if len(pieces) == 2:
        even, odd = pieces
        return readable(sp.expand(even + (odd - even) * sp.Mod(S, 2)))
    return sp.Piecewise(*((piece, sp.Eq(sp.Mod(S, len(pieces)), rest)) for rest, piece in enumerate(pieces)))


def _disagreement(expr: sp.Expr, counts: dict[int, Fraction]) -> str:
    """Return the first count that an expression misses, in words; empty if it misses none."""
    for size, value in counts.items():
        if (told := expr.subs(S, size)) != sp.Rational(value.numerator, value.denominator):
            return f"at S = {size} it says {told}, counted is {value}"
    return ""

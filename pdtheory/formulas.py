"""Closed forms: a formula with its domain, its verdict, and a perturbed twin that the checker refuses."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from pdtheory.catalog import systems
from pdtheory.derivations.finding import NotDerivedError
from pdtheory.derivations.quantities import QUANTITIES, Quantity
from pdtheory.errors import ParameterError, UnknownNameError
from pdtheory.proof import Checked, Proof, StepResult, Verdict, check, weakest
from pdtheory.proof.certificates import to_json
from pdtheory.proof.smt import smtlib, solve
from pdtheory.proof.steps import Count, FollowsOrder, FollowsPolicy, Step, Total, Value
from pdtheory.proof.timing import Law
from pdtheory.proof.timing import s as symbol_s
from pdtheory.tie_rules import TieRule

MEANINGS = {
    "S": "number of stages",
    "M": "number of microbatches",
    "n": "microbatches in flight at most (NOAM)",
    "s": "stage that reads",
    "a": "stage that updates",
    "r": "stage whose updates are counted",
    "m": "microbatch",
    "R": "runs of LocalSGD",
    "H": "local steps",
    "Q": "S times the round that the microbatch is in, counted from 0",
    "Q_end": "S times the number of complete rounds of the run",
    "i_end": "microbatches of the last, incomplete round",
}


@dataclass(frozen=True)
class NegativeControl:
    """A perturbed statement, and the verdict that the same checker gave it."""

    statement: str
    verdict: Verdict
    detail: str


@dataclass(frozen=True, eq=False, repr=False)
class ClosedForm:
    """A formula for a quantity of a schedule.

    Attributes
    ----------
    schedule, quantity : str
    words : str
        What it is.
    expr : SymPy expression
        In integer symbols; `MEANINGS` says what they stand for. One time step per op.
    cases : tuple of (condition, tuple of SymPy booleans)
        The domain of each case of the formula, as the checker concluded it; one case with the condition
        true where the formula has no cases.
    verdict : Verdict
    evidence : tuple of StepResult
        The steps of the proof.
    proofs : tuple of (Proof, Checked)
        One per case, to be written as certificates; none where the formula is only CHECKED.
    negative_control : NegativeControl
    """

    schedule: str
    quantity: str
    words: str
    tie_rule: TieRule | None
    expr: sp.Expr
    cases: tuple[tuple[sp.Basic, tuple[sp.Basic, ...]], ...]
    verdict: Verdict
    evidence: tuple[StepResult, ...]
    negative_control: NegativeControl
    proofs: tuple[tuple[Proof, Checked], ...] = ()

    @property
    def domain(self) -> str:
        """The domain as text."""
        texts = [", ".join(_plain(h) for h in simplified(hypotheses)) for _, hypotheses in self.cases]
        if len(set(texts)) == 1:
            return texts[0]
        names = [f"if {condition}" for condition, _ in self.cases[:-1]] + ["else"]
        return "; ".join(f"{name}: {text}" for name, text in zip(names, texts, strict=True))

    @property
    def symbols(self) -> list[str]:
        """The names in the formula and in its domain."""
        told = set(self.expr.free_symbols).union(*(h.free_symbols for _, case in self.cases for h in case))
        return sorted(symbol.name for symbol in told)

    def evaluate(self, **values: int) -> int | Fraction:
        """Return the exact value at integers, for example ``evaluate(S=8)``.

        Raises
        ------
        ParameterError
            If a symbol is missing, unknown or not an integer, or the point is outside the domain.
        """
        needed = {symbol.name: symbol for symbol in self.expr.free_symbols}
        known = needed | {x.name: x for _, case in self.cases for h in case for x in h.free_symbols}
        for name, value in values.items():
            if name not in known:
                raise UnknownNameError(f"symbol of {self.quantity}", name, known)
            if isinstance(value, bool) or not isinstance(value, int):
                raise ParameterError("must be an integer", where=name, value=value)
        if missing := sorted(needed.keys() - values.keys()):
            raise ParameterError(f"a value is needed for {', '.join(missing)}", where=f"evaluate {self.quantity}")
        point = {known[name]: value for name, value in values.items()}
        case = next(case for condition, case in self.cases if condition.subs(point) != sp.false)
        for hypothesis in case:
            if hypothesis.free_symbols <= point.keys() and hypothesis.subs(point) == sp.false:
                raise ParameterError(f"is outside the domain {_plain(hypothesis)}", where=self.quantity, value=values)
        if solve(smtlib(tuple(h.subs(point) for h in case), sp.false)).verdict is Verdict.PROVED:
            raise ParameterError(f"is outside the domain {self.domain}", where=self.quantity, value=values)
        exact = sp.Rational(self.expr.subs(point))
        return int(exact) if exact.is_Integer else Fraction(int(exact.p), int(exact.q))

    def to_dict(self) -> dict[str, Any]:
        """Return the closed form as JSON-ready values."""
        return {
            "schedule": self.schedule,
            "quantity": self.quantity,
            "words": self.words,
            "tie_rule": None if self.tie_rule is None else str(self.tie_rule),
            "formula": str(self.expr),
            "symbols": {name: MEANINGS[name] for name in self.symbols},
            "domain": self.domain,
            "verdict": str(self.verdict),
            "evidence": [
                {
                    "step": r.name,
                    "kind": r.kind,
                    "verdict": str(r.verdict),
                    "detail": r.detail,
                    "solver_statements": len(r.obligations),
                }
                for r in self.evidence
            ],
            "negative_control": {
                "statement": self.negative_control.statement,
                "verdict": str(self.negative_control.verdict),
                "detail": self.negative_control.detail,
            },
        }

    def to_json(self) -> str:
        """Return the closed form as JSON text."""
        return json.dumps(self.to_dict(), indent=2)

    def certificates(self) -> Iterator[str]:
        """Yield the proofs as JSON certificates, for ``python -m pdtheory.proof``."""
        for proof, checked in self.proofs:
            yield to_json(proof, checked)

    def obligations(self) -> Iterator[tuple[str, str]]:
        """Yield name and SMT-LIB text of every statement that the solver decided."""
        for result in self.evidence:
            for name, text in result.obligations:
                yield f"{result.name}: {name}", text

    def __repr__(self) -> str:
        return f"ClosedForm({self.schedule!r}, {self.quantity!r}, {self.expr}, {self.verdict})"

    def __str__(self) -> str:
        return f"{self.words}: {self.expr}  [{self.domain}]  {self.verdict}"

    def _repr_latex_(self) -> str:
        return f"${sp.latex(self.expr)}$"


def quantities(schedule: str) -> list[str]:
    """Return the names of the quantities that have a closed form for a schedule.

    Examples
    --------
    >>> quantities("gpipe")
    ['ticks', 'idle_over_total', 'idle_over_ideal', 'tick_of_forward', 'tick_of_backward']
    """
    if schedule not in systems():
        raise UnknownNameError("schedule", schedule, systems())
    return [q.name for q in QUANTITIES if q.schedule == schedule]


def closed_form(schedule: str, quantity: str, *, tie_rule: TieRule | str | None = None) -> ClosedForm:
    """Return a closed form, derived from the schedule's timing and checked now.

    Parameters
    ----------
    schedule : str
        A name of the catalog.
    quantity : str
        One of `quantities`.
    tie_rule : TieRule or str, optional
        The paper's, stage-order, where the quantity depends on it and nothing is given.

    Examples
    --------
    >>> law = closed_form("pipedream", "max_block_delay")
    >>> law.expr, law.verdict.value, law.evaluate(S=8)
    (S**2 - ceiling(S/2), 'PROVED', 60)
    """
    names = quantities(schedule)
    rule = None if tie_rule is None else TieRule.named(tie_rule)
    name = quantity if rule in (None, TieRule.STAGE_ORDER) else f"{quantity}/{rule}"
    if name not in names:
        raise UnknownNameError(f"quantity of {schedule}", name, names or ["none yet"])
    return _derive(next(q for q in QUANTITIES if q.schedule == schedule and q.name == name))


@functools.cache
def _derive(quantity: Quantity) -> ClosedForm:
    checked: list[tuple[sp.Basic, Proof, Checked]] = []
    for condition, build in quantity.pieces:
        try:
            proof = build()
        except NotDerivedError as error:
            raise AssertionError(f"{quantity.name} of {quantity.schedule}: {error}") from error
        checked.append((condition, proof, check(proof)))
    values = [_value(c) for _, _, c in checked]
    expr = (
        values[0].value
        if len(values) == 1
        else sp.Piecewise(*((v.value, condition) for v, (condition, _, _) in zip(values, checked, strict=True)))
    )
    cases = tuple((condition, v.hypotheses) for v, (condition, _, _) in zip(values, checked, strict=True))
    controls = [negative_control(proof, v.value) for v, (_, proof, _) in zip(values, checked, strict=True)]
    return ClosedForm(
        quantity.schedule,
        quantity.name,
        quantity.words,
        quantity.tie_rule,
        expr,
        cases,
        weakest(c.verdict for _, _, c in checked),
        tuple(result for _, _, c in checked for result in c.results),
        NegativeControl(
            "; ".join(control.statement for control in controls),
            # Each case has its own twin, and each of them must be refused.
            next((c.verdict for c in controls if c.verdict is not Verdict.REFUTED), Verdict.REFUTED),
            "; ".join(control.detail for control in controls),
        ),
        tuple((p, c) for _, p, c in checked),
    )


def _value(checked: Checked) -> Value | Count | Total:
    if not isinstance(checked.conclusion, Value | Count | Total):
        raise AssertionError(f"{checked.statement}: {checked.results[-1].detail}")
    return checked.conclusion


def negative_control(proof: Proof, value: sp.Expr) -> NegativeControl:
    """Return the perturbed twin of a proof: its stated value one larger, or its timing law one tick off.

    Parameters
    ----------
    proof : Proof
        One that the checker accepts.
    value : expression
        What it concludes.
    """
    for position in range(len(proof.steps) - 1, -1, -1):
        step = proof.steps[position]
        if hasattr(step, "value"):
            changed: Step = dataclasses.replace(step, **{"value": step.value + 1})
            statement = f"{proof.statement} = {value + 1}"
            break
        if isinstance(step, FollowsPolicy | FollowsOrder):
            changed = dataclasses.replace(step, law=_late(step.law))
            statement = f"{proof.statement}, with every F of the second stage and after a tick later"
            break
    else:
        raise AssertionError(f"{proof.statement}: nothing to perturb")
    twin = Proof(statement, (*proof.steps[:position], changed, *proof.steps[position + 1 :]))
    found = check(twin)
    return NegativeControl(statement, found.verdict, found.results[-1].detail)


def _late(law: Law) -> Law:
    return dataclasses.replace(law, forward_tick=law.forward_tick + sp.Min(1, symbol_s))


def simplified(hypotheses: tuple[sp.Basic, ...]) -> list[sp.Basic]:
    """Return the hypotheses without repetitions and without what an equation among them makes true."""
    equations = {h.lhs: h.rhs for h in hypotheses if isinstance(h, sp.Eq) and h.lhs.is_Symbol}
    kept: dict[sp.Basic, sp.Basic] = {}
    for hypothesis in hypotheses:
        told = hypothesis if isinstance(hypothesis, sp.Eq) else hypothesis.subs(equations)
        if told != sp.true:
            kept.setdefault(told.canonical if isinstance(told, sp.Rel) else told, hypothesis)
    return list(kept.values())


def _plain(hypothesis: sp.Basic) -> str:
    if isinstance(hypothesis, sp.Eq):
        return f"{hypothesis.lhs} = {hypothesis.rhs}"
    if isinstance(hypothesis, sp.Or):
        return " or ".join(_plain(arg) for arg in hypothesis.args)
    return str(hypothesis)

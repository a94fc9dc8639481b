"""Proofs as data: the kinds of steps that the checker knows, and the conclusions they can reach.

A step refers to earlier steps by name. It states what it wants to conclude; it is `pdtheory.proof.checker`
that decides. All symbols range over the integers; a conclusion holds for all of them that satisfy its
hypotheses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy as sp

from pdtheory.proof.model import Model
from pdtheory.proof.terms import Term
from pdtheory.proof.timing import Law, Wait
from pdtheory.tie_rules import TieRule

Hypotheses = tuple[sp.Basic, ...]


# Conclusions ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fact:
    """Under the hypotheses the goal holds."""

    hypotheses: Hypotheses
    goal: sp.Basic

    def __str__(self) -> str:
        return f"{self.goal}"


@dataclass(frozen=True)
class Run:
    """The law gives the tick of every op of a run, one tick per op."""

    law: Law
    words: str

    def __str__(self) -> str:
        domain = ", ".join(map(str, self.law.domain)) or "any S and M"
        return f"{self.words}: F at {self.law.forward_tick}, B at {self.law.backward_tick} ({self.law.name}; {domain})"


@dataclass(frozen=True)
class Value:
    """Under the hypotheses a quantity (in words) has the value."""

    hypotheses: Hypotheses
    words: str
    value: sp.Expr

    def __str__(self) -> str:
        return f"{self.words} = {self.value}"


@dataclass(frozen=True)
class Ticks(Value):
    """A value that is the number of ticks of a whole run."""

    run: Run


@dataclass(frozen=True)
class Count:
    """Under the hypotheses exactly `value` integer tuples `indices` satisfy `member`."""

    hypotheses: Hypotheses
    indices: tuple[sp.Symbol, ...]
    member: sp.Basic
    value: sp.Expr

    def __str__(self) -> str:
        return f"#{{{', '.join(map(str, self.indices))}}} = {self.value}"


@dataclass(frozen=True)
class Total:
    """Under the hypotheses the sum of `summand` over lower <= index < upper is `value`."""

    hypotheses: Hypotheses
    index: sp.Symbol
    lower: sp.Expr
    upper: sp.Expr
    summand: sp.Expr
    value: sp.Expr

    def __str__(self) -> str:
        return f"sum over {self.lower} <= {self.index} < {self.upper} of {self.summand} = {self.value}"


@dataclass(frozen=True)
class Estimate:
    """For all integers with the hypotheses the term is 0 (`equality`) or at least 0; surely, or on average.

    Attributes
    ----------
    model : Model
        What the families and parameters are.
    uses : tuple of str
        Names of the hypotheses of the model that it rests on.
    """

    hypotheses: Hypotheses
    term: Term
    equality: bool
    surely: bool
    model: Model
    uses: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown = str(self.term) if self.surely else f"E[{self.term}]"
        return f"{shown} {'=' if self.equality else '>='} 0"


Conclusion = Fact | Run | Value | Count | Total | Estimate


def claim(conclusion: Conclusion | None) -> str:
    """Return a conclusion with everything that it is claimed under."""
    if conclusion is None:
        return "nothing"
    if isinstance(conclusion, Run):
        return str(conclusion)
    domain = ", ".join(map(str, conclusion.hypotheses)) or "no condition"
    text = f"for all integers with {domain}: {conclusion}"
    if isinstance(conclusion, Estimate):
        text += "\n" + conclusion.model.described(conclusion.uses)
    return text


# Steps ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """Base of all steps."""

    name: str


@dataclass(frozen=True)
class Decide(Step):
    """Linear integer arithmetic: the hypotheses imply the goal, for all integers."""

    hypotheses: Hypotheses
    goal: sp.Basic


@dataclass(frozen=True)
class FollowsPolicy(Step):
    """The law is the run of greedy 1F1B: every obligation of the induction over ticks holds."""

    law: Law
    wait: Wait


@dataclass(frozen=True)
class FollowsOrder(Step):
    """The law is the run of an order, every op as early as it can: some forwards first, then F and B in turn."""

    law: Law
    warmup: sp.Expr


@dataclass(frozen=True)
class LastTick(Step):
    """Under extra hypotheses the whole run takes `value` ticks."""

    run: str
    hypotheses: Hypotheses
    value: sp.Expr


@dataclass(frozen=True)
class TickOf(Step):
    """The tick at which a run's forward, or backward, of any stage and microbatch runs."""

    run: str
    backward: bool


@dataclass(frozen=True)
class IdleFraction(Step):
    """Idle time of a run of M microbatches on S workers, over the total or over the ideal time.

    Every worker is busy for the 2 M ticks of its forwards and backwards. Ideal time is the busy time.
    """

    ticks: str
    words: str
    over_ideal: bool
    value: sp.Expr


@dataclass(frozen=True)
class CountInterval(Step):
    """The members are lower <= index <= upper, with further indices `determined` by the first."""

    hypotheses: Hypotheses
    index: sp.Symbol
    member: sp.Basic
    lower: sp.Expr
    upper: sp.Expr
    determined: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)
    index_domain: sp.Basic = sp.true


@dataclass(frozen=True)
class SumByDifference(Step):
    """A sum, by an antidifference P: P(index + 1) - P(index) is the summand, identically."""

    hypotheses: Hypotheses
    index: sp.Symbol
    lower: sp.Expr
    upper: sp.Expr
    summand: sp.Expr
    antidifference: sp.Expr


@dataclass(frozen=True)
class SumByValues(Step):
    """A sum over 0 <= index < upper of a quasi-polynomial of the index, by its values at enough points.

    Both sides are polynomials on even and on odd numbers, of degrees that their canonical forms show; they
    agree everywhere if they agree at as many points as the degree asks for.
    """

    index: sp.Symbol
    upper: sp.Symbol
    summand: sp.Expr
    value: sp.Expr


@dataclass(frozen=True)
class Enumerate(Step):
    """A statement about integers in finite ranges (lower end, upper end not included), one point after the other."""

    indices: tuple[sp.Symbol, ...]
    lower: tuple[sp.Expr, ...]
    upper: tuple[sp.Expr, ...]
    goal: sp.Basic


@dataclass(frozen=True)
class CountOver(Step):
    """Count pairs: a count per outer index, summed over the outer index."""

    count: str
    total: str


@dataclass(frozen=True)
class CountUnion(Step):
    """Count a set that is the disjoint union of counted ones."""

    parts: tuple[str, ...]
    hypotheses: Hypotheses
    member: sp.Basic


@dataclass(frozen=True)
class CountDifference(Step):
    """Count a set that is a counted one less a counted subset."""

    outer: str
    inner: str
    hypotheses: Hypotheses
    member: sp.Basic


@dataclass(frozen=True)
class Window(Step):
    """The counted set is a window of a run: updates between a read and an update of one microbatch.

    The counted updates are those of `stage` (all stages where that is one of the counted indices) and of the
    microbatches `index`; the window is that of the microbatch with the law's own index symbols.
    """

    run: str
    count: str
    rule: TieRule
    update: sp.Expr
    read: sp.Expr
    stage: sp.Expr
    index: tuple[sp.Symbol, ...]


@dataclass(frozen=True)
class LargestWindow(Step):
    """Over all update and read stages (a and s), and all microbatches where `at` names one, the largest window.

    Every window's updates, their indices moved by `shift`, are among the counted ones; at the point `at` the
    window is the counted set.
    """

    run: str
    count: str
    rule: TieRule
    hypotheses: Hypotheses
    stage: sp.Symbol
    index: tuple[sp.Symbol, ...]
    at: Mapping[sp.Symbol, sp.Expr]
    shift: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)


@dataclass(frozen=True)
class LargestValue(Step):
    """Over lower <= parameter < upper a value is largest at one point."""

    of: str
    parameter: sp.Symbol
    lower: sp.Expr
    upper: sp.Expr
    at: sp.Expr
    value: sp.Expr


@dataclass(frozen=True)
class Rewrite(Step):
    """The same value, written differently: an identity of quasi-polynomials."""

    of: str
    words: str
    value: sp.Expr


@dataclass(frozen=True)
class Combine(Step):
    """A linear combination of earlier values, under all their hypotheses."""

    words: str
    terms: Mapping[str, sp.Expr]


@dataclass(frozen=True)
class AddUp(Step):
    """The sum of an earlier value, or of its square, over a range of one of its symbols."""

    of: str
    total: str
    words: str
    power: int = 1


@dataclass(frozen=True)
class Average(Step):
    """An earlier value divided by a positive number, given by its positive factors."""

    of: str
    words: str
    factors: tuple[sp.Expr, ...]
    value: sp.Expr


@dataclass(frozen=True)
class Substitute(Step):
    """Put an expression for a symbol that the hypotheses define."""

    of: str
    symbol: sp.Symbol
    expression: sp.Expr


@dataclass(frozen=True)
class Instantiate(Step):
    """Put a product of positive integers for a symbol; of the symbols Q and Q_end, S must be a factor."""

    of: str
    symbol: sp.Symbol
    factors: tuple[sp.Symbol, ...]


@dataclass(frozen=True)
class DivideWithRemainder(Step):
    """Put dividend = quotient * divisor + remainder, 1 <= remainder <= divisor, for quotient and remainder.

    Then quotient + 1 = ceiling(dividend / divisor).
    """

    of: str
    words: str
    quotient: sp.Symbol
    remainder: sp.Symbol
    divisor: sp.Expr
    dividend: sp.Symbol
    value: sp.Expr


@dataclass(frozen=True)
class Proof:
    """Steps in order; the last one's conclusion is what is proved. A proof about averages has a model."""

    statement: str
    steps: tuple[Step, ...]
    model: Model | None = None

"""What every step must fulfil: guards of the checker, each of which refuses."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sympy as sp

from pdtheory.errors import PdTheoryError
from pdtheory.proof import steps as st
from pdtheory.proof.quasipolynomial import canonical
from pdtheory.proof.smt import is_plain
from pdtheory.proof.timing import Law, M, S, integers, n, s, t
from pdtheory.proof.verdict import Verdict


class StepRefusedError(PdTheoryError):
    """A step that the checker does not accept, with the verdict it deserves."""

    def __init__(self, what: str, verdict: Verdict = Verdict.INCONCLUSIVE) -> None:
        super().__init__(what)
        self.verdict = verdict


def refuse_unclear(part: Any) -> None:
    """Refuse anything but expressions over plain integers with a value everywhere, in whatever a step holds."""
    if isinstance(part, sp.Basic):
        if not all(is_plain(symbol) for symbol in part.atoms(sp.Symbol)):
            raise StepRefusedError(f"a symbol in {part} is not a plain integer")
        if part.has(sp.zoo, sp.nan, sp.oo, -sp.oo) or part.atoms(sp.Float):
            raise StepRefusedError(f"{part} is not an exact number")
    elif isinstance(part, Mapping):
        for key, value in part.items():
            refuse_unclear(key)
            refuse_unclear(value)
    elif isinstance(part, tuple):
        if any(value == sp.false for value in part if isinstance(value, sp.Basic)):
            raise StepRefusedError("one of the hypotheses is false")
        for value in part:
            refuse_unclear(value)
    elif dataclasses.is_dataclass(part):
        for field_ in dataclasses.fields(part):
            refuse_unclear(getattr(part, field_.name))


def need_integers(what: str, *expressions: sp.Expr) -> None:
    """Refuse expressions that could be no integer."""
    for expression in expressions:
        if not expression.is_integer:
            raise StepRefusedError(f"{what} must be an integer, {expression} need not be one")


def need_only(what: str, expression: sp.Basic, allowed: Iterable[sp.Symbol]) -> None:
    """Refuse an expression with symbols that it must not depend on."""
    if strangers := expression.free_symbols - set(allowed):
        raise StepRefusedError(f"{what} must not depend on {', '.join(sorted(map(str, strangers)))}")


def need_good_law(law: Law) -> None:
    """Refuse a law whose domain or ticks could hide a restriction of what the induction runs over."""
    x = law.indexing.variables()
    for part in law.domain:
        need_only("the domain of a law", part, (S, n))
    for tick in (law.forward_tick, law.backward_tick):
        need_only("a tick", tick, (S, n, M, s, *x))
        need_integers("a tick", tick)
    for part in law.witness:
        need_only("a witness", part, (S, n, M, s, t, *x))
        need_integers("a witness", part)


#: Q and Q_end name multiples of S: no step may put another value for them, or for S beside them.
MULTIPLES = frozenset(integers("Q Q_end"))


def keep_multiples(found: st.Value | st.Count | st.Total, symbol: sp.Symbol) -> None:
    """Refuse to replace or eliminate S, Q or Q_end where one of the latter occurs."""
    used = set(found.value.free_symbols).union(*(h.free_symbols for h in found.hypotheses))
    if used & MULTIPLES and symbol in {S, *MULTIPLES}:
        raise StepRefusedError(f"{symbol} is tied to the multiples of S that occur here")


def need_distinct(symbols: Sequence[sp.Basic]) -> None:
    """Refuse an index that has the name of a parameter, or of another index."""
    names = [symbol for symbol in symbols if isinstance(symbol, sp.Symbol)]
    if len(set(names)) != len(names):
        raise StepRefusedError("an index has the name of a parameter")


def need_unbound(hypotheses: st.Hypotheses, indices: Iterable[sp.Symbol]) -> None:
    """Refuse hypotheses that mention an index: what is counted ranges over all integers."""
    for index in indices:
        if any(index in h.free_symbols for h in hypotheses):
            raise StepRefusedError(f"the index {index} must not occur in the hypotheses")


def need_same(what: str, left: sp.Expr, right: sp.Expr, hypotheses: st.Hypotheses = ()) -> None:
    """Refuse the step unless the two expressions agree for all integers.

    A counterexample is looked for among small integers that no hypothesis forbids.
    """
    # Each side must have a value everywhere: a pole that cancels is not equal to anything.
    if canonical(left) == canonical(right):
        return
    difference = sp.expand(left - right)
    symbols = sorted(difference.free_symbols | left.free_symbols | right.free_symbols, key=str)
    for values in itertools.islice(itertools.product(range(5), repeat=len(symbols)), 5**5):
        point = dict(zip(symbols, values, strict=True))
        allowed = all(h.subs(point) != sp.false for h in hypotheses)
        if allowed and difference.subs(point).is_nonzero:
            sides = f"{left.subs(point)} and {right.subs(point)}"
            where = ", ".join(f"{k}={v}" for k, v in point.items())
            raise StepRefusedError(f"{what} differ: {sides} at {where or 'every point'}", Verdict.REFUTED)
    raise StepRefusedError(f"{what} differ")

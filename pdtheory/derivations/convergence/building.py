"""Building a proof about averages step by step; the checker tells what each step gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from pdtheory.errors import PdTheoryError
from pdtheory.proof import Proof
from pdtheory.proof import inequality_steps as st
from pdtheory.proof.desk import Desk
from pdtheory.proof.inequality_guards import Setting
from pdtheory.proof.model import Model
from pdtheory.proof.rules import conclude
from pdtheory.proof.steps import Estimate, Hypotheses, Step
from pdtheory.proof.terms import Scalarlike, Term, dot, square, term, total, whole

Range = tuple[sp.Expr | int, sp.Expr | int]


class NotBuiltError(PdTheoryError):
    """A proof does not come to what it should."""


@dataclass(frozen=True)
class Found:
    """A step that the checker accepted: its name, and the term that is zero or nonnegative."""

    name: str
    term: Term


def inside(index: sp.Symbol, ends: Range) -> Hypotheses:
    """Return the hypotheses that an index is in a range."""
    return (index >= ends[0], index < ends[1])


class Derivation:
    """A proof under construction.

    Every method adds a step with a name of its own and returns what it gives; a step that the checker
    refuses raises at once.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._steps: list[Step] = []
        self._desk = Desk("z3", Setting(model))

    def proof(self, statement: str) -> Proof:
        """Return the proof so far; its last step is what it shows."""
        return Proof(statement, tuple(self._steps), self.model)

    def add(self, step: Step) -> Found:
        """Add any step."""
        try:
            found = conclude(step, self._desk)
        except PdTheoryError as error:
            raise NotBuiltError(f"step {step.name!r} is refused: {error}") from error
        assert isinstance(found, Estimate)
        self._desk.known[step.name] = found
        self._steps.append(step)
        return Found(step.name, found.term)

    def _name(self, words: str) -> str:
        return words if words not in self._desk.known else f"{words} ({len(self._steps)})"

    def assume(
        self,
        hypothesis: str,
        under: Hypotheses,
        at: Mapping[sp.Symbol, sp.Expr] | None = None,
        times: Scalarlike = 1,
    ) -> Found:
        """Use a hypothesis; its own indices stand for themselves where `at` does not name them."""
        wanted = next(h for h in self.model.hypotheses if h.name == hypothesis)
        full = {index: sp.sympify((at or {}).get(index, index)) for index in wanted.indices}
        return self.add(st.Assume(self._name(hypothesis), hypothesis, under, full, term(times)))

    def squares(self, words: str, bases: Sequence[Term], weights: Sequence[Scalarlike] | None = None) -> Found:
        """Add a sum of squares, with weights 1 where none are given."""
        heavy = [term(w) for w in weights or [1] * len(bases)]
        value = term(0)
        for weight, base in zip(heavy, bases, strict=True):
            value = value + weight * (square(base) if base.is_vector else base * base)
        return self.add(st.SumOfSquares(self._name(words), value, tuple(heavy), tuple(bases)))

    def evident(self, words: str, value: Term) -> Found:
        """Add a term whose monomials are all nonnegative."""
        return self.add(st.Evident(self._name(words), value))

    def whole(self, words: str, under: Hypotheses, expression: sp.Expr, *, equality: bool = False) -> Found:
        """Add a linear fact about integers."""
        return self.add(st.IntegerFact(self._name(words), under, sp.sympify(expression), equality))

    def weigh(
        self,
        words: str,
        under: Hypotheses,
        parts: Sequence[tuple[Found, Scalarlike]],
        value: Term | None = None,
        *,
        equality: bool = False,
    ) -> Found:
        """Add a combination; where a value is given it must come out."""
        multipliers: dict[str, Term] = {}
        found = term(0)
        for part, multiplier in parts:
            if part.name in multipliers:
                raise NotBuiltError(f"{part.name!r} has two multipliers")
            multipliers[part.name] = term(multiplier)
            factor = term(multiplier)
            both = part.term.is_vector and factor.is_vector
            found = found + (dot(part.term, factor) if both else part.term * factor)
        wanted = found if value is None else value
        return self.add(st.Weigh(self._name(words), under, multipliers, wanted, equality))

    def multiply(self, words: str, under: Hypotheses, left: Found, right: Found) -> Found:
        """Add a product of two nonnegative terms."""
        return self.add(st.Multiply(self._name(words), under, left.name, right.name))

    def cancel(self, of: Found, under: Hypotheses, factor: sp.Expr, value: Term) -> Found:
        """Add a nonnegative product without its positive integer factor."""
        return self.add(st.Cancel(self._name(f"{of.name}, divided"), of.name, under, factor, value))

    def limit(self, of: Found, under: Hypotheses, index: sp.Symbol, start: int, value: Term) -> Found:
        """Add what n A + B >= 0 for all large n says of A."""
        name = self._name(f"{of.name}, in the limit")
        return self.add(st.Limit(name, of.name, under, index, sp.sympify(start), value))

    def sum_over(self, of: Found, under: Hypotheses, index: sp.Symbol, ends: Range) -> Found:
        """Add the sum of an estimate over a range of an index."""
        lower, upper = map(sp.sympify, ends)
        return self.add(st.SumOver(self._name(f"{of.name}, summed over {index}"), of.name, under, index, lower, upper))

    def specialize(self, of: Found, under: Hypotheses, at: Mapping[sp.Symbol, sp.Expr | int]) -> Found:
        """Add an estimate at other indices."""
        point = {k: sp.sympify(v) for k, v in at.items()}
        return self.add(st.Specialize(self._name(f"{of.name}, elsewhere"), of.name, under, point))

    def telescope(self, under: Hypotheses, of: Scalarlike, index: sp.Symbol, ends: Range) -> Found:
        """Add the sum of differences."""
        lower, upper = map(sp.sympify, ends)
        return self.add(st.Telescope(self._name("telescoping sum"), under, term(of), index, lower, upper))

    def split(self, under: Hypotheses, summand: Term, index: sp.Symbol, ends: Range, middle: sp.Expr | int) -> Found:
        """Add a sum in two parts."""
        lower, upper = map(sp.sympify, ends)
        return self.add(
            st.SplitSum(self._name("a sum in two parts"), under, summand, index, lower, sp.sympify(middle), upper)
        )

    def one_term(self, summand: Term, index: sp.Symbol, at: sp.Expr | int) -> Found:
        """Add a sum over one index."""
        return self.add(st.OneTerm(self._name("a sum of one term"), summand, index, sp.sympify(at)))

    def exchange(
        self,
        under: Hypotheses,
        summand: Term,
        outer: tuple[sp.Symbol, Range],
        inner: tuple[sp.Symbol, Range],
        new_inner: Range,
        new_outer: Range,
    ) -> Found:
        """Add that a sum over outer and inner index is one over `new_inner`, and `new_outer` inside."""
        ends = [tuple(map(sp.sympify, each)) for each in (outer[1], inner[1], new_inner, new_outer)]
        name = self._name("sums exchanged")
        return self.add(st.Exchange(name, under, summand, outer[0], ends[0], inner[0], ends[1], ends[2], ends[3]))

    def count(self, under: Hypotheses, index: sp.Symbol, ends: Range) -> Found:
        """Add that a range has upper - lower members."""
        return self.telescope(under, whole(index), index, ends)

    def uncorrelated(
        self,
        under: Hypotheses,
        noise: Callable[[sp.Expr], Term],
        indices: Sequence[sp.Symbol],
        ends: Range,
        vanish: Callable[[Hypotheses, sp.Symbol, sp.Symbol], Found],
    ) -> Found:
        """Add, for every i: the sum over j of <noise_i, noise_j> is |noise_i|^2, on average.

        `vanish(under, late, early)` adds that <noise_late, noise_early> is 0 on average.
        """
        i, j = indices
        lower, upper = ends
        here = under + inside(i, ends)
        products = dot(noise(i), noise(j))
        earlier = vanish((*here, j >= lower, j < i), i, j)
        later = vanish((*here, j > i, j < upper), j, i)
        return self.weigh(
            "one noise with all others",
            here,
            [
                (self.split(here, products, j, ends, i), 1),
                (self.split(here, products, j, (i, upper), i + 1), 1),
                (self.one_term(products, j, i), 1),
                (self.sum_over(earlier, here, j, (lower, i)), 1),
                (self.sum_over(later, here, j, (i + 1, upper)), 1),
            ],
            total(products, j, *ends) - square(noise(i)),
            equality=True,
        )

    def jensen(
        self, under: Hypotheses, vector: Callable[[sp.Symbol], Term], indices: Sequence[sp.Symbol], ends: Range
    ) -> Found:
        """Add that n times the sum of n squared norms is at least the squared norm of the sum.

        It is half the sum of all |v_i - v_j|^2; `indices` are two that occur nowhere else.
        """
        i, j = indices
        apart = self.squares("squared distances", [vector(i) - vector(j)], [term(1) / 2])
        both = self.sum_over(self.sum_over(apart, (), j, ends), (), i, ends)
        count = self.count(under, i, ends)
        norms = total(square(vector(i)), i, *ends)
        n = whole(sp.sympify(ends[1]) - sp.sympify(ends[0]))
        value = n * norms - square(total(vector(i), i, *ends))
        return self.weigh("Jensen", under, [(both, 1), (count, -norms)], value)

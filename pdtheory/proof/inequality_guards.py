"""What a model and its terms must fulfil, and what can be seen of a term's sign and of the time it is known."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

import sympy as sp

from pdtheory.proof.guards import StepRefusedError, refuse_unclear
from pdtheory.proof.model import Family, Hypothesis, Model, Sign, Time, Timing
from pdtheory.proof.terms import Binder, Dot, Generator, Indexed, Monomial, Name, Scalar, Sum, Term, Vector, Whole

_NAME = re.compile(r"[A-Za-z]([A-Za-z0-9_]*[A-Za-z0-9])?")
_WORDS = frozenset(("sum", "dot", "Min", "Max", "floor", "ceiling", "Mod", "E"))


class Setting:
    """A model whose parts have passed the guards; it answers what the rules ask."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.parameters = {p.name: p for p in model.parameters}
        self.families = {f.name: f for f in model.families}
        self.hypotheses = {h.name: h for h in model.hypotheses}
        self._time_length = 0
        names = [p.name for p in model.parameters] + [f.name for f in model.families]
        _need_different("name", names)
        _need_different("hypothesis", [h.name for h in model.hypotheses])
        for name in names:
            if not _NAME.fullmatch(name) or name in _WORDS:
                raise StepRefusedError(f"{name!r} cannot be the name of a parameter or family")
        self.need_integers("a constraint", *model.constraints)
        whole_parameters = {sp.Symbol(p.name, integer=True) for p in model.parameters if p.integer}
        for constraint in model.constraints:
            self._need_symbols("a constraint", constraint, whole_parameters)
        for family in model.families:
            self._need_good_family(family, whole_parameters)
        for hypothesis in model.hypotheses:
            self._need_good_hypothesis(hypothesis, whole_parameters)

    def _need_good_family(self, family: Family, whole_parameters: set[sp.Symbol]) -> None:
        self._need_indices(family.name, family.indices)
        self._need_time(family.known, used=family.timing is Timing.TIMED)
        for part in family.known:
            self._need_symbols("a time", part, whole_parameters.union(family.indices))
        if family.vector and family.nonnegative:
            raise StepRefusedError(f"{family.name} is a family of vectors, they have no sign")

    def _need_good_hypothesis(self, hypothesis: Hypothesis, whole_parameters: set[sp.Symbol]) -> None:
        self._need_indices(hypothesis.name, hypothesis.indices)
        allowed = whole_parameters.union(hypothesis.indices)
        self.need_integers("a domain", *hypothesis.domain)
        self._need_time(hypothesis.given, used=hypothesis.conditional)
        for part in (*hypothesis.domain, *hypothesis.given):
            self._need_symbols(f"hypothesis {hypothesis.name!r}", part, allowed)
        self.need_term(hypothesis.term)
        if strangers := self.indices_of(hypothesis.term) - set(hypothesis.indices):
            raise StepRefusedError(f"hypothesis {hypothesis.name!r} has no index {min(map(str, strangers))}")
        if hypothesis.term.is_vector and not hypothesis.equality:
            raise StepRefusedError(f"hypothesis {hypothesis.name!r}: a vector is not >= 0")

    def _need_time(self, time: Time, *, used: bool) -> None:
        self.need_integers("a time", *time)
        if not used:
            return
        self._time_length = self._time_length or len(time)
        if not time or len(time) != self._time_length:
            raise StepRefusedError("all times of a model must have the same number of parts")

    def _need_indices(self, what: str, indices: Sequence[sp.Symbol]) -> None:
        _need_different(f"index of {what}", [str(i) for i in indices])
        for index in indices:
            self.need_index(index)

    def _need_symbols(self, what: str, expression: sp.Basic, allowed: Iterable[sp.Symbol]) -> None:
        if strangers := expression.free_symbols - set(allowed):
            raise StepRefusedError(f"{what} must not depend on {', '.join(sorted(map(str, strangers)))}")

    def need_index(self, index: sp.Basic) -> None:
        """Refuse what cannot be an index: a parameter, a family, or a bound index's name."""
        if not isinstance(index, sp.Symbol) or str(index) in self.parameters or str(index) in self.families:
            raise StepRefusedError(f"{index} cannot be an index")
        self.need_integers("an index", index)

    def need_integers(self, what: str, *expressions: sp.Basic, bound: Collection[sp.Symbol] = ()) -> None:
        """Refuse expressions with a symbol that is no integer of the model, or with a name that is reserved."""
        for expression in expressions:
            refuse_unclear(expression)
            for symbol in expression.free_symbols - set(bound):
                found = self.parameters.get(symbol.name)
                if symbol.name in self.families or symbol.name.endswith("_") or (found and not found.integer):
                    raise StepRefusedError(f"{what} must not depend on {symbol}: it is no integer")
            if isinstance(expression, sp.Expr) and not expression.is_integer:
                raise StepRefusedError(f"{what} must be an integer, {expression} need not be one")

    def need_term(self, term: Term) -> None:
        """Refuse a term with a generator that the model does not declare, or without a value."""
        for monomial in term.parts:
            for generator, power in monomial:
                if power < 0 and not self._is_positive(generator):
                    raise StepRefusedError(f"{generator} need not be positive, it cannot be divided by")
        degrees = {_is_vector(monomial) for monomial in term.parts}
        if len(degrees) > 1:
            raise StepRefusedError("vectors and numbers cannot be added")
        for generator, binders in term.generators():
            bound = {b.index for b in binders}
            if isinstance(generator, Sum):
                inner: set[sp.Symbol] = set()
                for binder in generator.binders:
                    self._need_range(binder, inner)
                    inner.add(binder.index)
            elif isinstance(generator, Dot):
                self._need_member(generator.left, bound)
                self._need_member(generator.right, bound)
            elif isinstance(generator, Indexed):
                self._need_member(generator, bound)
            elif isinstance(generator, Whole):
                self.need_integers("an integer", generator.expression, bound=bound)
            elif isinstance(generator, Name):
                if generator.name in self.families:
                    raise StepRefusedError(f"{generator} needs its indices")
                if generator.name.endswith("_") and sp.Symbol(generator.name, integer=True) not in bound:
                    raise StepRefusedError(f"the name {generator} is reserved")

    def _need_range(self, binder: Binder, bound: set[sp.Symbol]) -> None:
        self.need_integers("a range", binder.lower, binder.upper, bound=bound)

    def _need_member(self, member: Indexed, bound: set[sp.Symbol]) -> None:
        family = self.families.get(member.family)
        if family is None or family.vector != isinstance(member, Vector) or len(family.indices) != len(member.indices):
            raise StepRefusedError(f"the model has no family for {member}")
        self.need_integers("an index", *member.indices, bound=bound)

    def _is_positive(self, generator: Generator) -> bool:
        found = self.parameters.get(generator.name) if isinstance(generator, Name) else None
        return found is not None and found.sign is Sign.POSITIVE

    def indices_of(self, term: Term) -> set[sp.Symbol]:
        """Return the free indices of a term: its symbols that are no parameters."""
        return {symbol for symbol in term.symbols if symbol.name not in self.parameters}

    def is_fixed(self, term: Term) -> bool:
        """Say that the term is not random."""
        return all(
            self.families[member.family].timing is Timing.FIXED
            for generator, _ in term.generators()
            for member in _members(generator)
        )

    def is_nonnegative(self, term: Term) -> bool:
        """Say that every monomial of the term is seen to be nonnegative."""
        return all(c >= 0 and self._monomial_is_nonnegative(monomial) for monomial, c in term.parts.items())

    def _monomial_is_nonnegative(self, monomial: Monomial) -> bool:
        return all(power % 2 == 0 or self._generator_is_nonnegative(generator) for generator, power in monomial)

    def _generator_is_nonnegative(self, generator: Generator) -> bool:
        match generator:
            case Name(name=name):
                return name in self.parameters and self.parameters[name].sign is not Sign.ANY
            case Scalar(family=family):
                return self.families[family].nonnegative
            case Dot(left=left, right=right):
                return left == right
            case Sum(body=body):
                return self._monomial_is_nonnegative(body)
        return False

    def times_known(self, term: Term) -> Iterator[tuple[Indexed, Time, tuple[sp.Basic, ...]]]:
        """Yield every random member in a term, the time it is known, and the range of the bound indices there."""
        for generator, binders in term.generators():
            for member in _members(generator):
                family = self.families[member.family]
                if family.timing is Timing.FIXED:
                    continue
                if family.timing is Timing.UNSAID:
                    raise StepRefusedError(f"nothing is said of when {member} is known")
                point = dict(zip(family.indices, member.indices, strict=True))
                known = tuple(part.subs(point, simultaneous=True) for part in family.known)
                yield member, known, tuple(c for b in binders for c in (b.index >= b.lower, b.index < b.upper))


def _members(generator: Generator) -> tuple[Indexed, ...]:
    if isinstance(generator, Dot):
        return (generator.left, generator.right)
    return (generator,) if isinstance(generator, Indexed) else ()


def _is_vector(monomial: Monomial) -> bool:
    return any(isinstance(g, Vector) or (isinstance(g, Sum) and g.is_vector) for g, _ in monomial)


def _need_different(what: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise StepRefusedError(f"two of the same {what}: {name!r}")

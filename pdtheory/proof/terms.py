"""Terms of inequalities, in a canonical form: equal forms are equal for all values.

A term is a polynomial over the rationals in parameters (`gamma`), indexed scalars (`p(k, r)`), inner products
of indexed vectors (`dot(g[k, r], a[k, r])`) and finite sums over an integer index (`sum(x(j), j, 0, k)` is
over 0 <= j < k). Parameters may have negative powers. A vector term has one vector in every monomial.
Families are total functions of integers, so that no term is without a value.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, Union

import sympy as sp

from pdtheory.errors import PdTheoryError

Integer: TypeAlias = sp.Expr
Monomial: TypeAlias = tuple[tuple["Generator", int], ...]
At: TypeAlias = Mapping[sp.Symbol, Integer]
Scalarlike: TypeAlias = Union["Term", int, Fraction, sp.Expr]

#: Bound indices are called i0_, i1_, ...; no other symbol may end in an underscore.
_fresh = itertools.count(1_000)


def fresh_index() -> sp.Symbol:
    """Return an index that occurs nowhere else."""
    return integer(f"i{next(_fresh)}_")


class TermError(PdTheoryError, ValueError):
    """A combination of terms that has no meaning."""


def integer(name: str) -> sp.Symbol:
    """Return the integer symbol of a name."""
    return sp.Symbol(name, integer=True)


@dataclass(frozen=True)
class Generator:
    """What monomials are made of."""

    @functools.cached_property
    def text(self) -> str:
        """The text that `term_of` reads back."""
        raise NotImplementedError

    @functools.cached_property
    def symbols(self) -> frozenset[sp.Symbol]:
        """The symbols that it depends on, as integer symbols; bound indices are not among them."""
        raise NotImplementedError

    def at(self, point: At) -> Term:
        """Return it with integers put for symbols."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Name(Generator):
    """A parameter, or an index used as a number."""

    name: str

    @functools.cached_property
    def text(self) -> str:
        return self.name

    @functools.cached_property
    def symbols(self) -> frozenset[sp.Symbol]:
        return frozenset((integer(self.name),))

    def at(self, point: At) -> Term:
        symbol = integer(self.name)
        return whole(point[symbol]) if symbol in point else Term({((self, 1),): Fraction(1)})


@dataclass(frozen=True)
class Whole(Generator):
    """An integer that is no polynomial in others: a Min, Max, floor or ceiling."""

    expression: Integer

    @functools.cached_property
    def text(self) -> str:
        return str(self.expression)

    @functools.cached_property
    def symbols(self) -> frozenset[sp.Symbol]:
        return frozenset(self.expression.free_symbols)

    def at(self, point: At) -> Term:
        return whole(_put(self.expression, point))


@dataclass(frozen=True)
class Indexed(Generator):
    """A member of an indexed family."""

    family: str
    indices: tuple[Integer, ...]

    @functools.cached_property
    def symbols(self) -> frozenset[sp.Symbol]:
        return frozenset().union(*(index.free_symbols for index in self.indices))

    def at(self, point: At) -> Term:
        return Term({((self.moved(point), 1),): Fraction(1)})

    def moved(self, point: At) -> Indexed:
        """Return the member with integers put for symbols."""
        return type(self)(self.family, tuple(_put(index, point) for index in self.indices))


@dataclass(frozen=True)
class Scalar(Indexed):
    """A real number of an indexed family."""

    @functools.cached_property
    def text(self) -> str:
        return f"{self.family}({', '.join(map(str, self.indices))})"


@dataclass(frozen=True)
class Vector(Indexed):
    """A vector of an indexed family."""

    @functools.cached_property
    def text(self) -> str:
        return f"{self.family}[{', '.join(map(str, self.indices))}]"


@dataclass(frozen=True)
class Dot(Generator):
    """The inner product of two vectors; `left` has the smaller text."""

    left: Vector
    right: Vector

    @functools.cached_property
    def text(self) -> str:
        return f"dot({self.left}, {self.right})"

    @functools.cached_property
    def symbols(self) -> frozenset[sp.Symbol]:
        return self.left.symbols | self.right.symbols

    def at(self, point: At) -> Term:
        left, right = self.left.moved(point), self.right.moved(point)
        assert isinstance(left, Vector)
        assert isinstance(right, Vector)
        return Term({((_dot(left, right), 1),): Fraction(1)})


def _dot(left: Vector, right: Vector) -> Dot:
    return Dot(left, right) if left.text <= right.text else Dot(right, left)


@dataclass(frozen=True)
class Binder:
    """A bound index with lower <= index < upper."""

    index: sp.Symbol
    lower: Integer
    upper: Integer

    def at(self, point: At) -> Binder:
        """Return it with integers put for symbols, its own index too."""
        return Binder(_put(self.index, point), _put(self.lower, point), _put(self.upper, point))


@dataclass(frozen=True)
class Sum(Generator):
    """A sum of one monomial over one or several indices, the outermost first; made by `total` alone."""

    binders: tuple[Binder, ...]
    body: Monomial

    @functools.cached_property
    def text(self) -> str:
        text = _monomial_text(self.body)
        for binder in reversed(self.binders):
            text = f"sum({text}, {binder.index}, {binder.lower}, {binder.upper})"
        return text

    @functools.cached_property
    def symbols(self) -> frozenset[sp.Symbol]:
        inside = {s for generator, _ in self.body for s in generator.symbols}
        inside |= {s for b in self.binders for end in (b.lower, b.upper) for s in end.free_symbols}
        return frozenset(inside - {b.index for b in self.binders})

    @functools.cached_property
    def is_vector(self) -> bool:
        """Say that it is a sum of vectors."""
        return any(isinstance(generator, Vector) for generator, _ in self.body)

    def at(self, point: At) -> Term:
        binders, body = self.opened()
        term = body.at(point)
        for binder in reversed(binders):
            term = total(term, binder.index, _put(binder.lower, point), _put(binder.upper, point))
        return term

    def opened(self) -> tuple[list[Binder], Term]:
        """Return binders and body with bound indices that occur nowhere else."""
        fresh = {binder.index: fresh_index() for binder in self.binders}
        return [binder.at(fresh) for binder in self.binders], Term({self.body: Fraction(1)}).at(fresh)


class Term:
    """A polynomial in generators; immutable.

    Examples
    --------
    >>> gamma, p = parameter("gamma"), scalars("p")
    >>> j, k = integer("j"), integer("k")
    >>> total(gamma * p(j) + 1, j, 0, k)
    gamma*sum(p(i0_), i0_, 0, k) + sum(1, i0_, 0, k)
    """

    __slots__ = ("_hash", "parts")

    def __init__(self, parts: Mapping[Monomial, Fraction]) -> None:
        self.parts = {monomial: c for monomial, c in parts.items() if c}
        self._hash: int | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Term) and self.parts == other.parts

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.parts.items()))
        return self._hash

    def __add__(self, other: Scalarlike) -> Term:
        parts = dict(self.parts)
        for monomial, c in term(other).parts.items():
            parts[monomial] = parts.get(monomial, Fraction(0)) + c
        return Term(parts)

    __radd__ = __add__

    def __neg__(self) -> Term:
        return Term({monomial: -c for monomial, c in self.parts.items()})

    def __sub__(self, other: Scalarlike) -> Term:
        return self + -term(other)

    def __rsub__(self, other: Scalarlike) -> Term:
        return term(other) - self

    def __mul__(self, other: Scalarlike) -> Term:
        parts: dict[Monomial, Fraction] = {}
        for (left, a), (right, b) in itertools.product(self.parts.items(), term(other).parts.items()):
            monomial = _product(left, right)
            parts[monomial] = parts.get(monomial, Fraction(0)) + a * b
        return Term(parts)

    __rmul__ = __mul__

    def __pow__(self, power: int) -> Term:
        if power >= 0:
            return functools.reduce(Term.__mul__, [self] * power, term(1))
        if len(self.parts) != 1:
            raise TermError("only a product of parameters can be divided by", value=str(self))
        ((monomial, c),) = self.parts.items()
        if not all(isinstance(generator, Name) for generator, _ in monomial):
            raise TermError("only a product of parameters can be divided by", value=str(self))
        return Term({tuple((generator, e * power) for generator, e in monomial): 1 / c**-power})

    def __truediv__(self, other: Scalarlike) -> Term:
        return self * term(other) ** -1

    def __rtruediv__(self, other: Scalarlike) -> Term:
        return term(other) * self**-1

    def __str__(self) -> str:
        if not self.parts:
            return "0"
        texts = sorted((_monomial_text(monomial), c) for monomial, c in self.parts.items())
        text = " + ".join(_with_coefficient(monomial, c) for monomial, c in texts)
        return text.replace("+ -", "- ")

    __repr__ = __str__

    @property
    def is_vector(self) -> bool:
        """Say that every monomial has a vector; zero counts as a number."""
        return bool(self.parts) and all(_vector_degree(monomial) == 1 for monomial in self.parts)

    @property
    def symbols(self) -> frozenset[sp.Symbol]:
        """The symbols that it depends on, as integer symbols."""
        return frozenset(s for monomial in self.parts for generator, _ in monomial for s in generator.symbols)

    def at(self, point: At) -> Term:
        """Return the term with integers put for symbols, all at once."""
        if not point:
            return self
        found = term(0)
        for monomial, c in self.parts.items():
            product = term(c)
            for generator, power in monomial:
                if generator.symbols.isdisjoint(point):
                    product = product * Term({((generator, power),): Fraction(1)})
                else:
                    product = product * generator.at(point) ** power
            found = found + product
        return found

    def generators(self) -> Iterator[tuple[Generator, tuple[Binder, ...]]]:
        """Yield every generator, those inside sums too, with the binders that it is under."""
        for monomial in self.parts:
            for generator, _ in monomial:
                yield generator, ()
                if isinstance(generator, Sum):
                    for inner, _ in generator.body:
                        yield inner, generator.binders


def term(value: Scalarlike) -> Term:
    """Return a number, or an integer expression, as a term."""
    if isinstance(value, Term):
        return value
    if isinstance(value, sp.Expr):
        return whole(value)
    if isinstance(value, int | Fraction):
        return Term({(): Fraction(value)})
    raise TermError("is not exact", value=value)


#: The number 1.
ONE = Term({(): Fraction(1)})


def parameter(name: str) -> Term:
    """Return a parameter as a term."""
    return Term({((Name(name), 1),): Fraction(1)})


class scalars:
    """A family of scalars; calling it with indices gives one of them."""

    kind: type[Indexed] = Scalar

    def __init__(self, family: str) -> None:
        self.family = family

    def __call__(self, *indices: Integer | int) -> Term:
        return Term({((self.kind(self.family, tuple(sp.expand(sp.sympify(i)) for i in indices)), 1),): Fraction(1)})

    __getitem__ = None


class vectors(scalars):
    """A family of vectors."""

    kind = Vector


def whole(expression: Integer | int) -> Term:
    """Return an integer expression, a polynomial in symbols, Min, Max, floor and ceiling, as a term."""
    found = term(0)
    for summand in sp.Add.make_args(sp.expand(sp.sympify(expression))):
        coefficient, rest = summand.as_coeff_Mul()
        if not coefficient.is_Rational:
            raise TermError("is not exact", value=str(expression))
        product = term(Fraction(int(coefficient.p), int(coefficient.q)))
        for factor in sp.Mul.make_args(rest):
            base, power = factor.as_base_exp()
            if base == 1:
                continue
            if not (power.is_Integer and power > 0):
                raise TermError("is not an integer polynomial", value=str(expression))
            product = product * Term({((_whole_generator(base), int(power)),): Fraction(1)})
        found = found + product
    return found


def _whole_generator(base: Integer) -> Generator:
    if isinstance(base, sp.Symbol):
        return Name(base.name)
    if isinstance(base, sp.Min | sp.Max | sp.floor | sp.ceiling):
        return Whole(base)
    raise TermError("is not an integer polynomial", value=str(base))


def dot(left: Term, right: Term) -> Term:
    """Return the inner product of two vector terms.

    Examples
    --------
    >>> g = vectors("g")
    >>> j, k = integer("j"), integer("k")
    >>> dot(g(j) - g(k), g(j) - g(k))
    dot(g[j], g[j]) - 2*dot(g[j], g[k]) + dot(g[k], g[k])
    """
    found = term(0)
    for (one, a), (two, b) in itertools.product(left.parts.items(), right.parts.items()):
        rest1, binders1, body1, vector1 = _taken_apart(one)
        rest2, binders2, body2, vector2 = _taken_apart(two)
        inner = body1 * body2 * Term({((_dot(vector1, vector2), 1),): Fraction(1)})
        for binder in reversed(binders1 + binders2):
            inner = total(inner, binder.index, binder.lower, binder.upper)
        found = found + inner * rest1 * rest2 * (a * b)
    return found


def square(vector: Term) -> Term:
    """Return the squared norm of a vector term."""
    return dot(vector, vector)


def total(summand: Scalarlike, index: sp.Symbol, lower: Integer | int, upper: Integer | int) -> Term:
    """Return the sum over lower <= index < upper; an empty range has the sum 0.

    What does not depend on the index is taken out of the sum.
    """
    lower, upper = sp.expand(sp.sympify(lower)), sp.expand(sp.sympify(upper))
    if index in lower.free_symbols | upper.free_symbols:
        raise TermError("the range of a sum must not depend on its own index", value=str(index))
    if lower == upper:
        return term(0)
    found: dict[Monomial, Fraction] = {}
    for monomial, c in term(summand).parts.items():
        outside: Monomial = ()
        binders, bodies = [Binder(index, lower, upper)], [Term({(): Fraction(1)})]
        for generator, power in monomial:
            if index not in generator.symbols:
                outside = _product(outside, ((generator, power),))
            elif isinstance(generator, Sum):
                for _ in range(power):
                    more, body = generator.opened()
                    binders += more
                    bodies.append(body)
            else:
                bodies.append(Term({((generator, power),): Fraction(1)}))
        ((body_monomial, one),) = functools.reduce(Term.__mul__, bodies).parts.items()
        assert one == 1
        key = _product(outside, ((_canonical_sum(tuple(binders), body_monomial), 1),))
        found[key] = found.get(key, Fraction(0)) + c
    return Term(found)


def _canonical_sum(binders: tuple[Binder, ...], body: Monomial) -> Sum:
    """Return the sum with its indices renamed, in the order that has the smallest text."""
    candidates = []
    inside = {s for generator, _ in body for s in generator.symbols}
    inside |= {s for b in binders for end in (b.lower, b.upper) for s in end.free_symbols}
    if taken := (inside - {b.index for b in binders}) & {integer(f"i{n}_") for n in range(len(binders))}:
        raise TermError("the name of an index is reserved", value=str(min(taken, key=str)))
    for order in itertools.permutations(binders):
        later = {b.index for b in order}
        for binder in order:
            if later & (binder.lower.free_symbols | binder.upper.free_symbols):
                break
            later.discard(binder.index)
        else:
            names = {b.index: integer(f"i{position}_") for position, b in enumerate(order)}
            candidates.append(Sum(tuple(b.at(names) for b in order), _renamed(body, names)))
    return min(candidates, key=lambda s: s.text)


def _renamed(body: Monomial, names: At) -> Monomial:
    ((renamed, one),) = Term({body: Fraction(1)}).at(names).parts.items()
    assert one == 1
    return renamed


def _taken_apart(monomial: Monomial) -> tuple[Term, list[Binder], Term, Vector]:
    """Return what stands before a vector, the sums it is under, what stands with it there, and the vector."""
    rest, binders, body, vector = term(1), list[Binder](), term(1), None
    for generator, power in monomial:
        if isinstance(generator, Vector):
            vector = generator
        elif isinstance(generator, Sum) and generator.is_vector:
            binders, opened = generator.opened()
            ((inner, _),) = opened.parts.items()
            vector = next(g for g, _ in inner if isinstance(g, Vector))
            body = Term({tuple((g, e) for g, e in inner if g is not vector): Fraction(1)})
        else:
            rest = rest * Term({((generator, power),): Fraction(1)})
    if vector is None:
        raise TermError("is not a vector", value=_monomial_text(monomial))
    return rest, binders, body, vector


def _product(left: Monomial, right: Monomial) -> Monomial:
    powers = dict(left)
    for generator, power in right:
        powers[generator] = powers.get(generator, 0) + power
    monomial = tuple(sorted(((g, e) for g, e in powers.items() if e), key=lambda part: part[0].text))
    if _vector_degree(monomial) > 1:
        raise TermError("vectors are multiplied by dot", value=_monomial_text(monomial))
    return monomial


def _vector_degree(monomial: Iterable[tuple[Generator, int]]) -> int:
    return sum(e for g, e in monomial if isinstance(g, Vector) or (isinstance(g, Sum) and g.is_vector))


def _put(expression: Integer, point: At) -> Integer:
    if expression.free_symbols.isdisjoint(point):
        return expression
    if isinstance(expression, sp.Symbol):
        return point[expression]
    moved = expression.xreplace(dict(point))
    return moved if all(isinstance(value, sp.Symbol) for value in point.values()) else sp.expand(moved)


def _monomial_text(monomial: Monomial) -> str:
    texts = (g.text if e == 1 else f"{g.text}**{e}" for g, e in monomial)
    return "*".join(texts) or "1"


def _with_coefficient(monomial: str, c: Fraction) -> str:
    if monomial == "1":
        return str(c)
    if abs(c) == 1:
        return monomial if c > 0 else f"-{monomial}"
    return f"{c}*{monomial}"

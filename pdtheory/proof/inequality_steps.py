"""Steps of proofs about averages of random numbers and vectors; each concludes an `Estimate`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy as sp

from pdtheory.proof.steps import Hypotheses, Step
from pdtheory.proof.terms import ONE, Term


@dataclass(frozen=True)
class Assume(Step):
    """Use a hypothesis of the model for some indices, multiplied by `times`.

    A hypothesis that holds on average given a time may be multiplied by what is known then; one that is an
    inequality by what is nonnegative. A vector is multiplied with a vector by the inner product.
    """

    hypothesis: str
    hypotheses: Hypotheses
    at: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)
    times: Term = ONE


@dataclass(frozen=True)
class SumOfSquares(Step):
    """The value is a sum of squares of terms (of norms, for vectors) with nonnegative weights."""

    value: Term
    weights: tuple[Term, ...]
    bases: tuple[Term, ...]


@dataclass(frozen=True)
class Gram(Step):
    """The sum of entries[i, j] <vectors[i], vectors[j]> is nonnegative, by an exact LDL^T; entries row by row."""

    vectors: tuple[Term, ...]
    entries: tuple[sp.Expr, ...]


@dataclass(frozen=True)
class Evident(Step):
    """Every monomial of the term is nonnegative by itself."""

    value: Term


@dataclass(frozen=True)
class IntegerFact(Step):
    """Linear integer arithmetic: the expression is at least 0, or is 0."""

    hypotheses: Hypotheses
    expression: sp.Expr
    equality: bool = False


@dataclass(frozen=True)
class Weigh(Step):
    """A combination of estimates with multipliers is the value, with remainder 0.

    An inequality has a nonnegative multiplier, an average one that is not random. Vector equations are
    multiplied with vectors, or all added up as vectors.
    """

    hypotheses: Hypotheses
    multipliers: Mapping[str, Term]
    value: Term
    equality: bool = False


@dataclass(frozen=True)
class Multiply(Step):
    """The product of two nonnegative numbers; if one is so on average only, the other is not random."""

    hypotheses: Hypotheses
    left: str
    right: str


@dataclass(frozen=True)
class Cancel(Step):
    """A nonnegative product of a positive integer and a value: the value is nonnegative."""

    of: str
    hypotheses: Hypotheses
    factor: sp.Expr
    value: Term


@dataclass(frozen=True)
class Limit(Step):
    """An estimate n A + B >= 0 for all integers n from some number on: A >= 0."""

    of: str
    hypotheses: Hypotheses
    index: sp.Symbol
    start: sp.Expr
    value: Term


@dataclass(frozen=True)
class SumOver(Step):
    """An estimate for every index in a range, summed over it."""

    of: str
    hypotheses: Hypotheses
    index: sp.Symbol
    lower: sp.Expr
    upper: sp.Expr


@dataclass(frozen=True)
class Specialize(Step):
    """An estimate with integers put for some of its indices."""

    of: str
    hypotheses: Hypotheses
    at: Mapping[sp.Symbol, sp.Expr]


@dataclass(frozen=True)
class Telescope(Step):
    """The sum over lower <= index < upper of F(index + 1) - F(index) is F(upper) - F(lower)."""

    hypotheses: Hypotheses
    of: Term
    index: sp.Symbol
    lower: sp.Expr
    upper: sp.Expr


@dataclass(frozen=True)
class SplitSum(Step):
    """A sum over lower <= index < upper in two parts, lower <= middle <= upper."""

    hypotheses: Hypotheses
    summand: Term
    index: sp.Symbol
    lower: sp.Expr
    middle: sp.Expr
    upper: sp.Expr


@dataclass(frozen=True)
class OneTerm(Step):
    """A sum over a single index is its summand there."""

    summand: Term
    index: sp.Symbol
    at: sp.Expr


@dataclass(frozen=True)
class Reindex(Step):
    """A sum over lower <= index < upper with the index moved: of summand(index + shift) over the moved range."""

    hypotheses: Hypotheses
    summand: Term
    index: sp.Symbol
    lower: sp.Expr
    upper: sp.Expr
    shift: sp.Expr
    new_lower: sp.Expr
    new_upper: sp.Expr


@dataclass(frozen=True)
class Exchange(Step):
    """Sum over outer and inner index in the other order; both describe the same pairs of indices."""

    hypotheses: Hypotheses
    summand: Term
    outer: sp.Symbol
    outer_range: tuple[sp.Expr, ...]
    inner: sp.Symbol
    inner_range: tuple[sp.Expr, ...]
    new_inner_range: tuple[sp.Expr, ...]
    new_outer_range: tuple[sp.Expr, ...]

"""The setting of a theorem as data: parameters, families of numbers and vectors, and named hypotheses.

A time is one or several integers, compared like words in a dictionary: (round, step). A random number is *known*
at time t if it is a function of what was drawn up to t. A
hypothesis holds surely, or on average given everything that is known at some time. All vectors live in one
inner product space, and all the averages that occur exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import sympy as sp

from pdtheory.proof.terms import Term

Time: TypeAlias = tuple[sp.Expr, ...]
AT_START: Time = (sp.Integer(0),)


class Sign(StrEnum):
    """What is said of the sign of a parameter."""

    POSITIVE = "positive"
    NONNEGATIVE = "nonnegative"
    ANY = "any"


class Timing(StrEnum):
    """What is said of the time at which the members of a family are known."""

    FIXED = "not random"
    TIMED = "known at a time"
    UNSAID = "nothing is said of when it is known"


def shown_time(time: Time) -> str:
    """Return a time as text."""
    return str(time[0]) if len(time) == 1 else f"({', '.join(map(str, time))})"


def not_later(one: Time, other: Time) -> sp.Basic:
    """Return the condition that one time is not later than another.

    Examples
    --------
    >>> c, h = sp.symbols("c h", integer=True)
    >>> not_later((c, h), (c, h + 1)), not_later((h,), (c,))
    (True, h <= c)
    """
    condition: sp.Basic = one[-1] <= other[-1]
    for here, there in zip(reversed(one[:-1]), reversed(other[:-1]), strict=True):
        condition = sp.Or(here < there, sp.And(sp.Eq(here, there), condition))
    return condition


@dataclass(frozen=True)
class Parameter:
    """A number that is the same in the whole theorem."""

    name: str
    words: str
    sign: Sign
    integer: bool = False


@dataclass(frozen=True)
class Family:
    """Numbers or vectors with integer indices; `known` gives the time of a TIMED member."""

    name: str
    words: str
    indices: tuple[sp.Symbol, ...]
    vector: bool
    timing: Timing
    known: Time = AT_START
    nonnegative: bool = False

    def __str__(self) -> str:
        indices = ", ".join(map(str, self.indices))
        shown = f"vector {self.name}[{indices}]" if self.vector else f"number {self.name}({indices})"
        time = f"known at time {shown_time(self.known)}" if self.timing is Timing.TIMED else str(self.timing)
        return f"{shown}: {self.words}; {'>= 0, ' if self.nonnegative else ''}{time}"


@dataclass(frozen=True)
class Hypothesis:
    """A hypothesis about all indices in its domain.

    Attributes
    ----------
    equality : bool
        The term, a number or a vector, is 0; otherwise it is a number >= 0.
    conditional : bool
        It holds on average given what is known at the time `given`; otherwise surely.
    """

    name: str
    words: str
    indices: tuple[sp.Symbol, ...]
    domain: tuple[sp.Basic, ...]
    term: Term
    equality: bool = False
    conditional: bool = False
    given: Time = AT_START

    def __str__(self) -> str:
        given = f", on average given time {shown_time(self.given)}" if self.conditional else ""
        domain = f", for {', '.join(map(str, self.domain))}" if self.domain else ""
        return f"{self.term} {'=' if self.equality else '>='} 0{given}{domain}"


@dataclass(frozen=True)
class Model:
    """Everything that a theorem is about. The constraints are linear ones between the integer parameters."""

    name: str
    parameters: tuple[Parameter, ...]
    constraints: tuple[sp.Basic, ...]
    families: tuple[Family, ...]
    hypotheses: tuple[Hypothesis, ...]

    def described(self, used: tuple[str, ...]) -> str:
        """Return the model as text, with the hypotheses that are used."""
        parameters = "; ".join(f"{p.name} {'integer, ' if p.integer else ''}{p.sign}" for p in self.parameters)
        lines = [f"model {self.name}: {parameters}", *(f"  {family}" for family in self.families)]
        return "\n".join([*lines, *(f"  hypothesis {h.name}: {h}" for h in self.hypotheses if h.name in used)])

    @property
    def integer_constraints(self) -> tuple[sp.Basic, ...]:
        """The constraints, with the signs of the integer parameters."""
        least = {Sign.POSITIVE: 1, Sign.NONNEGATIVE: 0}
        signs = tuple(
            sp.Symbol(p.name, integer=True) >= least[p.sign] for p in self.parameters if p.integer and p.sign in least
        )
        return (*signs, *self.constraints)

"""Timing laws, and what must hold for a law to be the run of a policy.

A law gives the tick of F and of B on stage s as expressions in s and in the index of the microbatch. The
obligations below are all that an induction over ticks needs: if the run follows the law in all ticks
before t, then at tick t every stage does what the law says. They are statements of linear arithmetic over
unbounded integers, so that a solver decides them for every number of stages and microbatches at once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import sympy as sp

Index = tuple[sp.Expr, ...]


def integers(names: str) -> tuple[sp.Symbol, ...]:
    """Return integer symbols.

    Examples
    --------
    >>> integers("S m")
    (S, m)
    """
    return tuple(sp.Symbol(name, integer=True) for name in names.split())


S, M, s, n, t = integers("S M s n t")


class Wait(StrEnum):
    """What a forward waits for beyond its input, when n microbatches may be in flight."""

    FIRST_STAGE = "the first stage's backward of the n-th microbatch before, on the first stage"
    OWN_STAGE = "the same stage's backward of the n-th microbatch before, on every stage"


@dataclass(frozen=True)
class Indexing:
    """How microbatches are named in a law.

    `Plain` names microbatch m by m. `Rounds` names it by (Q, i) with m = (Q/S) n + i, 0 <= i < n and Q a
    multiple of S, so that ticks 2Q + 2i + ... are linear although 2 S floor(m/n) is not. Of "multiple of
    S" the solver is told only that two multiples differ by 0, S, 2S, or at least 3S; that is true of all
    multiples, and up to a difference of 2S it is all there is to say.
    """

    rounds: bool = False

    def variables(self, suffix: str = "") -> tuple[sp.Symbol, ...]:
        """Return the symbols of an index; a suffix makes another one."""
        names = ("Q", "i") if self.rounds else ("m",)
        return integers(" ".join(name + suffix for name in names))

    @property
    def end(self) -> Index:
        """The index behind the last microbatch."""
        return integers("Q_end i_end") if self.rounds else (M,)

    def domain(self, index: Index) -> tuple[sp.Basic, ...]:
        """Say that the index is one of a microbatch of the run."""
        if not self.rounds:
            return (index[0] >= 0, index[0] < M)
        return (
            *self.is_index(index),
            *self.is_index(self.end),
            self.related(index, self.end),
            self.less(index, self.end),
        )

    def is_index(self, index: Index) -> tuple[sp.Basic, ...]:
        """Say that the index is one that a microbatch, or the end of a run, can have."""
        if not self.rounds:
            return (index[0] >= 0,)
        return (index[1] >= 0, index[1] < n, sp.Or(sp.Eq(index[0], 0), index[0] >= S))

    def related(self, first: Index, second: Index) -> sp.Basic:
        """Say what is known of two indices together."""
        if not self.rounds:
            return sp.true
        gap = second[0] - first[0]
        return sp.Or(*(sp.Eq(gap, k * S) for k in range(-2, 3)), gap >= 3 * S, gap <= -3 * S)

    def less(self, first: Index, second: Index) -> sp.Basic:
        """Say that the first microbatch comes before the second."""
        if not self.rounds:
            return first[0] < second[0]
        return sp.Or(first[0] < second[0], sp.And(sp.Eq(first[0], second[0]), first[1] < second[1]))

    def has_previous(self, index: Index) -> sp.Basic:
        """Say that the microbatch is not the first."""
        return sp.Or(*(part >= 1 for part in index))

    def previous(self, index: Index) -> Index:
        """Return the microbatch before."""
        if not self.rounds:
            return (index[0] - 1,)
        inside = index[1] >= 1
        return (
            sp.Piecewise((index[0], inside), (index[0] - S, True)),
            sp.Piecewise((index[1] - 1, inside), (n - 1, True)),
        )

    def has_back(self, index: Index) -> sp.Basic:
        """Say that there is an n-th microbatch before."""
        return index[0] >= (S if self.rounds else n)

    def back(self, index: Index) -> Index:
        """Return the n-th microbatch before."""
        return (index[0] - S, index[1]) if self.rounds else (index[0] - n,)


@dataclass(frozen=True)
class Law:
    """Ticks of F and B on stage s, as expressions in s and in the symbols of the indexing.

    Attributes
    ----------
    name : str
    indexing : Indexing
    forward_tick, backward_tick : expression
    domain : tuple of SymPy booleans
        What S and n must satisfy.
    witness : tuple of expressions
        Also in the tick t: the microbatch whose B runs at t while F of the index is ready and has to wait.
        It is only proposed; the obligations check it. Empty where the law is of an order, which leaves no
        choice.
    """

    name: str
    indexing: Indexing
    forward_tick: sp.Expr
    backward_tick: sp.Expr
    domain: tuple[sp.Basic, ...] = ()
    witness: Index = ()

    def forward(self, stage: sp.Expr, index: Index) -> sp.Expr:
        """Return the tick of F on a stage of the microbatch with an index."""
        return self._at(self.forward_tick, stage, index)

    def backward(self, stage: sp.Expr, index: Index) -> sp.Expr:
        """Return the tick of B on a stage of the microbatch with an index."""
        return self._at(self.backward_tick, stage, index)

    def backward_at(self, stage: sp.Expr, index: Index, tick: sp.Expr) -> Index:
        """Return the witness for a stage, an index and a tick."""
        return tuple(self._at(part, stage, index).subs(t, tick) for part in self.witness)

    def _at(self, expression: sp.Expr, stage: sp.Expr, index: Index) -> sp.Expr:
        there = dict(zip((s, *self.indexing.variables()), (stage, *index), strict=True))
        return expression.subs(there, simultaneous=True)


@dataclass(frozen=True)
class Obligation:
    """A statement that must hold for all integers: the hypotheses imply the goal."""

    name: str
    hypotheses: tuple[sp.Basic, ...]
    goal: sp.Basic


@functools.cache
def greedy_obligations(law: Law, wait: Wait) -> tuple[Obligation, ...]:
    """Return what must hold for the law to be the run of greedy 1F1B.

    The policy, at every tick and stage: a ready backward runs if the stage has run none yet, or its last
    op was a forward, or no forward is ready; otherwise a ready forward runs. An op is ready when it is the
    next of its kind on its stage and its input was made in an earlier tick; a forward also has to `wait`.
    """
    x, y = law.indexing.variables(), law.indexing.variables("_2")
    forward, backward, indexing = law.forward, law.backward, law.indexing
    base = (S >= 1, n >= 1, *law.domain, s >= 0, s < S)
    one = (*base, *indexing.domain(x))
    two = (*one, *indexing.domain(y), indexing.related(x, y))
    last = S - 1
    waits_here = sp.Eq(s, 0) if wait is Wait.FIRST_STAGE else sp.true
    held_at: sp.Expr = sp.Integer(0) if wait is Wait.FIRST_STAGE else s

    def next_of(times: Callable[[sp.Expr, Index], sp.Expr], index: Index) -> sp.Basic:
        done_before = sp.Implies(indexing.has_previous(index), times(s, indexing.previous(index)) < t)
        return sp.And(times(s, index) >= t, done_before)

    def forward_ready(index: Index) -> sp.Basic:
        return sp.And(
            next_of(forward, index),
            sp.Implies(s >= 1, forward(s - 1, index) < t),
            sp.Implies(sp.And(waits_here, indexing.has_back(index)), backward(held_at, indexing.back(index)) < t),
        )

    def backward_ready(index: Index) -> sp.Basic:
        return sp.And(
            next_of(backward, index),
            sp.Implies(s < last, backward(s + 1, index) < t),
            sp.Implies(sp.Eq(s, last), forward(s, index) < t),
        )

    previous_x, previous_y = indexing.previous(x), indexing.previous(y)
    has_x, has_y = indexing.has_previous(x), indexing.has_previous(y)
    witness = law.backward_at(s, x, t)
    same = sp.And(*(sp.Eq(a, b) for a, b in zip(x, y, strict=True)))

    def always(name: str, domain: tuple[sp.Basic, ...], *condition: sp.Basic, then: sp.Basic) -> Obligation:
        return Obligation(name, domain, sp.Implies(sp.And(*condition), then))

    return (
        always("ticks start at 0", one, then=forward(s, x) >= 0),
        always("forwards keep the order of microbatches", one, has_x, then=forward(s, previous_x) < forward(s, x)),
        always("backwards keep the order of microbatches", one, has_x, then=backward(s, previous_x) < backward(s, x)),
        always("no two forwards in one tick", two, sp.Eq(forward(s, x), forward(s, y)), then=same),
        always("no two backwards in one tick", two, sp.Eq(backward(s, x), backward(s, y)), then=same),
        always("no forward and backward in one tick", two, then=sp.Ne(forward(s, x), backward(s, y))),
        always("a forward follows the one of the stage before", one, s >= 1, then=forward(s - 1, x) < forward(s, x)),
        always(
            "a backward follows the one of the stage after", one, s < last, then=backward(s + 1, x) < backward(s, x)
        ),
        always("the last stage's backward follows its forward", one, then=forward(last, x) < backward(last, x)),
        always(
            "a forward waits for the microbatch that must have left",
            one,
            waits_here,
            indexing.has_back(x),
            then=backward(held_at, indexing.back(x)) < forward(s, x),
        ),
        always(
            "where a forward runs, no ready backward has the turn",
            two,
            sp.Eq(t, forward(s, x)),
            backward_ready(y),
            then=sp.And(has_y, sp.Implies(has_x, forward(s, previous_x) < backward(s, previous_y))),
        ),
        always(
            "where a backward runs after another, no ready forward has the turn",
            two,
            has_x,
            sp.Eq(t, backward(s, x)),
            forward_ready(y),
            then=sp.And(has_y, backward(s, previous_x) < forward(s, previous_y)),
        ),
        always(
            "a ready forward waits only while a backward runs",
            one,
            t >= 0,
            forward_ready(x),
            t < forward(s, x),
            then=sp.And(*indexing.domain(witness), sp.Eq(backward(s, witness), t)),
        ),
        always("a ready backward runs at once", one, t >= 0, backward_ready(x), then=sp.Eq(t, backward(s, x))),
    )


@functools.cache
def order_obligations(law: Law, warmup: sp.Expr) -> tuple[Obligation, ...]:
    """Return what must hold for the law to be the run of an order in which every op starts as early as it can.

    On stage s come `warmup` forwards, then F and B in turn, then the remaining B, each kind by microbatch.
    An op starts when the op before it on its stage and the op whose result it needs have ended, at tick 0
    if there is neither. Ticks that fulfil these equations are unique, since every op waits for earlier ones.
    """
    if law.indexing.rounds:
        raise ValueError("an order is stated over plain microbatches")
    (m,) = law.indexing.variables()
    here = (S >= 1, M >= 1, *law.domain, s >= 0, s < S, *law.indexing.domain((m,)))
    forward, backward = law.forward(s, (m,)), law.backward(s, (m,))
    last = S - 1

    def both(name: str, tick: sp.Expr, waits: list[tuple[sp.Basic, sp.Expr]]) -> list[Obligation]:
        after = sp.And(tick >= 0, *(sp.Implies(condition, tick >= other + 1) for condition, other in waits))
        tight = sp.Or(
            sp.And(sp.Eq(tick, 0), *(sp.Not(condition) for condition, _ in waits)),
            *(sp.And(condition, sp.Eq(tick, other + 1)) for condition, other in waits),
        )
        return [
            Obligation(f"{name} starts after all that it waits for", here, after),
            Obligation(f"{name} starts as soon as it can", here, tight),
        ]

    turn = m + warmup < M
    forward_waits = [
        (s >= 1, law.forward(s - 1, (m,))),
        (sp.And(m >= 1, m <= warmup), law.forward(s, (m - 1,))),
        (m > warmup, law.backward(s, (m - warmup - 1,))),
    ]
    backward_waits = [
        (s < last, law.backward(s + 1, (m,))),
        (sp.Eq(s, last), forward),
        (turn, law.forward(s, (m + warmup,))),
        (sp.And(sp.Not(turn), m >= 1), law.backward(s, (m - 1,))),
        (sp.And(sp.Not(turn), m < 1), law.forward(s, (M - 1,))),
    ]
    return (
        Obligation("the warm-up is part of the run", here, sp.And(warmup >= 0, warmup <= M)),
        *both("a forward", forward, forward_waits),
        *both("a backward", backward, backward_waits),
    )

"""The checker: it alone turns steps into conclusions. Everything else only proposes steps."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import sympy as sp

from pdtheory.errors import PdTheoryError
from pdtheory.proof import steps as st
from pdtheory.proof.quasipolynomial import is_zero
from pdtheory.proof.smt import Decision, smtlib, solve
from pdtheory.proof.timing import M, S, greedy_obligations, order_obligations, s
from pdtheory.proof.verdict import Verdict, weakest


class StepRefusedError(PdTheoryError):
    """A step that the checker does not accept, with the verdict it deserves."""

    def __init__(self, what: str, verdict: Verdict = Verdict.INCONCLUSIVE) -> None:
        super().__init__(what)
        self.verdict = verdict


@dataclass(frozen=True)
class StepResult:
    """The verdict on one step.

    Attributes
    ----------
    name, kind : str
    verdict : Verdict
    detail : str
        The conclusion, or the counterexample or reason of a step that failed.
    obligations : tuple of (str, str)
        Name and SMT-LIB text of what the solver was asked.
    """

    name: str
    kind: str
    verdict: Verdict
    detail: str
    obligations: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Checked:
    """The verdict on a proof; no conclusion exists where a step failed."""

    statement: str
    verdict: Verdict
    results: tuple[StepResult, ...]
    conclusion: st.Conclusion | None


@dataclass
class _Desk:
    """What one proof has concluded so far, and what the solver was asked in the current step."""

    solver: str
    known: dict[str, st.Conclusion] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    skipped: str = ""

    def decide(self, name: str, hypotheses: Sequence[sp.Basic], goal: sp.Basic) -> None:
        """Refuse the step unless the hypotheses can hold and imply the goal."""
        if goal == sp.true:
            return
        text = smtlib(tuple(hypotheses), goal)
        self.asked.append((name, text))
        self._refuse_unless_proved(name, solve(text, self.solver))
        self.require_possible(name, hypotheses)

    def require_possible(self, name: str, hypotheses: Sequence[sp.Basic]) -> None:
        """Refuse the step if nothing satisfies the hypotheses: it would say nothing."""
        possible = solve(smtlib(tuple(hypotheses), sp.false), self.solver)
        if possible.verdict is Verdict.SKIPPED:
            self.skipped = possible.reason
        elif possible.verdict is not Verdict.REFUTED:
            raise StepRefusedError(f"{name}: nothing is known to satisfy the hypotheses")

    def _refuse_unless_proved(self, name: str, decision: Decision) -> None:
        if decision.verdict is Verdict.SKIPPED:
            self.skipped = decision.reason
        elif decision.verdict is not Verdict.PROVED:
            example = ", ".join(f"{key}={value}" for key, value in decision.counterexample)
            raise StepRefusedError(f"{name}: {example or decision.reason}", decision.verdict)

    def get(self, name: str, kind: type[st.Conclusion]) -> st.Conclusion:
        """Return an earlier conclusion of the kind."""
        found = self.known.get(name)
        if not isinstance(found, kind):
            raise StepRefusedError(f"there is no earlier {kind.__name__} called {name!r}")
        return found

    def value(self, name: str) -> st.Value | st.Count | st.Total:
        """Return an earlier conclusion that has a value."""
        found = self.known.get(name)
        if not isinstance(found, st.Value | st.Count | st.Total):
            raise StepRefusedError(f"there is no earlier value called {name!r}")
        return found


def check(proof: st.Proof, *, solver: str = "z3") -> Checked:
    """Check a proof step by step.

    A step that fails keeps its verdict (REFUTED with a counterexample where there is one), the steps after
    it are not looked at, and the proof has no conclusion. Where the solver is missing a step is SKIPPED and
    the proof goes on: its conclusion is then what the steps would show, and its verdict is SKIPPED.

    Parameters
    ----------
    proof : Proof
    solver : {"z3", "cvc5"}
        Decides the linear integer statements.

    Examples
    --------
    >>> n = sp.Symbol("n", integer=True)
    >>> double = st.Decide("twice", (n >= 1,), 2 * n > n)
    >>> check(st.Proof("twice as much is more", (double,))).verdict.value
    'PROVED'
    """
    desk = _Desk(solver)
    results: list[StepResult] = []
    conclusion: st.Conclusion | None = None
    for step in proof.steps:
        desk.asked, desk.skipped = [], ""
        kind = type(step).__name__
        try:
            if step.name in desk.known:
                raise StepRefusedError(f"two steps are called {step.name!r}")
            conclusion = desk.known[step.name] = _conclude(step, desk)
            verdict = Verdict.SKIPPED if desk.skipped else Verdict.PROVED
            results.append(StepResult(step.name, kind, verdict, desk.skipped or str(conclusion), tuple(desk.asked)))
        except StepRefusedError as refusal:
            results.append(StepResult(step.name, kind, refusal.verdict, str(refusal), tuple(desk.asked)))
        except PdTheoryError as error:
            results.append(StepResult(step.name, kind, Verdict.INCONCLUSIVE, str(error), tuple(desk.asked)))
        if results[-1].verdict not in (Verdict.PROVED, Verdict.SKIPPED):
            conclusion = None
            break
    return Checked(proof.statement, weakest(r.verdict for r in results), tuple(results), conclusion)


@functools.singledispatch
def _conclude(step: st.Step, desk: _Desk) -> st.Conclusion:
    raise StepRefusedError(f"the checker does not know steps of kind {type(step).__name__}")


@_conclude.register
def _(step: st.Decide, desk: _Desk) -> st.Conclusion:
    desk.decide(step.name, step.hypotheses, step.goal)
    return st.Fact(step.hypotheses, step.goal)


@_conclude.register
def _(step: st.FollowsPolicy, desk: _Desk) -> st.Conclusion:
    for obligation in greedy_obligations(step.law, step.wait):
        desk.decide(obligation.name, obligation.hypotheses, obligation.goal)
    return st.Run(step.law, f"greedy 1F1B, a forward waits for {step.wait}")


@_conclude.register
def _(step: st.FollowsOrder, desk: _Desk) -> st.Conclusion:
    for obligation in order_obligations(step.law, step.warmup):
        desk.decide(obligation.name, obligation.hypotheses, obligation.goal)
    return st.Run(step.law, f"{step.warmup} forwards, then F and B in turn, every op as early as it can")


@_conclude.register
def _(step: st.LastTick, desk: _Desk) -> st.Conclusion:
    run = desk.get(step.run, st.Run)
    assert isinstance(run, st.Run)
    law, indexing = run.law, run.law.indexing
    x = indexing.variables()
    hypotheses = (S >= 1, *law.domain, *step.hypotheses)
    inside = (*hypotheses, s >= 0, s < S, *indexing.domain(x))
    for name, times in (("forward", law.forward), ("backward", law.backward)):
        desk.decide(f"every {name} has ended", inside, times(s, x) + 1 <= step.value)
    last = indexing.previous(indexing.end)
    # The end must be an index of the run's own domain, or "the last microbatch" would be nothing.
    desk.decide(
        "the first stage's last backward ends then",
        hypotheses,
        sp.And(*indexing.domain(last), sp.Eq(law.backward(sp.Integer(0), last) + 1, step.value)),
    )
    return st.Value(tuple(dict.fromkeys(hypotheses)), "ticks", step.value)


@_conclude.register
def _(step: st.TickOf, desk: _Desk) -> st.Conclusion:
    run = desk.get(step.run, st.Run)
    assert isinstance(run, st.Run)
    x = run.law.indexing.variables()
    hypotheses = (S >= 1, *run.law.domain, s >= 0, s < S, *run.law.indexing.domain(x))
    times = run.law.backward if step.backward else run.law.forward
    return st.Value(hypotheses, f"tick of {'B' if step.backward else 'F'}", times(s, x))


@_conclude.register
def _(step: st.IdleFraction, desk: _Desk) -> st.Conclusion:
    found = desk.value(step.ticks)
    if not isinstance(found, st.Value) or found.words != "ticks":
        raise StepRefusedError(f"{step.ticks!r} is not the number of ticks of a run")
    divisor = 2 * M if step.over_ideal else found.value
    desk.decide("the run takes time", found.hypotheses, sp.And(found.value >= 1, M >= 1))
    _same(
        "the fraction times its divisor, and the idle ticks of a worker",
        sp.cancel(step.value * divisor),
        found.value - 2 * M,
        found.hypotheses,
    )
    return st.Value(found.hypotheses, step.words, step.value)


@_conclude.register
def _(step: st.CountInterval, desk: _Desk) -> st.Conclusion:
    inside = sp.And(step.lower <= step.index, step.index <= step.upper)
    tied = sp.And(*(sp.Eq(symbol, value) for symbol, value in step.determined.items()))
    if step.determined.keys() & set().union(*(v.free_symbols for v in step.determined.values()), {step.index}):
        raise StepRefusedError("a determined index may depend on the first index only")
    if {step.index, *step.determined} & (step.lower.free_symbols | step.upper.free_symbols):
        raise StepRefusedError("the bounds must not depend on the indices")
    domain = () if step.index_domain == sp.true else (step.index_domain,)
    desk.decide(
        f"{step.name}: the members are the interval",
        (*step.hypotheses, *domain),
        sp.Equivalent(step.member, sp.And(inside, tied)),
    )
    if domain:
        desk.decide(
            f"{step.name}: what is determined is in the domain",
            step.hypotheses,
            sp.Implies(inside, step.index_domain.subs(step.determined)),
        )
    length = step.upper - step.lower + 1
    desk.decide(f"{step.name}: the interval is not inverted", step.hypotheses, length >= 0)
    member = step.member if not domain else sp.And(step.index_domain, step.member)
    return st.Count(step.hypotheses, (step.index, *step.determined), member, sp.expand(length))


@_conclude.register
def _(step: st.SumByDifference, desk: _Desk) -> st.Conclusion:
    antidifference, index = step.antidifference, step.index
    if index in step.lower.free_symbols | step.upper.free_symbols:
        raise StepRefusedError("the bounds must not depend on the index")
    _same("the difference is the summand", antidifference.subs(index, index + 1) - antidifference, step.summand)
    desk.decide("the bounds are in order", step.hypotheses, step.lower <= step.upper)
    value = antidifference.subs(index, step.upper) - antidifference.subs(index, step.lower)
    return st.Total(step.hypotheses, index, step.lower, step.upper, step.summand, sp.expand(value))


@_conclude.register
def _(step: st.CountOver, desk: _Desk) -> st.Conclusion:
    count = desk.get(step.count, st.Count)
    assert isinstance(count, st.Count)
    total = _total_over(desk, count, step.total, count.value)
    if total.index in count.indices:
        raise StepRefusedError("the outer index is already counted")
    member = sp.And(total.lower <= total.index, total.index < total.upper, count.member)
    return st.Count(total.hypotheses, (total.index, *count.indices), member, total.value)


@_conclude.register
def _(step: st.AddUp, desk: _Desk) -> st.Conclusion:
    found = desk.value(step.of)
    if step.power not in (1, 2):
        raise StepRefusedError("adds up a value or its square")
    total = _total_over(desk, found, step.total, found.value**step.power)
    return st.Value(total.hypotheses, step.words, total.value)


def _total_over(desk: _Desk, found: st.Value | st.Count | st.Total, name: str, summand: sp.Expr) -> st.Total:
    """Return the sum called `name`, if its summand is the one given and holds on the whole range."""
    total = desk.get(name, st.Total)
    assert isinstance(total, st.Total)
    _same("the summand and the value", summand, total.summand)
    if any(total.index in h.free_symbols for h in total.hypotheses):
        raise StepRefusedError("the index must not occur in the hypotheses of the sum")
    inside = (*total.hypotheses, total.lower <= total.index, total.index < total.upper)
    for hypothesis in found.hypotheses:
        if hypothesis not in inside:
            desk.decide("the value holds on the range", inside, hypothesis)
    return total


@_conclude.register
def _(step: st.Average, desk: _Desk) -> st.Conclusion:
    found = desk.value(step.of)
    for factor in step.factors:
        desk.decide("the divisor is positive", found.hypotheses, factor >= 1)
    _same(
        "value times divisor, and the total",
        sp.expand(step.value * sp.prod(step.factors)),
        found.value,
        found.hypotheses,
    )
    return st.Value(found.hypotheses, step.words, step.value)


def _counts(desk: _Desk, names: Sequence[str], hypotheses: st.Hypotheses) -> list[st.Count]:
    """Return counts over the same indices, each valid under the hypotheses."""
    found = []
    for name in names:
        count = desk.get(name, st.Count)
        assert isinstance(count, st.Count)
        for hypothesis in count.hypotheses:
            if hypothesis not in hypotheses:
                desk.decide(f"{name} holds here", hypotheses, hypothesis)
        found.append(count)
    if len({frozenset(count.indices) for count in found}) != 1:
        raise StepRefusedError("the counts are over different indices")
    return found


@_conclude.register
def _(step: st.CountUnion, desk: _Desk) -> st.Conclusion:
    parts = _counts(desk, step.parts, step.hypotheses)
    for first, second in itertools.combinations(parts, 2):
        desk.decide("the parts are disjoint", step.hypotheses, sp.Not(sp.And(first.member, second.member)))
    union = sp.Or(*(part.member for part in parts))
    desk.decide("the parts are the whole", step.hypotheses, sp.Equivalent(step.member, union))
    return st.Count(step.hypotheses, parts[0].indices, step.member, sp.expand(sum(p.value for p in parts)))


@_conclude.register
def _(step: st.CountDifference, desk: _Desk) -> st.Conclusion:
    outer, inner = _counts(desk, (step.outer, step.inner), step.hypotheses)
    desk.decide("the subset is inside", step.hypotheses, sp.Implies(inner.member, outer.member))
    rest = sp.And(outer.member, sp.Not(inner.member))
    desk.decide("the rest is the set", step.hypotheses, sp.Equivalent(step.member, rest))
    return st.Count(step.hypotheses, outer.indices, step.member, sp.expand(outer.value - inner.value))


@_conclude.register
def _(step: st.Largest, desk: _Desk) -> st.Conclusion:
    count = desk.get(step.count, st.Count)
    assert isinstance(count, st.Count)
    point, shift = dict(step.at), dict(step.shift)
    if (count.member.free_symbols | count.value.free_symbols) & point.keys():
        raise StepRefusedError("the largest set must not depend on the parameters")
    for index, moved in shift.items():
        if set(count.indices) & sp.expand(moved - index).free_symbols:
            raise StepRefusedError("a shift must move an index by an amount that does not depend on indices")
    fixed = tuple(h for h in step.hypotheses if not h.free_symbols & point.keys())
    for hypothesis in (*step.hypotheses, *count.hypotheses):
        instance = hypothesis.subs(point, simultaneous=True)
        if instance not in fixed:
            desk.decide("the point is in the domain", fixed, instance)
    inside = count.member.subs(shift, simultaneous=True)
    desk.decide("every member is one of the largest set", step.hypotheses, sp.Implies(step.member, inside))
    there = step.member.subs(point, simultaneous=True)
    desk.decide("at the point it is the largest set", fixed, sp.Equivalent(count.member, there))
    return st.Value(fixed, step.words, count.value)


@_conclude.register
def _(step: st.LargestValue, desk: _Desk) -> st.Conclusion:
    found = desk.value(step.of)
    there = found.value.subs(step.parameter, step.at)
    desk.decide("no value is larger", found.hypotheses, sp.expand(there - found.value) >= 0)
    rest = tuple(h for h in found.hypotheses if step.parameter not in h.free_symbols)
    for hypothesis in found.hypotheses:
        if hypothesis not in rest:
            desk.decide("the point is in the domain", rest, hypothesis.subs(step.parameter, step.at))
    desk.decide("the largest value is as stated", rest, sp.Eq(sp.expand(there - step.value), 0))
    return st.Value(rest, step.words, step.value)


@_conclude.register
def _(step: st.Rewrite, desk: _Desk) -> st.Conclusion:
    found = desk.value(step.of)
    _same("the two values", found.value, step.value, found.hypotheses)
    return st.Value(found.hypotheses, step.words, step.value)


@_conclude.register
def _(step: st.Combine, desk: _Desk) -> st.Conclusion:
    hypotheses: list[sp.Basic] = []
    value: sp.Expr = sp.Integer(0)
    for name, factor in step.terms.items():
        found = desk.value(name)
        hypotheses += [h for h in found.hypotheses if h not in hypotheses]
        value += factor * found.value
    desk.require_possible("all hypotheses together", hypotheses)
    return st.Value(tuple(hypotheses), step.words, sp.expand(value))


@_conclude.register
def _(step: st.Substitute, desk: _Desk) -> st.Conclusion:
    found = desk.value(step.of)
    desk.decide("the hypotheses define the symbol", found.hypotheses, sp.Eq(step.symbol, step.expression))
    if step.symbol in step.expression.free_symbols:
        raise StepRefusedError("a symbol cannot be defined by itself")
    rest = tuple(h.subs(step.symbol, step.expression) for h in found.hypotheses)
    words = found.words if isinstance(found, st.Value) else str(found)
    return st.Value(tuple(h for h in rest if h != sp.true), words, found.value.subs(step.symbol, step.expression))


@_conclude.register
def _(step: st.Instantiate, desk: _Desk) -> st.Conclusion:
    found, symbol = desk.value(step.of), step.symbol
    rest = tuple(h for h in found.hypotheses if symbol not in h.free_symbols)
    positive = tuple(factor >= 1 for factor in step.factors)
    # A product of positive integers is at least each of them, and each of them or at least twice that.
    multiple = tuple(sp.Or(sp.Eq(symbol, f), symbol >= 2 * f) for f in step.factors)
    if symbol.name in ("Q", "Q_end") and S not in step.factors:
        raise StepRefusedError(f"{symbol} names multiples of S")
    if symbol in step.factors:
        raise StepRefusedError("a symbol cannot be put for itself")
    kept = []
    for hypothesis in found.hypotheses:
        if symbol not in hypothesis.free_symbols:
            continue
        if len(step.factors) == 1:
            kept.append(hypothesis.subs(symbol, step.factors[0]))
        else:
            desk.decide("any such product will do", (*rest, *positive, *multiple), hypothesis)
    hypotheses = (*rest, *(h for h in (*kept, *positive) if h not in rest and h != sp.true))
    words = found.words if isinstance(found, st.Value) else str(found)
    return st.Value(tuple(dict.fromkeys(hypotheses)), words, found.value.subs(symbol, sp.prod(step.factors)))


@_conclude.register
def _(step: st.DivideWithRemainder, desk: _Desk) -> st.Conclusion:
    found = desk.value(step.of)
    quotient, remainder, divisor = step.quotient, step.remainder, step.divisor
    for hypothesis in (quotient >= 0, remainder >= 1):
        if hypothesis not in found.hypotheses:
            raise StepRefusedError(f"needs the hypothesis {hypothesis}")
    # With 1 <= remainder <= divisor the number of blocks that are begun is quotient + 1.
    blocks = sp.Symbol("blocks", integer=True)
    in_blocks = step.value.subs(sp.ceiling(step.dividend / divisor), blocks)
    spelt = in_blocks.subs({blocks: quotient + 1, step.dividend: quotient * divisor + remainder})
    _same("the two values", found.value, spelt, found.hypotheses)
    rest = tuple(h for h in found.hypotheses if not h.free_symbols & {quotient, remainder})
    return st.Value((*rest, step.dividend >= 1), step.words, step.value)


def _same(what: str, left: sp.Expr, right: sp.Expr, hypotheses: st.Hypotheses = ()) -> None:
    """Refuse the step unless the two expressions agree for all integers.

    A counterexample is looked for among small integers that no hypothesis forbids.
    """
    difference = sp.expand(left - right)
    if is_zero(difference):
        return
    symbols = sorted(difference.free_symbols | left.free_symbols | right.free_symbols, key=str)
    for values in itertools.islice(itertools.product(range(5), repeat=len(symbols)), 5**5):
        point = dict(zip(symbols, values, strict=True))
        allowed = all(h.subs(point) != sp.false for h in hypotheses)
        if allowed and difference.subs(point).is_nonzero:
            sides = f"{left.subs(point)} and {right.subs(point)}"
            where = ", ".join(f"{k}={v}" for k, v in point.items())
            raise StepRefusedError(f"{what} differ: {sides} at {where or 'every point'}", Verdict.REFUTED)
    raise StepRefusedError(f"{what} differ")

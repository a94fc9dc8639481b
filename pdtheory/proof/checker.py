"""The checker: it alone turns steps into conclusions. Everything else only proposes steps."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from pdtheory.errors import PdTheoryError
from pdtheory.proof import steps as st
from pdtheory.proof.quasipolynomial import canonical
from pdtheory.proof.smt import Decision, is_plain, smtlib, solve
from pdtheory.proof.timing import Law, M, S, Wait, greedy_obligations, integers, n, order_obligations, s, t
from pdtheory.proof.verdict import Verdict, weakest
from pdtheory.proof.windows import is_run, window
from pdtheory.tie_rules import TieRule


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
    undecided: Decision | None = None

    def decide(self, name: str, hypotheses: Sequence[sp.Basic], goal: sp.Basic) -> None:
        """Refuse the step unless the hypotheses can hold and imply the goal."""
        self.require_possible(name, hypotheses)
        if goal == sp.true:
            return
        text = smtlib(tuple(hypotheses), goal)
        self.asked.append((name, text))
        self._refuse_unless_proved(name, solve(text, self.solver))

    def require_possible(self, name: str, hypotheses: Sequence[sp.Basic]) -> None:
        """Refuse the step if nothing satisfies the hypotheses: it would say nothing."""
        possible = solve(smtlib(tuple(hypotheses), sp.false), self.solver)
        if possible.verdict is Verdict.PROVED:
            raise StepRefusedError(f"{name}: nothing satisfies the hypotheses")
        if possible.verdict is not Verdict.REFUTED:
            self.undecided = possible

    def _refuse_unless_proved(self, name: str, decision: Decision) -> None:
        if decision.verdict in (Verdict.SKIPPED, Verdict.INCONCLUSIVE):
            self.undecided = decision
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
    it are not looked at, and the proof has no conclusion. Where the solver is missing or gives up, a step is
    SKIPPED or INCONCLUSIVE and the proof goes on: its conclusion is then what the steps would show, with that
    verdict.

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
        desk.asked, desk.undecided = [], None
        kind = type(step).__name__
        try:
            if step.name in desk.known:
                raise StepRefusedError(f"two steps are called {step.name!r}")
            _well_formed(step)
            conclusion = desk.known[step.name] = _conclude(step, desk)
        except StepRefusedError as refusal:
            results.append(StepResult(step.name, kind, refusal.verdict, str(refusal), tuple(desk.asked)))
            conclusion = None
            break
        except Exception as error:  # what the checker cannot follow is no proof, whatever the reason
            detail = str(error) if isinstance(error, PdTheoryError) else f"{type(error).__name__}: {error}"
            results.append(StepResult(step.name, kind, Verdict.INCONCLUSIVE, detail, tuple(desk.asked)))
            conclusion = None
            break
        verdict = desk.undecided.verdict if desk.undecided else Verdict.PROVED
        detail = desk.undecided.reason if desk.undecided else str(conclusion)
        results.append(StepResult(step.name, kind, verdict, detail, tuple(desk.asked)))
    return Checked(proof.statement, weakest(r.verdict for r in results), tuple(results), conclusion)


def _well_formed(part: Any) -> None:
    """Refuse anything but expressions over plain integers with a value everywhere, in whatever a step holds."""
    if isinstance(part, sp.Basic):
        if not all(is_plain(symbol) for symbol in part.atoms(sp.Symbol)):
            raise StepRefusedError(f"a symbol in {part} is not a plain integer")
        if part.has(sp.zoo, sp.nan, sp.oo, -sp.oo) or part.atoms(sp.Float):
            raise StepRefusedError(f"{part} is not an exact number")
    elif isinstance(part, Mapping):
        for key, value in part.items():
            _well_formed(key)
            _well_formed(value)
    elif isinstance(part, tuple):
        if any(value == sp.false for value in part if isinstance(value, sp.Basic)):
            raise StepRefusedError("one of the hypotheses is false")
        for value in part:
            _well_formed(value)
    elif dataclasses.is_dataclass(part):
        for field_ in dataclasses.fields(part):
            _well_formed(getattr(part, field_.name))


def _integral(what: str, *expressions: sp.Expr) -> None:
    """Refuse expressions that could be no integer."""
    for expression in expressions:
        if not expression.is_integer:
            raise StepRefusedError(f"{what} must be an integer, {expression} need not be one")


def _only(what: str, expression: sp.Basic, allowed: Iterable[sp.Symbol]) -> None:
    """Refuse an expression with symbols that it must not depend on."""
    if strangers := expression.free_symbols - set(allowed):
        raise StepRefusedError(f"{what} must not depend on {', '.join(sorted(map(str, strangers)))}")


def _good_law(law: Law) -> None:
    """Refuse a law whose domain or ticks could hide a restriction of what the induction runs over."""
    x = law.indexing.variables()
    for part in law.domain:
        _only("the domain of a law", part, (S, n))
    for tick in (law.forward_tick, law.backward_tick):
        _only("a tick", tick, (S, n, M, s, *x))
        _integral("a tick", tick)
    for part in law.witness:
        _only("a witness", part, (S, n, M, s, t, *x))
        _integral("a witness", part)


#: Q and Q_end name multiples of S: no step may put another value for them, or for S beside them.
_MULTIPLES = frozenset(integers("Q Q_end"))


def _keeps_multiples(found: st.Value | st.Count | st.Total, symbol: sp.Symbol) -> None:
    """Refuse to replace or eliminate S, Q or Q_end where one of the latter occurs."""
    used = set(found.value.free_symbols).union(*(h.free_symbols for h in found.hypotheses))
    if used & _MULTIPLES and symbol in {S, *_MULTIPLES}:
        raise StepRefusedError(f"{symbol} is tied to the multiples of S that occur here")


@functools.singledispatch
def _conclude(step: st.Step, desk: _Desk) -> st.Conclusion:
    raise StepRefusedError(f"the checker does not know steps of kind {type(step).__name__}")


@_conclude.register
def _(step: st.Decide, desk: _Desk) -> st.Conclusion:
    desk.decide(step.name, step.hypotheses, step.goal)
    return st.Fact(step.hypotheses, step.goal)


@_conclude.register
def _(step: st.FollowsPolicy, desk: _Desk) -> st.Conclusion:
    _good_law(step.law)
    for obligation in greedy_obligations(step.law, Wait(step.wait)):
        desk.decide(obligation.name, obligation.hypotheses, obligation.goal)
    return st.Run(step.law, f"greedy 1F1B, a forward waits for {Wait(step.wait)}")


@_conclude.register
def _(step: st.FollowsOrder, desk: _Desk) -> st.Conclusion:
    _good_law(step.law)
    _only("the warm-up", step.warmup, (S, n, M, s))
    _integral("the warm-up", step.warmup)
    for obligation in order_obligations(step.law, step.warmup):
        desk.decide(obligation.name, obligation.hypotheses, obligation.goal)
    return st.Run(step.law, f"{step.warmup} forwards, then F and B in turn, every op as early as it can")


@_conclude.register
def _(step: st.LastTick, desk: _Desk) -> st.Conclusion:
    run = desk.get(step.run, st.Run)
    assert isinstance(run, st.Run)
    law, indexing = run.law, run.law.indexing
    x = indexing.variables()
    for hypothesis in step.hypotheses:
        _only("what is said of the run", hypothesis, (S, n, M, *indexing.end))
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
    return st.Ticks(tuple(dict.fromkeys(hypotheses)), "ticks", step.value, run)


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
    if not isinstance(found, st.Ticks) or found.run.law.indexing.rounds:
        raise StepRefusedError(f"{step.ticks!r} is not the number of ticks of a run of M microbatches")
    divisor = 2 * M if step.over_ideal else found.value
    desk.decide("the run takes time", found.hypotheses, sp.And(found.value >= 1, M >= 1))
    for power in step.value.atoms(sp.Pow):
        if not power.exp.is_nonnegative:
            desk.decide("the fraction has a value", found.hypotheses, power.base >= 1)
    _same(
        "the fraction times its divisor, and the idle ticks of a worker",
        sp.cancel(step.value * divisor),
        found.value - 2 * M,
        found.hypotheses,
    )
    return st.Value(found.hypotheses, step.words, step.value)


@_conclude.register
def _(step: st.CountInterval, desk: _Desk) -> st.Conclusion:
    _unbound(step.hypotheses, (step.index, *step.determined))
    _integral("a bound", step.lower, step.upper)
    _integral("what is determined", *step.determined.values())
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
    _unbound(step.hypotheses, (index,))
    _integral("a bound", step.lower, step.upper)
    if index in {S, *_MULTIPLES}:
        raise StepRefusedError(f"a sum cannot run over {index}")
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
    _unbound((*total.hypotheses, sp.Le(total.lower, total.upper, evaluate=False)), count.indices)
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
    inside = (*total.hypotheses, total.lower <= total.index, total.index < total.upper)
    for hypothesis in found.hypotheses:
        if hypothesis not in inside:
            desk.decide("the value holds on the range", inside, hypothesis)
    return total


@_conclude.register
def _(step: st.Average, desk: _Desk) -> st.Conclusion:
    found = desk.value(step.of)
    for factor in step.factors:
        _integral("a divisor", factor)
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
        _unbound(hypotheses, count.indices)
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
def _(step: st.Window, desk: _Desk) -> st.Conclusion:
    run, count = desk.get(step.run, st.Run), desk.get(step.count, st.Count)
    assert isinstance(run, st.Run)
    assert isinstance(count, st.Count)
    law, x = run.law, run.law.indexing.variables()
    counted = {*step.index, step.stage} if step.stage in count.indices else {*step.index}
    _distinct((*step.index, *x, S, step.stage))
    if counted != set(count.indices):
        raise StepRefusedError("the count is over other indices than the window")
    inside = sp.And(*(sp.And(stage >= 0, stage < S) for stage in (step.update, step.read)))
    desk.decide("stages and microbatch are those of the run", count.hypotheses, sp.And(inside, is_run(law)))
    member = window(law, TieRule(step.rule), step.stage, step.index, step.update, step.read)
    desk.decide("the counted updates are those of the window", count.hypotheses, sp.Equivalent(member, count.member))
    whose = "any stage" if step.stage in count.indices else f"stage {step.stage}"
    words = (
        f"updates of {whose} between the read of stage {step.read} and the update of stage {step.update} ({step.rule})"
    )
    return st.Value(count.hypotheses, words, count.value)


@_conclude.register
def _(step: st.LargestWindow, desk: _Desk) -> st.Conclusion:
    run, count = desk.get(step.run, st.Run), desk.get(step.count, st.Count)
    assert isinstance(run, st.Run)
    assert isinstance(count, st.Count)
    law, x, point = run.law, run.law.indexing.variables(), dict(step.at)
    update, read = sp.Symbol("a", integer=True), s
    over_run = bool(set(x) & point.keys())
    _distinct((*step.index, *x, S, step.stage, update, read))
    if point.keys() != {update, read, *(x if over_run else ())}:
        raise StepRefusedError("the point must give both stages, and all or none of the microbatch's index")
    if set(count.indices) != {*step.index, step.stage}:
        raise StepRefusedError("the count is over other indices than the windows")
    taken = {*point, *count.indices}
    if taken & set().union(*(h.free_symbols for h in step.hypotheses), *(v.free_symbols for v in point.values())):
        raise StepRefusedError("the hypotheses and the point must not depend on parameters or indices")
    if (count.member.free_symbols | count.value.free_symbols) & point.keys():
        raise StepRefusedError("the largest set must not depend on the parameters")
    _integral("a point", *point.values())
    for index, moved in step.shift.items():
        _integral("a shift", moved)
        if index not in count.indices or set(count.indices) & sp.expand(moved - index).free_symbols:
            raise StepRefusedError("a shift must move an index by an amount that does not depend on indices")
    any_microbatch = (*law.indexing.is_index(x), law.indexing.less(x, law.indexing.end))
    ranges = (update >= 0, update < S, read >= 0, read < S, *(any_microbatch if over_run else ()))
    # Where the microbatch is no parameter, the hypotheses themselves must make it one of the run.
    needed = sp.And(S >= 1, *law.domain, *law.indexing.is_index(law.indexing.end)) if over_run else is_run(law)
    desk.decide("the hypotheses speak of the run", step.hypotheses, needed)
    desk.decide("the point is one of the parameters", step.hypotheses, sp.And(*ranges).subs(point, simultaneous=True))
    for hypothesis in count.hypotheses:
        if hypothesis not in step.hypotheses:
            desk.decide("the count holds here", step.hypotheses, hypothesis)
    member = window(law, TieRule(step.rule), step.stage, step.index, update, read)
    among = count.member.subs(dict(step.shift), simultaneous=True)
    desk.decide("every window is among the counted", (*step.hypotheses, *ranges), sp.Implies(member, among))
    there = member.subs(point, simultaneous=True)
    desk.decide("at the point it is the counted set", step.hypotheses, sp.Equivalent(count.member, there))
    over = "all update and read stages" + (" and all microbatches of the run" if over_run else "")
    return st.Value(step.hypotheses, f"largest block delay over {over} ({step.rule})", count.value)


@_conclude.register
def _(step: st.LargestValue, desk: _Desk) -> st.Conclusion:
    found, parameter = desk.value(step.of), step.parameter
    _integral("a bound or a point", step.lower, step.upper, step.at)
    _keeps_multiples(found, parameter)
    bounds = step.lower.free_symbols | step.upper.free_symbols | step.at.free_symbols | step.value.free_symbols
    if parameter in bounds:
        raise StepRefusedError("the range and the point must not depend on the parameter")
    rest = tuple(h for h in found.hypotheses if parameter not in h.free_symbols)
    inside = (*rest, step.lower <= parameter, parameter < step.upper)
    for hypothesis in found.hypotheses:
        if hypothesis not in rest:
            desk.decide("the value holds on the range", inside, hypothesis)
    desk.decide("the point is in the range", rest, sp.And(step.lower <= step.at, step.at < step.upper))
    there = found.value.subs(parameter, step.at)
    desk.decide("no value is larger", inside, sp.expand(there - found.value) >= 0)
    desk.decide("the largest value is as stated", rest, sp.Eq(sp.expand(there - step.value), 0))
    words = found.words if isinstance(found, st.Value) else str(found)
    return st.Value(rest, f"{words}, largest over {step.lower} <= {parameter} < {step.upper}", step.value)


def _distinct(symbols: Sequence[sp.Basic]) -> None:
    names = [symbol for symbol in symbols if isinstance(symbol, sp.Symbol)]
    if len(set(names)) != len(names):
        raise StepRefusedError("an index has the name of a parameter")


def _unbound(hypotheses: st.Hypotheses, indices: Iterable[sp.Symbol]) -> None:
    """Refuse hypotheses that mention an index: what is counted ranges over all integers."""
    for index in indices:
        if any(index in h.free_symbols for h in hypotheses):
            raise StepRefusedError(f"the index {index} must not occur in the hypotheses")


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
        if not sp.sympify(factor).is_Rational:
            raise StepRefusedError("a factor must be a rational number")
        found = desk.value(name)
        hypotheses += [h for h in found.hypotheses if h not in hypotheses]
        value += factor * found.value
    desk.require_possible("all hypotheses together", hypotheses)
    return st.Value(tuple(hypotheses), step.words, sp.expand(value))


@_conclude.register
def _(step: st.Substitute, desk: _Desk) -> st.Conclusion:
    found = desk.value(step.of)
    desk.decide("the hypotheses define the symbol", found.hypotheses, sp.Eq(step.symbol, step.expression))
    _integral("what is put", step.expression)
    _keeps_multiples(found, step.symbol)
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
    if symbol in _MULTIPLES:
        if S not in step.factors:
            raise StepRefusedError(f"{symbol} names multiples of S")
    else:
        _keeps_multiples(found, symbol)
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
    blocks = sp.Symbol("blocks", integer=True)
    _distinct((quotient, remainder, step.dividend, blocks))
    _integral("a divisor", divisor)
    for symbol in (quotient, remainder, step.dividend):
        _keeps_multiples(found, symbol)
    known = found.value.free_symbols.union(*(h.free_symbols for h in found.hypotheses))
    if {blocks, step.dividend} & known or {blocks, quotient, remainder} & step.value.free_symbols:
        raise StepRefusedError("a symbol of the division occurs where it must not")
    if {quotient, remainder, step.dividend, blocks} & divisor.free_symbols:
        raise StepRefusedError("the divisor must not depend on what is divided")
    for hypothesis in (quotient >= 0, remainder >= 1):
        if hypothesis not in found.hypotheses:
            raise StepRefusedError(f"needs the hypothesis {hypothesis}")
    # With 1 <= remainder <= divisor the number of blocks that are begun is quotient + 1.
    in_blocks = step.value.subs(sp.ceiling(step.dividend / divisor), blocks)
    spelt = in_blocks.subs({blocks: quotient + 1, step.dividend: quotient * divisor + remainder})
    _same("the two values", found.value, spelt, found.hypotheses)
    rest = tuple(h for h in found.hypotheses if not h.free_symbols & {quotient, remainder})
    desk.decide("the divisor is positive", rest, divisor >= 1)
    divided = (*rest, quotient >= 0, remainder >= 1, remainder <= divisor)
    for hypothesis in found.hypotheses:
        if hypothesis not in rest:
            desk.decide("every quotient and remainder will do", divided, hypothesis)
    return st.Value((*rest, step.dividend >= 1), step.words, step.value)


def _same(what: str, left: sp.Expr, right: sp.Expr, hypotheses: st.Hypotheses = ()) -> None:
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

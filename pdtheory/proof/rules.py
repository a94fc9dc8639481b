"""The rules, one per kind of step: what must hold, and what then follows."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence

import sympy as sp

from pdtheory.proof import steps as st
from pdtheory.proof.desk import Desk
from pdtheory.proof.guards import (
    MULTIPLES,
    StepRefusedError,
    keep_multiples,
    need_distinct,
    need_good_law,
    need_integers,
    need_only,
    need_same,
    need_unbound,
)
from pdtheory.proof.quasipolynomial import degree_of
from pdtheory.proof.smt import Decision
from pdtheory.proof.timing import M, S, Wait, greedy_obligations, n, order_obligations, s
from pdtheory.proof.verdict import Verdict
from pdtheory.proof.windows import is_run, window
from pdtheory.tie_rules import TieRule

LARGEST_ENUMERATION = 100_000


@functools.singledispatch
def conclude(step: st.Step, desk: Desk) -> st.Conclusion:
    """Return what a step concludes, or refuse it; each kind of step registers its rule below."""
    raise StepRefusedError(f"the checker does not know steps of kind {type(step).__name__}")


@conclude.register
def _(step: st.Decide, desk: Desk) -> st.Conclusion:
    desk.decide(step.name, step.hypotheses, step.goal)
    return st.Fact(step.hypotheses, step.goal)


@conclude.register
def _(step: st.FollowsPolicy, desk: Desk) -> st.Conclusion:
    need_good_law(step.law)
    for obligation in greedy_obligations(step.law, Wait(step.wait)):
        desk.decide(obligation.name, obligation.hypotheses, obligation.goal)
    return st.Run(step.law, f"greedy 1F1B, a forward waits for {Wait(step.wait)}")


@conclude.register
def _(step: st.FollowsOrder, desk: Desk) -> st.Conclusion:
    need_good_law(step.law)
    need_only("the warm-up", step.warmup, (S, n, M, s))
    need_integers("the warm-up", step.warmup)
    for obligation in order_obligations(step.law, step.warmup):
        desk.decide(obligation.name, obligation.hypotheses, obligation.goal)
    return st.Run(step.law, f"{step.warmup} forwards, then F and B in turn, every op as early as it can")


@conclude.register
def _(step: st.LastTick, desk: Desk) -> st.Conclusion:
    run = desk.get(step.run, st.Run)
    assert isinstance(run, st.Run)
    law, indexing = run.law, run.law.indexing
    x = indexing.variables()
    for hypothesis in step.hypotheses:
        need_only("what is said of the run", hypothesis, (S, n, M, *indexing.end))
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


@conclude.register
def _(step: st.TickOf, desk: Desk) -> st.Conclusion:
    run = desk.get(step.run, st.Run)
    assert isinstance(run, st.Run)
    x = run.law.indexing.variables()
    hypotheses = (S >= 1, *run.law.domain, s >= 0, s < S, *run.law.indexing.domain(x))
    times = run.law.backward if step.backward else run.law.forward
    return st.Value(hypotheses, f"tick of {'B' if step.backward else 'F'}", times(s, x))


@conclude.register
def _(step: st.IdleFraction, desk: Desk) -> st.Conclusion:
    found = desk.value(step.ticks)
    if not isinstance(found, st.Ticks) or found.run.law.indexing.rounds:
        raise StepRefusedError(f"{step.ticks!r} is not the number of ticks of a run of M microbatches")
    divisor = 2 * M if step.over_ideal else found.value
    desk.decide("the run takes time", found.hypotheses, sp.And(found.value >= 1, M >= 1))
    for power in step.value.atoms(sp.Pow):
        if not power.exp.is_nonnegative:
            desk.decide("the fraction has a value", found.hypotheses, power.base >= 1)
    need_same(
        "the fraction times its divisor, and the idle ticks of a worker",
        sp.cancel(step.value * divisor),
        found.value - 2 * M,
        found.hypotheses,
    )
    return st.Value(found.hypotheses, step.words, step.value)


@conclude.register
def _(step: st.CountInterval, desk: Desk) -> st.Conclusion:
    need_unbound(step.hypotheses, (step.index, *step.determined))
    need_integers("a bound", step.lower, step.upper)
    need_integers("what is determined", *step.determined.values())
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


@conclude.register
def _(step: st.SumByDifference, desk: Desk) -> st.Conclusion:
    antidifference, index = step.antidifference, step.index
    need_unbound(step.hypotheses, (index,))
    need_integers("a bound", step.lower, step.upper)
    if index in {S, *MULTIPLES}:
        raise StepRefusedError(f"a sum cannot run over {index}")
    if index in step.lower.free_symbols | step.upper.free_symbols:
        raise StepRefusedError("the bounds must not depend on the index")
    need_same("the difference is the summand", antidifference.subs(index, index + 1) - antidifference, step.summand)
    desk.decide("the bounds are in order", step.hypotheses, step.lower <= step.upper)
    value = antidifference.subs(index, step.upper) - antidifference.subs(index, step.lower)
    return st.Total(step.hypotheses, index, step.lower, step.upper, step.summand, sp.expand(value))


@conclude.register
def _(step: st.SumByValues, desk: Desk) -> st.Conclusion:
    need_distinct((step.index, step.upper))
    need_only("the summand", step.summand, (step.index,))
    need_only("the value", step.value, (step.upper,))
    degree = max(degree_of(step.summand, step.index), degree_of(step.value, step.upper))
    # The differences of the two sides are of that degree on even and on odd numbers: degree + 1 points of each.
    so_far = sp.Integer(0)
    for number in range(2 * (degree + 1) + 1):
        stated = step.value.subs(step.upper, number)
        if stated != so_far:
            raise StepRefusedError(f"the sum at {step.upper}={number} is {so_far}, not {stated}", Verdict.REFUTED)
        so_far = so_far + step.summand.subs(step.index, number)
    return st.Total((step.upper >= 0,), step.index, sp.Integer(0), step.upper, step.summand, step.value)


@conclude.register
def _(step: st.Enumerate, desk: Desk) -> st.Conclusion:
    need_distinct(step.indices)
    if not len(step.indices) == len(step.lower) == len(step.upper):
        raise StepRefusedError("every index needs a range")
    need_only("the statement", step.goal, step.indices)
    ends = [*step.lower, *step.upper]
    if not all(end.is_Integer for end in ends):
        raise StepRefusedError("the ranges must be numbers")
    ranges = [range(int(a), int(b)) for a, b in zip(step.lower, step.upper, strict=True)]
    if math.prod(map(len, ranges)) > LARGEST_ENUMERATION or not all(ranges):
        raise StepRefusedError(f"the ranges have no points, or more than {LARGEST_ENUMERATION}")
    for values in itertools.product(*ranges):
        point = dict(zip(step.indices, values, strict=True))
        holds = step.goal.subs(point)
        if holds == sp.false:
            raise StepRefusedError(f"does not hold at {point}", Verdict.REFUTED)
        if holds != sp.true:
            raise StepRefusedError(f"cannot be decided at {point}: {holds}")
    inside = tuple(
        part for i, a, b in zip(step.indices, step.lower, step.upper, strict=True) for part in (i >= a, i < b)
    )
    desk.undecided = Decision(Verdict.CHECKED, reason=f"{step.goal} at every point of {inside}")
    return st.Fact(inside, step.goal)


@conclude.register
def _(step: st.CountOver, desk: Desk) -> st.Conclusion:
    count = desk.get(step.count, st.Count)
    assert isinstance(count, st.Count)
    total = _total_over(desk, count, step.total, count.value)
    if total.index in count.indices:
        raise StepRefusedError("the outer index is already counted")
    need_unbound((*total.hypotheses, sp.Le(total.lower, total.upper, evaluate=False)), count.indices)
    member = sp.And(total.lower <= total.index, total.index < total.upper, count.member)
    return st.Count(total.hypotheses, (total.index, *count.indices), member, total.value)


@conclude.register
def _(step: st.AddUp, desk: Desk) -> st.Conclusion:
    found = desk.value(step.of)
    if step.power not in (1, 2):
        raise StepRefusedError("adds up a value or its square")
    total = _total_over(desk, found, step.total, found.value**step.power)
    return st.Value(total.hypotheses, step.words, total.value)


def _total_over(desk: Desk, found: st.Value | st.Count | st.Total, name: str, summand: sp.Expr) -> st.Total:
    """Return the sum called `name`, if its summand is the one given and holds on the whole range."""
    total = desk.get(name, st.Total)
    assert isinstance(total, st.Total)
    need_same("the summand and the value", summand, total.summand)
    inside = (*total.hypotheses, total.lower <= total.index, total.index < total.upper)
    for hypothesis in found.hypotheses:
        if hypothesis not in inside:
            desk.decide("the value holds on the range", inside, hypothesis)
    return total


@conclude.register
def _(step: st.Average, desk: Desk) -> st.Conclusion:
    found = desk.value(step.of)
    for factor in step.factors:
        need_integers("a divisor", factor)
        desk.decide("the divisor is positive", found.hypotheses, factor >= 1)
    need_same(
        "value times divisor, and the total",
        sp.expand(step.value * sp.prod(step.factors)),
        found.value,
        found.hypotheses,
    )
    return st.Value(found.hypotheses, step.words, step.value)


def _counts(desk: Desk, names: Sequence[str], hypotheses: st.Hypotheses) -> list[st.Count]:
    """Return counts over the same indices, each valid under the hypotheses."""
    found = []
    for name in names:
        count = desk.get(name, st.Count)
        assert isinstance(count, st.Count)
        need_unbound(hypotheses, count.indices)
        for hypothesis in count.hypotheses:
            if hypothesis not in hypotheses:
                desk.decide(f"{name} holds here", hypotheses, hypothesis)
        found.append(count)
    if len({frozenset(count.indices) for count in found}) != 1:
        raise StepRefusedError("the counts are over different indices")
    return found


@conclude.register
def _(step: st.CountUnion, desk: Desk) -> st.Conclusion:
    parts = _counts(desk, step.parts, step.hypotheses)
    for first, second in itertools.combinations(parts, 2):
        desk.decide("the parts are disjoint", step.hypotheses, sp.Not(sp.And(first.member, second.member)))
    union = sp.Or(*(part.member for part in parts))
    desk.decide("the parts are the whole", step.hypotheses, sp.Equivalent(step.member, union))
    return st.Count(step.hypotheses, parts[0].indices, step.member, sp.expand(sum(p.value for p in parts)))


@conclude.register
def _(step: st.CountDifference, desk: Desk) -> st.Conclusion:
    outer, inner = _counts(desk, (step.outer, step.inner), step.hypotheses)
    desk.decide("the subset is inside", step.hypotheses, sp.Implies(inner.member, outer.member))
    rest = sp.And(outer.member, sp.Not(inner.member))
    desk.decide("the rest is the set", step.hypotheses, sp.Equivalent(step.member, rest))
    return st.Count(step.hypotheses, outer.indices, step.member, sp.expand(outer.value - inner.value))


@conclude.register
def _(step: st.Window, desk: Desk) -> st.Conclusion:
    run, count = desk.get(step.run, st.Run), desk.get(step.count, st.Count)
    assert isinstance(run, st.Run)
    assert isinstance(count, st.Count)
    law, x = run.law, run.law.indexing.variables()
    counted = {*step.index, step.stage} if step.stage in count.indices else {*step.index}
    need_distinct((*step.index, *x, S, step.stage))
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


@conclude.register
def _(step: st.LargestWindow, desk: Desk) -> st.Conclusion:
    run, count = desk.get(step.run, st.Run), desk.get(step.count, st.Count)
    assert isinstance(run, st.Run)
    assert isinstance(count, st.Count)
    law, x, point = run.law, run.law.indexing.variables(), dict(step.at)
    update, read = sp.Symbol("a", integer=True), s
    over_run = bool(set(x) & point.keys())
    need_distinct((*step.index, *x, S, step.stage, update, read))
    if point.keys() != {update, read, *(x if over_run else ())}:
        raise StepRefusedError("the point must give both stages, and all or none of the microbatch's index")
    if set(count.indices) != {*step.index, step.stage}:
        raise StepRefusedError("the count is over other indices than the windows")
    taken = {*point, *count.indices}
    if taken & set().union(*(h.free_symbols for h in step.hypotheses), *(v.free_symbols for v in point.values())):
        raise StepRefusedError("the hypotheses and the point must not depend on parameters or indices")
    if (count.member.free_symbols | count.value.free_symbols) & point.keys():
        raise StepRefusedError("the largest set must not depend on the parameters")
    need_integers("a point", *point.values())
    for index, moved in step.shift.items():
        need_integers("a shift", moved)
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


@conclude.register
def _(step: st.LargestValue, desk: Desk) -> st.Conclusion:
    found, parameter = desk.value(step.of), step.parameter
    need_integers("a bound or a point", step.lower, step.upper, step.at)
    keep_multiples(found, parameter)
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


@conclude.register
def _(step: st.Rewrite, desk: Desk) -> st.Conclusion:
    found = desk.value(step.of)
    need_same("the two values", found.value, step.value, found.hypotheses)
    return st.Value(found.hypotheses, step.words, step.value)


@conclude.register
def _(step: st.Combine, desk: Desk) -> st.Conclusion:
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


@conclude.register
def _(step: st.Substitute, desk: Desk) -> st.Conclusion:
    found = desk.value(step.of)
    desk.decide("the hypotheses define the symbol", found.hypotheses, sp.Eq(step.symbol, step.expression))
    need_integers("what is put", step.expression)
    keep_multiples(found, step.symbol)
    if step.symbol in step.expression.free_symbols:
        raise StepRefusedError("a symbol cannot be defined by itself")
    rest = tuple(h.subs(step.symbol, step.expression) for h in found.hypotheses)
    words = found.words if isinstance(found, st.Value) else str(found)
    return st.Value(tuple(h for h in rest if h != sp.true), words, found.value.subs(step.symbol, step.expression))


@conclude.register
def _(step: st.Instantiate, desk: Desk) -> st.Conclusion:
    found, symbol = desk.value(step.of), step.symbol
    rest = tuple(h for h in found.hypotheses if symbol not in h.free_symbols)
    positive = tuple(factor >= 1 for factor in step.factors)
    # A product of positive integers is at least each of them, and each of them or at least twice that.
    multiple = tuple(sp.Or(sp.Eq(symbol, f), symbol >= 2 * f) for f in step.factors)
    if symbol in MULTIPLES:
        if S not in step.factors:
            raise StepRefusedError(f"{symbol} names multiples of S")
    else:
        keep_multiples(found, symbol)
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


@conclude.register
def _(step: st.DivideWithRemainder, desk: Desk) -> st.Conclusion:
    found = desk.value(step.of)
    quotient, remainder, divisor = step.quotient, step.remainder, step.divisor
    blocks = sp.Symbol("blocks", integer=True)
    need_distinct((quotient, remainder, step.dividend, blocks))
    need_integers("a divisor", divisor)
    for symbol in (quotient, remainder, step.dividend):
        keep_multiples(found, symbol)
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
    need_same("the two values", found.value, spelt, found.hypotheses)
    rest = tuple(h for h in found.hypotheses if not h.free_symbols & {quotient, remainder})
    desk.decide("the divisor is positive", rest, divisor >= 1)
    divided = (*rest, quotient >= 0, remainder >= 1, remainder <= divisor)
    for hypothesis in found.hypotheses:
        if hypothesis not in rest:
            desk.decide("every quotient and remainder will do", divided, hypothesis)
    return st.Value((*rest, step.dividend >= 1), step.words, step.value)

"""The rules for averages: what must hold for each kind of step, and what then follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

import sympy as sp

from pdtheory.proof import inequality_steps as st
from pdtheory.proof.desk import Desk
from pdtheory.proof.guards import StepRefusedError
from pdtheory.proof.inequality_guards import Setting
from pdtheory.proof.model import not_later, shown_time
from pdtheory.proof.rules import conclude
from pdtheory.proof.steps import Estimate, Hypotheses
from pdtheory.proof.terms import Term, dot, square, term, total, whole
from pdtheory.proof.verdict import Verdict


def _setting(desk: Desk) -> Setting:
    if desk.setting is None:
        raise StepRefusedError("the proof has no model")
    return desk.setting


def _domain(desk: Desk, hypotheses: Hypotheses) -> Hypotheses:
    """Return what a step assumes of the integers, with the constraints of the model."""
    setting = _setting(desk)
    setting.need_integers("a hypothesis", *hypotheses)
    domain = tuple(dict.fromkeys((*setting.model.integer_constraints, *hypotheses)))
    desk.require_possible("hypotheses", domain)
    return domain


def _need_all(desk: Desk, what: str, domain: Hypotheses, needed: Iterable[sp.Basic]) -> None:
    for condition in needed:
        if condition not in domain and condition != sp.true:
            desk.decide(f"{what}: {condition}", domain, condition)


def _estimate(desk: Desk, name: str) -> Estimate:
    found = desk.known.get(name)
    if not isinstance(found, Estimate):
        raise StepRefusedError(f"there is no earlier estimate called {name!r}")
    return found


def _put(expression: sp.Basic, at: Mapping[sp.Symbol, sp.Expr]) -> sp.Basic:
    return expression.subs(dict(at), simultaneous=True)


def _concluded(
    desk: Desk, domain: Hypotheses, found: Term, equality: bool, surely: bool, uses: tuple[str, ...] = ()
) -> Estimate:
    return Estimate(domain, found, equality, surely, _setting(desk).model, uses)


def _multiplied(left: Term, right: Term) -> Term:
    return dot(left, right) if left.is_vector and right.is_vector else left * right


@conclude.register
def _(step: st.Assume, desk: Desk) -> Estimate:
    setting = _setting(desk)
    hypothesis = setting.hypotheses.get(step.hypothesis)
    if hypothesis is None:
        raise StepRefusedError(f"the model has no hypothesis {step.hypothesis!r}")
    domain = _domain(desk, step.hypotheses)
    if set(step.at) != set(hypothesis.indices):
        raise StepRefusedError(f"hypothesis {step.hypothesis!r} needs a value for each of {hypothesis.indices}")
    setting.need_integers("an index", *step.at.values())
    setting.need_term(step.times)
    _need_all(desk, step.hypothesis, domain, (_put(d, step.at) for d in hypothesis.domain))
    if not hypothesis.equality and not (setting.is_nonnegative(step.times) and not step.times.is_vector):
        raise StepRefusedError(f"an inequality cannot be multiplied by {step.times}: its sign is not seen")
    if hypothesis.conditional:
        time = tuple(_put(part, step.at) for part in hypothesis.given)
        for member, known, inside in setting.times_known(step.times):
            words = f"{member} is known at time {shown_time(time)}"
            desk.decide(words, (*domain, *inside), not_later(known, time))
    found = _multiplied(hypothesis.term.at(step.at), step.times)
    return _concluded(desk, domain, found, hypothesis.equality, not hypothesis.conditional, (hypothesis.name,))


@conclude.register
def _(step: st.SumOfSquares, desk: Desk) -> Estimate:
    setting = _setting(desk)
    if len(step.weights) != len(step.bases):
        raise StepRefusedError("every square needs a weight")
    found = term(0)
    for weight, base in zip(step.weights, step.bases, strict=True):
        setting.need_term(weight)
        setting.need_term(base)
        if weight.is_vector or not setting.is_nonnegative(weight):
            raise StepRefusedError(f"the weight {weight} is not seen to be nonnegative")
        found = found + weight * (square(base) if base.is_vector else base * base)
    _need_equal(step.value, found)
    return _concluded(desk, _domain(desk, ()), step.value, False, True)


@conclude.register
def _(step: st.Gram, desk: Desk) -> Estimate:
    setting = _setting(desk)
    size = len(step.vectors)
    if len(step.entries) != size * size:
        raise StepRefusedError(f"a Gram matrix of {size} vectors has {size * size} entries")
    for vector in step.vectors:
        setting.need_term(vector)
    if not all(entry.is_Rational for entry in step.entries):
        raise StepRefusedError("the entries must be rational")
    matrix = [[Fraction(int(e.p), int(e.q)) for e in step.entries[i * size : (i + 1) * size]] for i in range(size)]
    need_positive_semidefinite(matrix)
    found = term(0)
    for i, row in enumerate(matrix):
        for j, entry in enumerate(row):
            found = found + _multiplied(step.vectors[i], step.vectors[j]) * entry
    return _concluded(desk, _domain(desk, ()), found, False, True)


def need_positive_semidefinite(matrix: list[list[Fraction]]) -> None:
    """Refuse a matrix that is not symmetric and positive semidefinite, by LDL^T over the rationals."""
    size = len(matrix)
    if any(matrix[i][j] != matrix[j][i] for i in range(size) for j in range(size)):
        raise StepRefusedError("the matrix is not symmetric")
    rest = [row[:] for row in matrix]
    for k in range(size):
        pivot = rest[k][k]
        if pivot < 0 or (pivot == 0 and any(rest[i][k] for i in range(k + 1, size))):
            raise StepRefusedError(f"the matrix is not positive semidefinite, see pivot {k + 1}", Verdict.REFUTED)
        if pivot:
            for i in range(k + 1, size):
                for j in range(k + 1, size):
                    rest[i][j] -= rest[i][k] * rest[k][j] / pivot


@conclude.register
def _(step: st.Evident, desk: Desk) -> Estimate:
    setting = _setting(desk)
    setting.need_term(step.value)
    if step.value.is_vector or not setting.is_nonnegative(step.value):
        raise StepRefusedError(f"{step.value} is not seen to be nonnegative")
    return _concluded(desk, _domain(desk, ()), step.value, False, True)


@conclude.register
def _(step: st.IntegerFact, desk: Desk) -> Estimate:
    domain = _domain(desk, step.hypotheses)
    _setting(desk).need_integers("a number", step.expression)
    goal = sp.Eq(step.expression, 0) if step.equality else step.expression >= 0
    desk.decide(f"{goal}", domain, goal)
    return _concluded(desk, domain, whole(step.expression), step.equality, True)


@conclude.register
def _(step: st.Weigh, desk: Desk) -> Estimate:
    setting = _setting(desk)
    domain = _domain(desk, step.hypotheses)
    setting.need_term(step.value)
    if step.value.is_vector and not step.equality:
        raise StepRefusedError("a vector is not >= 0")
    found, surely, uses = term(0), True, dict[str, None]()
    for name, multiplier in step.multipliers.items():
        part = _estimate(desk, name)
        setting.need_term(multiplier)
        _need_all(desk, name, domain, part.hypotheses)
        if step.equality and not part.equality:
            raise StepRefusedError(f"{name!r} is no equation")
        if not part.equality and (multiplier.is_vector or not setting.is_nonnegative(multiplier)):
            raise StepRefusedError(f"the multiplier {multiplier} of {name!r} is not seen to be nonnegative")
        if not part.surely and not setting.is_fixed(multiplier):
            raise StepRefusedError(f"the multiplier {multiplier} of {name!r} is random, {name!r} holds on average")
        found = found + _multiplied(part.term, multiplier)
        surely = surely and part.surely
        uses.update(dict.fromkeys(part.uses))
    _need_equal(step.value, found)
    return _concluded(desk, domain, step.value, step.equality, surely, tuple(uses))


def _need_equal(value: Term, found: Term) -> None:
    if value != found:
        raise StepRefusedError(f"the remainder is not 0: {value - found}", Verdict.REFUTED)


@conclude.register
def _(step: st.Multiply, desk: Desk) -> Estimate:
    setting = _setting(desk)
    domain = _domain(desk, step.hypotheses)
    left, right = _estimate(desk, step.left), _estimate(desk, step.right)
    for name, part in ((step.left, left), (step.right, right)):
        _need_all(desk, name, domain, part.hypotheses)
        if part.term.is_vector:
            raise StepRefusedError(f"{name!r} is a vector equation")
    if not (left.surely and right.surely):
        fixed = right if not left.surely else left
        if not (fixed.surely and setting.is_fixed(fixed.term)):
            raise StepRefusedError("an average can only be multiplied by what is not random")
    uses = tuple(dict.fromkeys((*left.uses, *right.uses)))
    return _concluded(
        desk, domain, left.term * right.term, left.equality or right.equality, left.surely and right.surely, uses
    )


@conclude.register
def _(step: st.Cancel, desk: Desk) -> Estimate:
    setting = _setting(desk)
    found = _estimate(desk, step.of)
    domain = _domain(desk, step.hypotheses)
    _need_all(desk, step.of, domain, found.hypotheses)
    setting.need_integers("a factor", step.factor)
    setting.need_term(step.value)
    desk.decide("the factor is positive", domain, step.factor >= 1)
    _need_equal(found.term, step.value * whole(step.factor))
    return _concluded(desk, domain, step.value, found.equality, found.surely, found.uses)


@conclude.register
def _(step: st.Limit, desk: Desk) -> Estimate:
    setting = _setting(desk)
    found = _estimate(desk, step.of)
    domain = _domain(desk, step.hypotheses)
    setting.need_index(step.index)
    setting.need_integers("a start", step.start)
    setting.need_term(step.value)
    if found.equality or found.term.is_vector:
        raise StepRefusedError("a limit is taken of an inequality")
    if step.index in step.value.symbols or any(step.index in p.free_symbols for p in (*domain, step.start)):
        raise StepRefusedError(f"the hypotheses, the start and the limit must not depend on {step.index}")
    _need_all(desk, step.of, (*domain, step.index >= step.start), found.hypotheses)
    if step.index in (found.term - step.value * whole(step.index)).symbols:
        raise StepRefusedError(f"the rest still depends on {step.index}")
    return _concluded(desk, domain, step.value, False, found.surely, found.uses)


@conclude.register
def _(step: st.SumOver, desk: Desk) -> Estimate:
    setting = _setting(desk)
    found = _estimate(desk, step.of)
    domain = _domain(desk, step.hypotheses)
    setting.need_index(step.index)
    setting.need_integers("a range", step.lower, step.upper)
    if any(step.index in part.free_symbols for part in (*domain, step.lower, step.upper)):
        raise StepRefusedError(f"the hypotheses and the range must not depend on {step.index}")
    inside = (*domain, step.index >= step.lower, step.index < step.upper)
    _need_all(desk, step.of, inside, found.hypotheses)
    summed = total(found.term, step.index, step.lower, step.upper)
    return _concluded(desk, domain, summed, found.equality, found.surely, found.uses)


@conclude.register
def _(step: st.Specialize, desk: Desk) -> Estimate:
    setting = _setting(desk)
    found = _estimate(desk, step.of)
    domain = _domain(desk, step.hypotheses)
    for index in step.at:
        setting.need_index(index)
    setting.need_integers("an index", *step.at.values())
    _need_all(desk, step.of, domain, (_put(h, step.at) for h in found.hypotheses))
    return _concluded(desk, domain, found.term.at(step.at), found.equality, found.surely, found.uses)


@conclude.register
def _(step: st.Telescope, desk: Desk) -> Estimate:
    setting = _setting(desk)
    domain = _domain(desk, step.hypotheses)
    _need_sum(setting, step.of, step.index, step.lower, step.upper)
    _need_all(desk, "the range", domain, (step.lower <= step.upper,))
    moved = step.of.at({step.index: step.index + 1})
    ends = step.of.at({step.index: step.upper}) - step.of.at({step.index: step.lower})
    found = total(moved - step.of, step.index, step.lower, step.upper) - ends
    return _concluded(desk, domain, found, True, True)


def _need_sum(setting: Setting, summand: Term, index: sp.Symbol, *ends: sp.Expr) -> None:
    setting.need_term(summand)
    setting.need_index(index)
    setting.need_integers("a range", *ends)
    if any(index in end.free_symbols for end in ends):
        raise StepRefusedError(f"the range must not depend on {index}")


@conclude.register
def _(step: st.SplitSum, desk: Desk) -> Estimate:
    domain = _domain(desk, step.hypotheses)
    _need_sum(_setting(desk), step.summand, step.index, step.lower, step.middle, step.upper)
    _need_all(desk, "the parts", domain, (step.lower <= step.middle, step.middle <= step.upper))
    parts = total(step.summand, step.index, step.lower, step.middle)
    parts = parts + total(step.summand, step.index, step.middle, step.upper)
    return _concluded(desk, domain, total(step.summand, step.index, step.lower, step.upper) - parts, True, True)


@conclude.register
def _(step: st.OneTerm, desk: Desk) -> Estimate:
    _need_sum(_setting(desk), step.summand, step.index, step.at)
    found = total(step.summand, step.index, step.at, step.at + 1) - step.summand.at({step.index: step.at})
    return _concluded(desk, _domain(desk, ()), found, True, True)


@conclude.register
def _(step: st.Reindex, desk: Desk) -> Estimate:
    setting = _setting(desk)
    domain = _domain(desk, step.hypotheses)
    _need_sum(setting, step.summand, step.index, step.lower, step.upper, step.new_lower, step.new_upper, step.shift)
    same = (
        sp.Eq(step.new_lower + step.shift, step.lower),
        sp.Eq(step.new_upper + step.shift, step.upper),
    )
    _need_all(desk, "the moved range", domain, same)
    moved = total(step.summand.at({step.index: step.index + step.shift}), step.index, step.new_lower, step.new_upper)
    return _concluded(desk, domain, total(step.summand, step.index, step.lower, step.upper) - moved, True, True)


@conclude.register
def _(step: st.Exchange, desk: Desk) -> Estimate:
    setting = _setting(desk)
    domain = _domain(desk, step.hypotheses)
    ranges = (step.outer_range, step.inner_range, step.new_inner_range, step.new_outer_range)
    if step.outer == step.inner or any(len(r) != 2 for r in ranges):
        raise StepRefusedError("needs two indices, each with a lower and an upper end")
    _need_sum(setting, step.summand, step.outer, *step.outer_range)
    _need_sum(setting, step.summand, step.inner, *step.inner_range)
    _need_sum(setting, step.summand, step.inner, *step.new_inner_range)
    _need_sum(setting, step.summand, step.outer, *step.new_outer_range)
    free = (*domain, *step.outer_range, *step.new_inner_range)
    if any({step.outer, step.inner} & part.free_symbols for part in free):
        raise StepRefusedError("the hypotheses and the outer ranges must not depend on the indices")
    before = (*_in(step.outer, step.outer_range), *_in(step.inner, step.inner_range))
    after = (*_in(step.inner, step.new_inner_range), *_in(step.outer, step.new_outer_range))
    desk.decide("every pair before is one after", (*domain, *before), sp.And(*after))
    desk.decide("every pair after is one before", (*domain, *after), sp.And(*before))
    inner_first = total(total(step.summand, step.inner, *step.inner_range), step.outer, *step.outer_range)
    outer_first = total(total(step.summand, step.outer, *step.new_outer_range), step.inner, *step.new_inner_range)
    return _concluded(desk, domain, inner_first - outer_first, True, True)


def _in(index: sp.Symbol, ends: tuple[sp.Expr, ...]) -> Hypotheses:
    return (index >= ends[0], index < ends[1])

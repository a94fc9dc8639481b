"""The checker: what it proves, and that it refuses what is wrong, in each kind of step."""

import dataclasses
import itertools

import hypothesis.strategies as st
import pytest
import sympy as sp
from hypothesis import given, settings

from pdtheory import laws
from pdtheory.derivations.steady import SteadyDelays
from pdtheory.errors import PdTheoryError
from pdtheory.proof import Proof, Verdict, check, smt, weakest
from pdtheory.proof import steps as ps
from pdtheory.proof.quasipolynomial import NotQuasiPolynomialError, canonical, is_zero
from pdtheory.proof.timing import M, S, Wait, integers, n, s
from pdtheory.summation import antidifference, readable, without_parities
from pdtheory.tie_rules import TieRule

j, k, r, q, m = integers("j k r q m")


def verdict(*steps):
    return check(Proof("test", steps)).verdict


def test_the_weakest_verdict_counts():
    order = [Verdict.PROVED, Verdict.CHECKED, Verdict.SAMPLED, Verdict.SKIPPED, Verdict.INCONCLUSIVE, Verdict.REFUTED]
    for first, second in itertools.combinations(order, 2):
        assert weakest([first, second]) == weakest([second, first]) == second
    assert weakest([]) is Verdict.INCONCLUSIVE


# Quasi-polynomials ----------------------------------------------------------------------------------------


@st.composite
def quasipolynomials(draw):
    atoms = [
        S,
        s,
        r,
        sp.Integer(1),
        sp.floor(S / 2),
        sp.ceiling((s - r) / 2),
        sp.floor((S + 3 * r + 1) / 2),
        sp.Mod(s, 2),
    ]
    terms = []
    for _ in range(draw(st.integers(1, 4))):
        coefficient = sp.Rational(draw(st.integers(-6, 6)), draw(st.integers(1, 4)))
        terms.append(coefficient * draw(st.sampled_from(atoms)) * draw(st.sampled_from(atoms)))
    return sp.Add(*terms)


@settings(max_examples=60)
@given(quasipolynomials(), st.lists(st.integers(-9, 9), min_size=3, max_size=3))
def test_canonical_form_keeps_the_value(expression, values):
    point = dict(zip((S, s, r), values, strict=True))
    for form in (without_parities(canonical(expression)), readable(expression)):
        assert form.subs(point) == expression.subs(point)


@settings(max_examples=60)
@given(quasipolynomials(), quasipolynomials())
def test_zero_is_decided_as_on_a_box(first, second):
    difference = first - second
    box = all(difference.subs({S: a, s: b, r: c}) == 0 for a, b, c in itertools.product(range(-2, 4), repeat=3))
    # Degree 2 in each symbol and period 2: six points on an axis settle it.
    assert is_zero(difference) == box


@settings(max_examples=40)
@given(quasipolynomials())
def test_antidifference(expression):
    found = antidifference(expression, r)
    assert is_zero(sp.expand(found.subs(r, r + 1) - found - expression))


@pytest.mark.parametrize("text", ["sqrt(S)", "floor(S/3)", "floor(S*s/2)", "1/S", "Max(S, 0)", "2**S"])
def test_other_expressions_are_not_decided(text):
    expression = sp.sympify(text, {"S": S, "s": s})
    with pytest.raises(NotQuasiPolynomialError):
        canonical(expression)


def test_symbols_that_could_deceive_are_refused():
    with pytest.raises(NotQuasiPolynomialError):
        canonical(sp.Symbol("parity_S", integer=True))
    with pytest.raises(NotQuasiPolynomialError):
        canonical(sp.Symbol("x", real=True))


# Solver texts ---------------------------------------------------------------------------------------------


@st.composite
def linear_statements(draw):
    atoms = [S, s, sp.floor(S / 2), sp.ceiling((s - 1) / 3), sp.Max(S, s), sp.Min(s, 2 * S - 1), sp.Mod(S, 3)]

    def side():
        return sum(draw(st.integers(-3, 3)) * draw(st.sampled_from(atoms)) for _ in range(2)) + draw(st.integers(-4, 4))

    relation = draw(st.sampled_from([sp.Lt, sp.Le, sp.Eq, sp.Ne, sp.Gt, sp.Ge]))
    return relation(side(), sp.Piecewise((side(), s > S), (side(), True)))


@settings(max_examples=60)
@given(
    st.lists(linear_statements(), min_size=1, max_size=3),
    st.sampled_from([sp.And, sp.Or, sp.Xor, sp.Implies, sp.Equivalent]),
)
def test_solver_text_means_the_expression(parts, connective):
    statement = connective(*parts[:2]) if connective is sp.Implies and len(parts) > 1 else sp.And(*parts)
    box = (S >= -3, S <= 3, s >= -3, s <= 3)
    holds = all(
        statement.subs({S: a, s: b}, simultaneous=True) == sp.true for a, b in itertools.product(range(-3, 4), repeat=2)
    )
    text = smt.smtlib(box, statement)
    for solver in ("z3", "cvc5"):
        assert smt.solve(text, solver).verdict == (Verdict.PROVED if holds else Verdict.REFUTED)


def test_unbounded_statements():
    assert smt.solve(smt.smtlib((S >= 1,), sp.floor(S / 2) * 2 <= S)).verdict is Verdict.PROVED
    refuted = smt.solve(smt.smtlib((S >= 1,), sp.floor(S / 2) * 2 >= S))
    assert refuted.verdict is Verdict.REFUTED
    assert dict(refuted.counterexample)["S"] % 2 == 1


@pytest.mark.parametrize("statement", [S * s > 0, sp.Rational(1, 2) ** S < S, sp.sqrt(S) > 0])
def test_non_linear_statements_are_refused(statement):
    with pytest.raises(smt.NotLinearError):
        smt.smtlib((), statement)


@pytest.mark.parametrize("name", ["div", "true", "ite", "Int"])
def test_words_of_the_solver_are_no_names(name):
    with pytest.raises(smt.NotLinearError):
        smt.smtlib((), sp.Symbol(name, integer=True) > 0)


def test_names_cannot_inject():
    with pytest.raises(smt.NotLinearError):
        smt.smtlib((), sp.Symbol("x) (assert false", integer=True) > 0)


def test_a_timeout_is_inconclusive(monkeypatch):
    pytest.importorskip("z3")
    import z3

    monkeypatch.setattr(z3.Solver, "check", lambda self, *_: z3.unknown)
    assert smt.solve("(declare-const fresh Int)(assert (> fresh 1))(check-sat)").verdict is Verdict.INCONCLUSIVE


# Steps ----------------------------------------------------------------------------------------------------

COUNT = ps.CountInterval("evens", (k >= 0,), j, sp.And(j >= 0, 2 * j <= k), sp.Integer(0), sp.floor(k / 2))


def test_decide():
    assert verdict(ps.Decide("d", (k >= 1,), k >= 0)) is Verdict.PROVED
    assert verdict(ps.Decide("d", (k >= 1,), k >= 2)) is Verdict.REFUTED


def test_nothing_follows_from_a_contradiction():
    assert verdict(ps.Decide("d", (k >= 1, k <= 0), k >= 7)) is Verdict.INCONCLUSIVE


def test_count_interval():
    assert verdict(COUNT) is Verdict.PROVED
    assert check(Proof("", (COUNT,))).conclusion.value == sp.floor(k / 2) + 1
    assert verdict(dataclasses.replace(COUNT, upper=sp.ceiling(k / 2))) is Verdict.REFUTED
    # Members of an inverted interval would be counted as a negative number.
    inverted = ps.CountInterval("c", (k >= 0,), j, sp.And(j >= 5, j <= 1 - k), sp.Integer(5), 1 - k)
    assert verdict(inverted) is Verdict.REFUTED
    assert verdict(dataclasses.replace(COUNT, upper=sp.floor(k / 2) + 0 * j + j - j)) is Verdict.PROVED
    assert verdict(dataclasses.replace(COUNT, upper=j)) is not Verdict.PROVED


def test_count_with_determined_indices():
    pairs = ps.CountInterval(
        "p", (k >= 1,), j, sp.And(j >= 0, j < k, sp.Eq(r, 2 * j)), sp.Integer(0), k - 1, {r: 2 * j}
    )
    assert verdict(pairs) is Verdict.PROVED
    assert verdict(dataclasses.replace(pairs, determined={r: 2 * j + 1})) is Verdict.REFUTED
    assert verdict(dataclasses.replace(pairs, determined={r: r})) is not Verdict.PROVED


SUM = ps.SumByDifference("sum", (S >= 1,), r, sp.Integer(0), S, sp.floor(r / 2), antidifference(sp.floor(r / 2), r))


def test_sum_by_difference():
    found = check(Proof("", (SUM,))).conclusion.value
    for size in range(1, 9):
        assert found.subs(S, size) == sum(x // 2 for x in range(size))
    assert verdict(dataclasses.replace(SUM, antidifference=SUM.antidifference + r)) is Verdict.REFUTED
    assert verdict(dataclasses.replace(SUM, upper=-S)) is Verdict.REFUTED
    assert verdict(dataclasses.replace(SUM, upper=r)) is not Verdict.PROVED


def test_counts_add_up_only_with_their_own_sum():
    per = ps.CountInterval(
        "per", (S >= 1, r >= 0, r < S), j, sp.And(j >= 0, 2 * j <= r), sp.Integer(0), sp.floor(r / 2)
    )
    summand = sp.floor(r / 2) + 1
    total = ps.SumByDifference("t", (S >= 1,), r, sp.Integer(0), S, summand, antidifference(summand, r))
    over = ps.CountOver("pairs", "per", "t")
    assert verdict(per, total, over) is Verdict.PROVED
    other = ps.SumByDifference("t", (S >= 1,), r, sp.Integer(0), S, r, antidifference(r, r))
    assert verdict(per, other, over) is Verdict.REFUTED
    longer = dataclasses.replace(total, upper=S + 1)
    assert verdict(per, longer, over) is Verdict.REFUTED
    assert verdict(total, over) is Verdict.INCONCLUSIVE


def test_unions_must_be_disjoint_and_whole():
    def part(name, low, high):
        return ps.CountInterval(name, (k >= 2,), j, sp.And(low <= j, j <= high), sp.sympify(low), sp.sympify(high))

    whole = sp.And(j >= 0, j <= k)
    assert verdict(part("a", 0, 1), part("b", 2, k), ps.CountUnion("u", ("a", "b"), (k >= 2,), whole)) is Verdict.PROVED
    assert (
        verdict(part("a", 0, 2), part("b", 2, k), ps.CountUnion("u", ("a", "b"), (k >= 2,), whole)) is Verdict.REFUTED
    )
    assert (
        verdict(part("a", 0, 0), part("b", 2, k), ps.CountUnion("u", ("a", "b"), (k >= 2,), whole)) is Verdict.REFUTED
    )
    # A count that holds only from k = 2 on says nothing for k = 0.
    assert (
        verdict(part("a", 0, 1), part("b", 2, k), ps.CountUnion("u", ("a", "b"), (k >= 0,), whole)) is Verdict.REFUTED
    )


def test_difference_needs_a_subset():
    inner = ps.CountInterval("inner", (k >= 4,), j, sp.And(j >= 1, j <= 2), sp.Integer(1), sp.Integer(2))
    outer = ps.CountInterval("outer", (k >= 4,), j, sp.And(j >= 0, j <= k), sp.Integer(0), k)
    rest = sp.And(j >= 0, j <= k, sp.Or(j < 1, j > 2))
    step = ps.CountDifference("d", "outer", "inner", (k >= 4,), rest)
    assert verdict(inner, outer, step) is Verdict.PROVED
    assert verdict(inner, outer, dataclasses.replace(step, outer="inner", inner="outer")) is Verdict.REFUTED
    assert verdict(inner, outer, dataclasses.replace(step, member=sp.And(j >= 0, j <= k))) is Verdict.REFUTED


GREEDY = SteadyDelays(laws.WIDE, ps.FollowsPolicy("law", laws.WIDE, Wait.FIRST_STAGE), (S >= 1, sp.Eq(n, S)))
RULE = TieRule.STAGE_ORDER
ZERO = sp.Integer(0)
FIRST = GREEDY.block_delay_steps(ZERO, ZERO, RULE, GREEDY.steady)


def replaced(steps, name, **changes):
    return [dataclasses.replace(step, **changes) if step.name == name else step for step in steps]


@pytest.mark.parametrize(
    "changes",
    [
        {"rule": TieRule.UPDATES_FIRST},
        {"read": sp.Integer(1)},
        {"update": S - 1},
        {"stage": sp.Integer(0)},
        {"index": (m,)},
        {"index": (k,)},
        {"update": S},
        {"update": sp.Integer(-1)},
    ],
    ids=str,
)
def test_a_count_is_the_window_it_is_said_to_be(changes):
    assert verdict(*FIRST) is Verdict.PROVED
    assert verdict(*replaced(FIRST, "delay", **changes)) in (Verdict.REFUTED, Verdict.INCONCLUSIVE)


def test_a_window_needs_the_domain_of_its_law():
    narrow = dataclasses.replace(laws.WIDE, domain=(n >= S, S <= 3))
    assert verdict(*replaced(FIRST, "law", law=narrow)) is Verdict.REFUTED


a = sp.Symbol("a", integer=True)
LARGEST = ps.LargestWindow("l", "law", "count", RULE, GREEDY.steady, r, (j,), {a: ZERO, s: ZERO})


@pytest.mark.parametrize(
    "changes",
    [
        {"rule": TieRule.REVERSE_STAGE_ORDER},
        {"at": {a: sp.Integer(1), s: ZERO}},
        {"at": {a: ZERO, s: S}},
        {"at": {a: ZERO}},
        {"at": {a: ZERO, s: ZERO, m: sp.Integer(3)}},
        {"at": {a: a, s: ZERO}},
        {"shift": {j: j - 1}},
        {"shift": {j: ZERO}},
        {"shift": {j: j - sp.floor(j / 2)}},
        {"hypotheses": (*GREEDY.steady, a <= 1)},
        {"hypotheses": (*GREEDY.steady, j >= 5)},
        {"hypotheses": (S >= 1, sp.Eq(n, S), m >= 0, m + S <= M)},
        {"hypotheses": (S >= 1, sp.Eq(n, S))},
        {"count": "made"},
    ],
    ids=str,
)
def test_the_largest_window(changes):
    assert verdict(*FIRST, LARGEST) is Verdict.PROVED
    assert verdict(*FIRST, dataclasses.replace(LARGEST, **changes)) in (Verdict.REFUTED, Verdict.INCONCLUSIVE)


def test_largest_value():
    count = ps.CountInterval("c", (k >= 1, q >= 0, q <= k), j, sp.And(j >= q, j <= k), q, k)
    step = ps.LargestValue("l", "c", q, ZERO, k + 1, ZERO, k + 1)
    found = check(Proof("", (count, step)))
    assert found.verdict is Verdict.PROVED
    assert "largest over 0 <= q < k + 1" in str(found.conclusion)
    assert verdict(count, dataclasses.replace(step, value=k)) is Verdict.REFUTED
    assert verdict(count, dataclasses.replace(step, at=sp.Integer(1), value=k)) is Verdict.REFUTED
    assert verdict(count, dataclasses.replace(step, lower=sp.Integer(-1))) is Verdict.REFUTED
    assert verdict(count, dataclasses.replace(step, at=sp.Integer(-1), value=k + 2)) is Verdict.REFUTED
    assert verdict(count, dataclasses.replace(step, at=q)) is Verdict.INCONCLUSIVE


def test_hypotheses_cannot_bind_what_is_counted():
    short = ps.CountInterval("c", (k >= 1, j <= 0), j, sp.And(j >= 0, j <= k), ZERO, ZERO)
    assert verdict(short) is Verdict.INCONCLUSIVE
    assert verdict(dataclasses.replace(SUM, hypotheses=(S >= 1, r >= 3))) is Verdict.INCONCLUSIVE
    union = ps.CountUnion("u", ("evens",), (k >= 0, j <= 0), sp.And(j >= 0, 2 * j <= k))
    assert verdict(COUNT, union) is Verdict.INCONCLUSIVE


def test_rewrite_average_and_combine():
    rewrite = ps.Rewrite("w", "evens", "words", sp.ceiling((k + 1) / 2) + sp.Integer(1) - sp.Mod(k, 2) * 0)
    assert verdict(COUNT, dataclasses.replace(rewrite, value=sp.ceiling((k + 1) / 2))) is Verdict.PROVED
    assert verdict(COUNT, rewrite) is Verdict.REFUTED
    total = ps.SumByDifference("t", (S >= 1,), r, sp.Integer(0), S, 2 * r + 1, r**2)
    assert verdict(total, ps.Average("a", "t", "words", (S,), S)) is Verdict.PROVED
    assert verdict(total, ps.Average("a", "t", "words", (S,), S + 1)) is Verdict.REFUTED
    assert verdict(total, ps.Average("a", "t", "words", (S - 1,), S**2 / (S - 1))) is Verdict.REFUTED
    both = ps.Combine("b", "words", {"evens": sp.Integer(1), "other": sp.Integer(-1)})
    contradictory = dataclasses.replace(COUNT, name="other", hypotheses=(k >= 0, k >= 3))
    assert verdict(COUNT, contradictory, both) is Verdict.PROVED


def test_substitute_needs_a_definition():
    count = dataclasses.replace(COUNT, hypotheses=(k >= 0, sp.Eq(k, 2 * S), S >= 1))
    assert verdict(count, ps.Substitute("u", "evens", k, 2 * S)) is Verdict.PROVED
    assert verdict(count, ps.Substitute("u", "evens", k, 3 * S)) is Verdict.REFUTED


def test_instantiate_keeps_the_hypotheses():
    positive = ps.SumByDifference("t", (M >= 1,), r, sp.Integer(0), M, sp.Integer(1), r)
    found = check(Proof("", (positive, ps.Instantiate("i", "t", M, (S, k))))).conclusion
    assert found.value == S * k
    assert set(found.hypotheses) == {S >= 1, k >= 1}
    three = dataclasses.replace(positive, hypotheses=(M >= 3,))
    assert verdict(three, ps.Instantiate("i", "t", M, (S, k))) is Verdict.REFUTED
    multiple = sp.Symbol("Q_end", integer=True)
    ends = ps.SumByDifference("t", (multiple >= 1,), r, sp.Integer(0), multiple, sp.Integer(1), r)
    assert verdict(ends, ps.Instantiate("i", "t", multiple, (k, q))) is Verdict.INCONCLUSIVE


def test_division_with_remainder():
    rest = sp.Symbol("rest", integer=True)
    value = ps.SumByDifference("t", (k >= 0, rest >= 1, q >= 1), r, sp.Integer(0), k + 1, 2 * q, 2 * q * r)
    rounded = 2 * q * sp.ceiling(M / q)
    step = ps.DivideWithRemainder("d", "t", "words", k, rest, q, M, rounded)
    assert verdict(value, step) is Verdict.PROVED
    assert verdict(value, dataclasses.replace(step, value=2 * q * sp.ceiling(M / q) + 2)) is Verdict.REFUTED
    assert verdict(value, dataclasses.replace(step, value=2 * M)) is Verdict.REFUTED
    few = dataclasses.replace(value, hypotheses=(k >= 0, rest >= 1, q >= 1, rest <= 3))
    assert verdict(few, step) is Verdict.REFUTED


def test_names_must_be_new_and_kinds_known():
    assert verdict(COUNT, COUNT) is Verdict.INCONCLUSIVE
    assert verdict(ps.Step("odd")) is Verdict.INCONCLUSIVE


# Timing laws ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wait", list(Wait))
@pytest.mark.parametrize("law", [laws.WIDE, laws.NARROW], ids=["wide", "narrow"])
def test_greedy_laws_hold_and_wrong_ones_are_refused(law, wait):
    assert verdict(ps.FollowsPolicy("law", law, wait)) is Verdict.PROVED
    wrong = [
        dataclasses.replace(law, backward_tick=law.backward_tick + 1),
        dataclasses.replace(law, forward_tick=law.forward_tick + sp.Min(1, s)),
        dataclasses.replace(law, backward_tick=law.backward_tick + 2 * law.indexing.variables()[-1]),
        dataclasses.replace(law, witness=tuple(part + 1 for part in law.witness)),
        dataclasses.replace(law, domain=()),
    ]
    for other in wrong:
        assert verdict(ps.FollowsPolicy("law", other, wait)) is Verdict.REFUTED


def test_order_laws_hold_and_wrong_ones_are_refused():
    assert verdict(ps.FollowsOrder("law", laws.STRICT, laws.STRICT_WARMUP)) is Verdict.PROVED
    assert verdict(ps.FollowsOrder("law", laws.GPIPE, M)) is Verdict.PROVED
    assert verdict(ps.FollowsOrder("law", laws.STRICT, sp.Min(S - s, M))) is Verdict.REFUTED
    assert verdict(ps.FollowsOrder("law", laws.GPIPE, laws.STRICT_WARMUP)) is Verdict.REFUTED
    assert verdict(ps.FollowsOrder("law", laws.STRICT, M + 1)) is Verdict.REFUTED


def test_last_tick():
    law = ps.FollowsOrder("law", laws.GPIPE, M)
    assert verdict(law, ps.LastTick("t", "law", (M >= 1,), 2 * M + 2 * S - 2)) is Verdict.PROVED
    assert verdict(law, ps.LastTick("t", "law", (M >= 1,), 2 * M + 2 * S - 1)) is Verdict.REFUTED
    assert verdict(law, ps.LastTick("t", "law", (M >= 0,), 2 * M + 2 * S - 2)) is Verdict.REFUTED


def test_idle_time_is_of_a_run_and_of_nothing_else():
    law = ps.FollowsOrder("law", laws.GPIPE, M)
    ticks = ps.LastTick("t", "law", (M >= 1,), 2 * M + 2 * S - 2)
    idle = ps.IdleFraction("i", "t", "idle", True, (S - 1) / M)
    assert verdict(law, ticks, idle) is Verdict.PROVED
    assert verdict(law, ticks, dataclasses.replace(idle, over_ideal=False)) is Verdict.INCONCLUSIVE
    named = ps.Rewrite("same", "t", "ticks", 2 * M + 2 * S - 2)
    assert verdict(law, ticks, named, dataclasses.replace(idle, ticks="same")) is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("law", [laws.WIDE, laws.NARROW], ids=["wide", "narrow"])
def test_greedy_law_is_what_the_simulator_plays(law):
    from tests.plain_simulator import simulate

    for stages, in_flight in itertools.product(range(1, 6), range(1, 9)):
        if (in_flight >= stages) != (not law.indexing.rounds) and in_flight != stages:
            continue
        order, _ = simulate(stages, 3 * stages + 2, in_flight)
        for stage, ops in enumerate(order):
            for kind, microbatch, tick in ops:
                index = (sp.Integer(microbatch),)
                if law.indexing.rounds:
                    index = (sp.Integer(microbatch // in_flight * stages), sp.Integer(microbatch % in_flight))
                times = law.forward if kind == "F" else law.backward
                assert times(sp.Integer(stage), index).subs({S: stages, n: in_flight}) == tick


def test_without_the_solver_nothing_is_proved(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "z3", None)
    smt.solve.cache_clear()
    found = check(Proof("", (COUNT,)))
    smt.solve.cache_clear()
    assert found.verdict is Verdict.SKIPPED
    assert "pip install" in found.results[0].detail
    assert isinstance(found.conclusion, ps.Count)


def test_errors_of_the_checker_are_the_projects_own():
    assert issubclass(smt.NotLinearError, PdTheoryError)
    assert m.is_integer

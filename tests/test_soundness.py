"""False statements that a checker could be talked into: each must be refused, whatever the reason given."""

import dataclasses

import pytest
import sympy as sp

from pdtheory import laws
from pdtheory.derivations.orders import STRICT
from pdtheory.proof import Proof, Verdict, check
from pdtheory.proof import steps as ps
from pdtheory.proof.timing import Indexing, Law, M, S, Wait, integers, n, s, t
from pdtheory.tie_rules import TieRule

j, k, r, q, m, a, rest, blocks, i_end, Q_end, Q = integers("j k r q m a rest blocks i_end Q_end Q")
ZERO, ONE = sp.Integer(0), sp.Integer(1)
HALF = sp.Rational(1, 2)

UP_TO_K = ps.CountInterval("g", (k >= 0,), j, sp.And(j >= 0, j <= k), ZERO, k)
GREEDY = ps.FollowsPolicy("law", laws.WIDE, Wait.FIRST_STAGE)
ROUNDS = ps.FollowsPolicy("law", laws.NARROW, Wait.FIRST_STAGE)
ORDER = ps.FollowsOrder("law", laws.GPIPE, M)
DIVIDED = ps.CountInterval("c", (k >= 0, rest >= 1, q >= 1), j, sp.And(j >= 0, j <= k), ZERO, k)


def count(member, lower, upper, *hypotheses, determined=None):
    return ps.CountInterval(
        "c", hypotheses or (k >= 0,), j, member, sp.sympify(lower), sp.sympify(upper), determined or {}
    )


def total(upper, summand, antidifference, *hypotheses, lower=ZERO):
    return ps.SumByDifference("t", hypotheses or (k >= 0,), r, lower, upper, summand, antidifference)


def largest_window():
    """A window that is moved by shifting S, which is no index."""
    hypotheses = (S >= 1, m >= 2 * S, m + 2 * S <= M)
    rule = TieRule.UPDATES_FIRST
    steps = STRICT.block_delay_steps(S - 1, ZERO, rule, hypotheses)
    shift = {S: 2 * S, j: j - S}
    return [*steps, ps.LargestWindow("l", "law", "count", rule, hypotheses, r, (j,), {a: S - 1, s: ZERO}, shift)]


def late(law, ticks, *domain):
    moved = (law.witness[0].subs(t, t - ticks),) if law.witness else ()
    return dataclasses.replace(
        law,
        forward_tick=law.forward_tick + ticks,
        backward_tick=law.backward_tick + ticks,
        domain=domain,
        witness=moved,
    )


FALSE = {
    "the index is bound by a hypothesis": [count(sp.And(j >= 0, j <= k), 3, k, k >= 3, j >= 3)],
    "the index is bound in a union": [UP_TO_K, ps.CountUnion("u", ("g",), (k >= 0, j >= 0), sp.And(j >= -5, j <= k))],
    "bounds that are no integers": [count(sp.And(2 * j >= 1, 2 * j <= 5), HALF, sp.Rational(5, 2))],
    "half a bound": [count(sp.And(j >= 0, 2 * j <= k), 0, k / 2)],
    "half an index": [count(sp.And(j >= 0, j <= k, sp.Eq(r, j / 2)), 0, k, determined={r: j / 2})],
    "a sum from a half": [total(sp.Rational(3, 2), r, r * (r - 1) / 2, lower=HALF)],
    "a sum to a half": [total(k / 2, ONE, r)],
    "a sum over poles": [total(S, 1 / (r + 1) - 1 / r, 1 / r, S >= 1, lower=-S)],
    "the sum's bound is the counted index": [
        UP_TO_K,
        total(j, k + 1, (k + 1) * r, k >= 0, j >= 1),
        ps.CountOver("o", "g", "t"),
    ],
    "a window moved by a parameter": largest_window(),
    "a largest value between integers": [
        count(
            sp.And(j >= 1, j <= 5 - sp.Max(2 * q - 1, 1 - 2 * q)),
            1,
            5 - sp.Max(2 * q - 1, 1 - 2 * q),
            k >= 0,
            q >= 0,
            q <= 1,
        ),
        ps.LargestValue("l", "c", q, ZERO, sp.Integer(2), HALF, sp.Integer(5)),
    ],
    "divisibility lost": [
        count(sp.And(j >= 0, 2 * j <= S), 0, k, k >= 0, sp.Eq(2 * k, S)),
        ps.Substitute("x", "c", k, S / 2),
    ],
    "a dropped bound on the quotient": [
        dataclasses.replace(DIVIDED, hypotheses=(*DIVIDED.hypotheses, k <= 3)),
        ps.DivideWithRemainder("d", "c", "w", k, rest, q, M, sp.ceiling(M / q)),
    ],
    "no positive divisor": [
        dataclasses.replace(DIVIDED, hypotheses=(k >= 0, rest >= 1)),
        ps.DivideWithRemainder("d", "c", "w", k, rest, q, M, sp.ceiling(M / q)),
    ],
    "a divisor of one half": [DIVIDED, ps.DivideWithRemainder("d", "c", "w", k, rest, HALF, M, sp.ceiling(2 * M))],
    "a name that the division uses": [DIVIDED, ps.DivideWithRemainder("d", "c", "w", k, rest, q, M, blocks)],
    "the quotient stays": [DIVIDED, ps.DivideWithRemainder("d", "c", "w", k, rest, q, M, k + 1)],
    "a law in late ticks only": [
        ps.FollowsPolicy("law", late(laws.WIDE, 5, n >= S, t >= 5), Wait.FIRST_STAGE),
        ps.LastTick("T", "law", (M >= 1,), 2 * M + 2 * S + 3),
    ],
    "a law for one microbatch": [
        ps.FollowsOrder(
            "law", dataclasses.replace(laws.GPIPE, backward_tick=laws.GPIPE.backward_tick + 7 * m, domain=(m <= 0,)), M
        )
    ],
    "another schedule's law": [
        ps.FollowsPolicy(
            "law",
            Law(
                "x",
                Indexing(),
                laws.GPIPE.forward_tick,
                laws.GPIPE.backward_tick,
                (n >= M, sp.Eq(t, -1)),
                laws.WIDE.witness,
            ),
            Wait.FIRST_STAGE,
        )
    ],
    "a warm-up that grows with the microbatch": [
        ps.FollowsOrder(
            "law",
            Law(
                "x", Indexing(), m, sp.Piecewise((2 * m + 1, 2 * m < M), (sp.ceiling(M / 2) + m, True)), (sp.Eq(S, 1),)
            ),
            m,
        )
    ],
    "a run of one stage and microbatch only": [
        GREEDY,
        ps.LastTick("T", "law", (M >= 1, sp.Eq(s, 0), sp.Eq(m, 0)), 2 * M + 2 * S - 2),
    ],
    "no multiple of S": [
        ROUNDS,
        ps.LastTick("T", "law", (sp.Eq(n, 1), sp.Eq(i_end, 0), sp.Eq(Q_end, 3 * S + 1), S >= 2), 2 * Q_end),
        ps.Substitute("x", "T", Q_end, 3 * S + 1),
    ],
    "a multiple of another S": [
        ROUNDS,
        ps.LastTick(
            "T", "law", (sp.Eq(n, 1), sp.Eq(i_end, 0), sp.Or(sp.Eq(Q_end, S), Q_end >= 2 * S), sp.Eq(S, 3)), 2 * Q_end
        ),
        ps.Substitute("x", "T", S, sp.Integer(3)),
    ],
    "a sum over multiples": [ps.SumByDifference("t", (k >= 0,), Q, ZERO, k, ONE, Q)],
    "idle time of rounds": [
        ROUNDS,
        ps.LastTick(
            "T", "law", (n >= 1, n <= S, sp.Eq(i_end, 0), sp.Or(sp.Eq(Q_end, S), Q_end >= 2 * S)), 2 * Q_end + 2 * n - 2
        ),
        ps.Substitute("b", "T", i_end, ZERO),
        ps.Instantiate("d", "b", Q_end, (S, M)),
        ps.IdleFraction("i", "d", "idle", True, (2 * S * M + 2 * n - 2 - 2 * M) / (2 * M)),
    ],
    "idle time of a name": [
        count(sp.And(j >= 0, j <= 0), 0, 0, S >= 1, M >= 1),
        ps.Combine("T", "ticks", {"c": sp.Integer(7)}),
        ps.IdleFraction("i", "T", "idle", True, sp.Rational(5, 2)),
    ],
    "a fraction with a pole": [
        ORDER,
        ps.LastTick("T", "law", (M >= 1,), 2 * M + 2 * S - 2),
        ps.IdleFraction("i", "T", "idle", True, (S - 1) * (M - 3) / (M**2 - 3 * M)),
    ],
    "a factor with a pole": [UP_TO_K, ps.Combine("x", "w", {"g": 1 / q})],
    "no number": [UP_TO_K, ps.Combine("x", "w", {"g": sp.zoo})],
    "a float": [ps.Decide("d", (k >= 0,), sp.Float(0.1) * k * 3 <= sp.Float(0.3) * k)],
    "another symbol of the same name": [
        count(sp.And(j >= 0, j <= k), 3, k, k >= 3, sp.Symbol("j", integer=True, positive=True) >= 3)
    ],
    "an even symbol": [
        ps.CountInterval(
            "c",
            (),
            j,
            sp.And(j >= 0, 2 * j <= sp.Symbol("k", even=True)),
            ZERO,
            sp.floor(sp.Symbol("k", even=True) / 2),
        )
    ],
    "everything from a contradiction": [ps.Decide("d", (k >= 1, k <= 0), sp.true)],
    "a hypothesis that became false": [
        count(sp.And(j >= 0, j <= k), 0, k, k >= 0, n < M),
        ps.Instantiate("i", "c", M, (n,)),
        ps.Combine("x", "w", {"i": ONE}),
    ],
    "a boolean for a number": [UP_TO_K, ps.Rewrite("w", "g", "x", k >= 1)],
    "an equation of booleans": [ps.Decide("d", (k >= 0,), sp.Eq(k >= 1, j >= 1, evaluate=False))],
    "a length of 1/0": [
        UP_TO_K,
        ps.Rewrite("w", "g", "x", (k + 1) * q / q + 0 / (q + 1) + (q - q) / q + 1 / q - 1 / q + sp.nan),
    ],
}


@pytest.mark.parametrize("name", FALSE)
def test_false_statements_are_refused(name):
    found = check(Proof(name, tuple(FALSE[name])))
    assert found.verdict in (Verdict.REFUTED, Verdict.INCONCLUSIVE), found.conclusion
    assert found.conclusion is None


def test_the_true_neighbours_of_these_statements_pass():
    for steps in (
        [UP_TO_K],
        [count(sp.And(j >= 0, 2 * j <= k), 0, sp.floor(k / 2))],
        [DIVIDED, ps.DivideWithRemainder("d", "c", "w", k, rest, q, M, sp.ceiling(M / q))],
        [GREEDY, ps.LastTick("T", "law", (M >= 1, sp.Eq(n, S)), 2 * M + 2 * S - 2)],
        [ORDER, ps.LastTick("T", "law", (M >= 1,), 2 * M + 2 * S - 2)],
        STRICT.max_block_delay(TieRule.UPDATES_FIRST).steps,
    ):
        assert check(Proof("true", tuple(steps))).verdict is Verdict.PROVED


def test_a_claim_is_printed_with_its_conditions():
    steps = (ORDER, ps.LastTick("T", "law", (M >= 1, sp.Eq(S, 7)), 2 * M + 2 * S - 2))
    claim = ps.claim(check(Proof("ticks", steps)).conclusion)
    assert claim == "for all integers with S >= 1, M >= 1, Eq(S, 7): ticks = 2*M + 2*S - 2"
    run = ps.claim(check(Proof("run", steps[:1])).conclusion)
    assert "F at m + s" in run
    assert ps.claim(None) == "nothing"

"""Ticks of LocalSGD in the pipeline: one round by the timing law, rounds one behind the other.

A round is a run of R H microbatches of greedy 1F1B in which a forward waits for its own run's backward on
the same stage, so at most R microbatches are in flight. All stages wait until the first stage has finished
the round. Its last backward is the last op of a round, so the next round starts at the tick it ends.
"""

from __future__ import annotations

import sympy as sp

from pdtheory import laws
from pdtheory.proof.steps import (
    AddUp,
    Combine,
    DivideWithRemainder,
    FollowsPolicy,
    Instantiate,
    LastTick,
    Proof,
    Step,
    Substitute,
    SumByDifference,
)
from pdtheory.proof.timing import M, S, Wait, integers, n

R, H, k, rest, q, j = integers("R H k rest q j")
Q_end, i_end = integers("Q_end i_end")


def ticks_of_run() -> Proof:
    """Return the proof for R >= S and any number of microbatches, the last round complete or not."""
    words = "ticks of the run"
    full = 2 * q + 2 * S - 2
    steps: list[Step] = [
        FollowsPolicy("law", laws.WIDE, Wait.OWN_STAGE),
        LastTick("one round", "law", (n >= S, M >= 1), 2 * M + 2 * S - 2),
        Instantiate("full round", "one round", M, (q,)),
        SumByDifference("full rounds: sum", (S >= 1, n >= S, q >= 1, k >= 0), j, sp.Integer(0), k, full, full * j),
        AddUp("full rounds", "full round", "full rounds: sum", "ticks of k full rounds"),
        Instantiate("last round", "one round", M, (rest,)),
        Combine("all rounds", words, {"full rounds": sp.Integer(1), "last round": sp.Integer(1)}),
        DivideWithRemainder(
            "by microbatches", "all rounds", words, k, rest, q, M, 2 * M + (2 * S - 2) * sp.ceiling(M / q)
        ),
        Instantiate("with R", "by microbatches", n, (R,)),
        Instantiate("result", "with R", q, (R, H)),
    ]
    return Proof(words, tuple(steps))


def ticks_of_round() -> Proof:
    """Return the proof for R <= S of the ticks of one full round."""
    words = "ticks of one round of R H microbatches, R <= S"
    whole = (n >= 1, n <= S, sp.Eq(i_end, 0), sp.Or(sp.Eq(Q_end, S), Q_end >= 2 * S))
    steps: list[Step] = [
        FollowsPolicy("law", laws.NARROW, Wait.OWN_STAGE),
        LastTick("round", "law", whole, 2 * Q_end + 2 * n - 2),
        Substitute("whole rounds of R", "round", i_end, sp.Integer(0)),
        Instantiate("with R", "whole rounds of R", n, (R,)),
        Instantiate("result", "with R", Q_end, (S, H)),
    ]
    return Proof(words, tuple(steps))

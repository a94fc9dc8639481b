"""What follows from an order alone, and the ticks of orders with a simple law."""

from __future__ import annotations

import sympy as sp

from pdtheory import laws
from pdtheory.derivations.finding import shortened
from pdtheory.derivations.steady import SteadyDelays
from pdtheory.proof.steps import (
    CountInterval,
    FollowsOrder,
    FollowsPolicy,
    Instantiate,
    LastTick,
    Proof,
    Substitute,
)
from pdtheory.proof.timing import M, S, Wait, integers, n, s

m, j = integers("m j")

GREEDY = SteadyDelays(laws.WIDE, FollowsPolicy("law", laws.WIDE, Wait.FIRST_STAGE), (S >= 1, sp.Eq(n, S)))
STRICT = SteadyDelays(laws.STRICT, FollowsOrder("law", laws.STRICT, laws.STRICT_WARMUP), (S >= 1,))
GPIPE = SteadyDelays(laws.GPIPE, FollowsOrder("law", laws.GPIPE, M), (S >= 1,))


def strict_version_lag() -> Proof:
    """Return the proof of the own-stage lag of strict 1F1B: places in the stage's order, whatever the op times.

    With w warm-up forwards, F of microbatch m has the place m + max(0, m - w) on its stage, and B the place
    m + min(M, m + w + 1); a stage's reads and updates follow this order under any timing.
    """
    w = S - 1 - s
    read = m + sp.Max(0, m - w)

    def update(index: sp.Expr) -> sp.Expr:
        return index + sp.Min(M, index + w + 1)

    between = sp.And(j >= 0, j < M, read < update(j), update(j) < update(m))
    here = (S >= 1, s >= 0, s < S, m >= w, m < M)
    return shortened("own-stage version lag, any op times", [CountInterval("lag", here, j, between, m - w, m - 1)])


def naive_ticks() -> Proof:
    """Return the proof of the ticks of one microbatch at a time: greedy 1F1B with NOAM = 1."""
    Q_end, i_end = integers("Q_end i_end")
    whole = (sp.Eq(n, 1), sp.Eq(i_end, 0), sp.Or(sp.Eq(Q_end, S), Q_end >= 2 * S))
    return Proof(
        "ticks of the run",
        (
            FollowsPolicy("law", laws.NARROW, Wait.FIRST_STAGE),
            LastTick("run", "law", whole, 2 * Q_end),
            Substitute("one at a time", "run", n, sp.Integer(1)),
            Substitute("whole rounds", "one at a time", i_end, sp.Integer(0)),
            Instantiate("result", "whole rounds", Q_end, (S, M)),
        ),
    )

"""Timing laws, one tick per op: candidates, which the checker proves or refuses."""

from __future__ import annotations

import sympy as sp

from pdtheory.proof.timing import Indexing, Law, M, S, integers, n, s, t

m, Q, i = integers("m Q i")


def _startup(microbatch: sp.Expr) -> sp.Expr:
    """Return the tick of F while the pipeline fills: at once, or in turn with the first backwards."""
    return sp.Max(microbatch + s, 2 * microbatch + 3 * s + 2 - 2 * S)


# More than 2S - 1 microbatches never fit in flight, so k of them start one per tick.
_k = sp.Min(n, 2 * S - 1)

#: NOAM n >= S: a microbatch every second tick from the start of the backwards on.
WIDE = Law(
    "greedy 1F1B, n >= S",
    Indexing(),
    forward_tick=sp.Piecewise((_startup(m), m < _k), (2 * m + sp.Max(s - 2 * (_k - S), 3 * s + 2 - 2 * S), True)),
    backward_tick=2 * m + 2 * S - 1 - s,
    domain=(n >= S,),
    witness=(sp.floor((t - 2 * S + 1 + s) / 2),),
)

#: NOAM n <= S: rounds of n microbatches, 2S ticks each.
NARROW = Law(
    "greedy 1F1B, n <= S",
    Indexing(rounds=True),
    forward_tick=sp.Piecewise((_startup(i), sp.Eq(Q, 0)), (2 * Q + 2 * i + s, True)),
    backward_tick=2 * Q + 2 * i + 2 * S - 1 - s,
    domain=(n <= S,),
    witness=(Q, sp.floor((t - 2 * S + 1 + s) / 2 - Q)),
)

#: 1F1B with S - 1 - s warm-up forwards on stage s.
STRICT = Law(
    "1F1B with S - 1 - s warm-up forwards",
    Indexing(),
    forward_tick=sp.Piecewise((m + s, m <= S - 1 - s), (2 * m + s, True)),
    backward_tick=2 * m + 2 * S - 1 - s,
)

#: The warm-up forwards of 1F1B on stage s.
STRICT_WARMUP = sp.Min(S - 1 - s, M)

#: GPipe: all forwards, one per tick, then all backwards.
GPIPE = Law("GPipe", Indexing(), forward_tick=m + s, backward_tick=M + 2 * S - 2 - s + m)

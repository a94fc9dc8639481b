"""Timing laws, one tick per op: candidates, which the checker proves or refuses."""

from __future__ import annotations

import functools

import sympy as sp

from pdtheory.proof.timing import Index, Indexing, Law, M, S, n


def _backward(stage: sp.Expr, index: Index) -> sp.Expr:
    return sum((2 * part for part in index), sp.Integer(0)) + 2 * S - 1 - stage


def _backward_index(indexing: Indexing, stage: sp.Expr, index: Index, tick: sp.Expr) -> Index:
    inner = (tick - 2 * S + 1 + stage) / 2
    return (index[0], sp.floor(inner - index[0])) if indexing.rounds else (sp.floor(inner),)


def _startup(stage: sp.Expr, microbatch: sp.Expr) -> sp.Expr:
    """Return the tick of F while the pipeline fills: at once, or in turn with the first backwards."""
    return sp.Max(microbatch + stage, 2 * microbatch + 3 * stage + 2 - 2 * S)


@functools.cache
def wide_law() -> Law:
    """Return the law for NOAM n >= S: a microbatch every second tick from the start of the backwards on.

    More than 2S - 1 microbatches never fit in flight, so k = min(n, 2S - 1) of them start one per tick.
    """
    indexing = Indexing()

    def forward(stage: sp.Expr, index: Index) -> sp.Expr:
        (m,) = index
        k = sp.Min(n, 2 * S - 1)
        steady = 2 * m + sp.Max(stage - 2 * (k - S), 3 * stage + 2 - 2 * S)
        return sp.Piecewise((_startup(stage, m), m < k), (steady, True))

    return Law(
        "greedy 1F1B, n >= S",
        indexing,
        forward,
        _backward,
        (n >= S,),
        lambda stage, index, tick: _backward_index(indexing, stage, index, tick),
    )


@functools.cache
def narrow_law() -> Law:
    """Return the law for NOAM n <= S: rounds of n microbatches, 2S ticks each."""
    indexing = Indexing(rounds=True)

    def forward(stage: sp.Expr, index: Index) -> sp.Expr:
        base, i = index
        return sp.Piecewise((_startup(stage, i), sp.Eq(base, 0)), (2 * base + 2 * i + stage, True))

    return Law(
        "greedy 1F1B, n <= S",
        indexing,
        forward,
        _backward,
        (n <= S,),
        lambda stage, index, tick: _backward_index(indexing, stage, index, tick),
    )


def strict_warmup(stage: sp.Expr) -> sp.Expr:
    """Return the warm-up forwards of 1F1B on a stage."""
    return sp.Min(S - 1 - stage, M)


@functools.cache
def strict_law() -> Law:
    """Return the law of 1F1B with S - 1 - s warm-up forwards on stage s."""

    def forward(stage: sp.Expr, index: Index) -> sp.Expr:
        (m,) = index
        return sp.Piecewise((m + stage, m <= S - 1 - stage), (2 * m + stage, True))

    return Law("1F1B with S - 1 - s warm-up forwards", Indexing(), forward, _backward, (), _no_witness)


@functools.cache
def gpipe_law() -> Law:
    """Return the law of GPipe: all forwards, one per tick, then all backwards."""
    return Law(
        "GPipe",
        Indexing(),
        lambda stage, index: index[0] + stage,
        lambda stage, index: M + 2 * S - 2 - stage + index[0],
        (),
        _no_witness,
    )


def _no_witness(stage: sp.Expr, index: Index, tick: sp.Expr) -> Index:
    raise NotImplementedError("an order leaves no choice that needs a witness")

"""The window between a read and an update, in symbols: tick first, then the tie rule."""

from __future__ import annotations

import sympy as sp

from pdtheory.proof.timing import Index, Law, S
from pdtheory.tie_rules import TieRule


def _stage_precedes(first: sp.Expr, second: sp.Expr, rule: TieRule) -> sp.Basic:
    return first > second if rule is TieRule.REVERSE_STAGE_ORDER else first < second


def before_update(law: Law, first: tuple[sp.Expr, Index], second: tuple[sp.Expr, Index], rule: TieRule) -> sp.Basic:
    """Say that the update (stage, index) comes before another update."""
    one, other = law.backward(*first), law.backward(*second)
    return sp.Or(one < other, sp.And(sp.Eq(one, other), _stage_precedes(first[0], second[0], rule)))


def before_read(law: Law, update: tuple[sp.Expr, Index], read: tuple[sp.Expr, Index], rule: TieRule) -> sp.Basic:
    """Say that the update (stage, index) is seen by the read of (stage, index)."""
    made, taken = law.backward(*update), law.forward(*read)
    if rule is TieRule.READS_FIRST:
        return made < taken
    if rule is TieRule.UPDATES_FIRST:
        return made <= taken
    return sp.Or(made < taken, sp.And(sp.Eq(made, taken), _stage_precedes(update[0], read[0], rule)))


def exists(law: Law, index: Index) -> sp.Basic:
    """Say that an index is one of the run's, and what that means beside the window's own index."""
    indexing = law.indexing
    return sp.And(
        *indexing.is_index(index), indexing.less(index, indexing.end), indexing.related(indexing.variables(), index)
    )


def is_run(law: Law) -> sp.Basic:
    """Say that the law applies and that the window's own microbatch is one of a run's."""
    indexing, x = law.indexing, law.indexing.variables()
    return sp.And(
        S >= 1, *law.domain, *indexing.is_index(indexing.end), *indexing.is_index(x), indexing.less(x, indexing.end)
    )


def window(law: Law, rule: TieRule, stage: sp.Expr, index: Index, update: sp.Expr, read: sp.Expr) -> sp.Basic:
    """Say that the update (stage, index) lies between a read and an update.

    The read is that of stage `read`, the update that of stage `update`, both by the microbatch whose index
    are the law's own symbols.
    """
    x = law.indexing.variables()
    return sp.And(
        stage >= 0,
        stage < S,
        exists(law, index),
        before_update(law, (stage, index), (update, x), rule),
        sp.Not(before_read(law, (stage, index), (read, x), rule)),
    )

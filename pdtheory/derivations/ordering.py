"""The order of reads and updates in symbols: tick first, then the tie rule."""

from __future__ import annotations

import sympy as sp

from pdtheory.delays import TieRule
from pdtheory.proof.timing import Index, Law


def stage_precedes(first: sp.Expr, second: sp.Expr, rule: TieRule) -> sp.Basic:
    """Say that of two updates in one tick the one on the first stage comes first."""
    return first > second if rule is TieRule.REVERSE_STAGE_ORDER else first < second


def before_update(law: Law, first: tuple[sp.Expr, Index], second: tuple[sp.Expr, Index], rule: TieRule) -> sp.Basic:
    """Say that the update (stage, index) comes before another update."""
    one, other = law.backward(*first), law.backward(*second)
    return sp.Or(one < other, sp.And(sp.Eq(one, other), stage_precedes(first[0], second[0], rule)))


def before_read(law: Law, update: tuple[sp.Expr, Index], read: tuple[sp.Expr, Index], rule: TieRule) -> sp.Basic:
    """Say that the update (stage, index) is seen by the read of (stage, index)."""
    made, taken = law.backward(*update), law.forward(*read)
    if rule is TieRule.READS_FIRST:
        return made < taken
    if rule is TieRule.UPDATES_FIRST:
        return made <= taken
    return sp.Or(made < taken, sp.And(sp.Eq(made, taken), stage_precedes(update[0], read[0], rule)))

"""Tie rules: the order of reads and updates that happen in the same tick."""

from __future__ import annotations

from enum import StrEnum

from pdtheory.errors import UnknownNameError


class TieRule(StrEnum):
    """The order of reads and updates that happen in the same tick.

    An update happens when its op ends. Under `reads-first` a forward reads when it starts (a machine that
    stashes its weights as a forward begins), and an update that ends at that instant has been made. Under
    the three other rules a forward reads when it ends, so that with one tick per op it reads in the same
    tick as the updates beside it; at one instant `stage-order` serves ops by ascending stage (the paper's
    rule), `reverse-stage-order` by descending stage, and `updates-first` all updates (by ascending stage)
    before all reads.
    """

    STAGE_ORDER = "stage-order"
    REVERSE_STAGE_ORDER = "reverse-stage-order"
    READS_FIRST = "reads-first"
    UPDATES_FIRST = "updates-first"

    @classmethod
    def named(cls, name: TieRule | str) -> TieRule:
        """Return the rule of this name; raise `UnknownNameError` with the nearest one."""
        try:
            return cls(name)
        except ValueError:
            raise UnknownNameError("tie rule", name, list(cls)) from None

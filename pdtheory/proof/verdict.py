"""Verdicts, and how the verdict of a whole follows from its steps."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """What a check found.

    PROVED holds for all values in the stated domain; CHECKED for a finite range that is named; SAMPLED for
    samples; REFUTED has a counterexample; INCONCLUSIVE means that the checker could not tell, a solver's
    timeout included; SKIPPED means that it could not look.
    """

    PROVED = "PROVED"
    CHECKED = "CHECKED"
    SAMPLED = "SAMPLED"
    SKIPPED = "SKIPPED"
    INCONCLUSIVE = "INCONCLUSIVE"
    REFUTED = "REFUTED"


_WEAKER_AND_WEAKER = list(Verdict)


def weakest(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict of a conclusion that rests on all of these; of nothing, INCONCLUSIVE.

    Examples
    --------
    >>> weakest([Verdict.PROVED, Verdict.CHECKED]).value
    'CHECKED'
    """
    found = list(verdicts)
    return max(found, key=_WEAKER_AND_WEAKER.index) if found else Verdict.INCONCLUSIVE

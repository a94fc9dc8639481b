"""Steps that need the value of earlier ones: the checker computes it, and checks it again in the whole proof."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from pdtheory.errors import PdTheoryError
from pdtheory.proof.checker import check
from pdtheory.proof.steps import Count, Proof, Rewrite, Step, Total, Value
from pdtheory.proof.verdict import Verdict
from pdtheory.summation import readable


class NotDerivedError(PdTheoryError):
    """A derivation whose steps the checker refused; `verdict` says how."""

    def __init__(self, step: str, detail: str, verdict: Verdict) -> None:
        super().__init__(f"{step}: {detail}")
        self.verdict = verdict


def value_of(steps: Sequence[Step]) -> sp.Expr:
    """Return the value that the last step concludes."""
    found = check(Proof("", tuple(steps)))
    if not isinstance(found.conclusion, Value | Count | Total):
        last = found.results[-1]
        raise NotDerivedError(last.name, last.detail, last.verdict)
    return found.conclusion.value


def shortened(words: str, steps: Sequence[Step]) -> Proof:
    """Return the proof that ends with a short form of the last step's value."""
    short = readable(value_of(steps))
    return Proof(words, (*steps, Rewrite(f"{steps[-1].name}, short", steps[-1].name, words, short)))

"""A theorem by name as a statement of the suite, with the controls that all theorems share."""

from __future__ import annotations

from pdtheory.derivations.convergence.theorems import THEOREMS
from pdtheory.proof.terms import ONE, Term
from verification.claim import Control
from verification.proofs import Statement


def theorem(name: str) -> Statement:
    """Return the statement: the right side less the average is at least 0."""
    found = THEOREMS[name]
    right = sum(found.terms.values(), start=-found.average)
    return Statement(found.title, found.model, found.build, right)


def perturbed(name: str, part: str, factor: Term | int, words: str) -> Control:
    """Return a control: the theorem with one of its terms multiplied."""
    statement = theorem(name)
    term = THEOREMS[name].terms[part]
    return statement.off(words, statement.term + term * factor - term)


def shared(
    name: str, *dropped: str, halved: tuple[str, ...] = ("optimization", "noise", "stale")
) -> tuple[Control, ...]:
    """Return the controls that halve a term, and those that drop a hypothesis."""
    halves = tuple(perturbed(name, part, ONE / 2, f"half of the {part} term") for part in halved)
    return (*halves, *(theorem(name).without(hypothesis) for hypothesis in dropped))

"""Statements about averages with their proofs, and the perturbed twins that the checker must refuse."""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pdtheory.derivations.convergence.building import Derivation, Found
from pdtheory.proof import Proof, Verdict, check
from pdtheory.proof.model import Model
from pdtheory.proof.steps import Estimate, Hypotheses
from pdtheory.proof.terms import Term
from verification.claim import Control, Finding

#: What the checker says where a statement does not come out, where a hypothesis is gone, where one is too late.
REMAINDER, NO_HYPOTHESIS, TOO_LATE = "the remainder is not 0", "the model has no hypothesis", "is known at time"


@dataclass(frozen=True, eq=False)
class Statement:
    """For all integers `under` the model's constraints: the term is at least 0, or is 0.

    Attributes
    ----------
    build : callable
        Adds the steps of the proof; the last one must come to the term.
    term : Term
        What is claimed, written down apart from the proof.
    """

    words: str
    model: Model
    build: Callable[[Derivation], Found]
    term: Term
    equality: bool = False
    under: Hypotheses = ()

    @functools.cached_property
    def proof(self) -> Proof:
        """The proof."""
        derivation = Derivation(self.model)
        self.build(derivation)
        return derivation.proof(self.words)

    def check(self) -> Finding:
        """Return what the checker says, and whether what it concludes is what is claimed."""
        return self._judged(self.proof, self.term)

    def _judged(self, proof: Proof, term: Term) -> Finding:
        checked = check(proof)
        words = {h.name: h.words for h in self.model.hypotheses}
        found = checked.conclusion
        if found is None or checked.verdict is not Verdict.PROVED:
            last = next(r for r in checked.results if r.verdict is not Verdict.PROVED)
            return Finding(checked.verdict, (f"step {last.name!r}: {last.detail}",))
        assert proof.model is not None
        domain = {*proof.model.integer_constraints, *self.under}
        same = (
            isinstance(found, Estimate)
            and found.term == term
            and (found.equality or not self.equality)
            and set(found.hypotheses) == domain
        )
        if not same:
            return Finding(Verdict.INCONCLUSIVE, (f"the proof shows something else: {found}",))
        assert isinstance(found, Estimate)
        kinds = collections.Counter(r.kind for r in checked.results)
        asked = sum(len(r.obligations) for r in checked.results)
        steps = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        lines = (
            f"{found}, for {', '.join(map(str, found.hypotheses))}",
            f"{len(checked.results)} steps: {steps}; {asked} integer statements decided",
        )
        used = {name: words[name] for name in found.uses}
        return Finding(Verdict.PROVED, lines, used, ((proof, checked),))

    def off(self, words: str, term: Term, because: str = REMAINDER) -> Control:
        """Return a control: the same steps for another statement."""
        return Control(words, lambda: self._judged(self._ending_with(term), term), because)

    def _ending_with(self, term: Term) -> Proof:
        *steps, last = self.proof.steps
        # Only a step that states what it wants can be asked for something else.
        changes: dict[str, Any] = {"value": term}
        changed = dataclasses.replace(last, **changes)
        return dataclasses.replace(self.proof, steps=(*steps, changed))

    def without(self, hypothesis: str) -> Control:
        """Return a control: the same steps in a model without one of the hypotheses."""
        kept = tuple(h for h in self.model.hypotheses if h.name != hypothesis)
        if len(kept) == len(self.model.hypotheses):
            raise ValueError(f"{self.model.name} has no hypothesis {hypothesis!r} to drop")
        model = dataclasses.replace(self.model, hypotheses=kept)
        return self._in(f"without the hypothesis {hypothesis!r}", model, NO_HYPOTHESIS)

    def with_hypothesis(self, words: str, name: str, because: str = REMAINDER, **changes: Any) -> Control:
        """Return a control: the same steps, with a hypothesis changed."""
        changed = tuple(dataclasses.replace(h, **changes) if h.name == name else h for h in self.model.hypotheses)
        return self._in(words, dataclasses.replace(self.model, hypotheses=changed), because)

    def with_family(self, words: str, name: str, because: str = TOO_LATE, **changes: Any) -> Control:
        """Return a control: the same steps, with a family changed: when it is known, or its sign."""
        changed = tuple(dataclasses.replace(f, **changes) if f.name == name else f for f in self.model.families)
        return self._in(words, dataclasses.replace(self.model, families=changed), because)

    def with_parameter(self, words: str, name: str, because: str, **changes: Any) -> Control:
        """Return a control: the same steps, with a parameter changed."""
        changed = tuple(dataclasses.replace(p, **changes) if p.name == name else p for p in self.model.parameters)
        return self._in(words, dataclasses.replace(self.model, parameters=changed), because)

    def _in(self, words: str, model: Model, because: str) -> Control:
        return Control(words, lambda: self._judged(dataclasses.replace(self.proof, model=model), self.term), because)

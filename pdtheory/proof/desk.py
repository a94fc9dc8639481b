"""The desk that a proof is checked at: what it has concluded so far, and what the solver says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import sympy as sp

from pdtheory.proof import steps as st
from pdtheory.proof.guards import StepRefusedError
from pdtheory.proof.inequality_guards import Setting
from pdtheory.proof.smt import Decision, smtlib, solve
from pdtheory.proof.verdict import Verdict


@dataclass
class Desk:
    """What one proof has concluded so far, and what the solver was asked in the current step."""

    solver: str
    setting: Setting | None = None
    known: dict[str, st.Conclusion] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    undecided: Decision | None = None

    def decide(self, name: str, hypotheses: Sequence[sp.Basic], goal: sp.Basic) -> None:
        """Refuse the step unless the hypotheses can hold and imply the goal."""
        self.require_possible(name, hypotheses)
        if goal == sp.true:
            return
        text = smtlib(tuple(hypotheses), goal)
        self.asked.append((name, text))
        self._refuse_unless_proved(name, solve(text, self.solver))

    def require_possible(self, name: str, hypotheses: Sequence[sp.Basic]) -> None:
        """Refuse the step if nothing satisfies the hypotheses: it would say nothing."""
        possible = solve(smtlib(tuple(hypotheses), sp.false), self.solver)
        if possible.verdict is Verdict.PROVED:
            raise StepRefusedError(f"{name}: nothing satisfies the hypotheses")
        if possible.verdict is not Verdict.REFUTED:
            self.undecided = possible

    def _refuse_unless_proved(self, name: str, decision: Decision) -> None:
        if decision.verdict in (Verdict.SKIPPED, Verdict.INCONCLUSIVE):
            self.undecided = decision
        elif decision.verdict is not Verdict.PROVED:
            example = ", ".join(f"{key}={value}" for key, value in decision.counterexample)
            raise StepRefusedError(f"{name}: {example or decision.reason}", decision.verdict)

    def get(self, name: str, kind: type[st.Conclusion]) -> st.Conclusion:
        """Return an earlier conclusion of the kind."""
        found = self.known.get(name)
        if not isinstance(found, kind):
            raise StepRefusedError(f"there is no earlier {kind.__name__} called {name!r}")
        return found

    def value(self, name: str) -> st.Value | st.Count | st.Total:
        """Return an earlier conclusion that has a value."""
        found = self.known.get(name)
        if not isinstance(found, st.Value | st.Count | st.Total):
            raise StepRefusedError(f"there is no earlier value called {name!r}")
        return found

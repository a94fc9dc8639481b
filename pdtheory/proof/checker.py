"""The checker: it alone turns steps into conclusions. Everything else only proposes steps."""

from __future__ import annotations

from dataclasses import dataclass

from pdtheory.errors import PdTheoryError
from pdtheory.proof import inequality_rules  # noqa: F401 - registers its rules
from pdtheory.proof import steps as st
from pdtheory.proof.desk import Desk
from pdtheory.proof.guards import StepRefusedError, refuse_unclear
from pdtheory.proof.inequality_guards import Setting
from pdtheory.proof.rules import conclude
from pdtheory.proof.verdict import Verdict, weakest


@dataclass(frozen=True)
class StepResult:
    """The verdict on one step.

    Attributes
    ----------
    name, kind : str
    verdict : Verdict
    detail : str
        The conclusion, or the counterexample or reason of a step that failed.
    obligations : tuple of (str, str)
        Name and SMT-LIB text of what the solver was asked.
    """

    name: str
    kind: str
    verdict: Verdict
    detail: str
    obligations: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Checked:
    """The verdict on a proof; no conclusion exists where a step failed."""

    statement: str
    verdict: Verdict
    results: tuple[StepResult, ...]
    conclusion: st.Conclusion | None


def check(proof: st.Proof, *, solver: str = "z3") -> Checked:
    """Check a proof step by step.

    A step that fails keeps its verdict (REFUTED with a counterexample where there is one), the steps after
    it are not looked at, and the proof has no conclusion. Where the solver is missing or gives up, a step is
    SKIPPED or INCONCLUSIVE and the proof goes on: its conclusion is then what the steps would show, with that
    verdict.

    Parameters
    ----------
    proof : Proof
    solver : {"z3", "cvc5"}
        Decides the linear integer statements.

    Examples
    --------
    >>> import sympy as sp
    >>> n = sp.Symbol("n", integer=True)
    >>> double = st.Decide("twice", (n >= 1,), 2 * n > n)
    >>> check(st.Proof("twice as much is more", (double,))).verdict.value
    'PROVED'
    """
    desk = Desk(solver)
    results: list[StepResult] = []
    conclusion: st.Conclusion | None = None
    if proof.model is not None:
        try:
            desk.setting = Setting(proof.model)
        except Exception as error:
            results.append(StepResult("model", "Model", Verdict.INCONCLUSIVE, _reason(error)))
            return Checked(proof.statement, Verdict.INCONCLUSIVE, tuple(results), None)
    for step in proof.steps:
        desk.asked, desk.undecided = [], None
        kind = type(step).__name__
        try:
            if step.name in desk.known:
                raise StepRefusedError(f"two steps are called {step.name!r}")
            refuse_unclear(step)
            conclusion = desk.known[step.name] = conclude(step, desk)
        except StepRefusedError as refusal:
            results.append(StepResult(step.name, kind, refusal.verdict, str(refusal), tuple(desk.asked)))
            conclusion = None
            break
        except Exception as error:  # what the checker cannot follow is no proof, whatever the reason
            results.append(StepResult(step.name, kind, Verdict.INCONCLUSIVE, _reason(error), tuple(desk.asked)))
            conclusion = None
            break
        verdict = desk.undecided.verdict if desk.undecided else Verdict.PROVED
        detail = desk.undecided.reason if desk.undecided else str(conclusion)
        results.append(StepResult(step.name, kind, verdict, detail, tuple(desk.asked)))
    return Checked(proof.statement, weakest(r.verdict for r in results), tuple(results), conclusion)


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, PdTheoryError) else f"{type(error).__name__}: {error}"

"""A claim: a statement with a check, and negative controls that the same check must refuse."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pdtheory.errors import PdTheoryError
from pdtheory.proof import Checked, Proof, Verdict, weakest

GOOD = (Verdict.PROVED, Verdict.CHECKED, Verdict.SAMPLED)
REFUSED = (Verdict.REFUTED, Verdict.INCONCLUSIVE)


class ClaimError(PdTheoryError, ValueError):
    """A claim that cannot be taken into the suite."""


class Group(StrEnum):
    """Where a claim belongs; the suite runs them in this order."""

    PAPER = "the paper's claims"
    CHAIN = "the chain of the paper's theorem"
    SHARPER = "sharper statements"
    TRUTH = "the order of the truth"
    COVERAGE = "what the theorems cover"
    TIGHTNESS = "how far the constants are from the worst case"


@dataclass(frozen=True)
class Finding:
    """What a check found.

    Attributes
    ----------
    evidence : tuple of str
        What the verdict rests on, in lines.
    hypotheses : mapping of str to str
        Those that were used: name and words.
    proofs : tuple of (Proof, Checked)
        To be written as certificates.
    """

    verdict: Verdict
    evidence: tuple[str, ...] = ()
    hypotheses: Mapping[str, str] = field(default_factory=dict)
    proofs: tuple[tuple[Proof, Checked], ...] = ()


def all_of(*findings: Finding) -> Finding:
    """Return the finding on a statement with several parts: the weakest verdict, all of the evidence."""
    return Finding(
        weakest(f.verdict for f in findings),
        tuple(line for f in findings for line in f.evidence),
        {name: words for f in findings for name, words in f.hypotheses.items()},
        tuple(p for f in findings for p in f.proofs),
    )


def counted(holds: bool, words: str) -> Finding:
    """Return the finding of a finite computation: CHECKED or REFUTED; it never proves."""
    return Finding(Verdict.CHECKED if holds else Verdict.REFUTED, (words,))


@dataclass(frozen=True)
class Control:
    """A perturbed statement.

    Attributes
    ----------
    because : str
        What the refusal must say; a check that fails for another reason is no control.
    """

    statement: str
    check: Callable[[], Finding]
    because: str = ""

    def refuses(self, found: Finding) -> bool:
        """Say that the perturbed statement is refused, for the reason that is expected."""
        return found.verdict in REFUSED and self.because in " ".join(found.evidence)


@dataclass(frozen=True)
class Claim:
    """A statement of the suite.

    Attributes
    ----------
    name : str
    group : Group
    statement : str
    source : str
        Whose statement it is.
    check : callable
        Returns a `Finding`.
    controls : tuple of Control
        At least one.
    undecided : str
        Why nobody knows yet, where INCONCLUSIVE is the honest verdict.
    """

    name: str
    group: Group
    statement: str
    source: str
    check: Callable[[], Finding]
    controls: tuple[Control, ...]
    undecided: str = ""

    def __post_init__(self) -> None:
        if not self.controls:
            raise ClaimError(
                "has no negative control", where=f"claim {self.name!r}", mend="Add a perturbed statement to refuse"
            )


@dataclass(frozen=True)
class ControlResult:
    """What became of a negative control."""

    statement: str
    verdict: Verdict
    refused: bool
    detail: str


@dataclass(frozen=True)
class Result:
    """What became of a claim."""

    claim: Claim
    finding: Finding
    controls: tuple[ControlResult, ...]
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """The verdict on the claim."""
        return self.finding.verdict

    @property
    def skipped(self) -> bool:
        """Something that is needed is not installed; nothing else is wrong."""
        verdicts = [self.verdict, *(c.verdict for c in self.controls if not c.refused)]
        return Verdict.SKIPPED in verdicts and all(v in (*GOOD, Verdict.SKIPPED) for v in verdicts)

    @property
    def good(self) -> bool:
        """The statement holds as far as its verdict says, or is openly undecided; every control is refused."""
        undecided = bool(self.claim.undecided) and self.verdict is Verdict.INCONCLUSIVE
        return (undecided or self.verdict in GOOD) and all(c.refused for c in self.controls)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return {
            "claim": self.claim.name,
            "group": str(self.claim.group),
            "statement": self.claim.statement,
            "source": self.claim.source,
            "hypotheses": dict(self.finding.hypotheses),
            "verdict": str(self.verdict),
            "evidence": list(self.finding.evidence),
            "negative_controls": [
                {"statement": c.statement, "verdict": str(c.verdict), "refused": c.refused, "detail": c.detail}
                for c in self.controls
            ],
            "good": self.good,
            "seconds": round(self.seconds, 3),
        }


def run(claim: Claim) -> Result:
    """Check a claim and its negative controls."""
    began = time.perf_counter()
    finding = claim.check()
    controls = []
    for control in claim.controls:
        found = control.check()
        controls.append(
            ControlResult(control.statement, found.verdict, control.refuses(found), "; ".join(found.evidence))
        )
    return Result(claim, finding, tuple(controls), time.perf_counter() - began)

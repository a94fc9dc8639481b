"""The checker that everything rests on: proofs as data, decided exactly and for all integers."""

from pdtheory.proof.checker import Checked, StepResult, check
from pdtheory.proof.steps import Proof
from pdtheory.proof.verdict import Verdict, weakest

__all__ = ["Checked", "Proof", "StepResult", "Verdict", "check", "weakest"]

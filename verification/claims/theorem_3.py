"""Theorem 3: PipeDream with bounded variance alone."""

from pdtheory.derivations.convergence.aligned import S_, UNBIASED, L, gamma
from pdtheory.proof.terms import term
from verification.claim import Claim, Group
from verification.proofs import REMAINDER
from verification.theorems import shared, theorem

_T3 = theorem("pipedream-variance")
CLAIM = Claim(
    "theorem-3",
    Group.SHARPER,
    "deterministic PipeDream, variance only, if gamma L + 2 (S - 1)^2 gamma^2 L^2 <= 1: "
    "2D/(gamma M) + gamma L S sigma^2 + gamma^2 L^2 S(S - 1) sigma^2",
    "this project",
    _T3.check,
    (
        *shared("pipedream-variance", "read", UNBIASED, "variance", "step size"),
        _T3.with_hypothesis(
            "with the step size condition gamma L + (S - 1)^2 gamma^2 L^2 <= 1",
            "step size",
            REMAINDER,
            term=term(1) - gamma * L - (S_ - 1) ** 2 * gamma**2 * L**2,
        ),
    ),
)

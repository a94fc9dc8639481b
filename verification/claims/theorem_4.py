"""Theorem 4: randomized PipeDream with bounded variance alone."""

from pdtheory.derivations.convergence.randomized_model import STAGE, UNBIASED
from pdtheory.proof.model import Timing
from verification.claim import Claim, Group
from verification.theorems import shared, theorem

_T4 = theorem("rpd-variance")
CLAIM = Claim(
    "theorem-4",
    Group.SHARPER,
    "randomized PipeDream, variance only, delays independent of the draws, if gamma L + 2 rho gamma^2 L^2 <= 1 with "
    "rho = delta (delta + S - 1)/S^2: 2SD/(gamma K) + gamma S L sigma^2 + 2 gamma^2 L^2 delta sigma^2",
    "this project",
    _T4.check,
    (
        *shared("rpd-variance", STAGE, UNBIASED, "variance", "step size"),
        _T4.with_family("delays that may depend on the draws", "q", "nothing is said of when", timing=Timing.UNSAID),
    ),
)

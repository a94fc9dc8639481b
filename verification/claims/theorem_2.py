"""Theorem 2: PipeDream with weight stashing, as it is, without random stages."""

from pdtheory.derivations.convergence.aligned import UNBIASED, m
from verification.claim import Claim, Group
from verification.theorems import perturbed, shared, theorem

CLAIM = Claim(
    "theorem-2",
    Group.SHARPER,
    "deterministic PipeDream with stashing, any gamma: 2D/(gamma M) + gamma L S G^2 "
    "+ gamma^2 L^2 G^2 S(S - 1)(2S - 1)/6, with one fresh sample per microbatch",
    "this project",
    theorem("pipedream-aligned").check,
    (
        *shared("pipedream-aligned", "read", UNBIASED, "second moment", "Lipschitz"),
        perturbed("pipedream-aligned", "optimization", 0, "without the optimization term"),
        theorem("pipedream-aligned").with_family("x_m depends on the sample of microbatch m", "a", known=(2 * m + 1,)),
    ),
)

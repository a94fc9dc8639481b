"""The LocalSGD bounds."""

from pdtheory.derivations.convergence.local_sgd import APART, UNBIASED
from verification.claim import Claim, Group
from verification.theorems import shared, theorem

CLAIMS = (
    Claim(
        "local-sgd",
        Group.SHARPER,
        "LocalSGD, N workers, H local steps, gamma L <= 1: 2D/(gamma T) + gamma L S sigma^2/N "
        "+ gamma^2 L^2 S G^2 (H - 1)(2H - 1)/6",
        "this project; the form of Yu, Yang and Zhu 2019",
        theorem("local-sgd").check,
        shared("local-sgd", UNBIASED, APART, "synchronization", "second moment", "step size"),
    ),
    Claim(
        "local-sgd-variance",
        Group.SHARPER,
        "LocalSGD, variance only, gamma L + H (H - 1) gamma^2 L^2 <= 1: the last term is "
        "gamma^2 L^2 S sigma^2 (H - 1)(1 - 1/N)",
        "this project; the form of Koloskova et al. 2020",
        theorem("local-sgd-variance").check,
        shared("local-sgd-variance", UNBIASED, APART, "synchronization", "variance", "step size", halved=("stale",)),
    ),
)

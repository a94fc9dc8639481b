"""C1: the paper's theorem."""

from pdtheory.derivations.convergence.randomized_model import STAGE, UNBIASED, k
from verification.claim import Claim, Group
from verification.theorems import perturbed, shared, theorem

CLAIM = Claim(
    "C1",
    Group.PAPER,
    "randomized PipeDream: the average of E||grad f(w_k)||^2 is at most "
    "2SD/(gamma K) + gamma S L G^2 + gamma^2 L^2 delta^2 G^2, for every gamma > 0",
    "arXiv 2606.03498, reconstructed",
    theorem("rpd-paper").check,
    (
        *shared("rpd-paper", "smooth", "Lipschitz", STAGE, UNBIASED, "second moment", "lower bound"),
        perturbed("rpd-paper", "stale", 0, "without the stale term"),
        theorem("rpd-paper").with_family(
            "z_k depends on the stage that is drawn, as in PipeDream", "b", known=(3 * k + 1,)
        ),
    ),
)

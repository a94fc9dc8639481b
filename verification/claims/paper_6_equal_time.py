"""C6: who is better at equal simulated time."""

from pdtheory.proof import Verdict
from verification.claim import Claim, Control, Finding, Group

_WHY = "a statement about runs: it needs simulations over several seeds, which this suite does not have yet"


def _no_runs() -> Finding:
    return Finding(Verdict.INCONCLUSIVE, ("no runs to compare",))


CLAIM = Claim(
    "C6",
    Group.PAPER,
    "at equal simulated time PipeDream is better on the quadratic objective and a small language model, "
    "LocalSGD on logistic regression as S grows",
    "arXiv 2606.03498",
    _no_runs,
    (Control("the opposite order", _no_runs, "no runs"),),
    undecided=_WHY,
)

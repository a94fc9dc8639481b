"""What the condition gamma <= 1/L is for."""

from pdtheory.derivations.convergence.theorems import THEOREMS
from pdtheory.proof import Verdict
from verification.claim import Claim, Finding, Group, all_of
from verification.theorems import theorem

_ANY = ("rpd-paper", "rpd-disjoint-windows", "pipedream-aligned")
_LIMITED = ("pipedream-variance", "rpd-variance", "local-sgd", "local-sgd-variance")


def _without_condition(name: str) -> Finding:
    """Return the finding that a theorem is proved in a model that says nothing of the size of gamma."""
    model = THEOREMS[name].model
    limits = [h.name for h in model.hypotheses if h.term.symbols and "gamma" in map(str, h.term.symbols)]
    # An update contains gamma too; a condition is on parameters alone.
    conditions = [n for n in limits if n == "step size"]
    found = theorem(name).check()
    if conditions:
        return Finding(Verdict.REFUTED, (f"{name} has the hypothesis {conditions[0]!r}",))
    return Finding(found.verdict, (f"{name}: {found.verdict}, no condition on gamma but gamma > 0",))


CLAIM = Claim(
    "step-size-unused",
    Group.CHAIN,
    "gamma <= 1/L is never used in the paper's theorem, nor in Theorems 1 and 2; where second moments are unbounded "
    "(Theorems 3 and 4, LocalSGD) a condition on gamma pays for ||grad f(z)||^2 in the noise",
    "this project",
    lambda: all_of(*map(_without_condition, _ANY)),
    tuple(theorem(name).without("step size") for name in _LIMITED),
)

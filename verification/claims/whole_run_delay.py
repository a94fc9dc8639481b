"""The delay law of the whole run: the steady one does not cover the start-up."""

import sympy as sp

import pdtheory as pd
from pdtheory.proof.quasipolynomial import is_zero
from verification.claim import Claim, Control, Finding, Group, all_of, counted
from verification.claims.paper_2_delay import law_finding

S = sp.Symbol("S", integer=True)
#: floor(S^2/4) is (S^2 - S mod 2)/4.
_LAW = S**2 - S + (S**2 - sp.Mod(S, 2)) / 4


def _law(expected: sp.Expr) -> Finding:
    law = pd.closed_form("pipedream", "whole_run_max_block_delay")
    same = is_zero(law.expr - expected)
    words = f"whole run: {law.expr}, {law.domain}" + ("" if same else f", not {expected}")
    return Finding(law.verdict if same else pd.Verdict.REFUTED, (words,), {}, law.proofs)


def _first(stages: int) -> Finding:
    """Return whether a run's start-up goes above its steady state for the first time at this S."""
    above = []
    for size in range(1, stages + 1):
        delays = pd.block_delays(pd.run(pd.get_schedule("pipedream", size, 6 * size)))
        steady, largest = (delays.statistics(w).max or 0 for w in (pd.Window.STEADY, pd.Window.ALL))
        above.append(largest > steady)
    words = f"largest delay above the steady one for S = {[n + 1 for n, yes in enumerate(above) if yes]}"
    return counted(above == [False] * (stages - 1) + [True], words)


CLAIM = Claim(
    "whole-run-delay",
    Group.COVERAGE,
    "a whole run's largest block delay is S^2 - S + floor(S^2/4), above the steady S^2 - ceil(S/2) from S = 3 on: "
    "25/16 of S^4 in the paper's stale term",
    "this project",
    lambda: all_of(_law(_LAW), law_finding(S**2 - sp.ceiling(S / 2)), _first(3)),
    (
        Control("the steady delay bounds the whole run", lambda: _law(S**2 - sp.ceiling(S / 2))),
        Control("it is above for the first time at S = 2", lambda: _first(2), "above the steady one for S = []"),
    ),
)

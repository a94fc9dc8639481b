"""C2: the delay of steady-state PipeDream."""

import sympy as sp

import pdtheory as pd
from pdtheory.proof import Proof, check
from pdtheory.proof.steps import Decide
from verification.claim import Claim, Control, Finding, Group, all_of

S = sp.Symbol("S", integer=True)


def law_finding(expected: sp.Expr, quantity: str = "max_block_delay") -> Finding:
    """Return the finding that the proved law of a quantity is as expected."""
    law = pd.closed_form("pipedream", quantity)
    same = law.expr == expected
    words = f"{law.words}: {law.expr}" + ("" if same else f", not {expected}")
    return Finding(law.verdict if same else pd.Verdict.REFUTED, (words,), {}, law.proofs)


def _between(lower: sp.Expr, upper: sp.Expr) -> Finding:
    """Return what the checker says of the rest, 2 ceil(S/2) - S: linear once S^2 is taken out."""
    rest = 2 * sp.ceiling(S / 2) - S
    step = Decide("the O(1)", (S >= 1,), sp.And(rest >= lower, rest <= upper))
    checked = check(Proof("the O(1)", (step,)))
    detail = checked.results[-1].detail
    return Finding(checked.verdict, (f"2 (S^2 - S/2 - delay) in [{lower}, {upper}]: {detail}",))


def _without_rounding() -> Finding:
    return law_finding(S**2 - S / 2)


CLAIM = Claim(
    "C2",
    Group.PAPER,
    "the largest block delay of steady-state PipeDream is S^2 - S/2 + O(1): it is S^2 - ceil(S/2), "
    "with the paper's tie rule and one tick per op",
    "arXiv 2606.03498; the exact law is this project's",
    lambda: all_of(law_finding(S**2 - sp.ceiling(S / 2)), _between(sp.Integer(0), sp.Integer(1))),
    (
        Control("exactly S^2 - S/2", _without_rounding, "not S**2 - S/2"),
        Control("S^2 - S/2 - O(1) with O(1) = 0 for all S", lambda: _between(sp.Integer(0), sp.Integer(0))),
        Control(
            "the law, one larger",
            lambda: Finding(
                (control := pd.closed_form("pipedream", "max_block_delay").negative_control).verdict,
                (control.statement, control.detail),
            ),
        ),
    ),
)

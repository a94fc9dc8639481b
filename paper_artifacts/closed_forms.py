"""The table of closed forms: every formula of the catalog with its verdict."""

from __future__ import annotations

import sympy as sp

from paper_artifacts.artifact import Artifact, Progress, Result
from pdtheory.catalog import systems
from pdtheory.formulas import closed_form, quantities
from pdtheory.tables import Table


def build(quick: bool, progress: Progress) -> Result:
    """Return the table; quick: the steady-state laws of pipedream under the paper's tie rule."""
    wanted = [(name, quantity) for name in systems() for quantity in quantities(name)]
    if quick:
        wanted = [(n, q) for n, q in wanted if n == "pipedream" and "/" not in q and q != "max_block_delay_noam"]
    rows = []
    for done, (name, quantity) in enumerate(wanted):
        progress("proving closed forms", done, len(wanted))
        base, _, rule = quantity.partition("/")
        form = closed_form(name, base, tie_rule=rule or None)
        rows.append(
            (
                name,
                quantity,
                (str(form.expr), f"${sp.latex(form.expr)}$"),
                form.domain,
                form.verdict,
                form.negative_control.verdict,
            )
        )
    columns = ("schedule", "quantity", "formula", "domain", "verdict", "perturbed twin")
    return Result(tables={"closed_forms": Table("Closed forms, one tick per op", columns, rows)})


ARTIFACT = Artifact("closed_forms", "the table of closed forms", build)

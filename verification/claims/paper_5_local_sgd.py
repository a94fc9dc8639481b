"""C5: what LocalSGD gives up, and what it gets."""

import sympy as sp

import pdtheory as pd
from pdtheory.proof import Proof, check
from pdtheory.proof.steps import Decide
from verification.claim import Claim, Control, Finding, Group, all_of, counted

S, M, H, R, rounds = sp.symbols("S M H R rounds", integer=True)
_SIZES = [(stages, steps) for stages in range(1, 9) for steps in (1, 2, 3)]


def _ticks(expected: sp.Expr) -> Finding:
    law = pd.closed_form("local-sgd", "ticks")
    verdict = law.verdict if law.expr == expected else pd.Verdict.REFUTED
    return Finding(verdict, (f"LocalSGD: {law.expr} ticks, R >= S",), {}, law.proofs)


def _bubbles(goal: sp.Basic) -> Finding:
    """Return what the checker says of the ticks beyond PipeDream's 2M + 2S - 2, per stage and round."""
    pipedream = pd.closed_form("pipedream", "ticks")
    same = pipedream.expr == 2 * M + 2 * S - 2
    step = Decide("bubbles", (S >= 2, rounds >= 2), goal)
    checked = check(Proof("bubbles", (step,)))
    lines = (f"PipeDream: {pipedream.expr} ticks", f"{checked.results[0].verdict}: {checked.results[0].detail}")
    return Finding(checked.verdict if same else pd.Verdict.REFUTED, lines)


def _stale(name: str) -> Finding:
    """Return whether no read of a schedule misses an update of its own stage, for small sizes."""
    for stages, steps in _SIZES:
        options = {"local_steps": steps} if name == "local-sgd" else {}
        lag = pd.versions(pd.get_schedule(name, stages, 2 * stages * steps, **options)).lag
        if lag.any():
            return counted(False, f"{name}: version lag {lag.max()} at S={stages}")
    return counted(True, f"{name}: no read misses an update of its own run, S <= 8, H <= 3")


CLAIM = Claim(
    "C5",
    Group.PAPER,
    "LocalSGD trades staleness for bubbles: no read is stale, and from the second round on it takes more ticks than "
    "PipeDream's 2M + 2S - 2, namely 2M + (2S - 2) ceil(M/(RH))",
    "arXiv 2606.03498",
    lambda: all_of(
        _ticks(2 * M + (2 * S - 2) * sp.ceiling(M / (H * R))),
        _bubbles((rounds - 1) + S >= S + 1),
        _stale("local-sgd"),
    ),
    (
        Control("PipeDream's reads are not stale either", lambda: _stale("pipedream"), "version lag 1 at S=2"),
        Control("LocalSGD takes 2M + 2S - 2 ticks", lambda: _ticks(2 * M + 2 * S - 2)),
        Control("the second round costs two fillings", lambda: _bubbles((rounds - 1) + S >= S + 2)),
    ),
)

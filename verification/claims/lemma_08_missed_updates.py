"""L8: a stale read is off by the updates that it missed."""

import sympy as sp

from pdtheory.derivations.convergence.building import Derivation, Found
from pdtheory.derivations.convergence.randomized_model import (
    BLOCK,
    FIRST,
    ITERATION,
    RPD,
    WINDOW,
    g,
    gamma,
    j,
    k,
    p,
    q,
    r,
    w,
    z,
)  # fmt: skip
from pdtheory.proof.terms import total
from verification.claim import Claim, Group
from verification.proofs import REMAINDER, Statement

_UNDER = ITERATION + BLOCK
_MISSED = total(q(k, r, j) * p(j, r) * g(j, r), j, *WINDOW)


def _build(d: Derivation) -> Found:
    moved = d.assume("update", (*_UNDER, j >= FIRST, j < k), {k: j}, times=q(k, r, j))
    return d.weigh(
        "the read is off by the missed updates",
        _UNDER,
        [(d.assume("read", _UNDER), 1), (d.sum_over(moved, _UNDER, j, WINDOW), 1)],
        w(k, r) - z(k, r) + gamma * _MISSED,
        equality=True,
    )


_L8 = Statement("w_k - z_k = -gamma sum of missed g_j", RPD, _build, w(k, r) - z(k, r) + gamma * _MISSED, True, _UNDER)
_EARLIER = total(q(k, r, j) * p(j, r) * g(j, r), j, FIRST, sp.Max(FIRST, k - 1))
CLAIM = Claim(
    "L8",
    Group.CHAIN,
    "w_k^r - z_k^r = -gamma sum over k - d_r <= j < k of 1[s_j = r] g_j",
    "arXiv 2606.03498, reconstructed",
    _L8.check,
    (
        _L8.off("without the last update of the window", w(k, r) - z(k, r) + gamma * _EARLIER),
        _L8.without("read"),
        _L8.with_hypothesis(
            "updates that go up", "update", REMAINDER, term=w(k + 1, r) - w(k, r) - gamma * p(k, r) * g(k, r)
        ),
    ),
)

"""Theorem 1: randomized PipeDream with S^3 in place of S^4, and both averages at once."""

from pdtheory.derivations.convergence.building import Derivation, Found
from pdtheory.derivations.convergence.randomized import (
    LEMMA_A,
    PAPER,
    stale_read_of_lemma_a,
    stale_read_of_paper,
    theorem,
)
from pdtheory.derivations.convergence.randomized_model import (
    K_,
    RPD,
    S_,
    STAGE,
    UNBIASED,
    D,
    G,
    K,
    L,
    a,
    b,
    gamma,
    k,
    over_blocks,
    r,
)  # fmt: skip
from pdtheory.proof.terms import square, total
from verification.claim import Claim, Group, all_of
from verification.proofs import Statement
from verification.theorems import perturbed, shared
from verification.theorems import theorem as named

_BOTH = total(over_blocks(square(a(k, r))) + over_blocks(square(b(k, r))), k, 0, K) / K_
_REST = 2 * S_ * D / (gamma * K_) + gamma * S_ * L * G**2


def _paper(d: Derivation) -> Found:
    return theorem(d, stale_read_of_paper, PAPER, both=True)


def _sharper(d: Derivation) -> Found:
    return theorem(d, stale_read_of_lemma_a, LEMMA_A, both=True)


_PAPER = Statement("the paper's right side bounds both averages", RPD, _paper, _REST + L**2 * PAPER - _BOTH)
_SHARPER = Statement("Theorem 1 bounds both averages", RPD, _sharper, _REST + L**2 * LEMMA_A - _BOTH)
CLAIMS = (
    Claim(
        "theorem-1",
        Group.SHARPER,
        "randomized PipeDream, any gamma: stale term gamma^2 L^2 G^2 delta (S + delta - 1)/S, of order S^3",
        "this project",
        named("rpd-disjoint-windows").check,
        (
            *shared("rpd-disjoint-windows", STAGE, UNBIASED, "second moment", "missed"),
            perturbed("rpd-disjoint-windows", "stale", 1 / S_, "S^2 in place of S^3"),
        ),
    ),
    Claim(
        "both-averages",
        Group.SHARPER,
        "the same right sides bound the average of E||grad f(w_k)||^2 + E||grad f(z_k)||^2",
        "this project",
        lambda: all_of(_PAPER.check(), _SHARPER.check()),
        (
            _PAPER.off("twice the second average", _PAPER.term - total(over_blocks(square(b(k, r))), k, 0, K) / K_),
            _SHARPER.without("second moment"),
        ),
    ),
)

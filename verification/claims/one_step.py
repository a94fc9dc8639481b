"""The one-step inequality as one combination of hypotheses, with its multipliers."""

from pdtheory.derivations.convergence.building import Derivation, Found
from pdtheory.derivations.convergence.randomized_model import (
    BLOCK,
    ITERATION,
    RPD,
    S_,
    STAGE,
    UNBIASED,
    G,
    L,
    S,
    a,
    b,
    f,
    g,
    gamma,
    k,
    movement,
    over_blocks,
    p,
    r,
    w,
    z,
)
from pdtheory.proof.inequality_steps import Weigh
from pdtheory.proof.terms import dot, square
from verification.claim import Claim, Finding, Group
from verification.proofs import Statement

_UNDER = ITERATION + BLOCK
_TERM = (
    2 * S_ / gamma * (f(k) - f(k + 1))
    - over_blocks(square(a(k, r)))
    - over_blocks(square(b(k, r)))
    + L**2 * over_blocks(square(w(k, r) - z(k, r)))
    + S_ * gamma * L * G**2
)


def _build(d: Derivation) -> Found:
    """Add every hypothesis, and then one combination of them."""
    drawn = gamma * p(k, r) * g(k, r)

    def blocks(of: Found) -> Found:
        return d.sum_over(of, ITERATION, r, (0, S))

    moment = d.assume("second moment", _UNDER, times=p(k, r))
    return d.weigh(
        "one step",
        ITERATION,
        [
            (d.assume("smooth", ITERATION), 2 * S_ / gamma),
            (d.assume("Lipschitz", ITERATION), 1),
            (blocks(d.assume("update", _UNDER, times=a(k, r))), -2 * S_ / gamma),
            (blocks(d.assume("update", _UNDER, times=movement() - drawn)), -S_ * L / gamma),
            (blocks(d.assume("indicator", _UNDER, times=square(g(k, r)))), -S_ * L * gamma),
            (blocks(d.assume(UNBIASED, _UNDER, times=p(k, r) * a(k, r))), 2 * S_),
            (blocks(d.assume(STAGE, _UNDER, times=dot(a(k, r), b(k, r)))), 2 * S_),
            (blocks(moment), S_ * gamma * L),
            (blocks(d.assume(STAGE, _UNDER)), -S_ * gamma * L * G**2),
            (d.count(ITERATION, r, (0, S)), -gamma * L * G**2),
        ],
        _TERM,
    )


_ONE = Statement("one step", RPD, _build, _TERM, under=ITERATION)


def _check() -> Finding:
    found = _ONE.check()
    last = _ONE.proof.steps[-1]
    assert isinstance(last, Weigh)
    multipliers = tuple(f"multiplier of {name!r}: {value}" for name, value in last.multipliers.items())
    return Finding(found.verdict, (*found.evidence, *multipliers), found.hypotheses, found.proofs)


CLAIM = Claim(
    "one-step",
    Group.CHAIN,
    "2S/gamma E[f_k - f_{k+1}] >= E||grad f(w_k)||^2 + E||grad f(z_k)||^2 - L^2 E||w_k - z_k||^2 - gamma S L G^2: "
    "one combination of the hypotheses, remainder 0",
    "arXiv 2606.03498, reconstructed",
    _check,
    (
        _ONE.off("with L^2/2 in place of L^2", _TERM - L**2 / 2 * over_blocks(square(w(k, r) - z(k, r)))),
        _ONE.off("with twice ||grad f(z)||^2", _TERM - over_blocks(square(b(k, r)))),
        _ONE.without(STAGE),
        _ONE.without(UNBIASED),
        _ONE.with_family("w_k is known only after the stage is drawn", "a", known=(3 * k + 1,)),
    ),
)

"""L6: the gradient at a stale model is off by at most L times the distance of the models."""

from pdtheory.derivations.convergence.building import Derivation, Found
from pdtheory.derivations.convergence.randomized_model import ITERATION, RPD, L, a, b, k, over_blocks, r, w, z
from pdtheory.proof.terms import ONE, square
from verification.claim import Claim, Group
from verification.proofs import Statement

_APART, _DISTANCE = over_blocks(square(a(k, r) - b(k, r))), over_blocks(square(w(k, r) - z(k, r)))


def _build(d: Derivation) -> Found:
    return d.weigh("L-smooth", ITERATION, [(d.assume("Lipschitz", ITERATION), ONE)], L**2 * _DISTANCE - _APART)


_L6 = Statement("|grad f(w) - grad f(z)|^2 <= L^2 |w - z|^2", RPD, _build, L**2 * _DISTANCE - _APART, under=ITERATION)
CLAIM = Claim(
    "L6",
    Group.CHAIN,
    "|grad f(w) - grad f(z)|^2 <= L^2 |w - z|^2; it is what L-smooth means, and enters as a hypothesis",
    "the definition of L-smooth",
    _L6.check,
    (_L6.off("with L in place of L^2", L * _DISTANCE - _APART), _L6.without("Lipschitz")),
)

"""L5: an inner product as squared norms."""

from pdtheory.derivations.convergence.building import Derivation, Found
from pdtheory.proof.model import Family, Hypothesis, Model, Timing
from pdtheory.proof.terms import ONE, dot, square, vectors
from verification.claim import Claim, Group
from verification.proofs import REMAINDER, Statement

a, b, d_ = vectors("a")(), vectors("b")(), vectors("d")()
_MODEL = Model(
    "two vectors and their difference",
    (),
    (),
    tuple(
        Family(name, words, (), True, Timing.FIXED)
        for name, words in (("a", "any"), ("b", "any"), ("d", "their difference"))
    ),
    (Hypothesis("difference", "d = a - b", (), (), d_ - a + b, equality=True),),
)
_TERM = -square(a) / 2 - square(b) / 2 + square(d_) / 2 + dot(a, b)


def _build(d: Derivation) -> Found:
    apart = d.assume("difference", (), times=d_ + a - b)
    return d.weigh("polarization", (), [(apart, ONE / 2)], _TERM, equality=True)


_L5 = Statement("-<a, b> = -|a|^2/2 - |b|^2/2 + |a - b|^2/2", _MODEL, _build, _TERM, True)
CLAIM = Claim(
    "L5",
    Group.CHAIN,
    "-<a, b> = -|a|^2/2 - |b|^2/2 + |a - b|^2/2",
    "textbook; polarization",
    _L5.check,
    (
        _L5.off("with |a - b|^2 in place of its half", _TERM + square(d_) / 2),
        _L5.with_hypothesis("d = a + b", "difference", REMAINDER, term=d_ - a - b),
    ),
)

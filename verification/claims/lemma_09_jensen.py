"""L9: the exact certificate of Jensen's inequality, for any number of vectors."""

from pdtheory.derivations.convergence.building import Derivation, Found
from pdtheory.proof.model import Family, Model, Parameter, Sign, Timing
from pdtheory.proof.terms import integer, parameter, square, total, vectors
from verification.claim import Claim, Group, all_of
from verification.proofs import Statement

n, i, j = map(integer, "nij")
n_, v = parameter("n"), vectors("v")
_MODEL = Model(
    "n vectors",
    (Parameter("n", "number of vectors", Sign.NONNEGATIVE, integer=True),),
    (),
    (Family("v", "a vector", (i,), True, Timing.UNSAID),),
    (),
)
_NORMS, _NORM = total(square(v(i)), i, 0, n), square(total(v(i), i, 0, n))
_APART = total(total(square(v(i) - v(j)), j, 0, n), i, 0, n) / 2


def _inequality(d: Derivation) -> Found:
    return d.jensen((), v, (i, j), (0, n))


def _equality(d: Derivation) -> Found:
    count = d.count((), i, (0, n))
    return d.weigh("Lagrange's identity", (), [(count, -_NORMS)], n_ * _NORMS - _NORM - _APART, equality=True)


_FIRST = Statement("Jensen", _MODEL, _inequality, n_ * _NORMS - _NORM)
_SECOND = Statement("Lagrange", _MODEL, _equality, n_ * _NORMS - _NORM - _APART, True)
CLAIM = Claim(
    "L9",
    Group.CHAIN,
    "n sum |v_i|^2 - |sum v_i|^2 = sum over i < j of |v_i - v_j|^2 >= 0, for every n",
    "textbook; Lagrange's identity",
    lambda: all_of(_SECOND.check(), _FIRST.check()),
    (
        _FIRST.off("(n - 1) sum |v_i|^2 >= |sum v_i|^2", (n_ - 1) * _NORMS - _NORM),
        _SECOND.off("without the half", n_ * _NORMS - _NORM - 2 * _APART),
    ),
)

"""L12: from the decrease in one iteration to the average over all."""

from pdtheory.derivations.convergence.building import Derivation, Found, inside
from pdtheory.proof.model import Family, Hypothesis, Model, Parameter, Sign, Timing
from pdtheory.proof.terms import integer, parameter, scalars, total
from verification.claim import Claim, Group
from verification.proofs import Statement

k, K = integer("k"), integer("K")
S_, K_, gamma, D, B = map(parameter, ("S", "K", "gamma", "D", "B"))
f, A = scalars("f"), scalars("A")
_ITERATION = inside(k, (0, K))
_MODEL = Model(
    "decreases of K iterations",
    (
        Parameter("K", "number of block updates", Sign.POSITIVE, integer=True),
        Parameter("S", "number of stages", Sign.POSITIVE, integer=True),
        Parameter("gamma", "step size", Sign.POSITIVE),
        Parameter("D", "f(w_0) - f*", Sign.NONNEGATIVE),
        Parameter("B", "what noise and staleness cost", Sign.ANY),
    ),
    (),
    (
        Family("f", "f(w_k)", (k,), False, Timing.UNSAID),
        Family("A", "||grad f(w_k)||^2", (k,), False, Timing.UNSAID),
    ),
    (
        Hypothesis(
            "one step",
            "f falls by gamma/(2S) (||grad f(w_k)||^2 - B) in iteration k",
            (k,),
            _ITERATION,
            f(k) - f(k + 1) - gamma / (2 * S_) * (A(k) - B),
        ),
        Hypothesis("all falls", "f falls by at most D in all (L11)", (), (), D - total(f(k) - f(k + 1), k, 0, K)),
    ),
)
_TERM = 2 * S_ * D / (gamma * K_) + B - total(A(k), k, 0, K) / K_


def _build(d: Derivation) -> Found:
    weight = 2 * S_ / (gamma * K_)
    steps = d.sum_over(d.assume("one step", _ITERATION), (), k, (0, K))
    parts = [(steps, weight), (d.assume("all falls", ()), weight), (d.count((), k, (0, K)), -B / K_)]
    return d.weigh("times 2 S/(gamma K)", (), parts, _TERM)


_L12 = Statement("the average", _MODEL, _build, _TERM)
CLAIM = Claim(
    "L12",
    Group.CHAIN,
    "times 2S/(gamma K): the average of ||grad f(w_k)||^2 is at most 2SD/(gamma K) + what noise and staleness cost",
    "arXiv 2606.03498, reconstructed",
    _L12.check,
    (
        _L12.off("S D/(gamma K) in place of 2SD/(gamma K)", _TERM - S_ * D / (gamma * K_)),
        _L12.without("all falls"),
    ),
)

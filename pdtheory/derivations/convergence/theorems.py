"""The convergence theorems by name: model, derivation, and the named terms of the bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pdtheory.derivations.convergence import aligned, local_sgd, randomized, randomized_variance
from pdtheory.derivations.convergence import randomized_model as rm
from pdtheory.derivations.convergence.building import Derivation, Found
from pdtheory.proof import Proof
from pdtheory.proof.model import Model
from pdtheory.proof.steps import Estimate
from pdtheory.proof.terms import Term, square, total


@dataclass(frozen=True)
class Theorem:
    """A bound on an average of squared gradient norms.

    Attributes
    ----------
    terms : mapping of str to Term
        The right side: optimization, noise and stale.
    average : Term
        The left side.
    bounded : str
        The left side in words.
    """

    name: str
    title: str
    source: str
    model: Model
    build: Callable[[Derivation], Found]
    terms: Mapping[str, Term]
    average: Term
    bounded: str

    def proof(self) -> Proof:
        """Return the proof; that it shows this theorem is for `shows` to say."""
        derivation = Derivation(self.model)
        self.build(derivation)
        return derivation.proof(self.title)

    def shows(self, conclusion: object) -> bool:
        """Say that a conclusion is: right side less left side is nonnegative, on no condition but the model's."""
        right = sum(self.terms.values(), start=-self.average)
        return (
            isinstance(conclusion, Estimate)
            and conclusion.model == self.model
            and conclusion.hypotheses == self.model.integer_constraints
            and conclusion.term == right
        )


_ITERATES = total(rm.over_blocks(square(rm.a(rm.k, rm.r))), rm.k, 0, rm.K) / rm.K_
_RPD_NOISE = rm.S_ * rm.gamma * rm.L
_RPD_FALL = 2 * rm.S_ * rm.D / (rm.gamma * rm.K_)
_MODELS = total(aligned.over_blocks(square(aligned.a(aligned.m, aligned.r))), aligned.m, 0, aligned.M) / aligned.M_
_STEPS = total(
    total(square(local_sgd.a(local_sgd.c, local_sgd.h)), local_sgd.h, 0, local_sgd.H),
    local_sgd.c,
    0,
    local_sgd.C,
) / (local_sgd.C_ * local_sgd.H_)
_QUADRATIC = rm.gamma**2 * rm.L**2
_LOCAL_FALL = 2 * rm.D / (rm.gamma * local_sgd.C_ * local_sgd.H_)
_LOCAL_NOISE = rm.gamma * rm.L * rm.S_ * rm.sigma**2 / local_sgd.N_

_OF_W = "average of E||grad f(w_k)||^2 over K block updates"
_OF_X = "average of E||grad f(x_m)||^2 over M microbatches, x_m after m updates of every stage"
_OF_LOCAL = "average of E||grad f||^2 at the workers' average over T steps"

THEOREMS: dict[str, Theorem] = {
    theorem.name: theorem
    for theorem in (
        Theorem(
            "rpd-paper",
            "randomized PipeDream, the paper's theorem",
            "arXiv 2606.03498, reconstructed",
            rm.RPD,
            randomized.theorem_of_paper,
            {"optimization": _RPD_FALL, "noise": _RPD_NOISE * rm.G**2, "stale": rm.L**2 * randomized.PAPER},
            _ITERATES,
            _OF_W,
        ),
        Theorem(
            "rpd-disjoint-windows",
            "randomized PipeDream, every update moves one block only (Theorem 1)",
            "this project",
            rm.RPD,
            randomized.theorem_1,
            {"optimization": _RPD_FALL, "noise": _RPD_NOISE * rm.G**2, "stale": rm.L**2 * randomized.LEMMA_A},
            _ITERATES,
            _OF_W,
        ),
        Theorem(
            "pipedream-aligned",
            "PipeDream with weight stashing, bounded second moments (Theorem 2)",
            "this project",
            aligned.PIPEDREAM,
            aligned.theorem_2,
            {
                "optimization": 2 * rm.D / (rm.gamma * aligned.M_),
                "noise": _RPD_NOISE * rm.G**2,
                "stale": _QUADRATIC * rm.G**2 * aligned.sum_of_squares(rm.S_),
            },
            _MODELS,
            _OF_X,
        ),
        Theorem(
            "pipedream-variance",
            "PipeDream with weight stashing, bounded variance (Theorem 3)",
            "this project",
            aligned.PIPEDREAM_VARIANCE,
            aligned.theorem_3,
            {
                "optimization": 2 * rm.D / (rm.gamma * aligned.M_),
                "noise": _RPD_NOISE * rm.sigma**2,
                "stale": _QUADRATIC * rm.sigma**2 * rm.S_ * (rm.S_ - 1),
            },
            _MODELS,
            _OF_X,
        ),
        Theorem(
            "rpd-variance",
            "randomized PipeDream, bounded variance, delays independent of the draws (Theorem 4)",
            "this project",
            rm.RPD_VARIANCE,
            randomized_variance.theorem_4,
            {
                "optimization": _RPD_FALL,
                "noise": _RPD_NOISE * rm.sigma**2,
                "stale": 2 * _QUADRATIC * rm.delta_ * rm.sigma**2,
            },
            _ITERATES,
            _OF_W,
        ),
        Theorem(
            "local-sgd",
            "LocalSGD, bounded second moments",
            "this project; the form of Yu, Yang and Zhu 2019",
            local_sgd.LOCAL_SGD,
            local_sgd.local_sgd_bounded,
            {
                "optimization": _LOCAL_FALL,
                "noise": _LOCAL_NOISE,
                "stale": _QUADRATIC * rm.S_ * rm.G**2 * (local_sgd.H_ - 1) * (2 * local_sgd.H_ - 1) / 6,
            },
            _STEPS,
            _OF_LOCAL,
        ),
        Theorem(
            "local-sgd-variance",
            "LocalSGD, bounded variance",
            "this project; the form of Koloskova et al. 2020",
            local_sgd.LOCAL_SGD_VARIANCE,
            local_sgd.local_sgd_variance,
            {
                "optimization": _LOCAL_FALL,
                "noise": _LOCAL_NOISE,
                "stale": _QUADRATIC * rm.S_ * rm.sigma**2 * (local_sgd.H_ - 1) * (local_sgd.N_ - 1) / local_sgd.N_,
            },
            _STEPS,
            _OF_LOCAL,
        ),
    )
}

"""LocalSGD in the pipeline: R runs share it, and are averaged after H local steps each."""

from __future__ import annotations

import numpy as np

from pdtheory.catalog import _greedy
from pdtheory.catalog.registry import system
from pdtheory.schedule import IntArray, Schedule, WeightPolicy


@system(
    "local-sgd",
    "num_runs (R) independent runs share the pipeline, averaged after local_steps (H) steps of each",
    "arXiv 2606.03498",
)
def local_sgd(num_stages: int, num_microbatches: int, num_runs: int | None = None, local_steps: int = 1) -> Schedule:
    """Return the schedule; R is num_stages by default.

    Microbatch m belongs to run m mod R. On every stage a run's forward waits for its backward before it.
    After R H microbatches all stages wait until the first stage has finished the round.
    """
    runs = num_stages if num_runs is None else num_runs
    # A round longer than the run is the run.
    per_round = min(runs * local_steps, num_microbatches)

    def may_forward(forwards: IntArray, backwards: IntArray) -> IntArray:
        permitted: IntArray = (forwards < backwards + runs) & (forwards < (backwards[0] // per_round + 1) * per_round)
        return permitted

    offsets, stage, kind, microbatch = _greedy.play(num_stages, num_microbatches, may_forward, cycle=per_round)
    return Schedule(
        "local-sgd",
        num_stages,
        num_microbatches,
        offsets,
        stage,
        kind,
        microbatch,
        weights=WeightPolicy(num_copies=runs),
        barriers=_barriers(offsets, kind, microbatch, per_round),
    )


def _barriers(offsets: IntArray, kind: IntArray, microbatch: IntArray, per_round: int) -> IntArray:
    """Return the waits of every stage's first forward of a round for the first stage's end of the last one."""
    first_of_round = np.flatnonzero((kind == 0) & (microbatch % per_round == 0) & (microbatch > 0))
    first_stage = slice(0, int(offsets[1]))
    ends = np.flatnonzero((kind[first_stage] == 1) & (microbatch[first_stage] % per_round == per_round - 1))
    return np.stack([ends[microbatch[first_of_round] // per_round - 1], first_of_round], axis=1)

"""Naive model parallelism: one microbatch in the pipeline at a time."""

from __future__ import annotations

import numpy as np

from pdtheory.catalog._orders import warmup_then_alternate
from pdtheory.catalog.registry import system
from pdtheory.schedule import Schedule


@system("naive", "one microbatch at a time: greedy 1F1B with NOAM = 1", "arXiv 2606.03498, figure 1")
def naive(num_stages: int, num_microbatches: int) -> Schedule:
    """Return the schedule; on every stage F and B of one microbatch before the next."""
    # The first stage may start the next microbatch only when the last one has come back.
    order = warmup_then_alternate(num_microbatches, np.zeros(num_stages, dtype=np.int64))
    return Schedule("naive", num_stages, num_microbatches, *order)

"""GPipe: all forwards of a batch, then all its backwards, then one update."""

from __future__ import annotations

import numpy as np

from pdtheory.catalog._orders import warmup_then_alternate
from pdtheory.catalog.registry import system
from pdtheory.schedule import Schedule, WeightPolicy


@system("gpipe", "all forwards, then all backwards, then a flush and one update", "arXiv 1811.06965")
def gpipe(num_stages: int, num_microbatches: int) -> Schedule:
    """Return the schedule of one batch of num_microbatches."""
    warmup = np.full(num_stages, num_microbatches)
    return Schedule(
        "gpipe",
        num_stages,
        num_microbatches,
        *warmup_then_alternate(num_microbatches, warmup),
        weights=WeightPolicy(microbatches_per_update=None),
    )

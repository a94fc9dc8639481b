"""1F1B with a flush (DAPPLE, PipeDream-Flush): few activations, one update per batch."""

from __future__ import annotations

import numpy as np

from pdtheory.catalog._orders import warmup_then_alternate
from pdtheory.catalog.registry import system
from pdtheory.schedule import Schedule, WeightPolicy


@system(
    "1f1b",
    "S-1-s warm-up forwards, F and B in turn, then a flush and one update",
    "arXiv 2006.09503, 2007.01045",
)
def one_f_one_b(num_stages: int, num_microbatches: int) -> Schedule:
    """Return the schedule of one batch of num_microbatches."""
    warmup = np.minimum(num_stages - 1 - np.arange(num_stages), num_microbatches)
    return Schedule(
        "1f1b",
        num_stages,
        num_microbatches,
        *warmup_then_alternate(num_microbatches, warmup),
        weights=WeightPolicy(microbatches_per_update=None),
    )

"""PipeDream with the strict start-up: S-1-s forwards on stage s, then F and B in turn, no flush."""

from __future__ import annotations

import numpy as np

from pdtheory.catalog._orders import warmup_then_alternate
from pdtheory.catalog.registry import system
from pdtheory.schedule import Schedule


@system(
    "pipedream-strict",
    "1F1B without a flush, S-1-s warm-up forwards on stage s, weight stashing",
    "arXiv 1806.03377, SOSP 2019",
)
def pipedream_strict(num_stages: int, num_microbatches: int) -> Schedule:
    """Return the strict schedule; the last stage alternates from the start."""
    warmup = np.minimum(num_stages - 1 - np.arange(num_stages), num_microbatches)
    return Schedule("pipedream-strict", num_stages, num_microbatches, *warmup_then_alternate(num_microbatches, warmup))

"""PipeDream as the paper models it: greedy 1F1B with NOAM microbatches in flight, no flush."""

from __future__ import annotations

import numpy as np

from pdtheory.catalog import _greedy
from pdtheory.catalog.registry import system
from pdtheory.schedule import IntArray, Schedule


@system(
    "pipedream",
    "greedy 1F1B without a flush, at most num_in_flight (NOAM) microbatches in flight, weight stashing",
    "arXiv 1806.03377; time model of arXiv 2606.03498",
)
def pipedream(num_stages: int, num_microbatches: int, num_in_flight: int | None = None) -> Schedule:
    """Return the greedy schedule; NOAM is num_stages by default.

    In flight counts, at the first stage, forwards started whose backward has not ended.
    """
    in_flight = num_stages if num_in_flight is None else num_in_flight

    def may_forward(forwards: IntArray, backwards: IntArray) -> IntArray:
        permitted = np.ones(num_stages, dtype=bool)
        permitted[0] = forwards[0] - backwards[0] < in_flight
        return permitted

    return Schedule("pipedream", num_stages, num_microbatches, *_greedy.play(num_stages, num_microbatches, may_forward))

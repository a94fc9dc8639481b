"""Orders of ops that are the same array operation on every stage."""

from __future__ import annotations

import numpy as np

from pdtheory.schedule import IntArray, Kind, OrderArrays


def warmup_then_alternate(num_microbatches: int, warmup: IntArray) -> OrderArrays:
    """Return the order: on stage s ``warmup[s]`` forwards, then F and B in turn, then the remaining B.

    Parameters
    ----------
    num_microbatches : int
    warmup : ndarray of int, shape (num_stages,)
        At most num_microbatches each.

    Returns
    -------
    offsets, stage, kind, microbatch : ndarray
        As in `Schedule`, a worker per stage.
    """
    num_stages, count = len(warmup), num_microbatches
    microbatch = np.arange(count)
    warmup = warmup[:, None]
    # F of microbatch m stands behind m forwards and the backwards made since the warm-up; B likewise.
    forward_place = microbatch + np.maximum(0, microbatch - warmup)
    backward_place = microbatch + np.minimum(count, microbatch + warmup + 1)
    kind = np.empty((num_stages, 2 * count), dtype=np.int8)
    of = np.empty((num_stages, 2 * count), dtype=np.int32)
    stages = np.arange(num_stages)[:, None]
    for place, letter in ((forward_place, Kind.F), (backward_place, Kind.B)):
        kind[stages, place] = int(letter)
        of[stages, place] = microbatch
    offsets = np.arange(num_stages + 1, dtype=np.int64) * (2 * count)
    stage = np.repeat(np.arange(num_stages, dtype=np.int32), 2 * count)
    return offsets, stage, kind.ravel(), of.ravel()

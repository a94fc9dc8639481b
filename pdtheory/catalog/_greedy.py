"""The paper's greedy 1F1B rule, played tick by tick."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pdtheory.schedule import IntArray, Kind

MayForward = Callable[[IntArray, IntArray], IntArray]


def play(num_stages: int, num_microbatches: int, may_forward: MayForward) -> tuple[IntArray, ...]:
    """Return the order of ops that greedy 1F1B makes, one tick per op.

    In every tick each stage runs a backward when one is ready and either it has run none yet, or its last
    op was a forward, or no forward is ready; otherwise a forward if one is ready. What happens in a tick
    is seen by other stages in the next.

    Parameters
    ----------
    num_stages, num_microbatches : int
    may_forward : callable
        Called with the forwards and the backwards that each stage has done; says per stage whether the
        next forward is permitted beyond having its input.

    Returns
    -------
    offsets, stage, kind, microbatch : ndarray
        As in `Schedule`, a worker per stage.
    """
    forwards = np.zeros(num_stages, dtype=np.int64)
    backwards = np.zeros(num_stages, dtype=np.int64)
    last_was_forward = np.zeros(num_stages, dtype=bool)
    arrived = np.empty(num_stages, dtype=np.int64)
    returned = np.empty(num_stages, dtype=np.int64)
    arrived[0] = num_microbatches
    chosen_stage: list[IntArray] = []
    chosen_kind: list[IntArray] = []
    while backwards[0] < num_microbatches:
        arrived[1:] = forwards[:-1]
        returned[-1] = forwards[-1]
        returned[:-1] = backwards[1:]
        forward_ready = (forwards < arrived) & may_forward(forwards, backwards)
        backward_ready = backwards < returned
        run_backward = backward_ready & ((backwards == 0) | last_was_forward | ~forward_ready)
        run_forward = forward_ready & ~run_backward
        active = np.flatnonzero(run_backward | run_forward)
        if not active.size:
            raise AssertionError("greedy 1F1B stopped before its end")
        chosen_stage.append(active.astype(np.int32))
        chosen_kind.append(run_backward[active])
        backwards += run_backward
        forwards += run_forward
        last_was_forward = np.where(run_backward | run_forward, run_forward, last_was_forward)
    stage = np.concatenate(chosen_stage)
    is_backward = np.concatenate(chosen_kind)
    by_stage = np.argsort(stage, kind="stable")
    stage, is_backward = stage[by_stage], is_backward[by_stage]
    # Each stage takes its forwards, and its backwards, in the order of microbatches.
    per_stage = is_backward.reshape(num_stages, 2 * num_microbatches)
    done_backwards = np.cumsum(per_stage, axis=1)
    done_forwards = np.cumsum(~per_stage, axis=1)
    microbatch = np.where(per_stage, done_backwards, done_forwards).ravel() - 1
    kind = np.where(is_backward, int(Kind.B), int(Kind.F)).astype(np.int8)
    offsets = np.arange(num_stages + 1, dtype=np.int64) * (2 * num_microbatches)
    return offsets, stage, kind, microbatch.astype(np.int32)

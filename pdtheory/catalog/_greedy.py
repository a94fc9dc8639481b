"""The paper's greedy 1F1B rule, played tick by tick."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pdtheory.schedule import IntArray, Kind, OrderArrays

MayForward = Callable[[IntArray, IntArray], IntArray]


@dataclass
class _State:
    """What every stage has done: forwards, backwards, and whether its last op was a forward."""

    forwards: IntArray
    backwards: IntArray
    last_was_forward: IntArray

    def relative(self, cycle: int) -> bytes:
        """Return the state up to a shift of all microbatches by a multiple of `cycle`."""
        base = self.backwards[0]
        parts = (self.forwards - base, self.backwards - base, self.last_was_forward, np.array(base % cycle))
        return b"".join(part.tobytes() for part in parts)


def play(num_stages: int, num_microbatches: int, may_forward: MayForward, *, cycle: int = 1) -> OrderArrays:
    """Return the order of ops that greedy 1F1B makes, one tick per op.

    In every tick each stage runs a backward when one is ready and either it has run none yet, or its last
    op was a forward, or no forward is ready; otherwise a forward if one is ready. What happens in a tick
    is seen by other stages in the next. Where the state of all stages recurs, up to a shift of the
    microbatches, the ticks between are repeated instead of played again.

    Parameters
    ----------
    num_stages, num_microbatches : int
    may_forward : callable
        Called with the forwards and the backwards that each stage has done; says per stage whether the
        next forward is permitted beyond having its input.
    cycle : int
        Shifting all counts by this many microbatches does not change what `may_forward` says.

    Returns
    -------
    offsets, stage, kind, microbatch : ndarray
        As in `Schedule`, a worker per stage.
    """
    state = _State(
        np.zeros(num_stages, dtype=np.int64),
        np.zeros(num_stages, dtype=np.int64),
        np.zeros(num_stages, dtype=bool),
    )
    played: list[IntArray] = []
    seen: dict[bytes, tuple[int, int]] = {}
    counted = 0
    while state.backwards[0] < num_microbatches:
        played.append(_tick(state, num_microbatches, may_forward))
        done = int(state.backwards[0])
        if done in (counted, num_microbatches):
            continue
        counted = done
        before = seen.setdefault(key := state.relative(cycle), (len(played), done))
        if before[1] < done:
            period = done - before[1]
            # As long as the first stage has a microbatch left in every repeated tick, nothing can differ.
            times = (num_microbatches - 1 - int(state.forwards[0])) // period
            if times > 0:
                played.append(np.tile(np.concatenate(played[before[0] :]), times))
                state.forwards += times * period
                state.backwards += times * period
                counted += times * period
            seen.pop(key)
    return _orders(np.concatenate(played), num_stages, num_microbatches)


def _tick(state: _State, num_microbatches: int, may_forward: MayForward) -> IntArray:
    """Play one tick; return what ran, as 2 * stage for a forward and 2 * stage + 1 for a backward."""
    forwards, backwards = state.forwards, state.backwards
    forward_ready = may_forward(forwards, backwards)
    forward_ready[1:] &= forwards[1:] < forwards[:-1]
    forward_ready[0] &= forwards[0] < num_microbatches
    backward_ready = np.empty(len(forwards), dtype=bool)
    backward_ready[:-1] = backwards[:-1] < backwards[1:]
    backward_ready[-1] = backwards[-1] < forwards[-1]
    run_backward = backward_ready & ((backwards == 0) | state.last_was_forward | ~forward_ready)
    run_forward = forward_ready & ~run_backward
    active = np.flatnonzero(run_backward | run_forward)
    if not active.size:
        raise AssertionError("greedy 1F1B stopped before its end")
    backwards += run_backward
    forwards += run_forward
    state.last_was_forward[active] = run_forward[active]
    ran: IntArray = 2 * active + run_backward[active]
    return ran


def _orders(ran: IntArray, num_stages: int, num_microbatches: int) -> OrderArrays:
    """Return the played ticks as the arrays of a schedule."""
    stage, is_backward = ran >> 1, (ran & 1).astype(bool)
    by_stage = np.argsort(stage, kind="stable")
    stage, is_backward = stage[by_stage].astype(np.int32), is_backward[by_stage]
    # Each stage takes its forwards, and its backwards, in the order of microbatches.
    per_stage = is_backward.reshape(num_stages, 2 * num_microbatches)
    done_backwards = np.cumsum(per_stage, axis=1)
    done_forwards = np.cumsum(~per_stage, axis=1)
    microbatch = np.where(per_stage, done_backwards, done_forwards).ravel() - 1
    kind = np.where(is_backward, int(Kind.B), int(Kind.F)).astype(np.int8)
    offsets = np.arange(num_stages + 1, dtype=np.int64) * (2 * num_microbatches)
    return offsets, stage, kind, microbatch.astype(np.int32)

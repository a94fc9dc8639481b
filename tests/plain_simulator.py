"""The oracle of the figure 3 benchmark and of the fast engines: plain Python, one op after another.

It shares no code with the package: ticks, the greedy rule, reads and updates are written out again.
"""

from __future__ import annotations


def simulate(
    num_stages: int, num_microbatches: int, num_in_flight: int
) -> tuple[list[list[tuple[str, int, int]]], list]:
    """Play greedy 1F1B; return per stage (kind, microbatch, tick), and per update its stage, microbatch, delays.

    Within a tick stages are served in ascending order, and a read sees the updates of lower stages.
    """
    order: list[list[tuple[str, int, int]]] = [[] for _ in range(num_stages)]
    forwards = [0] * num_stages
    backwards = [0] * num_stages
    last = [""] * num_stages
    read: list[list[int]] = [[0] * num_stages for _ in range(num_microbatches)]
    updates: list[tuple[int, int, list[int]]] = []
    tick = 0
    while backwards[0] < num_microbatches:
        forwards_before, backwards_before = forwards[:], backwards[:]
        for stage in range(num_stages):
            if stage == 0:
                forward_ready = forwards[0] < num_microbatches and forwards[0] - backwards[0] < num_in_flight
            else:
                forward_ready = forwards[stage] < forwards_before[stage - 1]
            if stage == num_stages - 1:
                backward_ready = backwards[stage] < forwards_before[stage]
            else:
                backward_ready = backwards[stage] < backwards_before[stage + 1]
            if backward_ready and (backwards[stage] == 0 or last[stage] == "F" or not forward_ready):
                microbatch = backwards[stage]
                updates.append((stage, microbatch, [len(updates) - seen for seen in read[microbatch]]))
                order[stage].append(("B", microbatch, tick))
                backwards[stage] += 1
                last[stage] = "B"
            elif forward_ready:
                microbatch = forwards[stage]
                read[microbatch][stage] = len(updates)
                order[stage].append(("F", microbatch, tick))
                forwards[stage] += 1
                last[stage] = "F"
        tick += 1
    return order, updates


def second_half_statistics(num_stages: int, num_microbatches: int) -> tuple[float, int]:
    """Return mean and largest delay over the second half of the updates and all read stages."""
    _, updates = simulate(num_stages, num_microbatches, num_stages)
    kept = [delay for _, _, delays in updates[len(updates) // 2 :] for delay in delays]
    return sum(kept) / len(kept), max(kept)

"""Figure 2: the path of one microbatch through the steady state, for an even and an odd S."""

from __future__ import annotations

import numpy as np

from paper_artifacts.artifact import Artifact, Progress, Result
from pdtheory.catalog import get_schedule
from pdtheory.delays import block_delays
from pdtheory.figures import draw_timeline, new_figure
from pdtheory.tables import Table
from pdtheory.timeline import Timeline, run

SIZES = (4, 5)


def updates_per_tick(timeline: Timeline, microbatch: int) -> list[int]:
    """Return how many updates each tick holds, from the microbatch's first read to its last update."""
    schedule = timeline.schedule
    first = int(timeline.starts[schedule.forward[0, microbatch]])
    last = int(timeline.starts[schedule.backward[0, microbatch]])
    ticks = timeline.starts[schedule.backward].ravel()
    counts: list[int] = np.bincount(ticks, minlength=last + 1)[first : last + 1].tolist()
    return counts


def build(quick: bool, progress: Progress) -> Result:
    """Return the figure, and the count of updates tick by tick."""
    figure = new_figure(8.0, 4.8)
    axes = figure.subplots(len(SIZES), 1, height_ratios=SIZES)
    rows = []
    for axis, stages in zip(axes, SIZES, strict=True):
        microbatch = 2 * stages
        timeline = run(get_schedule("pipedream", stages, 5 * stages))
        schedule = timeline.schedule
        first = int(timeline.starts[schedule.forward[0, microbatch]])
        last = int(timeline.starts[schedule.backward[0, microbatch]])
        largest = int(block_delays(timeline).of(microbatch)[0, 0])
        draw_timeline(axis, timeline, highlight=microbatch)
        axis.set_xlim(first - 1, last + 2)
        axis.axvspan(first, last + 1, color="black", alpha=0.06, zorder=0)
        counts = updates_per_tick(timeline, microbatch)
        for offset, count in enumerate(counts):
            axis.text(first + offset + 0.5, -0.62, str(count), ha="center", va="bottom", fontsize=6, color="#555555")
        axis.set_title(
            f"S = {stages}: F to B of the first stage are {last - first} ticks apart; updates per tick above; "
            f"block delay {largest}",
            fontsize=8,
            loc="left",
            pad=12,
        )
        for offset, count in enumerate(counts):
            rows.append((stages, microbatch, first + offset, offset, count))
    axes[-1].set_xlabel("tick")
    return Result(
        data={"microbatch_path": Table("updates per tick", ("S", "microbatch", "tick", "offset", "updates"), rows)},
        figures={"microbatch_path": figure},
    )


ARTIFACT = Artifact("microbatch_path", "figure 2: the path of one microbatch, S = 4 and 5", build)

"""Figure 1: schedules at S = 4."""

from __future__ import annotations

from paper_artifacts.artifact import Artifact, Progress, Result
from pdtheory.catalog import get_schedule
from pdtheory.figures import timeline_figure
from pdtheory.tables import Table
from pdtheory.timeline import run

STAGES, MICROBATCHES = 4, 12
# The naive run is twice as long as this, with nothing new in it.
SHOWN_UNTIL = 48.0
SHOWN: tuple[tuple[str, str, dict[str, int]], ...] = (
    ("naive (NOAM = 1)", "naive", {}),
    ("PipeDream-style 1F1B (NOAM = 4)", "pipedream", {}),
    ("LocalSGD, R = 4, H = 1", "local-sgd", {"local_steps": 1}),
    ("LocalSGD, R = 4, H = 2", "local-sgd", {"local_steps": 2}),
    ("LocalSGD, R = 4, H = 3", "local-sgd", {"local_steps": 3}),
)


def build(quick: bool, progress: Progress) -> Result:
    """Return the figure, every op's ticks, and idle times."""
    runs = [(title, run(get_schedule(name, STAGES, MICROBATCHES, **options))) for title, name, options in SHOWN]
    ops, rows = [], []
    for title, timeline in runs:
        schedule = timeline.schedule
        ops += [
            (title, op.stage, op.kind.name, op.microbatch, int(timeline.starts[number]))
            for number in range(schedule.num_ops)
            for op in [schedule.op(number)]
        ]
        rows.append((title, timeline.makespan, timeline.idle_over_total, timeline.idle_over_ideal))
    figure = timeline_figure(runs, until=SHOWN_UNTIL)
    return Result(
        data={"schedules_ops": Table("ticks of all ops", ("schedule", "stage", "op", "microbatch", "tick"), ops)},
        tables={
            "schedules": Table(
                f"Figure 1: schedules at S = {STAGES}, {MICROBATCHES} microbatches, one tick per op",
                ("schedule", "makespan", "idle over total", "idle over ideal"),
                rows,
            )
        },
        figures={"schedules": figure},
    )


ARTIFACT = Artifact("schedules", "figure 1: schedules at S = 4", build)

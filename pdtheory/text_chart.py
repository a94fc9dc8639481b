"""A schedule drawn with letters: a row per worker, a column per tick."""

from __future__ import annotations

from rich.text import Text

from pdtheory.schedule import Kind
from pdtheory.timeline import Timeline

_STYLES = {
    Kind.F: "black on cyan",
    Kind.B: "black on yellow",
    Kind.I: "black on yellow",
    Kind.W: "black on green",
}


def text_chart(timeline: Timeline, width: int) -> tuple[list[Text], str]:
    """Return the chart's rows, one per worker and at most `width` columns wide, and a note on what they show."""
    schedule, scaled = timeline.schedule, timeline.scaled
    unit = _unit(timeline)
    several = schedule.num_stages > schedule.num_workers
    cell = 1 + len(str(schedule.num_microbatches - 1)) + (len(str(schedule.num_stages - 1)) if several else 0) + 1
    name = len(f"worker {schedule.num_workers - 1} ")
    total = int(timeline.ends.max()) // unit
    columns = max(1, min(total, (width - name) // cell))
    lines = []
    for worker in range(schedule.num_workers):
        line = Text(f"worker {worker}".ljust(name))
        at = 0
        for number in range(schedule.offsets[worker], schedule.offsets[worker + 1]):
            begin, end = int(timeline.starts[number]) // unit, int(timeline.ends[number]) // unit
            if begin >= columns:
                break
            if begin == end:
                continue
            op = schedule.op(number)
            label = f"{op.stage if several else ''}{op.kind.name}{op.microbatch}"
            line.append(" " * cell * (begin - at))
            line.append(label.ljust(cell * (min(end, columns) - begin) - 1), style=_STYLES[op.kind])
            line.append(" ")
            at = end
        lines.append(line)
    step = scaled.exact(unit)
    cut = f"the first {columns} of {total} columns are shown; " if columns < total else ""
    return lines, f"{cut}one column is {step} time unit{'' if step == 1 else 's'}; makespan {timeline.makespan}"


def _unit(timeline: Timeline) -> int:
    """Return the largest time that divides every start and end, in scaled units."""
    import math

    return max(1, math.gcd(*timeline.starts.tolist(), *timeline.ends.tolist()))

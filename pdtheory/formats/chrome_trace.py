"""Chrome's trace format (also Perfetto's): one track per worker, one slice per op."""

from __future__ import annotations

import json

from pdtheory.timeline import Timeline

MICROSECONDS_PER_UNIT = 1000


def chrome_trace(timeline: Timeline) -> str:
    """Return the run as JSON with "traceEvents"; one unit of time is shown as one millisecond.

    Examples
    --------
    >>> from pdtheory import get_schedule, run
    >>> events = json.loads(chrome_trace(run(get_schedule("naive", 1, 1))))["traceEvents"]
    >>> events[-1]["name"], events[-1]["ts"], events[-1]["dur"]
    ('0B0', 1000, 1000)
    """
    schedule, scale = timeline.schedule, timeline.scaled.scale
    events: list[dict[str, object]] = [
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": worker, "args": {"name": f"worker {worker}"}}
        for worker in range(schedule.num_workers)
    ]
    for number in range(schedule.num_ops):
        op = schedule.op(number)
        begin, length = (
            int(value) * MICROSECONDS_PER_UNIT
            for value in (timeline.starts[number], timeline.ends[number] - timeline.starts[number])
        )
        events.append(
            {
                "ph": "X",
                "name": str(op),
                "cat": op.kind.name,
                "pid": 0,
                "tid": int(schedule.worker[number]),
                "ts": begin // scale if begin % scale == 0 else begin / scale,
                "dur": length // scale if length % scale == 0 else length / scale,
                "args": {"stage": op.stage, "microbatch": op.microbatch},
            }
        )
    return json.dumps({"displayTimeUnit": "ms", "traceEvents": events}, indent=0)

"""Pictures (extra `plot`): timelines, and figures saved whole in any of three formats."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pdtheory.errors import MissingExtraError, ParameterError
from pdtheory.files import write_atomically
from pdtheory.schedule import Kind
from pdtheory.timeline import Timeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {Kind.F: "#56B4E9", Kind.B: "#E69F00", Kind.I: "#E69F00", Kind.W: "#009E73"}
_WORDS = {Kind.F: "F forward", Kind.B: "B backward", Kind.I: "I input gradient", Kind.W: "W weight gradient"}
_MOST_LABELS = 2000
# Without these a picture would carry the time at which it was made.
_METADATA: dict[str, dict[str, Any]] = {
    ".pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    ".svg": {"Date": None, "Creator": None},
    ".png": {"Software": None},
}


def new_figure(width: float, height: float) -> Figure:
    """Return an empty matplotlib figure, sizes in inches."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("a picture", "plot") from None
    matplotlib.rcParams["svg.hashsalt"] = "pdtheory"
    matplotlib.rcParams["pdf.fonttype"] = 42
    figure: Figure = Figure(figsize=(width, height), layout="constrained")
    return figure


def draw_timeline(axes: Axes, timeline: Timeline, *, highlight: int | None = None) -> None:
    """Draw a run: a row per worker from the top, an op as a box with its microbatch.

    Parameters
    ----------
    highlight : int, optional
        Draw every other microbatch pale.
    """
    from matplotlib.collections import PolyCollection

    schedule = timeline.schedule
    several = schedule.num_stages > schedule.num_workers
    boxes, colours, label_at = [], [], []
    for number in range(schedule.num_ops):
        op = schedule.op(number)
        begin, end = (float(timeline.scaled.exact(t[number])) for t in (timeline.starts, timeline.ends))
        row = int(schedule.worker[number])
        boxes.append([(begin, row - 0.46), (end, row - 0.46), (end, row + 0.46), (begin, row + 0.46)])
        pale = highlight is not None and op.microbatch != highlight
        colours.append(COLOURS[op.kind] + ("38" if pale else "FF"))
        label_at.append(
            (
                begin + (end - begin) / 2,
                row,
                f"{op.stage}:{op.microbatch}" if several else op.microbatch,
                pale,
            )
        )
    axes.add_collection(PolyCollection(boxes, facecolors=colours, edgecolors="white", linewidths=0.4))
    if len(boxes) <= _MOST_LABELS:
        for x, y, text, pale in label_at:
            axes.text(
                x,
                y,
                str(text),
                ha="center",
                va="center",
                fontsize=6,
                color="#999999" if pale else "black",
                clip_on=True,
            )
    axes.set_xlim(0, float(timeline.makespan) or 1.0)
    axes.set_ylim(schedule.num_workers - 0.5, -0.5)
    axes.set_yticks(range(schedule.num_workers))
    axes.set_ylabel("worker")
    axes.spines[["top", "right"]].set_visible(False)


def timeline_figure(runs: Sequence[tuple[str, Timeline]], *, until: float | None = None) -> Figure:
    """Return a figure with one timeline under the other, on one time axis, cut at `until`."""
    from matplotlib.patches import Patch

    rows = sum(t.schedule.num_workers for _, t in runs)
    longest = until or max(float(t.makespan) for _, t in runs) or 1.0
    figure = new_figure(min(40.0, max(7.0, 0.16 * longest + 1.5)), min(40.0, 0.24 * rows + 0.62 * len(runs) + 0.5))
    heights = [t.schedule.num_workers for _, t in runs]
    axes = figure.subplots(len(runs), 1, squeeze=False, height_ratios=heights)[:, 0]
    kinds: set[int] = set()
    for axis, (title, timeline) in zip(axes, runs, strict=True):
        draw_timeline(axis, timeline)
        axis.set_xlim(0, longest)
        axis.set_title(title, fontsize=9, loc="left")
        kinds |= set(timeline.schedule.kind.tolist())
    axes[-1].set_xlabel("time")
    handles = [Patch(color=COLOURS[Kind(k)], label=_WORDS[Kind(k)]) for k in sorted(kinds)]
    figure.legend(handles=handles, loc="outside upper right", ncols=4, fontsize=7, frameon=False)
    return figure


def figure_bytes(figure: Figure, suffix: str) -> bytes:
    """Return a figure as a file of the kind ".png", ".pdf" or ".svg"; the same figure gives the same bytes."""
    suffix = suffix.lower()
    if suffix not in _METADATA:
        raise ParameterError("a picture must end in .png, .pdf or .svg", where="output", value=suffix)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=suffix[1:], metadata=_METADATA[suffix], dpi=160)
    return buffer.getvalue()


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure whole or not at all."""
    content = figure_bytes(figure, path.suffix)
    try:
        write_atomically(path, content)
    except OSError as error:
        raise ParameterError(f"cannot be written: {error.strerror}", where=str(path)) from None

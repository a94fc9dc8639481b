"""Figure 3: block-delay statistics against S, enumerated, with fits, published values and closed forms."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paper_artifacts.artifact import Artifact, Progress, Result
from pdtheory.catalog import get_schedule
from pdtheory.delays import Window, block_delays
from pdtheory.figures import new_figure
from pdtheory.formulas import closed_form
from pdtheory.schedule import IntArray
from pdtheory.tables import Table
from pdtheory.timeline import run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGEST = 150
FIT_UP_TO = 100
PUBLISHED = Path(__file__).parent / "published.json"


@dataclass(frozen=True)
class Statistics:
    """Block delays of S stages, N = 10 S microbatches.

    Attributes
    ----------
    half_mean, half_p10, half_max : Fraction, int, int
        Over the second half of the updates (the paper's choice; the drain is among them).
    without_drain_mean : Fraction
        Over the second half of the updates without those that belong to the drain.
    steady_mean, steady_max : Fraction, int
        Over the steady state alone.
    """

    num_stages: int
    half_mean: Fraction
    half_p10: int
    half_max: int
    without_drain_mean: Fraction
    steady_mean: Fraction
    steady_max: int


def enumerate_statistics(num_stages: int) -> Statistics:
    """Count the delays of the run; the 10th percentile is the smallest delay that 10 percent do not exceed."""
    delays = block_delays(run(get_schedule("pipedream", num_stages, 10 * num_stages)))
    second_half = delays.made >= delays.made.size // 2
    counts = delays.histogram(second_half)
    total = int(counts.sum())
    without_drain = second_half.copy()
    without_drain[:, delays.window(Window.DRAIN)] = False
    steady = delays.statistics(Window.STEADY)
    assert steady.max is not None
    assert steady.mean is not None
    return Statistics(
        num_stages,
        half_mean=_mean(counts),
        half_p10=int(np.searchsorted(np.cumsum(counts) * 10, total)),
        half_max=int(np.flatnonzero(counts)[-1]),
        without_drain_mean=_mean(delays.histogram(without_drain)),
        steady_mean=steady.mean,
        steady_max=steady.max,
    )


def _mean(counts: IntArray) -> Fraction:
    """Return the mean of a histogram over 0, 1, 2, ..."""
    return Fraction(int((counts * np.arange(len(counts))).sum()), int(counts.sum()))


def fit(found: list[Statistics], values: list[float]) -> str:
    """Return the least-squares parabola over S <= 100, its first two coefficients to four digits."""
    kept = [(s.num_stages, v) for s, v in zip(found, values, strict=True) if s.num_stages <= FIT_UP_TO]
    square, linear, _ = np.polyfit([k for k, _ in kept], [v for _, v in kept], 2)
    return f"{square:.4f} S^2 {'-' if linear < 0 else '+'} {abs(linear):.4f} S"


def build(quick: bool, progress: Progress) -> Result:
    """Return the statistics for S = 2..150 (quick: 2..24), and the table beside the published values."""
    sizes = range(2, 25 if quick else LARGEST + 1)
    found = []
    for done, size in enumerate(sizes):
        progress("enumerating block delays", done, len(sizes))
        found.append(enumerate_statistics(size))
    largest, mean = closed_form("pipedream", "max_block_delay"), closed_form("pipedream", "mean_block_delay")
    rows = [
        (
            s.num_stages,
            f"{float(s.half_mean):.6f}",
            s.half_p10,
            s.half_max,
            f"{float(s.without_drain_mean):.6f}",
            s.steady_mean,
            s.steady_max,
            mean.evaluate(S=s.num_stages),
            largest.evaluate(S=s.num_stages),
        )
        for s in found
    ]
    wrong = [
        s.num_stages
        for s in found
        if (s.steady_mean, s.steady_max) != (mean.evaluate(S=s.num_stages), largest.evaluate(S=s.num_stages))
    ]
    assert not wrong, f"the proved formulas and the enumeration differ at S = {wrong}"
    published = json.loads(PUBLISHED.read_text())["delay_statistics"]
    beside: list[tuple[Any, ...]] = []
    by_size = {s.num_stages: s for s in found}
    for key, (its_mean, its_max) in published["rows"].items():
        if (size := int(key)) in by_size:
            s = by_size[size]
            beside += [
                (
                    size,
                    "mean",
                    its_mean,
                    float(s.half_mean),
                    f"{float(s.without_drain_mean):.4f}",
                    s.steady_mean,
                    _agree(its_mean, s.half_mean),
                ),
                (size, "max", its_max, s.half_max, None, s.steady_max, _agree(its_max, s.half_max)),
            ]
    if not quick:
        maxima, means = [float(s.half_max) for s in found], [float(s.half_mean) for s in found]
        for words, its, values in (("max", "fit_max", maxima), ("mean", "fit_mean", means)):
            ours = fit(found, values)
            beside.append(
                (
                    f"2..{FIT_UP_TO}",
                    f"fit of {words}",
                    published[its].split(" (")[0],
                    ours,
                    None,
                    str((largest if words == "max" else mean).expr),
                    "yes" if published[its].startswith(ours) else "no",
                )
            )
    return Result(
        data={
            "delay_statistics": Table(
                "block delays, N = 10 S",
                (
                    "S",
                    "mean of half",
                    "p10 of half",
                    "max of half",
                    "mean of half without drain",
                    "steady mean",
                    "steady max",
                    "mean by formula",
                    "max by formula",
                ),
                rows,
            )
        },
        tables={
            "delay_statistics_published": Table(
                "Figure 3: published block delays beside ours (N = 10 S, second half of the updates)",
                (
                    "S",
                    "what",
                    "published",
                    "second half",
                    "of it, without the drain",
                    "steady state alone",
                    "published = second half",
                ),
                beside,
            )
        },
        figures={"delay_statistics": _figure(found)},
        remarks=(
            "The published means are over the second half of all updates. They differ from the steady-state mean "
            "(S^2 - 1)/2 for two reasons: the cut goes through microbatches whose late updates, by low stages and with "
            "long delays, fall into the second half (this raises the mean), and the drain is in it, where fewer "
            "updates remain (this lowers it). The maxima are the steady state's. "
            "The constants of the fits are not published.",
        ),
    )


def _agree(published: float, ours: Fraction | int) -> str:
    """Say whether ours, rounded to the digits that were printed, is the published value."""
    digits = len(str(published).partition(".")[2])
    return "yes" if round(float(ours), digits) == float(published) else "no"


def _figure(found: list[Statistics]) -> Figure:
    figure = new_figure(9.0, 3.4)
    left, right = figure.subplots(1, 2)
    sizes = np.array([s.num_stages for s in found])
    series = (
        ("max", [s.half_max for s in found], "#D55E00"),
        ("mean", [float(s.half_mean) for s in found], "#0072B2"),
        ("10th percentile", [s.half_p10 for s in found], "#009E73"),
    )
    for name, values, colour in series:
        left.plot(sizes, values, ".", markersize=3, color=colour, label=f"{name}, enumerated")
    left.plot(
        sizes,
        sizes**2 - np.ceil(sizes / 2),
        color="#D55E00",
        lw=0.8,
        label=r"$S^2-\lceil S/2\rceil$ (proved)",
    )
    left.plot(sizes, (sizes**2 - 1) / 2, color="#0072B2", lw=0.8, label=r"$(S^2-1)/2$ (proved)")
    left.set_xlabel("number of stages S")
    left.set_ylabel("block delay")
    left.legend(fontsize=7, frameon=False)
    right.plot(
        sizes,
        [s.half_max - (s.num_stages**2 - s.num_stages / 2) for s in found],
        ".",
        markersize=3,
        color="#D55E00",
        label=r"max $-\ (S^2-S/2)$",
    )
    right.plot(
        sizes,
        [float(s.half_mean) - (s.num_stages**2 - 1) / 2 for s in found],
        ".",
        markersize=3,
        color="#0072B2",
        label=r"mean of the second half $-\ (S^2-1)/2$",
    )
    right.set_xlabel("number of stages S")
    right.set_ylabel("difference")
    right.legend(fontsize=7, frameon=False)
    for axis in (left, right):
        axis.spines[["top", "right"]].set_visible(False)
    return figure


ARTIFACT = Artifact("delay_statistics", "figure 3: block delays against S = 2..150", build)

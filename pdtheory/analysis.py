"""The whole analysis of one schedule: time, memory, versions and delays, as one object."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pdtheory.catalog import get_schedule
from pdtheory.delays import BlockDelays, SteadyState, Window, block_delays
from pdtheory.durations import Durations
from pdtheory.errors import ParameterError, positive_int
from pdtheory.schedule import Schedule
from pdtheory.tables import Table
from pdtheory.tie_rules import TieRule
from pdtheory.timeline import Timeline, run
from pdtheory.weight_versions import versions


@dataclass(frozen=True, eq=False)
class Analysis:
    """What `analyze` found; prints as a table, `to_json` gives the command line's JSON.

    Attributes
    ----------
    schedule : Schedule
    timeline : Timeline
    delays : BlockDelays
        Under the tie rule that was asked for.
    weight_versions : tuple of int
        Per stage, the largest number of versions alive at once (with weight stashing).
    version_lag : tuple of int or None
        Per stage, the largest lag in the steady state; None if none was found.
    max_version_lag : tuple of int
        Per stage, over the whole run.
    """

    schedule: Schedule
    timeline: Timeline
    delays: BlockDelays
    weight_versions: tuple[int, ...]
    version_lag: tuple[int, ...] | None
    max_version_lag: tuple[int, ...]

    @property
    def steady(self) -> SteadyState | None:
        """The steady state, None if nothing repeats."""
        return self.delays.steady

    def to_dict(self) -> dict[str, Any]:
        """Return the analysis as JSON-ready values; rates are exact strings like "3/11"."""
        steady = self.steady
        return {
            "schedule": self.schedule.name,
            "num_stages": self.schedule.num_stages,
            "num_workers": self.schedule.num_workers,
            "num_microbatches": self.schedule.num_microbatches,
            "tie_rule": str(self.delays.tie_rule),
            "weight_updates": self.schedule.weights.describe(),
            "makespan": _number(self.timeline.makespan),
            "idle_over_total": str(self.timeline.idle_over_total),
            "idle_over_ideal": str(self.timeline.idle_over_ideal),
            "in_flight": list(self.timeline.in_flight),
            "weight_versions": list(self.weight_versions),
            "version_lag": None if self.version_lag is None else list(self.version_lag),
            "max_version_lag": list(self.max_version_lag),
            # One update of a stage is one optimizer batch in every policy of the catalog.
            "batch_delay": None if self.version_lag is None else list(self.version_lag),
            "block_delay": {
                str(window): {
                    "max": (found := self.delays.statistics(window)).max,
                    "mean": None if found.mean is None else str(found.mean),
                }
                for window in Window
            },
            "steady_state": None
            if steady is None
            else {"first": steady.first, "stop": steady.stop, "period": steady.period},
        }

    def to_json(self) -> str:
        """Return the analysis as JSON text."""
        return json.dumps(self.to_dict(), indent=2)

    def table(self) -> Table:
        """Return the analysis as a table of quantities and values."""
        found = self.to_dict()
        delay, steady = found.pop("block_delay"), self.steady
        rows: list[tuple[str, Any]] = [
            (name.replace("_", " "), _words(value)) for name, value in found.items() if name != "steady_state"
        ]
        rows += [
            (f"block delay, {window}, {statistic}", _words(value))
            for window, values in delay.items()
            for statistic, value in values.items()
        ]
        where = (
            "none found"
            if steady is None
            else (f"microbatches {steady.first} to {steady.stop - 1}, period {steady.period}")
        )
        return Table(f"analysis of {self.schedule.name}", ("quantity", "value"), (*rows, ("steady state", where)))

    def __repr__(self) -> str:
        return f"Analysis({self.schedule!r}, tie_rule={str(self.delays.tie_rule)!r})"

    def _repr_markdown_(self) -> str:
        return self.table().markdown()

    def __str__(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in self.table().texts())


def analyze(
    schedule: Schedule | str,
    *,
    num_stages: int | None = None,
    num_microbatches: int | None = None,
    durations: Durations | str | None = None,
    latency: Any = 0,
    tie_rule: TieRule | str = TieRule.STAGE_ORDER,
    **options: Any,
) -> Analysis:
    """Analyze a schedule of the catalog, or one of your own.

    Parameters
    ----------
    schedule : Schedule or str
        A name needs num_stages; num_microbatches is then 10 num_stages by default.
    durations : Durations or str, optional
        "F=1,B=2"; one unit per op by default.
    latency : number
        Of a transfer between workers, in the same unit; only beside durations that are not a `Durations`.
    tie_rule : TieRule or str
    **options : int
        Own parameters of a catalog system.

    Examples
    --------
    >>> found = analyze("pipedream", num_stages=8, num_microbatches=80)
    >>> found.version_lag
    (7, 6, 5, 4, 3, 2, 1, 0)
    >>> found.delays.statistics(Window.STEADY).mean
    Fraction(63, 2)
    """
    if isinstance(schedule, str):
        if schedule.endswith(".csv"):
            raise ParameterError("is a file, not a name", where="schedule", value=schedule, mend="Use read_torch_csv")
        if num_stages is None:
            raise ParameterError("is needed with a name", where="num_stages", mend="Pass the number of stages")
        if num_microbatches is None:
            num_microbatches = 10 * positive_int(num_stages, "num_stages")
        schedule = get_schedule(schedule, num_stages, num_microbatches, **options)
    elif not isinstance(schedule, Schedule):
        raise ParameterError("is neither a name nor a Schedule", where="schedule", value=schedule)
    elif num_stages is not None or num_microbatches is not None or options:
        raise ParameterError("go with a name, not with a schedule", where="num_stages, num_microbatches, options")
    if not isinstance(durations, Durations | str | None):
        raise ParameterError("must be Durations or a text like F=1,B=2", where="durations", value=durations)
    if not isinstance(durations, Durations):
        durations = Durations.parse(durations, latency) if durations is not None else Durations(latency=latency)
    elif latency:
        raise ParameterError("is part of the Durations object", where="latency", value=latency)
    timeline = run(schedule, durations)
    delays = block_delays(timeline, tie_rule)
    kept = versions(schedule)
    steady = delays.window(Window.STEADY)
    return Analysis(
        schedule,
        timeline,
        delays,
        weight_versions=tuple(kept.alive.tolist()),
        version_lag=tuple(kept.lag[:, steady.start : steady.stop].max(axis=1).tolist()) if len(steady) else None,
        max_version_lag=tuple(kept.lag.max(axis=1).tolist()),
    )


def _number(value: int | Fraction) -> int | str:
    return value if isinstance(value, int) else str(value)


def _words(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        shown = [str(v) for v in value]
        return " ".join(shown if len(shown) <= 16 else [*shown[:8], "...", *shown[-7:]])
    return str(value)

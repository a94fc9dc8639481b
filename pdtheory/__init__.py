"""pdtheory: proofs and a symbolic delay analyzer for pipeline-parallel training.

Examples
--------
>>> import pdtheory as pd
>>> schedule = pd.get_schedule("pipedream", num_stages=8, num_microbatches=80)
>>> pd.analyze(schedule).delays.statistics(pd.Window.STEADY)
DelayStatistics(max=60, mean=Fraction(63, 2))
>>> pd.closed_form("pipedream", "max_block_delay").expr
S**2 - ceiling(S/2)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pdtheory.analysis import Analysis, analyze
from pdtheory.catalog import System, get_schedule, systems
from pdtheory.delays import BlockDelays, DelayStatistics, SteadyState, Window, block_delays
from pdtheory.durations import Durations
from pdtheory.errors import (
    DeadlockError,
    FormatError,
    MissingExtraError,
    ParameterError,
    PdTheoryError,
    ScheduleError,
    UnknownNameError,
)
from pdtheory.formats import chrome_trace, read_torch_csv, torch_csv
from pdtheory.schedule import Kind, Op, Schedule, WeightPolicy
from pdtheory.tie_rules import TieRule
from pdtheory.timeline import Timeline, run
from pdtheory.weight_versions import Versions, versions

if TYPE_CHECKING:
    from pdtheory import bounds
    from pdtheory.fitting import fitted_form
    from pdtheory.formulas import ClosedForm, closed_form, quantities
    from pdtheory.proof import Verdict

__version__ = "0.1.0"

# SymPy and the checker load when a formula is asked for, not with the package.
_LATE = {
    "bounds": "pdtheory.bounds",
    "ClosedForm": "pdtheory.formulas",
    "closed_form": "pdtheory.formulas",
    "quantities": "pdtheory.formulas",
    "Verdict": "pdtheory.proof",
    "fitted_form": "pdtheory.fitting",
}

__all__ = [
    "Analysis",
    "BlockDelays",
    "ClosedForm",
    "DeadlockError",
    "DelayStatistics",
    "Durations",
    "FormatError",
    "Kind",
    "MissingExtraError",
    "Op",
    "ParameterError",
    "PdTheoryError",
    "Schedule",
    "ScheduleError",
    "SteadyState",
    "System",
    "TieRule",
    "Timeline",
    "UnknownNameError",
    "Verdict",
    "Versions",
    "WeightPolicy",
    "Window",
    "analyze",
    "block_delays",
    "bounds",
    "chrome_trace",
    "closed_form",
    "fitted_form",
    "get_schedule",
    "quantities",
    "read_torch_csv",
    "run",
    "systems",
    "torch_csv",
    "versions",
]


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'pdtheory' has no attribute {name!r}")
    import importlib

    module = importlib.import_module(_LATE[name])
    value = module if module.__name__ == f"{__name__}.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

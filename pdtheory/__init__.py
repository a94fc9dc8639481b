"""pdtheory: proofs and a symbolic delay analyzer for pipeline-parallel training.

Examples
--------
>>> import pdtheory as pd
>>> schedule = pd.get_schedule("pipedream", num_stages=8, num_microbatches=80)
>>> pd.block_delays(pd.run(schedule)).statistics(pd.Window.STEADY)
DelayStatistics(max=60, mean=Fraction(63, 2))
"""

from __future__ import annotations

from pdtheory.catalog import get_schedule, systems
from pdtheory.delays import BlockDelays, TieRule, Window, block_delays
from pdtheory.durations import Durations
from pdtheory.errors import PdTheoryError
from pdtheory.schedule import Kind, Op, Schedule, WeightPolicy
from pdtheory.timeline import Timeline, run
from pdtheory.versions import Versions, versions

__version__ = "0.1.0"

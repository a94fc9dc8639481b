"""Settings for all tests: no deadlines (speed is the benchmark's business), and the same cases in every CI run."""

import os

from hypothesis import settings

settings.register_profile("pdtheory", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("pdtheory")

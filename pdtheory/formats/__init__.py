"""Outside formats of schedules, a file each."""

from pdtheory.formats.chrome_trace import chrome_trace
from pdtheory.formats.torch_csv import read_torch_csv, torch_csv

__all__ = ["chrome_trace", "read_torch_csv", "torch_csv"]

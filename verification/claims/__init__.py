"""One file per claim; each has a `CLAIM`, or several in `CLAIMS`."""

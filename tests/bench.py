"""`make bench`: the package against the plain simulator of the tests, side by side in one run."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import sympy as sp
from rich.console import Console
from rich.progress import track

import pdtheory as pd
from paper_artifacts.delay_statistics import enumerate_statistics
from tests.plain_simulator import second_half_statistics


def seconds(work: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def figure_3(sizes: list[int]) -> None:
    """Time the statistics of figure 3, N = 10 S: plain, enumerated, and by closed form."""
    total = {"plain": 0.0, "enumerated": 0.0}
    for size in track(sizes, "figure 3", console=Console(stderr=True), disable=not sys.stderr.isatty()):
        plain: list[tuple[float, int]] = []
        total["plain"] += seconds(lambda size=size, plain=plain: plain.append(second_half_statistics(size, 10 * size)))
        fast = []
        total["enumerated"] += seconds(lambda size=size, fast=fast: fast.append(enumerate_statistics(size)))
        assert abs(float(fast[0].half_mean) - plain[0][0]) < 1e-9 * max(1.0, plain[0][0])
        assert fast[0].half_max == plain[0][1]
    forms: list[pd.ClosedForm] = []
    names = ("max_block_delay", "mean_block_delay", "block_delay")
    proving = seconds(lambda: forms.extend(pd.closed_form("pipedream", name) for name in names))
    functions = [sp.lambdify(sorted(f.expr.free_symbols, key=str), f.expr, "numpy") for f in forms]

    def by_formula() -> None:
        for size in sizes:
            largest, mean, pairs = functions
            stage = np.arange(size)
            table = np.broadcast_to(pairs(size, stage[:, None], stage[None, :]), (size, size))
            np.percentile(table, 10)
            assert table.max() == largest(size)
            assert abs(table.mean() - mean(size)) < 1e-6

    evaluated = seconds(by_formula)
    print(f"figure 3, S = {sizes[0]}..{sizes[-1]} ({len(sizes)} sizes), N = 10 S")
    print(f"  plain simulator            {total['plain']:10.2f} s")
    print(f"  enumeration                {total['enumerated']:10.2f} s   {total['plain'] / total['enumerated']:8.1f} x")
    print(f"  closed form (max, mean, p10 of the steady state) {evaluated:.4f} s   {total['plain'] / evaluated:.0f} x")
    print(f"  deriving and proving the three formulas, once: {proving:.2f} s")


def whole_analysis(stages: int, microbatches: int) -> None:
    """Time one full analysis."""
    took = seconds(lambda: pd.analyze("pipedream", num_stages=stages, num_microbatches=microbatches).to_dict())
    ops = 2 * stages * microbatches
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"  S = {stages}, M = {microbatches}: {ops / 1e6:.2f} million ops, {took:.2f} s, "
          f"{1e9 * took / ops:.0f} ns per op, peak memory of the process so far {peak:.2f} GiB")  # fmt: skip


def importing() -> float:
    """Return the time of `import pdtheory` in a fresh process, less that of an empty one."""
    runs = [
        min(seconds(lambda code=code: subprocess.run([sys.executable, "-c", code], check=True)) for _ in range(5))
        for code in ("import pdtheory", "pass")
    ]
    return runs[0] - runs[1]


def main() -> None:
    """Print every figure; `--quick` takes every tenth size of figure 3."""
    print(f"import pdtheory: {importing():.2f} s")
    print("full analysis of pipedream")
    for microbatches in (512, 1024, 2048, 4096):
        whole_analysis(256, microbatches)
    whole_analysis(1024, 4096)
    figure_3(list(range(2, 151, 10 if "--quick" in sys.argv[1:] else 1)))


if __name__ == "__main__":
    main()

"""Bounds side by side for one pipeline: at equal numbers of block updates, and at equal time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pdtheory.bounds import Bound, Number, as_float, exact_number, get_bound, names
from pdtheory.errors import ParameterError


@dataclass(frozen=True)
class Rate:
    """One bound, for one pipeline.

    Attributes
    ----------
    counts : mapping of str to int
        The sizes of the run: K block updates, M microbatches, T steps of each of N workers.
    stepsize : float
    terms : mapping of str to float, or None
        None where the step-size condition does not hold, or the run has no complete round.
    valid : bool
        The bound holds at this step size.
    vacuous : bool or None
        The bound is above S G^2.
    """

    bound: Bound
    counts: Mapping[str, int]
    stepsize: float | None
    terms: Mapping[str, float] | None
    valid: bool
    vacuous: bool | None

    @property
    def total(self) -> float | None:
        """The whole bound."""
        return None if self.terms is None else sum(self.terms.values())

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return {
            "counts": dict(self.counts),
            "stepsize": self.stepsize,
            "terms": None if self.terms is None else dict(self.terms),
            "total": self.total,
            "valid": self.valid,
            "vacuous": self.vacuous,
        }


@dataclass(frozen=True)
class Pipeline:
    """A pipeline, and how long it trains.

    LocalSGD shares the pipeline among `num_runs` runs; its time is that of rounds which do not overlap.

    Attributes
    ----------
    num_stages, num_updates : int
        S, and K block updates: one backward of one stage is one.
    delay_bound : int
        Of randomized PipeDream, in block updates.
    num_runs, local_steps : int
        N and H of LocalSGD.
    """

    num_stages: int
    num_updates: int
    delay_bound: int
    num_runs: int
    local_steps: int

    def __post_init__(self) -> None:
        for name in ("num_stages", "num_updates", "num_runs", "local_steps"):
            if getattr(self, name) < 1:
                raise ParameterError("must be at least 1", where=name, value=getattr(self, name))
        if self.delay_bound < 0:
            raise ParameterError("must be at least 0", where="delay_bound", value=self.delay_bound)
        if self.num_microbatches < 1:
            raise ParameterError(
                "must be at least the number of stages, one microbatch",
                where="num_updates",
                value=self.num_updates,
                mend=f"Give {self.num_stages} or more",
            )

    @property
    def num_microbatches(self) -> int:
        """Complete microbatches in the block updates."""
        return self.num_updates // self.num_stages

    @property
    def ticks(self) -> int:
        """Ticks that PipeDream takes for them, one per op: 2M + 2S - 2."""
        return 2 * self.num_microbatches + 2 * self.num_stages - 2

    def counts_of(self, symbols: tuple[str, ...], ticks: int | None) -> dict[str, int]:
        """Return the sizes of a run that a bound with these symbols speaks of.

        Parameters
        ----------
        ticks : int or None
            Given: what fits in that time. Otherwise: what has the same number of block updates.
        """
        if "T" in symbols:
            return {"T": self._local_rounds(ticks) * self.local_steps, "H": self.local_steps, "N": self.num_runs}
        microbatches = self.num_microbatches
        if ticks is not None:
            microbatches = max(0, (ticks - 2 * self.num_stages + 2) // 2)
        if "M" in symbols:
            return {"M": microbatches}
        updates = self.num_updates if ticks is None else self.num_stages * microbatches
        return {"K": updates, "delta": self.delay_bound}

    def _local_rounds(self, ticks: int | None) -> int:
        """Return the number of complete rounds of R H microbatches; `pdtheory formula local-sgd` proves their time."""
        if ticks is None:
            return self.num_microbatches // (self.num_runs * self.local_steps)
        longer, shorter = max(self.num_runs, self.num_stages), min(self.num_runs, self.num_stages)
        return ticks // (2 * self.local_steps * longer + 2 * shorter - 2)


def steady_delay(num_stages: int) -> int:
    """Return the largest block delay of PipeDream's steady state, S^2 - ceil(S/2).

    Examples
    --------
    >>> steady_delay(8)
    60
    """
    return num_stages**2 - (num_stages + 1) // 2


def whole_run_delay(num_stages: int) -> int:
    """Return the largest block delay of a whole run of greedy PipeDream, S^2 - S + floor(S^2/4).

    Examples
    --------
    >>> whole_run_delay(8)
    72
    """
    return num_stages**2 - num_stages + num_stages**2 // 4


def rates(
    pipeline: Pipeline,
    *,
    smoothness: Number,
    grad_bound: Number,
    suboptimality: Number,
    variance: Number,
    stepsize: Number | None = None,
    ticks: int | None = None,
) -> Iterator[Rate]:
    """Yield every bound for one pipeline.

    Parameters
    ----------
    smoothness, grad_bound, suboptimality, variance : number
        L, G, D and V; the last two of a block.
    stepsize : number, optional
        The same for all; each at its best if none is given.
    ticks : int, optional
        Compare at this time instead of at equal numbers of block updates.

    Examples
    --------
    >>> pipeline = Pipeline(8, 100_000, steady_delay(8), num_runs=8, local_steps=5)
    >>> first = next(rates(pipeline, smoothness=1, grad_bound=1, suboptimality=1, variance=1))
    >>> first.bound.name, first.counts, round(first.total, 4), first.vacuous
    ('rpd-paper', {'K': 100000, 'delta': 60}, 0.1065, False)
    """
    known: dict[str, Number] = {
        "S": pipeline.num_stages,
        "L": smoothness,
        "G": grad_bound,
        "D": suboptimality,
        "V": variance,
    }
    for name in names():
        bound = get_bound(name)
        counts = pipeline.counts_of(bound.symbols, ticks)
        values = {**known, **counts}
        own = {symbol: values[symbol] for symbol in bound.symbols if symbol != "gamma"}
        yield _rate(bound, counts, own, stepsize, grad_bound)


def _rate(
    bound: Bound, counts: dict[str, int], own: dict[str, Number], stepsize: Number | None, grad_bound: Number
) -> Rate:
    if min(value for name, value in counts.items() if name != "delta") == 0:
        return Rate(bound, counts, None, None, False, None)
    step = bound.tune(**own).stepsize if stepsize is None else stepsize
    if not bound.valid(**own, gamma=step):
        return Rate(bound, counts, as_float(exact_number(step)), None, False, None)
    terms = {name: as_float(value) for name, value in bound.evaluate_terms(**own, gamma=step).items()}
    vacuous = bound.vacuous(**{**own, "G": grad_bound}, gamma=step)
    return Rate(bound, counts, as_float(exact_number(step)), terms, True, vacuous)

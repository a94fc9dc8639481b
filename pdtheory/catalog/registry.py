"""The catalog: systems by name, and `get_schedule`."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pdtheory.errors import ParameterError, UnknownNameError, positive_int
from pdtheory.schedule import Schedule

MOST_STAGES = 2**14
MOST_PAIRS = 2**24
LARGEST_OPTION = 2**20


@dataclass(frozen=True)
class System:
    """One entry of the catalog.

    Attributes
    ----------
    name : str
    summary : str
        One line.
    source : str
        Where the rule comes from.
    build : callable
        Takes num_stages, num_microbatches and the system's own integer parameters by keyword.
    """

    name: str
    summary: str
    source: str
    build: Callable[..., Schedule]

    @property
    def options(self) -> dict[str, int | None]:
        """The system's own parameters with their defaults (None: derived from the others)."""
        parameters = inspect.signature(self.build).parameters.values()
        return {p.name: p.default for p in parameters if p.default is not p.empty}


_SYSTEMS: dict[str, System] = {}


def system(name: str, summary: str, source: str) -> Callable[[Callable[..., Schedule]], Callable[..., Schedule]]:
    """Register a builder as the catalog's entry `name`."""

    def register(build: Callable[..., Schedule]) -> Callable[..., Schedule]:
        if name in _SYSTEMS:
            raise AssertionError(f"two systems are called {name}")
        _SYSTEMS[name] = System(name, summary, source, build)
        return build

    return register


def systems() -> dict[str, System]:
    """Return every system of the catalog by name; each file of this folder is asked once."""
    package = importlib.import_module("pdtheory.catalog")
    for module in pkgutil.iter_modules(package.__path__):
        if not module.name.startswith("_") and module.name != "registry":
            importlib.import_module(f"pdtheory.catalog.{module.name}")
    return dict(sorted(_SYSTEMS.items()))


def get_schedule(name: str, num_stages: int, num_microbatches: int, **options: Any) -> Schedule:
    """Return a schedule of the catalog.

    Parameters
    ----------
    name : str
        One of `systems()`.
    num_stages, num_microbatches : int
        S and M, at least 1.
    **options : int
        The system's own parameters, for example ``num_in_flight`` (NOAM) of "pipedream".

    Raises
    ------
    UnknownNameError
        If no system has this name, or it has no such option.
    ParameterError
        If a number is not an integer or too small.

    Examples
    --------
    >>> get_schedule("pipedream", num_stages=2, num_microbatches=2).ops(1)[:2]
    [Op(stage=1, kind=<Kind.F: 0>, microbatch=0), Op(stage=1, kind=<Kind.B: 1>, microbatch=0)]
    """
    known = systems()
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError("schedule", name, known)
    chosen = known[name]
    num_stages = positive_int(num_stages, "num_stages")
    num_microbatches = positive_int(num_microbatches, "num_microbatches")
    if num_stages > MOST_STAGES:
        raise ParameterError(f"must be at most {MOST_STAGES}", where="num_stages", value=num_stages, mend="Use fewer")
    if num_stages * num_microbatches > MOST_PAIRS:
        raise ParameterError(
            f"must be at most {MOST_PAIRS // num_stages} with {num_stages} stages",
            where="num_microbatches",
            value=num_microbatches,
            mend="Steady delays do not depend on it: use fewer",
        )
    options = {option: value for option, value in options.items() if value is not None}
    for option, value in options.items():
        if option not in chosen.options:
            raise UnknownNameError(f"option of {name}", option, chosen.options or ["none"])
        if positive_int(value, option) > LARGEST_OPTION:
            raise ParameterError(f"must be at most {LARGEST_OPTION}", where=option, value=value, mend="Use fewer")
        options[option] = positive_int(value, option)
    return chosen.build(num_stages=num_stages, num_microbatches=num_microbatches, **options)

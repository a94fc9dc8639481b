"""All claims, found in the folder `claims`: a new file there is a new claim."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import re
from collections.abc import Iterable

from pdtheory.errors import UnknownNameError
from verification import claims
from verification.claim import Claim, ClaimError, Group


def collected(found: Iterable[Claim]) -> dict[str, Claim]:
    """Return claims by name, in the order of the suite.

    Raises
    ------
    ClaimError
        If two have the same name.
    """
    by_name: dict[str, Claim] = {}
    for claim in found:
        if claim.name in by_name:
            raise ClaimError("is the name of two claims", where=f"claim {claim.name!r}")
        by_name[claim.name] = claim
    return {claim.name: claim for claim in sorted(by_name.values(), key=_place)}


def _place(claim: Claim) -> tuple[int, list[tuple[str, int]]]:
    parts = re.findall(r"(\D*)(\d*)", claim.name)
    return list(Group).index(claim.group), [(word, int(number or 0)) for word, number in parts]


@functools.cache
def all_claims() -> dict[str, Claim]:
    """Return every claim by name."""
    found: list[Claim] = []
    for module in pkgutil.iter_modules(claims.__path__):
        loaded = importlib.import_module(f"{claims.__name__}.{module.name}")
        here = [*getattr(loaded, "CLAIMS", ()), *([loaded.CLAIM] if hasattr(loaded, "CLAIM") else [])]
        if not here:
            raise ClaimError("has no CLAIM", where=f"{claims.__name__}.{module.name}")
        found += here
    return collected(found)


def claims_named(names: Iterable[str]) -> list[Claim]:
    """Return the claims with these names, all if there are none; case does not matter."""
    known = all_claims()
    by_lower = {name.lower(): claim for name, claim in known.items()}
    for name in names:
        if name.lower() not in by_lower:
            raise UnknownNameError("claim", name, known)
    return [by_lower[name.lower()] for name in names] or list(known.values())

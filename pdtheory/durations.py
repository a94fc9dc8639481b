"""How long ops take: per kind, per stage, and the latency of a transfer; exact numbers stay exact."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdtheory.errors import ParameterError

Number = int | float | str | Decimal | Fraction
KIND_LETTERS = "FBIW"
_LARGEST = 10**30
# The exponent is bounded before the number is made: 1e999999999 would fill the memory.
_NUMBER = re.compile(r"[+-]?(\d{1,40}/\d{1,40}|(\d{1,40}\.?\d{0,40}|\.\d{1,40})([eE][+-]?\d{1,3})?)", re.ASCII)


def exact(value: Any, where: str) -> Fraction:
    """Return a duration as a Fraction; a float means the decimal that it prints as.

    Raises
    ------
    ParameterError
        If the value is not a number, is negative, NaN or infinite.

    Examples
    --------
    >>> exact(0.1, "F"), exact("3/2", "B")
    (Fraction(1, 10), Fraction(3, 2))
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        if isinstance(value, np.floating):
            value = str(value)
        if isinstance(value, str):
            if not _NUMBER.fullmatch(value.strip()):
                raise ValueError
            number = Fraction(value)
        elif isinstance(value, Rational):
            number = Fraction(int(value.numerator), int(value.denominator))
        elif isinstance(value, Decimal):
            return exact(str(value), where)
        elif isinstance(value, Real):
            number = Fraction(repr(float(value)))
        else:
            raise TypeError
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise ParameterError(
            "a duration must be a finite number", where=where, value=value, mend="Write it like 2, 0.5 or 3/2"
        ) from None
    if number < 0:
        raise ParameterError("a duration must not be negative", where=where, value=value, mend="Give 0 or more")
    if number > _LARGEST or number.denominator > _LARGEST:
        raise ParameterError(
            "a duration's parts must be at most 10^30", where=where, value=value, mend="Change the unit"
        )
    return number


def plain(value: Fraction) -> int | Fraction:
    """Return an int if the fraction is one.

    Examples
    --------
    >>> plain(Fraction(4, 2)), plain(Fraction(1, 2))
    (2, Fraction(1, 2))
    """
    return value.numerator if value.denominator == 1 else value


@dataclass(frozen=True)
class Durations:
    """Durations of the ops and the latency of a transfer between workers.

    Parameters
    ----------
    F, B, I, W : number or sequence of numbers, optional
        Duration of each kind of op, the same on every stage or one number per stage. Unit: whatever the
        user chooses; the paper's is a tick, one per op. Where only I and W are given, B is their sum;
        where only B is given, I and W are its halves; else 1.
    latency : number
        Time between the end of an op and the start of the op on another worker that needs its result.

    Examples
    --------
    >>> Durations(F=1, B=2)
    Durations(F=(1,), B=(2,), I=(1,), W=(1,), latency=0)
    >>> Durations.parse("F=1,B=3/2:2").B
    (Fraction(3, 2), Fraction(2, 1))
    """

    F: Any = None
    B: Any = None
    I: Any = None  # noqa: E741 - the field's own letter
    W: Any = None
    latency: Any = 0

    def __post_init__(self) -> None:
        given = {
            letter: _per_stage(getattr(self, letter), letter)
            for letter in KIND_LETTERS
            if getattr(self, letter) is not None
        }
        one = (Fraction(1),)
        filled = {letter: given.get(letter, one) for letter in KIND_LETTERS}
        if "B" not in given and {"I", "W"} <= given.keys():
            filled["B"] = _added(given["I"], given["W"])
        if "B" in given and not {"I", "W"} & given.keys():
            filled["I"] = filled["W"] = tuple(value / 2 for value in given["B"])
        for letter, values in filled.items():
            object.__setattr__(self, letter, values)
        object.__setattr__(self, "latency", exact(self.latency, "latency"))

    def __repr__(self) -> str:
        parts = [f"{k}=({', '.join(str(v) for v in getattr(self, k))},)" for k in KIND_LETTERS]
        return f"Durations({', '.join(parts)}, latency={self.latency})"

    @classmethod
    def parse(cls, text: str, latency: Number = 0) -> Durations:
        """Read "F=1,B=2"; a value per stage is written with colons, "F=1:2:1".

        Raises
        ------
        ParameterError
            If a part is not KIND=NUMBER, or a number is not a duration.
        """
        values: dict[str, Any] = {}
        for part in text.split(","):
            letter, equals, numbers = (piece.strip() for piece in part.partition("="))
            if not equals or letter not in tuple(KIND_LETTERS) or not numbers:
                raise ParameterError(
                    "is not KIND=NUMBER",
                    where="durations",
                    value=part,
                    mend="Write them like F=1,B=2 (kinds F, B, I, W)",
                )
            if letter in values:
                raise ParameterError(f"gives {letter} twice", where="durations", value=text)
            values[letter] = [piece.strip() for piece in numbers.split(":")]
        return cls(**values, latency=latency)

    def scaled(self, num_stages: int) -> ScaledDurations:
        """Return the same durations as integers over one common denominator.

        Raises
        ------
        ParameterError
            If a kind has neither one number nor one per stage.
        """
        columns = []
        for letter in KIND_LETTERS:
            values = getattr(self, letter)
            if len(values) not in (1, num_stages):
                raise ParameterError(
                    f"needs one number or {num_stages}, one per stage",
                    where=f"durations {letter}",
                    value=len(values),
                )
            columns.append(values * num_stages if len(values) == 1 else values)
        scale = math.lcm(self.latency.denominator, *(v.denominator for column in columns for v in column))
        integers = [[int(v * scale) for v in column] for column in columns]
        latency = int(self.latency * scale)
        largest = max(latency, max(map(max, integers)))
        # Whole runs must fit in 64 bits: 2^24 ops each way is above every schedule that fits in memory.
        dtype = np.int64 if largest < 2**30 else object
        return ScaledDurations(scale, np.array(integers, dtype=dtype), latency)


@dataclass(frozen=True)
class ScaledDurations:
    """Integer durations: the true ones times `scale`.

    Attributes
    ----------
    scale : int
    table : ndarray, shape (4, num_stages)
        Rows F, B, I, W; Python integers where 64 bits might not hold a whole run.
    latency : int
    """

    scale: int
    table: NDArray[Any]
    latency: int

    def exact(self, value: Any) -> int | Fraction:
        """Return a scaled time as the exact time."""
        return plain(Fraction(int(value), self.scale))


def _per_stage(value: Any, letter: str) -> tuple[Fraction, ...]:
    many = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)
    parts = np.atleast_1d(value) if isinstance(value, np.ndarray) else value if many else [value]
    values = tuple(exact(v, f"durations {letter}") for v in parts)
    if not values:
        raise ParameterError("needs at least one number", where=f"durations {letter}")
    return values


def _added(first: tuple[Fraction, ...], second: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    size = max(len(first), len(second))
    first, second = (v * size if len(v) == 1 else v for v in (first, second))
    return tuple(a + b for a, b in zip(first, second, strict=False))

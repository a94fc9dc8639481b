"""The errors of the project: every message says what is wrong, where, the value, and the mend."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_LONGEST_VALUE = 60


class PdTheoryError(Exception):
    """Base class of every error that the project raises on purpose.

    Parameters
    ----------
    what : str
        What is wrong, as a sentence without its full stop.
    where : str, optional
        The place: a parameter, or a file with row and column.
    value : object, optional
        The offending value; long ones are cut.
    mend : str, optional
        What the caller can do about it.
    """

    def __init__(self, what: str, *, where: str | None = None, value: object = None, mend: str | None = None) -> None:
        self.what, self.where, self.value, self.mend = what, where, value, mend
        text = what if where is None else f"{where}: {what}"
        if value is not None:
            text += f" (got {shorten(value)})"
        super().__init__(text + (f". {mend}" if mend else ""))

    def __reduce__(self) -> tuple[object, ...]:
        # The message is made from the parts: pickled by its message alone an error would lose them.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[PdTheoryError], arguments: tuple[object, ...], state: dict[str, object]) -> PdTheoryError:
    error = kind.__new__(kind)
    error.args = arguments
    error.__dict__.update(state)
    return error


class ParameterError(PdTheoryError, ValueError):
    """A parameter has a value that it cannot have."""


class UnknownNameError(PdTheoryError, LookupError):
    """A name is not known; the message shows the nearest one."""

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        names = sorted(map(str, known))
        near = difflib.get_close_matches(str(name), names, n=1, cutoff=0.4)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        super().__init__(f"unknown {kind}", value=name, mend=f"{hint}Known: {', '.join(names)}")


class ScheduleError(PdTheoryError, ValueError):
    """An order of ops that no schedule can have."""


class DeadlockError(ScheduleError):
    """Ops that wait for each other; `cycle` holds the waits, one sentence each."""

    def __init__(self, cycle: Iterable[str], *, where: str | None = None) -> None:
        self.cycle = tuple(cycle)
        super().__init__(
            "the order can never run, its shortest cycle of waits is: " + "; ".join(self.cycle),
            where=where,
            mend="Move one of these ops on its worker",
        )


class FormatError(PdTheoryError, ValueError):
    """A file that does not follow its format."""


class MissingExtraError(PdTheoryError, ImportError):
    """An optional dependency that a feature needs is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the optional dependencies [{extra}]",
            mend=f"Install them with: pip install 'pdtheory[{extra}]'",
        )


def shorten(value: object) -> str:
    """Return a printable form of `value`, at most 60 characters of it.

    Examples
    --------
    >>> shorten("S")
    "'S'"
    """
    text = repr(value if not isinstance(value, str | bytes) else value[: _LONGEST_VALUE + 1])
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "..."


def positive_int(value: object, where: str, *, least: int = 1) -> int:
    """Return `value` as an int, or raise `ParameterError` unless it is an integer >= `least`.

    Examples
    --------
    >>> positive_int(4, "num_stages")
    4
    """
    import operator

    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ParameterError("must be an integer", where=where, value=value, mend="Give a whole number") from None
    if number < least:
        raise ParameterError(f"must be at least {least}", where=where, value=value, mend=f"Give {least} or more")
    return number

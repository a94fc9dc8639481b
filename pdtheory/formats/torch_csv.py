"""PyTorch's compute-only CSV: a row per rank, an action per cell, an empty cell is an idle step.

The format is the one that torch.distributed.pipelining writes and loads (an action is stage, type,
microbatch; types F, B full backward, I input gradient, W weight gradient).
"""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

from pdtheory.errors import FormatError, ParameterError, ScheduleError
from pdtheory.schedule import Op, Schedule, WeightPolicy

_MOST_CELLS = 2**24
_MOST_LISTED = 5
_COMMUNICATION = ("SEND", "RECV", "UNSHARD", "RESHARD", "REDUCE_GRAD")


def read_torch_csv(path: str | os.PathLike[str], *, weights: WeightPolicy | None = None) -> Schedule:
    """Read a schedule from a compute-only CSV file.

    Parameters
    ----------
    path : path
    weights : WeightPolicy, optional
        The file does not say when weights are updated. By default every backward updates its stage at
        once, as PipeDream does; ``WeightPolicy(None)`` is one update behind a flush, as torch's own
        runtime does.

    Raises
    ------
    FormatError
        If the file cannot be read, is empty or has a cell that is no action (with row and column).
    ScheduleError
        If an op is missing, occurs twice or comes before its own forward.
    """
    where = os.fspath(path)
    orders = _parse(_cells(Path(path), where), where)
    try:
        return Schedule.from_orders(orders, name=Path(path).stem, weights=weights or WeightPolicy())
    except ScheduleError as error:
        raise ScheduleError(error.what, where=where, value=error.value, mend=error.mend) from None


def torch_csv(schedule: Schedule) -> str:
    """Return the schedule as compute-only CSV text, a row per worker, without idle cells.

    Examples
    --------
    >>> from pdtheory import get_schedule
    >>> print(torch_csv(get_schedule("1f1b", num_stages=2, num_microbatches=2)), end="")
    0F0,0F1,0B0,0B1
    1F0,1B0,1F1,1B1
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([str(op) for op in row] for row in schedule)
    return text.getvalue()


def _cells(path: Path, where: str) -> list[list[str]]:
    """Return the cells of the file, row by row, empty ones included."""
    rows: list[list[str]] = []
    count = 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for row in csv.reader(file, strict=True):
                count += len(row)
                if count > _MOST_CELLS:
                    raise FormatError(f"has more than {_MOST_CELLS} cells", where=where)
                rows.append(row)
                # A file of something else shows itself in its first cells: do not read it to its end.
                if len(rows) == 1:
                    _parse(rows, where)
    except UnicodeDecodeError as error:
        raise FormatError("is not UTF-8 text", where=where, mend=f"Byte {error.start} is not a letter") from None
    except csv.Error as error:
        raise FormatError(f"is not CSV: {error}", where=f"{where}, row {len(rows) + 1}") from None
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", where=where) from None
    while rows and not any(cell.strip() for cell in rows[-1]):
        rows.pop()
    if not rows:
        raise FormatError("has no action in it", where=where, mend="Write a row per rank, like 0F0,0B0")
    return rows


def _parse(rows: list[list[str]], where: str) -> list[list[Op]]:
    """Return the ops of every row; name every bad cell by row and column, both counted from 1."""
    seen: dict[Op, tuple[int, int]] = {}
    bad: list[FormatError] = []
    orders: list[list[Op]] = []
    for number, row in enumerate(rows, start=1):
        order = []
        for column, cell in enumerate(row, start=1):
            text = cell.strip()
            if not text:
                continue
            place = f"{where}, row {number}, column {column}"
            try:
                op = Op.parse(text)
            except ParameterError:
                bad.append(FormatError("unknown action", where=place, value=text, mend=_hint(text)))
                if len(bad) >= _MOST_LISTED:
                    raise _joined(bad) from None
                continue
            if op in seen:
                old_row, old_column = seen[op]
                kind = "is on two workers" if old_row != number else "occurs twice"
                raise FormatError(
                    f"op {op} {kind}, it is also in row {old_row}, column {old_column}",
                    where=place,
                    mend="Keep one",
                )
            seen[op] = (number, column)
            order.append(op)
        orders.append(order)
    if bad:
        raise _joined(bad)
    return orders


def _joined(errors: list[FormatError]) -> FormatError:
    if len(errors) == 1:
        return errors[0]
    others = "; ".join(f"{error.where}: {error.value!r}" for error in errors[1:])
    first = errors[0]
    return FormatError(f"{first.what} (others: {others})", where=first.where, value=first.value, mend=first.mend)


def _hint(text: str) -> str:
    if any(word in text.upper() for word in _COMMUNICATION):
        return "Communication actions belong to the compute_comms format; give the compute-only file"
    if "BW" in text:
        return "BW is the full backward of files before October 2024: write B for it, and I for their B"
    return "Write stage, F|B|I|W, microbatch, like 2F0; leave a cell empty for an idle step"

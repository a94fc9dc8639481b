"""PyTorch's compute-only CSV: a row per rank, an action per cell, an empty cell is an idle step.

The format is the one that torch.distributed.pipelining writes and loads (an action is stage, type,
microbatch; types F, B full backward, I input gradient, W weight gradient).
"""

from __future__ import annotations

import csv
import io
import os
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np

from pdtheory.durations import KIND_LETTERS
from pdtheory.errors import FormatError, ParameterError, ScheduleError, shorten
from pdtheory.schedule import LARGEST_INDEX, LONGEST_OP, OP_PATTERN, IntArray, Op, Schedule, WeightPolicy

_MOST_ACTIONS = 2**23
_MOST_ROWS = 2**14
_LONGEST_LINE = 2**25
_MOST_BYTES = 2**28
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
    rows, actions = _actions(_rows(Path(path), where), where)
    _refuse_repetitions(actions, where)
    stage, kind, microbatch, row, _ = actions
    # An empty line is no rank; a line of empty cells is a rank that idles.
    offsets = np.searchsorted(row, [*rows, rows[-1] + 1])
    try:
        return Schedule(
            Path(path).stem,
            int(stage.max()) + 1,
            int(microbatch.max()) + 1,
            offsets,
            stage,
            kind.astype(np.int8),
            microbatch,
            weights or WeightPolicy(),
        )
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


def _rows(path: Path, where: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line numbers from 1 and the cells of the lines that are not empty."""
    number = 0
    try:
        if path.exists() and not path.is_dir() and not path.is_file():
            raise FormatError("is not a regular file", where=where, mend="Copy it into one")
        if path.is_file() and path.stat().st_size > _MOST_BYTES:
            raise FormatError(f"has more than {_MOST_BYTES} bytes", where=where, value=path.stat().st_size)
        with path.open(encoding="utf-8-sig", newline="") as file:
            for number, cells in enumerate(csv.reader(_lines(file, where), strict=True), start=1):
                if number > _MOST_ROWS:
                    raise FormatError(f"has more than {_MOST_ROWS} lines, a line is a rank", where=where)
                if cells:
                    yield number, cells
    except UnicodeDecodeError:
        raise FormatError("is not UTF-8 text", where=where, mend="Save it as UTF-8") from None
    except csv.Error as error:
        raise FormatError(f"is not CSV: {error}", where=f"{where}, row {number + 1}") from None
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", where=where) from None


def _lines(file: TextIO, where: str) -> Iterator[str]:
    """Yield the lines of a file; a line without end is refused before it fills the memory."""
    while line := file.readline(_LONGEST_LINE + 1):
        if len(line) > _LONGEST_LINE:
            raise FormatError(f"has a line of more than {_LONGEST_LINE} characters", where=where)
        yield line


def _actions(lines: Iterator[tuple[int, list[str]]], where: str) -> tuple[list[int], tuple[IntArray, ...]]:
    """Return the numbers of the rows, and stage, kind, microbatch, row and column of every action.

    Every bad cell is named by row and column, both counted from 1.
    """
    rows: list[int] = []
    found = stages, kinds, microbatches, row_numbers, columns = tuple(array("i") for _ in range(5))
    bad: list[FormatError] = []
    for number, cells in lines:
        rows.append(number)
        for column, cell in enumerate(cells, start=1):
            text = cell.strip()
            if not text:
                continue
            # The fast way; what does not fit is named by the op's own reader.
            match = OP_PATTERN.fullmatch(text)
            if match is not None and len(text) <= LONGEST_OP:
                stage, microbatch = int(match[1]), int(match[3])
                if stage < LARGEST_INDEX > microbatch:
                    stages.append(stage)
                    kinds.append(KIND_LETTERS.index(match[2]))
                    microbatches.append(microbatch)
                    row_numbers.append(number)
                    columns.append(column)
                    continue
            try:
                Op.parse(text)
            except ParameterError as error:
                place = f"{where}, row {number}, column {column}"
                what = error.what if "index" in error.what else "unknown action"
                bad.append(FormatError(what, where=place, value=text, mend=_hint(text)))
                if len(bad) >= _MOST_LISTED:
                    raise _joined(bad) from None
        if bad and number > 64:
            break
        if len(found[0]) > _MOST_ACTIONS:
            raise FormatError(f"has more than {_MOST_ACTIONS} actions", where=where)
    if bad:
        raise _joined(bad)
    if not found[0]:
        raise FormatError("has no action in it", where=where, mend="Write a row per rank, like 0F0,0B0")
    return rows, tuple(np.frombuffer(values, dtype=np.int32) for values in found)


def _refuse_repetitions(actions: tuple[IntArray, ...], where: str) -> None:
    """Name the first op that stands in two cells."""
    stage, kind, microbatch, row, column = actions
    keys = (stage.astype(np.int64) * 4 + kind) * (int(microbatch.max()) + 1) + microbatch
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if not again.size:
        return
    second = int(order[again + 1].min())
    first = int(np.flatnonzero(keys == keys[second])[0])
    text = f"{stage[second]}{'FBIW'[kind[second]]}{microbatch[second]}"
    how = "is on two workers" if row[first] != row[second] else "occurs twice"
    raise FormatError(
        f"op {text} {how}, it is also in row {row[first]}, column {column[first]}",
        where=f"{where}, row {row[second]}, column {column[second]}",
        mend="Keep one",
    )


def _joined(errors: list[FormatError]) -> FormatError:
    if len(errors) == 1:
        return errors[0]
    first = errors[0]
    others = "; ".join(f"{(e.where or '').partition(', ')[2]}: {shorten(e.value)}" for e in errors[1:])
    return FormatError(f"{first.what} (others: {others})", where=first.where, value=first.value, mend=first.mend)


def _hint(text: str) -> str:
    if any(word in text.upper() for word in _COMMUNICATION):
        return "Communication actions belong to the compute_comms format; give the compute-only file"
    if "BW" in text:
        return "BW is the full backward of files before October 2024: write B for it, and I for their B"
    return "Write stage, F|B|I|W, microbatch, like 2F0; leave a cell empty for an idle step"

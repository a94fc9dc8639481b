"""A table, and the forms it is printed in."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


@dataclass(frozen=True)
class Table:
    """Rows under named columns; cells are printed with str, a cell may be a pair (text, LaTeX).

    Examples
    --------
    >>> print(Table("t", ("S", "max"), ((2, 3),)).markdown(), end="")
    | S | max |
    | --- | --- |
    | 2 | 3 |
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def texts(self) -> list[list[str]]:
        """Return the cells as plain text."""
        return [[_text(cell) for cell in row] for row in self.rows]

    def markdown(self) -> str:
        """Return a Markdown table."""
        lines = [list(self.columns), ["---"] * len(self.columns), *self.texts()]
        return "".join("| " + " | ".join(c.replace("|", "\\|") for c in line) + " |\n" for line in lines)

    def latex(self) -> str:
        """Return a LaTeX tabular."""
        head = " & ".join(map(_escape, self.columns)) + r" \\"
        body = [
            " & ".join(cell[1] if isinstance(cell, tuple) else _escape(_text(cell)) for cell in row)
            for row in self.rows
        ]
        lines = [
            rf"\begin{{tabular}}{{{'l' * len(self.columns)}}}",
            r"\hline",
            head,
            r"\hline",
            *(line + r" \\" for line in body),
            r"\hline",
            r"\end{tabular}",
        ]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """Return comma-separated values with a header."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.columns, *self.texts()])
        return text.getvalue()

    def json(self) -> str:
        """Return a list of objects."""
        return json.dumps([dict(zip(self.columns, row, strict=True)) for row in self.texts()], indent=2) + "\n"


def _text(cell: Any) -> str:
    if isinstance(cell, tuple):
        return str(cell[0])
    return "-" if cell is None else str(cell)


def _escape(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)

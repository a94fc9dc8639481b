"""How commands print their results, and write files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
from rich.table import Table as RichTable
from rich.text import Text

from pdtheory.errors import FormatError
from pdtheory.files import write_atomically
from pdtheory.tables import Table
from pdtheory.terminal import ResultConsole

FORMATS = ("table", "json", "csv", "md", "latex")


def format_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option --format."""
    return click.option(
        "--format",
        "format_",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        help="Form of the result.",
    )(function)


def emit(table: Table, format_: str, as_json: Callable[[], str] | None = None) -> None:
    """Print a table in a form; JSON may have a richer source."""
    if format_ == "json":
        click.echo((as_json or table.json)().rstrip("\n"))
    elif format_ != "table":
        click.echo({"csv": table.csv, "md": table.markdown, "latex": table.latex}[format_](), nl=False)
    else:
        shown = RichTable(title=table.title, title_justify="left", show_lines=False)
        for column in table.columns:
            shown.add_column(column, overflow="fold")
        for row in table.texts():
            shown.add_row(*map(Text, row))
        ResultConsole(160).print(shown)


def write_all(contents: Mapping[str, str], folder: Path) -> None:
    """Write texts by file name into a folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in contents.items():
            write_atomically(folder / name, text.encode())
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror}", where=str(folder)) from None

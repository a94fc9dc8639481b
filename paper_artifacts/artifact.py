"""An artifact: tables and figures under a name, and how they are written and compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pdtheory.files import write_atomically
from pdtheory.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPECTED = Path(__file__).parent / "expected"
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Result:
    """What building an artifact gave.

    Attributes
    ----------
    data : mapping of str to Table
        Written as CSV and JSON.
    tables : mapping of str to Table
        Written as Markdown and LaTeX too.
    figures : mapping of str to figure
        Written as PDF and PNG.
    remarks : tuple of str
        Sentences for the reader, with what differs from the paper and why.
    """

    data: Mapping[str, Table] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield file names and contents of everything that is text."""
        for name, table in {**self.data, **self.tables}.items():
            yield f"{name}.csv", table.csv()
            yield f"{name}.json", table.json()
        for name, table in self.tables.items():
            notes = "".join(f"\n{remark}\n" for remark in self.remarks)
            yield f"{name}.md", f"# {table.title}\n\n{table.markdown()}{notes}"
            yield f"{name}.tex", table.latex()


@dataclass(frozen=True)
class Artifact:
    """A figure or table of the paper, by name.

    Attributes
    ----------
    build : callable
        Called with quick (fewer sizes, same code) and with a callable that takes progress: words, done, total.
    """

    name: str
    title: str
    build: Callable[[bool, Progress], Result]


def write(result: Result, folder: Path) -> list[Path]:
    """Write everything into a folder, each file whole or not at all; return the paths."""
    from pdtheory.figures import figure_bytes

    folder.mkdir(parents=True, exist_ok=True)
    contents: dict[str, bytes] = {name: text.encode() for name, text in result.texts()}
    for name, figure in result.figures.items():
        for suffix in (".pdf", ".png"):
            contents[name + suffix] = figure_bytes(figure, suffix)
    paths = []
    for name, content in contents.items():
        write_atomically(folder / name, content)
        paths.append(folder / name)
    return paths


def differences(result: Result, *, quick: bool, expected: Path = EXPECTED) -> list[str]:
    """Say where the texts differ from the expected ones; a quick result may lack lines, not change them."""
    found = []
    for name, text in result.texts():
        if quick and not name.endswith(".csv"):
            continue
        path = expected / name
        if not path.exists():
            found.append(f"{name}: nothing is expected under this name")
            continue
        wanted, lines = path.read_text().splitlines(), text.splitlines()
        if quick:
            found += [f"{name}: not expected: {line}" for line in lines if line not in wanted]
        elif wanted != lines:
            changed = next(
                (k for k, (a, b) in enumerate(zip(wanted, lines, strict=False)) if a != b),
                min(len(wanted), len(lines)),
            )
            old, new = ((part[changed] if changed < len(part) else "(nothing)") for part in (wanted, lines))
            found.append(f"{name}, line {changed + 1}: expected {old!r}, built {new!r}")
    return found

"""`python -m paper_artifacts [NAME ...] [--check] [--quick]`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from paper_artifacts import closed_forms, delay_statistics, microbatch_path, schedules
from paper_artifacts.artifact import EXPECTED, Artifact, differences, write
from paper_artifacts.artifact import Progress as Report
from pdtheory.errors import PdTheoryError, UnknownNameError

ARTIFACTS: dict[str, Artifact] = {
    module.ARTIFACT.name: module.ARTIFACT for module in (schedules, microbatch_path, delay_statistics, closed_forms)
}


@contextmanager
def reporting() -> Iterator[Report]:
    """Show progress on stderr where that is a terminal."""
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
    ) as bar:
        task = bar.add_task("", total=None)
        yield lambda words, done, total: bar.update(task, description=words, completed=done, total=total)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--check", is_flag=True, help="Compare with expected/; exit code 1 if anything differs.")
@click.option("--quick", is_flag=True, help="Fewer sizes, the same code.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("out/artifacts"),
    show_default=True,
    help="Folder to write to.",
)
@click.option("--update-expected", is_flag=True, help="Write the texts into expected/ (for maintainers).")
def main(names: tuple[str, ...], check: bool, quick: bool, out: Path, update_expected: bool) -> None:
    """Build the paper's figures and tables; all of them, or those that are named.

    \b
    schedules          figure 1
    microbatch_path    figure 2
    delay_statistics   figure 3, with the published values beside ours
    closed_forms       the table of closed forms, each proved now
    """
    try:
        for name in names:
            if name not in ARTIFACTS:
                raise UnknownNameError("artifact", name, ARTIFACTS)
        failed = False
        for name in names or ARTIFACTS:
            failed |= _one(ARTIFACTS[name], check, quick, out, update_expected)
    except PdTheoryError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        click.echo(f"Error: {out}: cannot be written: {error.strerror}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        click.echo("Interrupted; files that were written are complete.", err=True)
        sys.exit(130)
    sys.exit(1 if failed else 0)


def _one(artifact: Artifact, check: bool, quick: bool, out: Path, update_expected: bool) -> bool:
    """Build and write one artifact; say what it is; return whether it differs from what is expected."""
    began = time.monotonic()
    with reporting() as report:
        result = artifact.build(quick, report)
        paths = write(result, out)
    click.echo(f"{artifact.name}: {artifact.title} ({time.monotonic() - began:.1f} s)")
    for path in paths:
        click.echo(f"  {path}")
    for table in result.tables.values() if len(result.tables) == 1 and artifact.name != "closed_forms" else ():
        click.echo("\n" + table.markdown(), nl=False)
    for remark in result.remarks:
        click.echo(remark)
    if update_expected:
        EXPECTED.mkdir(exist_ok=True)
        for file, text in result.texts():
            (EXPECTED / file).write_text(text)
    if not check:
        return False
    found = differences(result, quick=quick)
    for line in found:
        click.echo(f"  DIFFERS {line}")
    click.echo(f"  {'differs from' if found else 'agrees with'} expected/")
    return bool(found)


if __name__ == "__main__":
    main()

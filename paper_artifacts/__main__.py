"""`python -m paper_artifacts [NAME ...] [--check] [--quick]`."""

from __future__ import annotations

import time
from pathlib import Path

import click

from paper_artifacts import closed_forms, delay_statistics, microbatch_path, schedules
from paper_artifacts.artifact import EXPECTED, Artifact, differences, write
from pdtheory.errors import ParameterError, UnknownNameError
from pdtheory.files import write_atomically
from pdtheory.terminal import Command, progress, run_command

ARTIFACTS: dict[str, Artifact] = {
    module.ARTIFACT.name: module.ARTIFACT for module in (schedules, microbatch_path, delay_statistics, closed_forms)
}


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
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
    if update_expected and quick:
        raise ParameterError("cannot be written from a quick build", where="--update-expected")
    for name in names:
        if name not in ARTIFACTS:
            raise UnknownNameError("artifact", name, ARTIFACTS)
    failed = False
    for name in names or ARTIFACTS:
        failed |= _one(ARTIFACTS[name], check, quick, out, update_expected)
    if failed:
        raise click.exceptions.Exit(1)


def _one(artifact: Artifact, check: bool, quick: bool, out: Path, update_expected: bool) -> bool:
    """Build and write one artifact; say what it is; return whether it differs from what is expected."""
    began = time.monotonic()
    with progress() as report:
        result = artifact.build(quick, report)
    try:
        paths = write(result, out)
    except OSError as error:
        raise ParameterError(f"cannot be written: {error.strerror}", where=str(out)) from None
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
            write_atomically(EXPECTED / file, text.encode())
    if not check:
        return False
    found = differences(result, quick=quick)
    for line in found:
        click.echo(f"  DIFFERS {line}")
    click.echo(f"  {'differs from' if found else 'agrees with'} expected/")
    return bool(found)


if __name__ == "__main__":
    run_command(main)

"""`python -m pdtheory.proof CERTIFICATE.json ...`: check certificates again."""

from __future__ import annotations

from pathlib import Path

import click

from pdtheory.errors import FormatError
from pdtheory.proof.certificates import recheck
from pdtheory.proof.steps import claim
from pdtheory.proof.verdict import Verdict
from pdtheory.terminal import Command, run_command


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("certificates", nargs=-1, required=True, metavar="CERTIFICATE.json...", type=click.Path(path_type=Path))
@click.option("--solver", type=click.Choice(["z3", "cvc5"]), default="z3", show_default=True, help="Who decides.")
def main(certificates: tuple[Path, ...], solver: str) -> None:
    """Check certificates step by step, and that they show what they state.

    Exit code 0 if all are PROVED, 1 if one is not (the step is named), 2 if one cannot be read.
    """
    failed = False
    for path in certificates:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise FormatError(f"cannot be read: {error}", where=str(path)) from None
        found = recheck(text, solver=solver, where=str(path))
        click.echo(f"{found.verdict}  {path}  {claim(found.conclusion)}")
        if found.verdict is not Verdict.PROVED:
            failed = True
            last = next((r for r in found.results if r.verdict is not Verdict.PROVED), None)
            click.echo(f"  step {last.name!r}: {last.detail}" if last else "  it has no steps")
    if failed:
        raise click.exceptions.Exit(1)


if __name__ == "__main__":
    run_command(main)

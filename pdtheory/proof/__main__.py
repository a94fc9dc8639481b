"""`python -m pdtheory.proof CERTIFICATE.json ...`: check certificates again."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pdtheory.errors import FormatError, PdTheoryError
from pdtheory.proof.certificates import recheck
from pdtheory.proof.verdict import Verdict


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("certificates", nargs=-1, required=True, metavar="CERTIFICATE.json...", type=click.Path(path_type=Path))
@click.option("--solver", type=click.Choice(["z3", "cvc5"]), default="z3", show_default=True, help="Who decides.")
def main(certificates: tuple[Path, ...], solver: str) -> None:
    """Check certificates step by step, and that they show what they state.

    Exit code 0 if all are PROVED, 1 if one is not (the step is named), 2 if one cannot be read.
    """
    failed = False
    try:
        for path in certificates:
            try:
                text = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise FormatError(f"cannot be read: {error}", where=str(path)) from None
            found = recheck(text, solver=solver, where=str(path))
            click.echo(f"{found.verdict}  {path}  {found.statement}: {found.conclusion}")
            if found.verdict is not Verdict.PROVED:
                failed = True
                last = found.results[-1] if found.results else None
                click.echo(f"  step {last.name!r}: {last.detail}" if last else "  it has no steps")
    except PdTheoryError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

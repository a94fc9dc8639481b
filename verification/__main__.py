"""`python -m verification [CLAIM ...] [--json]`: check the claims."""

from __future__ import annotations

import json
from pathlib import Path

import click

from pdtheory.cli.output import emit, write_all
from pdtheory.proof.certificates import to_json
from pdtheory.tables import Table
from pdtheory.terminal import Command, progress, run_command
from verification.claim import Result, run
from verification.registry import all_claims, claims_named


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("names", nargs=-1, metavar="[CLAIM]...")
@click.option("--json", "as_json", is_flag=True, help="Print a list of objects, with evidence and every control.")
@click.option("--list", "listed", is_flag=True, help="List names and statements; nothing is checked.")
@click.option("--allow-skipped", is_flag=True, help="Exit with 0 where only a missing solver stands in the way.")
@click.option(
    "--certificates",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write the proofs as JSON, to be checked again by: python -m pdtheory.proof.",
)
def main(names: tuple[str, ...], as_json: bool, listed: bool, allow_skipped: bool, certificates: Path | None) -> None:
    """Check the claims of the paper and of this project; all of them, or those that are named.

    Every claim has negative controls: perturbed statements that the same check must refuse. One claim alone
    is printed with all that it rests on. Exit code 1 if a claim fails or a control is accepted.

    \b
    python -m verification
    python -m verification theorem-1
    """
    wanted = claims_named(names)
    if listed:
        emit(Table("claims", ("claim", "statement"), [(c.name, c.statement) for c in wanted]), "table")
        return
    results: list[Result] = []
    with progress("checking", len(wanted)) as report:
        for place, claim in enumerate(wanted):
            report(claim.name, place, len(wanted))
            results.append(run(claim))
    if certificates is not None:
        _write_certificates(results, certificates)
    if as_json:
        click.echo(json.dumps([result.to_dict() for result in results], indent=2))
    elif len(results) == 1:
        _print_one(results[0])
    else:
        _print_all(results)
    failed = [r for r in results if not r.good and not (allow_skipped and r.skipped)]
    for result in failed:
        click.echo(_why(result), err=True)
    if failed:
        raise click.exceptions.Exit(1)


def table_of(results: list[Result], *, seconds: bool = True) -> Table:
    """Return the table of verdicts."""
    columns = ("claim", "statement", "verdict", "rests on", "controls refused", *(["seconds"] if seconds else []))
    rows = [
        (
            r.claim.name,
            r.claim.statement,
            r.verdict,
            _rests_on(r),
            f"{sum(c.refused for c in r.controls)} of {len(r.controls)}",
            *([f"{r.seconds:.2f}"] if seconds else []),
        )
        for r in results
    ]
    return Table("claims", columns, rows)


def _rests_on(result: Result) -> str:
    if result.claim.undecided:
        return result.claim.undecided
    if result.finding.proofs:
        return ", ".join(result.finding.hypotheses) or "no hypothesis"
    return "; ".join(result.finding.evidence[-1:])


def _print_all(results: list[Result]) -> None:
    emit(table_of(results), "table")
    counts: dict[str, int] = {}
    for result in results:
        counts[result.verdict] = counts.get(result.verdict, 0) + 1
    controls = [c for r in results for c in r.controls]
    seconds = sum(r.seconds for r in results)
    click.echo(
        f"{len(results)} claims: {', '.join(f'{n} {v}' for v, n in sorted(counts.items()))}; "
        f"{sum(c.refused for c in controls)} of {len(controls)} negative controls refused; {seconds:.1f} s"
    )


def _print_one(result: Result) -> None:
    click.echo(f"{result.claim.name} ({result.claim.source}): {result.claim.statement}")
    click.echo(f"{result.verdict}, {result.seconds:.2f} s")
    if result.claim.undecided:
        click.echo(f"undecided: {result.claim.undecided}")
    for title, lines in (
        ("evidence", result.finding.evidence),
        ("hypotheses", [f"{name}: {words}" for name, words in result.finding.hypotheses.items()]),
        ("negative controls", [f"{c.verdict}  {c.statement}: {c.detail}" for c in result.controls]),
    ):
        if lines:
            click.echo(f"{title}:")
            for line in lines:
                click.echo(f"  {line}")


def _why(result: Result) -> str:
    for control in result.controls:
        if not control.refused:
            return f"{result.claim.name}: negative control is not refused: {control.statement} ({control.verdict})"
    return f"{result.claim.name}: {result.verdict}: {'; '.join(result.finding.evidence)}"


def _write_certificates(results: list[Result], folder: Path) -> None:
    contents = {
        f"{result.claim.name}{f'_{number}' if number else ''}.json": to_json(proof, checked)
        for result in results
        for number, (proof, checked) in enumerate(result.finding.proofs)
    }
    write_all(contents, folder)
    click.echo(f"{len(contents)} certificates written to {folder}; check them: python -m pdtheory.proof", err=True)


__all__ = ["all_claims", "main", "table_of"]

if __name__ == "__main__":
    run_command(main)

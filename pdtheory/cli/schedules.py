"""Commands about schedules and their closed forms."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pdtheory.analysis import Analysis, analyze
from pdtheory.catalog import get_schedule, systems
from pdtheory.cli.output import emit, format_option, write_all
from pdtheory.durations import Durations
from pdtheory.errors import FormatError, ParameterError, UnknownNameError
from pdtheory.files import write_atomically
from pdtheory.formats import chrome_trace, read_torch_csv, torch_csv
from pdtheory.schedule import Schedule, WeightPolicy
from pdtheory.tables import Table
from pdtheory.terminal import ResultConsole, progress
from pdtheory.tie_rules import TieRule
from pdtheory.timeline import run

if TYPE_CHECKING:
    from pdtheory.formulas import ClosedForm

PICTURES = (".png", ".pdf", ".svg")


_FLAGS = {"num_in_flight": "--in-flight", "num_runs": "--runs", "local_steps": "--local-steps"}


def _schedule_options(stages: str, microbatches: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options that make a schedule; `stages` and `microbatches` say what holds where they are left out."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(
            [
                click.option("--stages", type=int, metavar="S", help=f"Number of stages of a NAME [{stages}]."),
                click.option(
                    "--microbatches", type=int, metavar="M", help=f"Number of microbatches of a NAME [{microbatches}]."
                ),
                click.option(
                    "--in-flight", type=int, metavar="N", help="Microbatches in flight at most (pipedream) [S]."
                ),
                click.option("--runs", type=int, metavar="R", help="Runs that share the pipeline (local-sgd) [S]."),
                click.option("--local-steps", type=int, metavar="H", help="Steps between averages (local-sgd) [1]."),
                click.option(
                    "--update-per",
                    type=click.Choice(["microbatch", "batch"]),
                    help="When weights are updated: after every backward, or once behind a flush. "
                    "A NAME has its own rule; a FILE does not say, microbatch is taken.",
                ),
            ]
        ):
            function = option(function)
        return function

    return add


def _load(
    source: str,
    stages: int | None,
    microbatches: int | None,
    in_flight: int | None,
    runs: int | None,
    local_steps: int | None,
    update_per: str | None,
    default_factor: int = 10,
) -> Schedule:
    """Return the schedule of a catalog name or of a file."""
    every = {None: 1, "microbatch": 1, "batch": None}[update_per]
    options = {"num_in_flight": in_flight, "num_runs": runs, "local_steps": local_steps}
    given = {name: value for name, value in options.items() if value is not None}
    if source in systems():
        if stages is None:
            raise ParameterError("is needed with a name", where="--stages", mend=f"Try: {source} --stages 4")
        own = systems()[source].options
        for name in given:
            if name not in own:
                has = ", ".join(_FLAGS[option] for option in own) or "no option of its own"
                raise ParameterError(f"is no option of {source}", where=_FLAGS[name], mend=f"It has {has}")
        schedule = get_schedule(
            source, stages, default_factor * stages if microbatches is None else microbatches, **given
        )
        if update_per is None:
            return schedule
        return dataclasses.replace(
            schedule, weights=dataclasses.replace(schedule.weights, microbatches_per_update=every)
        )
    if not (os.path.exists(source) or "/" in source or source.endswith(".csv")):
        raise UnknownNameError("schedule or file", source, systems())
    if os.path.isfile(source) and (stages is not None or microbatches is not None or given):
        raise ParameterError("a file has its own stages and microbatches", where=source, mend="Leave these options out")
    return read_torch_csv(source, weights=WeightPolicy(every))


def _timing(durations: str | None, latency: str) -> Durations:
    return Durations.parse(durations, latency) if durations is not None else Durations(latency=latency)


@click.command()
@format_option
def schedules(format_: str) -> None:
    """List the schedules of the catalog, with their own options."""
    rows = [
        (entry.name, entry.summary, ", ".join(_FLAGS[option] for option in entry.options) or "-", entry.source)
        for entry in systems().values()
    ]
    emit(Table("schedules", ("name", "what", "options", "source"), rows), format_)


@click.command(name="analyze")
@click.argument("source", metavar="NAME|FILE")
@_schedule_options("needed", "10 S")
@click.option("--durations", metavar="F=1,B=2", help="Time per op, per stage with colons: F=1:2:1. Kinds F, B, I, W.")
@click.option("--latency", default="0", show_default=True, help="Time of a transfer between workers.")
@click.option("--tie", default="stage-order", show_default=True, help="Tie rule: " + ", ".join(TieRule) + ".")
@format_option
def analyze_command(source: str, durations: str | None, latency: str, tie: str, format_: str, **options: Any) -> None:
    """Analyze a schedule of the catalog, or a compute-only CSV file of PyTorch.

    Prints makespan, idle time, microbatches in flight, weight versions, version lags and block delays. The
    block delay counts updates of any stage between a forward's read and its update.

    \b
    pdtheory analyze pipedream --stages 8 --microbatches 80
    pdtheory analyze my_schedule.csv --durations F=1,B=2 --format json
    """
    rule = TieRule.named(tie)
    found: Analysis = analyze(_load(source, **options), durations=_timing(durations, latency), tie_rule=rule)
    emit(found.table(), format_, found.to_json)


@click.command()
@click.argument("name")
@click.argument("quantity", required=False)
@click.option("--tie", help="Only the formulas for this tie rule: " + ", ".join(TieRule) + ".")
@click.option(
    "--export-smt",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write every statement that the solver decided as an SMT-LIB file (unsat means it holds).",
)
@click.option(
    "--certificates",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write the proofs, to be checked again by: python -m pdtheory.proof.",
)
@format_option
def formula(
    name: str,
    quantity: str | None,
    tie: str | None,
    export_smt: Path | None,
    certificates: Path | None,
    format_: str,
) -> None:
    """Print the closed forms of a schedule, each derived and checked now, for all numbers of stages.

    One time step per op. QUANTITY chooses one of them. Exit code 1 if a formula is not PROVED or its
    perturbed twin is not refused.

    \b
    pdtheory formula pipedream
    pdtheory formula pipedream max_block_delay --format json
    """
    from pdtheory.formulas import MEANINGS, closed_form, quantities

    rule = None if tie is None else TieRule.named(tie)
    names = quantities(name)
    if not names:
        raise ParameterError("no closed form is known", where=name, mend="Use: pdtheory analyze")
    if quantity is not None and quantity not in {q.split("/")[0] for q in names} | set(names):
        raise UnknownNameError(f"quantity of {name}", quantity, names)
    wanted = [q for q in names if quantity in (None, q, q.split("/")[0])]
    forms: list[ClosedForm] = []
    with progress("proving", len(wanted)) as advance:
        for full in wanted:
            base, _, its_rule = full.partition("/")
            form = closed_form(name, base, tie_rule=its_rule or None)
            if rule is None or form.tie_rule in (rule, None):
                forms.append(form)
            advance()
    if not forms:
        raise ParameterError(f"has no formula for the tie rule {rule}", where=f"{name} {quantity}")
    if export_smt is not None:
        _export_statements(forms, export_smt)
    if certificates is not None:
        _export_certificates(forms, certificates)
    rows = [
        (f.quantity, (str(f.expr), f._repr_latex_()), f.domain, f.verdict, f.negative_control.verdict) for f in forms
    ]
    table = Table(f"closed forms of {name}", ("quantity", "formula", "domain", "verdict", "perturbed twin"), rows)
    emit(table, format_, lambda: json.dumps([f.to_dict() for f in forms], indent=2))
    if format_ == "table":
        used = sorted({symbol for f in forms for symbol in f.symbols})
        click.echo("; ".join(f"{symbol}: {MEANINGS[symbol]}" for symbol in used))
    if any(f.verdict != "PROVED" or f.negative_control.verdict != "REFUTED" for f in forms):
        skipped = next((r.detail for f in forms for r in f.evidence if r.verdict == "SKIPPED"), None)
        if skipped:
            click.echo(f"Not proved: {skipped}", err=True)
        sys.exit(1)


def _export_statements(forms: list[ClosedForm], folder: Path) -> None:
    """Write every statement that the solver decided, each once."""
    contents: dict[str, str] = {}
    seen: set[str] = set()
    for form in forms:
        for name, text in form.obligations():
            if text not in seen:
                comment = f"; {form.schedule}: {name}\n; unsat means that the statement holds for all integers\n"
                contents[f"{form.schedule}_{len(seen):04d}.smt2"] = comment + text + "\n"
                seen.add(text)
    write_all(contents, folder)
    click.echo(f"{len(contents)} statements written to {folder}", err=True)


def _export_certificates(forms: list[ClosedForm], folder: Path) -> None:
    """Write every proof as a certificate."""
    contents = {
        f"{form.schedule}_{form.quantity.replace('/', '_')}_{case}.json": text
        for form in forms
        for case, text in enumerate(form.certificates())
    }
    write_all(contents, folder)
    click.echo(f"{len(contents)} certificates written to {folder}; check them: python -m pdtheory.proof", err=True)


@click.command()
@click.argument("file", type=click.Path())
def check(file: str) -> None:
    """Say what is wrong with a compute-only CSV file, or that nothing is.

    Reads the file, checks that every op is there once and on one worker, and runs the order.
    """
    schedule = read_torch_csv(file)
    timeline = run(schedule)
    click.echo(
        f"{file}: good. {schedule.num_workers} workers, {schedule.num_stages} stages, "
        f"{schedule.num_microbatches} microbatches, {schedule.num_ops} ops, "
        f"makespan {timeline.makespan} at one step per op."
    )


@click.command()
@click.argument("source", metavar="NAME|FILE")
@_schedule_options("4", "3 S")
@click.option("--durations", metavar="F=1,B=2", help="Time per op.")
@click.option("--latency", default="0", show_default=True, help="Time of a transfer between workers.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Picture to write: .png, .pdf or .svg.",
)
def show(source: str, durations: str | None, latency: str, output: Path | None, **options: Any) -> None:
    """Draw a schedule: in the terminal, or with -o as a picture (needs the extra [plot])."""
    if output is not None and output.suffix.lower() not in PICTURES:
        raise ParameterError("a picture must end in .png, .pdf or .svg", where="--output", value=str(output))
    if options["stages"] is None and source in systems():
        options["stages"] = 4
    schedule = _load(source, default_factor=3, **options)
    timeline = run(schedule, _timing(durations, latency))
    if output is None:
        from pdtheory.text_chart import text_chart

        console = ResultConsole(10_000)
        lines, note = text_chart(timeline, console.width)
        for line in lines:
            console.print(line, no_wrap=True, crop=True)
        console.print(note)
        return
    from pdtheory.figures import save_figure, timeline_figure

    save_figure(timeline_figure([(schedule.name, timeline)]), output)
    click.echo(f"written to {output}", err=True)


@click.command()
@click.argument("source", metavar="NAME|FILE")
@_schedule_options("needed", "10 S")
@click.option("--to", "target", type=click.Choice(["torch-csv", "chrome-trace"]), required=True, help="Format.")
@click.option("--durations", metavar="F=1,B=2", help="Time per op (chrome-trace).")
@click.option("--latency", default="0", show_default=True, help="Time of a transfer (chrome-trace).")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File to write [stdout].")
def export(source: str, target: str, durations: str | None, latency: str, output: Path | None, **options: Any) -> None:
    """Write a schedule as PyTorch's compute-only CSV or as a Chrome trace."""
    schedule = _load(source, **options)
    timing = _timing(durations, latency)
    text = torch_csv(schedule) if target == "torch-csv" else chrome_trace(run(schedule, timing))
    if output is None:
        click.echo(text, nl=not text.endswith("\n"))
        return
    try:
        write_atomically(output, text.encode())
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror}", where=str(output)) from None


COMMANDS = (schedules, analyze_command, formula, check, show, export)

"""Commands about convergence bounds."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pdtheory.cli.output import emit, format_option, write_all
from pdtheory.errors import ParameterError
from pdtheory.tables import Table
from pdtheory.terminal import progress

if TYPE_CHECKING:
    from pdtheory.bounds import Bound
    from pdtheory.rates import Rate

#: Options that stand for the symbols of bounds.
_NUMBERS = {
    "S": ("--stages", "Number of stages."),
    "K": ("--updates", "Number of block updates."),
    "M": ("--microbatches", "Number of microbatches."),
    "T": ("--steps", "Steps of every LocalSGD worker, a multiple of H."),
    "N": ("--runs", "Workers of LocalSGD, or runs that share the pipeline."),
    "H": ("--local-steps", "LocalSGD steps between averages."),
    "delta": ("--delta", "Largest block delay."),
    "gamma": ("--stepsize", "Step size."),
    "L": ("--smoothness", "Lipschitz constant of the gradient."),
    "G": ("--grad-bound", "Every block's second moment is at most its square."),
    "V": ("--variance", "Every block's variance is at most this."),
    "D": ("--suboptimality", "f at the start less its least value."),
}


class ExactNumber(click.ParamType):  # type: ignore[type-arg] # not generic in every version
    """A number as it is written: 0.1 is one tenth."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Fraction:
        """Read it."""
        from pdtheory.bounds import exact_number

        try:
            return exact_number(value)
        except (TypeError, ValueError, ArithmeticError):
            self.fail(f"{value[:60]!r} is no number. Try: 0.01, 1e-3 or 1/3", param, ctx)


def _number_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for symbol, (flag, words) in reversed(_NUMBERS.items()):
        metavar = "G" if symbol == "gamma" else symbol
        function = click.option(flag, symbol, type=ExactNumber(), metavar=metavar, help=words)(function)
    return function


@click.command()
@click.argument("name", required=False)
@_number_options
@click.option(
    "--certificate",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write the proof as JSON, to be checked again by: python -m pdtheory.proof.",
)
@format_option
def bound(name: str | None, certificate: Path | None, format_: str, **given: Fraction | None) -> None:
    """Print one convergence bound: terms, hypotheses, and its proof's verdict; all of them without NAME.

    Numbers are put for the symbols that are given; with all of them the bound is evaluated, and without a
    step size tuned. Exit code 1 if the proof is not accepted.

    \b
    pdtheory bound rpd-paper
    pdtheory bound pipedream-variance --stages 8
    pdtheory bound rpd-paper --stages 8 --updates 100000 --delta 60 --smoothness 1 --grad-bound 1 --suboptimality 1
    """
    from pdtheory.bounds import MEANINGS, get_bound, names

    values = {symbol: value for symbol, value in given.items() if value is not None}
    if name is None:
        if values or certificate:
            raise ParameterError("say which bound", where="NAME", mend=f"Known: {', '.join(names())}")
        _list_bounds(format_)
        return
    found = get_bound(name)
    for symbol in values:
        if symbol not in found.symbols:
            has = ", ".join(_NUMBERS[s][0] for s in found.symbols)
            raise ParameterError(f"does not occur in {name}", where=_NUMBERS[symbol][0], mend=f"It has {has}")
    if certificate is not None:
        write_all({f"{name}.json": found.certificate()}, certificate)
        click.echo(f"written to {certificate / name}.json; check it: python -m pdtheory.proof", err=True)
    # JSON has everything that was computed; a float is printed with the digits that give it back.
    evaluated = _evaluated(found, values)
    terms = [(t.name, (str(t.expr), found.latex(t.expr)), _shown(evaluated["terms"].get(t.name))) for t in found.terms]
    terms.append(("total", (str(found.expr), found._repr_latex_()), _shown(evaluated["total"])))
    if found.verdict != "PROVED":
        step = next((r for r in found.checked.results if r.verdict != "PROVED"), None)
        click.echo(f"Not proved: {step.name if step else name}: {step.detail if step else ''}", err=True)
    emit(
        Table(f"{name}: {found.title}", ("term", "formula", "value"), terms),
        format_,
        lambda: json.dumps({**found.to_dict(), **evaluated}, indent=2),
    )
    if format_ == "table":
        click.echo(f"{found.verdict}: {found.bounded} is at most the total. Source: {found.source}.")
        if evaluated["stepsize"] is not None:
            words = (
                "tuned, the largest allowed" if evaluated["at_limit"] else "tuned" if evaluated["tuned"] else "given"
            )
            click.echo(f"step size {_shown(evaluated['stepsize'])} ({words})")
        if evaluated["vacuous"] is not None:
            click.echo("vacuous: above S G^2, which bounds it anyway" if evaluated["vacuous"] else "below S G^2")
        click.echo(f"holds {'if ' + found.hypotheses['step size'] if found.condition else 'at every step size'}")
        click.echo("hypotheses:")
        for hypothesis, words in found.hypotheses.items():
            click.echo(f"  {hypothesis}: {words}")
        click.echo("; ".join(f"{symbol}: {MEANINGS[symbol][0]}" for symbol in found.symbols))
    if found.verdict != "PROVED":
        sys.exit(1)


def _list_bounds(format_: str) -> None:
    from pdtheory.bounds import LITERATURE, get_bound, names

    rows = [(b.name, (str(b.expr), b._repr_latex_()), b.source) for b in map(get_bound, names())]
    quoted = [(f"({q.name})", f"quoted, not re-derived: {q.words}", q.source) for q in LITERATURE]
    emit(Table("bounds", ("name", "formula", "source"), [*rows, *quoted]), format_)


def _evaluated(found: Bound, values: dict[str, Fraction]) -> dict[str, Any]:
    """Return the bound with numbers put in, as far as they are given."""
    missing = set(found.symbols) - set(values)
    empty: dict[str, Any] = {
        "values": {symbol: str(value) for symbol, value in values.items()},
        "stepsize": None,
        "tuned": False,
        "at_limit": None,
        "terms": {},
        "total": None,
        "vacuous": None,
    }
    if not values:
        return empty
    if missing - {"gamma"}:
        texts = {name: str(value) for name, value in found.partial(**values).items()}
        return {**empty, "terms": texts, "total": " + ".join(texts.values())}
    tuned = found.tune(**values) if missing else None
    step = tuned.stepsize if tuned else values["gamma"]
    terms = {k: float(v) for k, v in found.evaluate_terms(**{**values, "gamma": step}).items()}
    return {
        **empty,
        "stepsize": float(step),
        "tuned": tuned is not None,
        "at_limit": None if tuned is None else tuned.at_limit,
        "terms": terms,
        "total": sum(terms.values()),
        "vacuous": found.vacuous(**{**values, "gamma": step}) if "G" in found.symbols else None,
    }


def _shown(value: Any) -> str:
    return "-" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


@click.command()
@click.option("--stages", type=int, required=True, metavar="S", help="Number of stages.")
@click.option("--updates", type=int, required=True, metavar="K", help="Number of block updates, M = K/S microbatches.")
@click.option("--smoothness", type=ExactNumber(), required=True, metavar="L", help=_NUMBERS["L"][1])
@click.option("--grad-bound", type=ExactNumber(), required=True, metavar="G", help=_NUMBERS["G"][1])
@click.option("--suboptimality", type=ExactNumber(), required=True, metavar="D", help=_NUMBERS["D"][1])
@click.option("--variance", type=ExactNumber(), metavar="V", help=_NUMBERS["V"][1] + " [grad-bound^2]")
@click.option("--stepsize", type=ExactNumber(), metavar="G", help="The same for all [each at its best].")
@click.option("--ticks", type=int, metavar="T", help="For the comparison at equal time [PipeDream's for K updates].")
@click.option(
    "--delta",
    default="steady",
    show_default=True,
    metavar="D",
    help="Largest block delay of randomized PipeDream: steady, whole-run (start-up included), or a number.",
)
@click.option("--runs", type=int, metavar="R", help="Runs that share the pipeline in LocalSGD [S].")
@click.option("--local-steps", type=int, default=5, show_default=True, metavar="H", help="LocalSGD steps per round.")
@format_option
def rates(
    stages: int,
    updates: int,
    smoothness: Fraction,
    grad_bound: Fraction,
    suboptimality: Fraction,
    variance: Fraction | None,
    stepsize: Fraction | None,
    ticks: int | None,
    delta: str,
    runs: int | None,
    local_steps: int,
    format_: str,
) -> None:
    """Print all bounds side by side for one pipeline: at equal numbers of block updates, and at equal time.

    Each is at its own best step size, or all at the given one. What is bounded is an average of squared
    gradient norms, of RPD over block updates, of PipeDream over microbatches, of LocalSGD over steps.
    Exit code 1 if a proof is not accepted.

    \b
    pdtheory rates --stages 8 --updates 100000 --smoothness 1 --grad-bound 1 --suboptimality 1
    """
    from pdtheory.rates import Pipeline
    from pdtheory.rates import rates as all_rates

    pipeline = Pipeline(stages, updates, _delay(delta, stages), stages if runs is None else runs, local_steps)
    if ticks is not None and ticks < 1:
        raise ParameterError("must be at least 1", where="--ticks", value=ticks)
    time = pipeline.ticks if ticks is None else ticks
    constants: dict[str, Any] = {
        "smoothness": smoothness,
        "grad_bound": grad_bound,
        "suboptimality": suboptimality,
        "variance": grad_bound**2 if variance is None else variance,
        "stepsize": stepsize,
    }
    at_updates = list(all_rates(pipeline, **constants))
    at_time = list(all_rates(pipeline, **constants, ticks=time))
    with progress("checking proofs", len(at_updates)) as advance:
        for rate in at_updates:
            _ = rate.bound.verdict
            advance()
    rows = [_row(a, "updates") for a in at_updates] + [_row(a, "time") for a in at_time]
    columns = ("bound", "at equal", "counts", "verdict", "stepsize", "optimization", "noise", "stale", "total", "")
    title = f"rates for {stages} stages, {updates} block updates, {time} ticks"
    emit(Table(title, columns, rows), format_, lambda: json.dumps(_objects(at_updates, at_time, time), indent=2))
    if any(rate.bound.verdict != "PROVED" for rate in at_updates):
        click.echo("Not proved: see pdtheory bound NAME", err=True)
        sys.exit(1)


def _delay(text: str, stages: int) -> int:
    from pdtheory.rates import steady_delay, whole_run_delay

    if text in ("steady", "whole-run"):
        return (steady_delay if text == "steady" else whole_run_delay)(stages)
    if not text.isascii() or not text.isdigit():
        raise ParameterError("must be steady, whole-run or a number", where="--delta", value=text)
    return int(text)


def _row(rate: Rate, at: str) -> tuple[Any, ...]:
    remark = (
        "no complete round"
        if rate.stepsize is None
        else "step too large"
        if not rate.valid
        else "vacuous"
        if rate.vacuous
        else ""
    )
    terms = rate.terms or {}
    return (
        rate.bound.name,
        at,
        ", ".join(f"{name}={value}" for name, value in rate.counts.items()),
        rate.bound.verdict,
        _shown(rate.stepsize),
        *(_shown(terms.get(name)) for name in ("optimization", "noise", "stale")),
        _shown(rate.total),
        remark,
    )


def _objects(at_updates: list[Rate], at_time: list[Rate], ticks: int) -> list[dict[str, Any]]:
    return [
        {
            "name": one.bound.name,
            "source": one.bound.source,
            "verdict": str(one.bound.verdict),
            **one.to_dict(),
            "at_equal_time": {"ticks": ticks, **other.to_dict()},
        }
        for one, other in zip(at_updates, at_time, strict=True)
    ]


COMMANDS = (bound, rates)

"""What every command needs: one way out for errors, and progress on stderr where that is a terminal."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pdtheory.errors import PdTheoryError, UnknownNameError

INTERRUPTED = 130


class InputError(click.ClickException):
    """Wrong usage or input."""

    exit_code = 2


class _ProjectErrors:
    """Turns the project's errors into one line on stderr and exit code 2."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)  # type: ignore[misc]
        except PdTheoryError as error:
            raise InputError(str(error)) from None


class Command(_ProjectErrors, click.Command):
    """A command with one way out for errors."""


class Group(_ProjectErrors, click.Group):
    """A group of commands with one way out for errors, that knows the nearest name of an unknown command."""

    def resolve_command(self, context: click.Context, args: list[str]) -> Any:  # noqa: D102 - as in click
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            raise UnknownNameError("command", args[0], self.commands)
        return super().resolve_command(context, args)


def run_command(command: click.Command) -> None:
    """Run a command of the terminal and leave with its exit code; nothing ends in a traceback.

    0 done, 1 a check failed, 2 wrong usage or input, 130 interrupted. A reader that left early, like
    `head`, is no error.
    """
    sys.exit(_exit_code(command))


def _exit_code(command: click.Command) -> int:
    if sys.stdout is None or sys.stderr is None:
        return 2
    interrupts: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        interrupts.append(number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        result = command.main(standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _interrupted()
    except BrokenPipeError:
        _discard_stdout()
        return 0
    except OSError as error:
        _discard_stdout()
        click.echo(f"Error: the result cannot be written: {error.strerror}", err=True)
        return 2
    except Exception:
        # Compiled code may turn an interrupt into an error of its own.
        if interrupts:
            return _interrupted()
        raise


def _interrupted() -> int:
    click.echo("Interrupted; files that were written are complete.", err=True)
    return INTERRUPTED


def _discard_stdout() -> None:
    """Point stdout to nowhere, so that the interpreter's last flush finds no fault."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


class ResultConsole(Console):
    """A console for results: without a terminal as wide as asked; a reader that left is not its business."""

    def __init__(self, width_without_terminal: int) -> None:
        super().__init__(width=None if sys.stdout.isatty() else width_without_terminal)

    def on_broken_pipe(self) -> None:
        """Leave a closed pipe to `run_command`; rich would end the program with 1."""
        raise BrokenPipeError


@contextmanager
def progress(words: str = "", total: int | None = None) -> Iterator[Callable[..., None]]:
    """Show a progress bar on stderr where that is a terminal.

    Yields a callable: without arguments it advances by one; `words`, `done` and `total` set the bar.
    """
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
    ) as bar:
        task = bar.add_task(words, total=total)

        def report(words: str | None = None, done: int | None = None, total: int | None = None) -> None:
            if done is None:
                bar.advance(task)
            else:
                bar.update(task, description=words, completed=done, total=total)

        yield report

"""The command line: `pdtheory COMMAND`."""

from __future__ import annotations

import click

from pdtheory import __version__
from pdtheory.cli import bounds, schedules
from pdtheory.terminal import Group, run_command


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="pdtheory")
def main() -> None:
    """Delays of pipeline-parallel training: analyzed for any schedule, proved for every number of stages.

    Results go to stdout. Exit codes: 0 done, 1 a check failed, 2 wrong usage or input.
    """


for _command in (*schedules.COMMANDS, *bounds.COMMANDS):
    main.add_command(_command)


def entry() -> None:
    """Run the command line as a program."""
    run_command(main)

"""Options that the commands of the compiler share."""

from __future__ import annotations

import click
from dia_language.confinement.permission import NO, WORDS
from dia_runtime.commands.ranges import IntRange

allow_programs = click.option(
    "--allow-programs",
    type=click.Choice(WORDS),
    default=NO,
    metavar="[=unconfined]",
    help=(
        "Allow specs to run programs in a sandbox; `=unconfined` runs them with your own rights where no "
        "sandbox is available."
    ),
)
jobs_option = click.option(
    "--jobs", type=IntRange(min=1), metavar="N", help="Number of worker processes (default: all cores)."
)

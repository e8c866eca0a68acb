"""The option that lets specs start programs."""

from __future__ import annotations

import click
from dia_language.confinement.permission import NO, WORDS

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

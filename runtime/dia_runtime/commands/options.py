"""What commands share."""

from __future__ import annotations

from pathlib import Path

import click

SEED = click.IntRange(min=0)
bundle_option = click.option("--bundle", type=click.Path(path_type=Path), help="Take the answers from this bundle.")
chain_option = click.option(
    "--chain",
    type=click.Choice(["strict", "lenient", "compat"]),
    default="strict",
    show_default=True,
    help="How answers are read out of replies.",
)
points_option = click.option(
    "--points", multiple=True, metavar="VERDICT=N", help="Replace points: wrong=-1. Repeatable."
)
errors_option = click.option(
    "--errors",
    type=click.Choice(["keep", "wrong"]),
    default="keep",
    show_default=True,
    help="Keep errors open, or count them as wrong.",
)
over_option = click.option(
    "--over",
    type=click.Choice(["instances", "attempts"]),
    default="instances",
    show_default=True,
    help="What k counts: instances of an item, or attempts at a question.",
)
labels_option = click.option(
    "--labels", type=click.Path(path_type=Path), metavar="FILE", help="Group models by the labels of this file."
)


def is_quiet(flag: bool) -> bool:
    """Whether progress and notes are unwanted: `-q` behind the command's name, or before it."""
    context = click.get_current_context(silent=True)
    return flag or bool(context and context.find_root().meta.get("dia.quiet"))


def write_output(text: str, out: Path | None) -> None:
    """Nothing; the text goes to the file, or to standard output where there is none."""
    if out is None:
        click.echo(text, nl=False)
        return
    from dia_runtime.bundle.atomic_output import atomic_file, write_errors

    encoded = text.encode("utf-8", "replace")
    if out.exists() and (
        not out.is_file() or out.is_relative_to("/dev")
    ):  # a pipe or a device is written to, not replaced
        with write_errors(out):
            out.write_bytes(encoded)
        return
    with atomic_file(out.resolve(), force=True) as file:
        file.write(encoded)

"""`dia overlap`: questions that also occur in a validation set."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from dia_runtime.commands.options import PATH, json_option
from dia_runtime.commands.progress import activity
from dia_runtime.commands.ranges import FloatRange, IntRange
from dia_runtime.commands.terminal import echo


@click.command("overlap")
@click.argument("bundle", metavar="BUNDLE", type=PATH)
@click.argument("sets", nargs=-1, required=True, metavar="SET...", type=PATH)
@click.option("--bank", type=PATH, help="Check only the questions of items in this bank.")
@click.option(
    "--words",
    type=IntRange(1, 50),
    default=5,
    show_default=True,
    help="Number of words in a shingle (a sequence of consecutive words).",
)
@click.option(
    "--least",
    type=FloatRange(0, 1),
    default=0.5,
    show_default=True,
    metavar="SHARE",
    help="A question counts as found if a text has at least this share of the question's shingles.",
)
@json_option
def command(bundle: Path, sets: tuple[Path, ...], bank: Path | None, words: int, least: float, as_json: bool) -> int:
    """Find questions of a bundle that also occur in other question sets, such as a validation set.

    A SET is a bundle, a JSON Lines file, or a text file with one text per line. The questions' own texts are compared,
    without the wrapper and the instructions of the answer format. A question counts as found if a text contains it, or
    enough of its shingles. Exit code 1 if any question is found.

    \b
    Example:
      dia overlap build/dia_bench-1.0.0-k5 specs/idk/sample/questions.jsonl
    """
    from dia_runtime.psychometrics.overlap import overlap
    from dia_runtime.psychometrics.rasch.bank import read_bank
    from dia_runtime.report.scale_tables import overlap_tables
    from dia_runtime.report.tables import as_text

    items = None if bank is None else frozenset(entry.item for entry in read_bank(bank).items)
    with activity("comparing"):
        result = overlap(bundle, sets, words, least, items)
    echo(json.dumps(asdict(result), indent=2) if as_json else as_text(overlap_tables(result)), nl=as_json)
    return 1 if result.hits else 0

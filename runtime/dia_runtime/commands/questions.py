"""`dia questions`: how several models answer each question."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dia_runtime.commands.options import (
    bundle_option,
    chain_option,
    format_option,
    json_option,
    out_option,
    runs_argument,
    write_output,
)
from dia_runtime.commands.progress import activity
from dia_runtime.commands.ranges import IntRange


@click.command("questions")
@runs_argument
@chain_option
@bundle_option
@click.option(
    "--limit",
    type=IntRange(min=0),
    default=20,
    show_default=True,
    help="Maximum number of questions in each table.",
)
@format_option("text", "csv", "markdown", help="Output format; CSV contains only the hardest questions.")
@json_option
@out_option
def command(
    runs: tuple[Path, ...],
    chain: str,
    bundle: Path | None,
    limit: int,
    form: str,
    as_json: bool,
    out: Path | None,
) -> int:
    """Show where models agree: unanimous questions, the hardest ones, shared wrong answers, reply lengths.

    For each question, uses the first reply of every respondent in the runs.

    \b
    Example:
      dia questions build/runs/dia_bench-oracle.run
    """
    from dia_runtime.report.view_tables import FORMATS
    from dia_runtime.scoring.question_views import question_views

    with activity("comparing the models"):
        result = question_views(list(runs), chain, bundle, limit)
    write_output(json.dumps(result, indent=2) + "\n" if as_json else FORMATS[form](result), out)
    return 0

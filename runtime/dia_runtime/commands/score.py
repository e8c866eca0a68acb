"""`dia score`: the figures of runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from dia_runtime.commands.options import (
    bundle_option,
    chain_option,
    errors_option,
    is_quiet,
    over_option,
    points_option,
    printed,
)
from dia_runtime.language.diagnostics import DiaError, Diagnostic, visible


@click.command("score")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=click.Path(path_type=Path))
@bundle_option
@chain_option
@points_option
@errors_option
@over_option
@click.option(
    "--ensemble",
    type=click.Choice(["vote", "outcomes"]),
    help="Add all models as one: by the answer, or the outcome, that most gave.",
)
@click.option(
    "--ties",
    type=click.Choice(["skip", "first", "wrong"]),
    default="skip",
    show_default=True,
    help="What a tie of the ensemble becomes; first: what the first of those models said.",
)
@click.option(
    "--skips",
    type=click.Choice(["count", "ignore"]),
    default="count",
    show_default=True,
    help="Whether a skip votes, or is silent while others answer.",
)
@click.option("--by", multiple=True, metavar="LABEL", help="Print the figures by this label. Repeatable.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "csv", "markdown", "latex"]),
    default="text",
    show_default=True,
    help="The form of the tables.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Write to this file.")
@click.option("-q", "--quiet", is_flag=True, help="Print no notes.")
def command(
    runs: tuple[Path, ...],
    bundle: Path | None,
    chain: str,
    points: tuple[str, ...],
    errors: str,
    over: str,
    ensemble: str | None,
    ties: str,
    skips: str,
    by: tuple[str, ...],
    form: str,
    as_json: bool,
    out: Path | None,
    quiet: bool,
) -> int:
    """Grade the replies of runs and print the figures.

    Tables print shares in percent, with standard errors; JSON holds them between 0 and 1. While a run has
    errors, a figure is printed as the interval that it can still end in. Labels to group by are category,
    domain, level, skill, variant, template, item, adversarial and number.

    \b
    Example:
      dia score build/runs/dia_bench-oracle.run
    """
    from dia_runtime.ensemble import Policy
    from dia_runtime.report import tables
    from dia_runtime.score import score

    policy = Policy(ensemble, ties, skips) if ensemble else None
    result = score(list(runs), chain, parse_points(points), errors, bundle, over, by, policy)
    if as_json:
        text = json.dumps(result, indent=2) + "\n"
    else:
        more = [] if form == "csv" or by else tables.ladder_tables(result)
        text = tables.FORMATS[form]([*tables.score_tables(result, by), *more])
    printed(text, out)
    if not is_quiet(quiet):
        for note in notes(result):
            click.echo(f"note: {visible(note)}", err=True)
    return 0


def parse_points(texts: Iterable[str]) -> dict[str, str]:
    """Verdict -> points, from `wrong=-1` or `wrong=-1,skipped=0`."""
    found = {}
    for text in ",".join(texts).split(",") if texts else ():
        name, sign, value = text.partition("=")
        if not sign:
            help = "write a verdict and its points: `--points wrong=-1`"
            raise DiaError(Diagnostic("E811", visible(f"`{text}` sets no points"), None, help))
        found[name.strip()] = value.strip()
    return found


def notes(result: Mapping[str, Any]) -> list[str]:
    """What a reader of the tables must know."""
    found = []
    if result["points_differ"]:
        told = "; ".join(
            " ".join(f"{name}={value}" for name, value in points.items()) for points in result["points_told"]
        )
        changed = " ".join(f"{name}={value}" for name, value in result["points"].items())
        found.append(f"points {changed} are not what the models were told ({told}): told so, they might skip otherwise")
    if result["k_varies"]:
        found.append("items differ in their number of instances: RS sums the mean points of the items")
    for model in result["models"]:
        missing, errors = model["missing"], model["counts"]["error"]
        if missing:
            found.append(f"{model['model']}: {missing} questions were not asked and count nowhere")
        if errors:
            found.append(f"{model['model']}: {errors} errors are left; `dia run` asks them again")
    return found

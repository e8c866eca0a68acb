"""`dia report`: runs as one page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from dia_runtime.commands.options import (
    bundle_option,
    chain_option,
    errors_option,
    is_quiet,
    labels_option,
    over_option,
    points_option,
)
from dia_runtime.language.diagnostics import visible

COMPARED = ("rs", "trad_score", "idk_score")  # figures by which all pairs of models are compared


@click.command("report")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=click.Path(path_type=Path))
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path), help="The page to write, an .html.")
@click.option("--title", help="The page's title.")
@bundle_option
@chain_option
@points_option
@errors_option
@over_option
@labels_option
@click.option("--by", multiple=True, metavar="LABEL", help="Show the verdicts by this label too. Repeatable.")
@click.option(
    "--replies",
    type=click.IntRange(min=0),
    metavar="N",
    help="Keep N characters of a reply; 0: no replies. Unless given, as many as make a page that can be sent.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print no progress.")
def command(
    runs: tuple[Path, ...],
    out: Path,
    title: str | None,
    bundle: Path | None,
    chain: str,
    points: tuple[str, ...],
    errors: str,
    over: str,
    labels: Path | None,
    by: tuple[str, ...],
    replies: int | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Write one page with the figures, the pictures and every question of runs.

    The page loads nothing and sends nothing: it can be mailed, printed and kept. With --bundle it also shows what was
    asked. Texts of models are shown as text, long ones cut in their middle.

    \b
    Example:
      dia report build/runs/dia_bench-oracle.run -o build/report.html
    """
    from dia_runtime.commands.score import notes, parse_points
    from dia_runtime.judge import Rules, worth
    from dia_runtime.report.page.write import write_report
    from dia_runtime.score import opened, score
    from dia_runtime.together import MOST_MODELS

    worths = parse_points(points)
    rules = Rules(chain, {name: worth(name, value) for name, value in worths.items()}, errors, over)
    with _progress(not is_quiet(quiet)) as told, opened(list(runs), bundle) as (stores, source):
        models = sum(len(store.respondents()) for store in stores)
        compare = COMPARED if 1 < models <= MOST_MODELS else ()
        result = score(list(runs), chain, worths, errors, bundle, over, by, compare=compare, labels=labels)
        known = notes(result) + ([] if models <= MOST_MODELS else [f"{models} models are too many to be compared"])
        written = write_report(out, result, stores, rules, source, title, replies, known, by, told)
    facts = {
        "path": str(out),
        "bytes": out.stat().st_size,
        "models": len(result["models"]),
        "questions": written.questions,
        "replies": written.replies,
        "parts": written.parts,
        "reply_characters": written.length,
        "cut_replies": written.cut,
        "has_prompts": written.has_prompts,
    }
    click.echo(json.dumps(facts, indent=2) if as_json else visible(str(out)))
    return 0


@contextmanager
def _progress(is_wanted: bool) -> Iterator[Callable[[int], None]]:
    """What to call with the number of questions that are done: it tells, on standard error, where somebody looks."""
    import sys

    if not is_wanted or not sys.stderr.isatty():
        yield lambda done: None
        return
    click.echo("scoring ...", err=True, nl=False)
    try:
        yield lambda done: click.echo(f"\r{done:,} questions written", err=True, nl=False)
    finally:
        click.echo(err=True)

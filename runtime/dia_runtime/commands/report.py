"""`dia report`: write runs as one HTML page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from dia_language.diagnostics import DiaError, Diagnostic, visible

from dia_runtime.commands.options import (
    PATH,
    GradingOptions,
    choice_option,
    grading_options,
    is_quiet,
    json_option,
    labels_option,
    options_object,
    price_option,
    quiet_option,
    runs_argument,
)
from dia_runtime.commands.ranges import IntRange
from dia_runtime.commands.terminal import echo, overwrite

if TYPE_CHECKING:
    from dia_runtime.report.pictures.figures import PictureData

SUFFIXES = (".html", ".htm")
COMPARED = ("rs", "trad_score", "idk_score")  # figures by which all pairs of models are compared


@dataclass(frozen=True)
class ReportOptions(GradingOptions):
    """The arguments of `dia report`."""

    runs: tuple[Path, ...]
    out: Path
    title: str | None
    labels: Path | None
    prices: tuple[str, ...]
    by: tuple[str, ...]
    preset: str | None
    bank: Path | None
    replies: int | None
    as_json: bool
    quiet: bool


@click.command("report")
@runs_argument
@click.option("-o", "--out", required=True, type=PATH, help="HTML file to write, with a name that ends in .html.")
@click.option("--title", help="Title of the page.")
@grading_options
@labels_option
@price_option
@click.option("--by", multiple=True, metavar="LABEL", help="Also show the verdicts by this label. Repeatable.")
@choice_option(
    "--preset",
    choices=["paper", "dia-bench"],
    help="paper: grade as the published code of each study does (DIA-Bench, evaluate-idk, Self-Execution Benchmark; "
    "chain compat), and for conversations of the Self-Execution Benchmark, show its figures. dia-bench: grade as the "
    "text of the DIA-Bench paper says (chain strict), which differs from its code. Both count errors as wrong.",
)
@click.option(
    "--bank",
    type=PATH,
    metavar="FILE",
    help="Also show models and items on the scale of this bank.",
)
@click.option(
    "--replies",
    type=IntRange(min=0),
    metavar="N",
    help="Keep at most N characters of each reply; 0 leaves replies out. Default: enough for a page that can be "
    "mailed.",
)
@json_option
@quiet_option("progress and notes")
@options_object(ReportOptions)
def command(options: ReportOptions) -> int:
    """Write an HTML page with the figures, plots and every question of runs.

    The page is one file that loads and sends nothing, so it can be mailed, printed and archived. Runs contain no
    prompts: --bundle adds them. --bank adds the models and items on one scale. Long replies are shortened in the
    middle.

    \b
    Example:
      dia report build/runs/dia_bench-oracle.run -o build/report.html
    """
    from dia_runtime.commands.score import notes_on_rules, parse_points
    from dia_runtime.grading.judge import Rules, worth
    from dia_runtime.report.findings import findings
    from dia_runtime.report.page.write import PageOptions, write_report
    from dia_runtime.report.tables import with_own_names
    from dia_runtime.scoring.compare import MOST_MODELS
    from dia_runtime.scoring.predicted import predicted_success
    from dia_runtime.scoring.score import PRESETS, opened, score

    chain, errors = PRESETS.get(options.preset or "", (options.chain, options.errors))
    points, runs, bundle = parse_points(options.points), list(options.runs), options.bundle
    scale = None if options.bank is None else scale_of(options.bank, runs, chain, bundle)
    worths = {name: worth(name, value) for name, value in points.items()}
    rules = Rules(chain, worths, errors, options.over, options.preset)
    with _progress(not is_quiet(options.quiet)) as on_progress, opened(runs, bundle) as (stores, source):
        models = sum(len(store.respondents()) for store in stores)
        result = score(
            runs,
            chain,
            points,
            errors,
            bundle,
            options.over,
            options.by,
            compare=COMPARED if 1 < models <= MOST_MODELS else (),
            labels=options.labels,
            preset=options.preset,
            prices=options.prices,
        )
        notes = [*findings(with_own_names(result)), *notes_on_rules(result)]
        if models > MOST_MODELS:
            notes.append(f"{models:,} models are too many for comparisons in pairs")
        chosen = predicted_success(stores, rules, source)
        page_options = PageOptions(options.title, options.replies, notes, options.by, scale, chosen)
        page = write_report(options.out, result, stores, rules, source, page_options, on_progress)
    if options.out.suffix.lower() not in SUFFIXES and not is_quiet(options.quiet):
        note = f"{options.out} is an HTML page; browsers show it as a page only if its name ends in .html"
        echo(f"note: {visible(note)}", err=True)
    facts = {
        "path": str(options.out),
        "bytes": options.out.stat().st_size,
        "models": len(result["models"]),
        "questions": page.questions,
        "replies": page.replies,
        "parts": page.parts,
        "reply_characters": page.length,
        "cut_replies": page.cut,
        "has_prompts": page.has_prompts,
        "bank": scale and scale["bank"]["checksum"],
    }
    echo(json.dumps(facts, indent=2) if options.as_json else str(options.out))
    return 0


def scale_of(bank: Path, runs: Sequence[Path], chain: str, bundle: Path | None) -> PictureData:
    """Return a bank, and how often the models of the runs solved its items, as the plots of banks need them.

    Raises DiaError (exit 2) if the bank was calibrated on other questions than those of the runs.
    """
    from dia_runtime.psychometrics.panel import UNITS, observed, read_panel
    from dia_runtime.psychometrics.rasch.bank import as_record, read_bank

    scale_bank = read_bank(bank)
    panel = read_panel(runs, scale_bank.unit if scale_bank.unit in UNITS else "instances", chain, bundle)
    is_of_others = scale_bank.unit in ("instances", "items") and scale_bank.questions_root not in (
        None,
        panel.questions_root,
    )
    if is_of_others or not {entry.item for entry in scale_bank.items} & set(panel.items):
        message = visible(f"the bank `{bank}` was calibrated on other questions than these runs")
        help = "calibrate a bank from these runs: `dia calibrate RUN... -o bank.json`"
        raise DiaError(Diagnostic("E895", message, None, help))
    abilities = {entry.model: entry.ability for entry in scale_bank.models}
    return {"bank": as_record(scale_bank), "observed": observed(panel, abilities)}


@contextmanager
def _progress(is_wanted: bool) -> Iterator[Callable[[int], None]]:
    """Yield a callback that prints the number of finished questions to standard error, if that is a terminal."""
    import sys

    if not is_wanted or not sys.stderr.isatty():
        yield lambda done: None
        return
    overwrite("scoring ...")
    try:
        yield lambda done: overwrite(f"wrote {done:,} questions")
    finally:
        echo(err=True)

"""`dia calibrate`: estimate a bank of item difficulties, and the abilities of models."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from dia_language.diagnostics import counted, visible

from dia_runtime.commands.options import (
    PATH,
    SEED,
    bundle_option,
    chain_option,
    choice_option,
    format_option,
    is_quiet,
    json_option,
    options_object,
    quiet_option,
)
from dia_runtime.commands.progress import activity
from dia_runtime.commands.ranges import FloatRange, IntRange
from dia_runtime.commands.terminal import echo

if TYPE_CHECKING:
    from dia_runtime.psychometrics.calibration import CalibrationOptions
    from dia_runtime.psychometrics.calibration_result import CalibrationResult
    from dia_runtime.psychometrics.panel import Panel
    from dia_runtime.psychometrics.rasch.estimate import EstimationOptions

METHODS = ("mml-items", "mml-persons", "cml", "jml")
GAUGES = ("mean-difficulty", "mean-ability", "anchors")
CHECKS = (
    "andersen", "wald", "martin-loef", "components", "slopes", "partial-credit", "held-out", "stability", "monotone",
    "all", "none",
)  # fmt: skip
DEFAULT_CHECKS = ("andersen", "components", "slopes")


@dataclass(frozen=True)
class CalibrateOptions:
    """The arguments of `dia calibrate`."""

    data: tuple[Path, ...]
    out: Path | None
    method: str | None
    eliminate: str
    item_scores: str
    preset: str | None
    gauge: str | None
    anchors: Path | None
    unit: str
    bias_correction: str
    extreme: str
    extreme_adjust: float
    largest_block: bool
    rule: str | None
    choose_filter: bool
    checks: tuple[str, ...]
    split: str
    plausible: int
    draws: int
    seed: int
    cluster: str
    labels: Path | None
    family: str
    bundle: Path | None
    chain: str
    every: bool
    form: str
    as_json: bool
    quiet: bool


@click.command("calibrate")
@click.argument("data", nargs=-1, required=True, metavar="RUN...", type=PATH)
@click.option("-o", "--out", type=PATH, help="File for the bank. Default: build/banks/NAME.json.")
@choice_option(
    "--method",
    choices=METHODS,
    help="Estimation method. mml-items and mml-persons, marginal maximum likelihood, are named after the side that is "
    "integrated out: mml-items estimates the abilities and integrates over a distribution of difficulties; "
    "mml-persons, as in most IRT software, estimates the difficulties and integrates over a distribution of abilities. "
    "cml: conditional. jml: joint. Default: mml-items, but jml if --bias-correction trials is given, or if a table has "
    "shares of correct replies, not only 0 and 1.",
)
@choice_option(
    "--eliminate",
    choices=["auto", "respondents", "items"],
    default="auto",
    help="For cml. respondents: estimate the difficulties, conditional on the respondents' totals. items: estimate the "
    "abilities, conditional on the items' totals. auto: respondents if there are more of them than items, otherwise "
    "items.",
)
@choice_option(
    "--item-scores",
    choices=["eap", "wle", "mle"],
    default="eap",
    help="Estimator of the side that the method does not estimate directly: the difficulties (mml-items), the "
    "abilities (mml-persons), or the side that is eliminated (cml). eap: posterior mean. wle: Warm's estimate. mle: "
    "maximum likelihood. No effect with jml, which estimates both sides by maximum likelihood.",
)
@choice_option("--preset", choices=["paper"], help="Use Algorithm 1 of the Self-Execution paper, as published.")
@choice_option(
    "--gauge", choices=GAUGES, help="Origin of the scale. Default: mean-difficulty, or anchors with --anchors."
)
@click.option("--anchors", type=PATH, metavar="BANK", help="Fix the difficulties of this bank's items.")
@choice_option(
    "--items",
    "unit",
    choices=["instances", "items", "templates", "benchmarks"],
    default="instances",
    help="What gets its own difficulty.",
)
@choice_option(
    "--bias-correction",
    choices=["none", "trials"],
    default="none",
    help="For jml: shrink the scale by (n-1)/n, where n is the mean number of trials per item, or per model if that is "
    "smaller.",
)
@choice_option(
    "--extreme",
    choices=["winsteps", "drop"],
    default="winsteps",
    help="Models or items with only correct or only wrong replies. winsteps: keep them, and make infinite estimates "
    "finite, as --extreme-adjust describes. drop: leave them all out.",
)
@click.option(
    "--extreme-adjust",
    type=FloatRange(0.01, 0.5),
    default=0.3,
    show_default=True,
    metavar="REPLIES",
    help="With --extreme winsteps, an infinite estimate is computed as if this many of the replies had the opposite "
    "verdict. Estimates by --item-scores eap or wle are finite and do not change.",
)
@click.option("--largest-block", is_flag=True, help="If the data fall into unconnected blocks, keep the largest.")
@click.option("--filter", "rule", metavar="RULE",
              help="Keep only items in a range: avg:0.05,0.95 (mean pass rate), atlas:0.05,0.95,0.05 (the same, "
              "and pass rates that differ between models: a standard deviation of at least 0.05), difficulty:-2,2 or "
              "infit:0.7,1.3.")  # fmt: skip
@click.option(
    "--choose-filter",
    is_flag=True,
    help="Try fifteen filters and use the best: of those with which the model fits and predicts well enough, the one "
    "with the best trade-off between items kept and precision.",
)
@click.option(
    "--check",
    "checks",
    multiple=True,
    type=click.Choice(CHECKS),
    default=DEFAULT_CHECKS,
    show_default=True,
    help="Additional checks of the model fit. Repeatable.",
)
@choice_option(
    "--split",
    choices=["median", "mean"],
    default="median",
    help="For the checks andersen, wald and martin-loef: the score that divides the data.",
)
@click.option(
    "--plausible-values",
    "plausible",
    type=IntRange(0, 1000),
    default=0,
    show_default=True,
    help="Number of plausible values of each ability and difficulty in the JSON output.",
)
@click.option(
    "--draws",
    type=IntRange(0, 10_000),
    default=20,
    show_default=True,
    help="Simulated data sets for the checks; monotone uses 200 if N is smaller.",
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of folds and simulations.")
@choice_option(
    "--cluster",
    choices=["templates", "none"],
    default="templates",
    help="Cluster the standard errors of abilities by template (if there are ten or more), or treat all replies as "
    "independent.",
)
@click.option("--labels", type=PATH, metavar="FILE", help="YAML file with labels of models, as for dia score.")
@click.option(
    "--family",
    default="family",
    show_default=True,
    metavar="LABEL",
    help="With --labels: label that assigns models to families. Items that are harder for a family than predicted are "
    "listed.",
)
@bundle_option
@chain_option
@click.option("--all", "every", is_flag=True, help="Print all models and items, not only a selection.")
@format_option("text", "csv", "markdown", "latex")
@json_option
@quiet_option("notes")
@options_object(CalibrateOptions)
def command(options: CalibrateOptions) -> int:
    """Estimate the difficulties of items and the abilities of models on one Rasch scale.

    RUN... are runs, or one table (CSV or Parquet) with a row for each model and a column for each item. The result is
    written to a bank, which other commands read. In a bank, an item is what gets a difficulty of its own: by default,
    each instance.

    \b
    Example:
      dia calibrate idk.run -o build/bank.json
      dia calibrate idk.run --method jml -o build/jml.json
    """
    from dia_runtime.psychometrics.calibration import calibrate_panel
    from dia_runtime.psychometrics.panel import read_panel
    from dia_runtime.psychometrics.rasch.bank import write_bank
    from dia_runtime.report.scale_tables import scale_tables
    from dia_runtime.report.tables import FORMATS, as_rows

    with activity("grading", options.quiet):
        panel = read_panel(options.data, options.unit, options.chain, options.bundle)
    scaled = calibrate_panel(panel, _options(options, panel), _stage_printer(is_quiet(options.quiet)))
    out = options.out or Path("build", "banks", f"{panel.benchmark or options.data[0].name.partition('.')[0]}.json")
    write_bank(scaled.bank, out)
    if options.as_json:
        echo(json.dumps({**scaled.result.as_json(), "bank": str(out)}, indent=2))
    elif options.form == "csv":
        echo("\n".join(map(as_rows, scale_tables(scaled.result, options.every)[:2])), nl=False)
    else:
        echo(FORMATS[options.form](scale_tables(scaled.result, options.every)), nl=False)
    for warning in _warnings(scaled.result, options, panel):
        echo(f"warning: {visible(warning)}", err=True)
    if not is_quiet(options.quiet):
        for note in [*panel.notes, *_notes(scaled.result, options, panel), f"wrote the bank to {out}"]:
            echo(f"note: {visible(note)}", err=True)
    return 0


def _stage_printer(quiet: bool) -> Callable[[str], None]:
    """Return a callback that prints each stage to standard error, unless quiet."""
    return (lambda text: None) if quiet else (lambda text: echo(text, err=True))


def _options(options: CalibrateOptions, panel: Panel) -> CalibrationOptions:
    from dia_runtime.psychometrics.calibration import CHECKS as EVERY
    from dia_runtime.psychometrics.calibration import CalibrationOptions

    checks = set(options.checks)
    return CalibrationOptions(
        estimation=_estimation(options, panel),
        anchors=_anchors(options.anchors, panel),
        filter=options.rule,
        choose_filter=options.choose_filter,
        checks=EVERY if "all" in checks else tuple(name for name in EVERY if name in checks and "none" not in checks),
        families=_families(options.labels, options.family, panel) if options.labels else None,
        largest_block=options.largest_block,
        draws=options.draws,
        seed=options.seed,
        cluster=options.cluster,
        split=options.split,
        plausible=options.plausible,
        paper=options.preset == "paper",
    )


def _anchors(path: Path | None, panel: Panel) -> dict[str, float] | None:
    """Return the difficulties of a bank's items. The bank must be about the same questions."""
    from dia_runtime.psychometrics.rasch.bank import read_bank, require_questions

    if path is None:
        return None
    bank = read_bank(path)
    require_questions(bank, panel.benchmark, panel.questions_root)
    return {entry.item: entry.difficulty for entry in bank.items}


def _estimation(options: CalibrateOptions, panel: Panel) -> EstimationOptions:
    from dia_runtime.psychometrics.rasch.estimate import EstimationOptions

    method = options.method or ("jml" if panel.is_shares or options.bias_correction != "none" else "mml-items")
    gauge = options.gauge or ("anchors" if options.anchors else "mean-difficulty")
    return EstimationOptions(
        method=method.replace("-", "_"),
        gauge=gauge.replace("-", "_"),
        eliminate=options.eliminate,
        item_scores=options.item_scores,
        bias_correction=options.bias_correction,
        extreme=options.extreme,
        extreme_adjust=options.extreme_adjust,
    )


def _families(labels_file: Path, family: str, panel: Panel) -> tuple[str | None, ...]:
    from dia_runtime.psychometrics.rasch.estimate import calibration_error
    from dia_runtime.scoring.labels import read_labels

    labels = read_labels(labels_file)
    families = tuple(labels.of(model).get(family) for model in panel.models)
    if len(set(families) - {None}) < 2:
        message = f"the label `{family}` does not divide these models into two or more families"
        raise calibration_error(message, f"labels in the file: {', '.join(labels.names) or 'none'}")
    return families


def _warnings(result: CalibrationResult, options: CalibrateOptions, panel: Panel) -> list[str]:
    """Return what makes the method or its errors inadequate for these data; `--quiet` does not hide it."""
    warnings = []
    if panel.is_shares and options.method is None and options.preset is None:
        warnings.append(
            "the cells are shares of an unknown number of trials and count as one trial each, so standard errors are "
            "rough"
        )
    if len(panel.models) > len(panel.items) and result.method == "mml_items":
        warnings.append(
            "there are more models than items: `--method cml` or `--method mml-persons` is more suitable, because it "
            "does not estimate a parameter for each model"
        )
    slopes = result.fit.slopes
    if slopes is not None and slopes.p < 0.05:
        p = "p < 0.001" if slopes.p < 0.001 else f"p = {slopes.p:.3f}"
        warnings.append(
            f"{slopes.of} do not discriminate equally (standard deviation of log slopes {slopes.spread:.2f}, {p}): the "
            "Rasch model is only an average over them"
        )
    dependence = result.dependence
    if dependence is None:
        return warnings
    effect = dependence.effect
    if effect is not None and dependence.is_rejected:
        p = "p < 0.001" if effect.p < 0.001 else f"p = {effect.p:.3f}"
        allowed = (
            "the standard errors of abilities allow for it"
            if dependence.families
            else "the standard errors of abilities ignore it"
        )
        warnings.append(
            f"replies to instances of one template depend on each other (standard deviation {effect.sd:.2f} logits, "
            f"{p}): {allowed}"
        )
    if dependence.families is None and options.cluster == "templates" and result.method != "paper":
        needs = "at least ten templates"
        if result.method not in ("mml_items", "jml"):
            needs += " and a method that can do it, such as `--method mml-items`"
        warnings.append(
            "the standard errors of abilities treat instances of one template as independent, because clustering them "
            f"needs {needs}"
        )
    return warnings


def _notes(result: CalibrationResult, options: CalibrateOptions, panel: Panel) -> list[str]:
    """Return notes that a reader of the tables needs."""
    from dia_runtime.psychometrics.rasch.mml import LEAST as LEAST_SD

    notes = []
    checks = {"wald": result.fit.wald, "martin-loef": result.fit.martin_loef, "slopes": result.fit.slopes,
              "partial-credit": result.fit.partial_credit, "andersen": result.fit.andersen}  # fmt: skip
    notes += [
        f"the check `{name}` was not possible with these data"
        for name in options.checks
        if name not in DEFAULT_CHECKS and name in checks and not checks[name]
    ]
    for what, entries in (("item", result.difficulties), ("model", result.abilities)):
        extreme = sum(entry.status.startswith("extreme") for entry in entries)
        if extreme:
            where = _place_of_extremes(what, result, options, panel)
            notes.append(f"{counted(extreme, what)} with only correct or only wrong replies: {where}")
    if result.prior and result.prior.sd <= LEAST_SD * (1 + 1e-6):
        places = "difficulties" if result.method == "mml_items" else "abilities"
        notes.append(
            f"the replies show no differences between {places}: all are placed near the mean, with small errors"
        )
    for left in result.left_out[:5]:
        notes.append(f"the {left.kind} {left.name} is not on the scale: {left.why}")
    return notes


def _place_of_extremes(what: str, result: CalibrationResult, options: CalibrateOptions, panel: Panel) -> str:
    """Return what decides where items or models with only correct or only wrong replies are."""
    from dia_runtime.psychometrics.rasch.estimate import estimates_items

    if options.extreme == "drop":
        return "left out (`--extreme drop`)"
    items_estimated = estimates_items(_estimation(options, panel), len(result.abilities), len(result.difficulties))
    if result.method != "jml" and (what == "model") == items_estimated and options.item_scores != "mle":
        return f"placed on the scale like all others, by `--item-scores {options.item_scores}`"
    return "placed on the scale by `--extreme-adjust`"

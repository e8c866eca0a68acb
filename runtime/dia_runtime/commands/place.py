"""`dia place`: estimate a model's ability on a calibrated bank with as few questions as possible."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from dia_language.diagnostics import DiaError, Diagnostic, counted, visible

from dia_runtime.commands.model_options import ModelArguments, model_options, run_options
from dia_runtime.commands.options import (
    PATH,
    SEED,
    chain_option,
    choice_option,
    is_quiet,
    json_option,
    options_object,
    quiet_option,
)
from dia_runtime.commands.ranges import FloatRange, IntRange
from dia_runtime.commands.terminal import echo

if TYPE_CHECKING:
    from dia_runtime.commands.progress_lines import ProgressLine
    from dia_runtime.psychometrics.boundary.placing import PlacementOptions, PlacementResult
    from dia_runtime.psychometrics.rasch.bank import Bank
    from dia_runtime.running.run import Progress

RUNS = Path("build") / "runs"
AT_ONCE = 4  # default number of open questions; all but the first are chosen before the latest replies are known
RULES = ("max-info", "randomesque", "random")
ENDINGS = {
    "se": "standard error reached",
    "budget": "budget spent",
    "exhausted": "all items of the bank asked, except extreme ones",
    "going": "some questions have no reply",
}


@dataclass(frozen=True)
class PlaceOptions:
    """The arguments of `dia place`, except how models are asked."""

    bank_file: Path
    bundle: Path | None
    models: tuple[str, ...]
    replay: tuple[Path, ...]
    out: Path | None
    se: float
    budget: int | None
    trials: int
    method: str
    quadrature: str
    rule: str
    exposure: int
    draw: int
    balance: bool
    chain: str
    as_json: bool
    quiet: bool


@click.command("place")
@click.option("--bank", "bank_file", type=PATH, required=True, help="The calibrated bank.")
@click.option("--bundle", type=PATH, help="Bundle with the bank's questions.")
@click.option(
    "--model", "models", multiple=True, metavar="NAME", help="Model to ask, or to take from --replay. Repeatable."
)
@click.option(
    "--replay", multiple=True, type=PATH, metavar="RUN", help="Use recorded replies instead of asking. Repeatable."
)
@click.option("-o", "--out", type=PATH, metavar="RUN", help="File for the run.")
@click.option(
    "--se",
    type=FloatRange(min=0.01),
    default=0.3,
    show_default=True,
    metavar="LOGITS",
    help="Stop at this standard error.",
)
@click.option("--budget", type=IntRange(min=1), metavar="N", help="Maximum number of items to ask.")
@click.option(
    "--trials",
    type=IntRange(1, 1000),
    default=1,
    show_default=True,
    help="Questions asked of each template, if the bank was calibrated with `--items templates`.",
)
@choice_option("--method", choices=["eap", "map", "wle"], default="eap", help="Estimator of the ability.")
@choice_option(
    "--quadrature",
    choices=["adaptive", "fixed"],
    default="adaptive",
    help="Integration points of eap; fixed reproduces the published method, whose standard errors are wrong once "
    "about ten items have been asked.",
)
@choice_option("--rule", choices=RULES, default="max-info", help="Rule for choosing the next item.")
@click.option(
    "--exposure",
    type=IntRange(1, 1000),
    default=5,
    show_default=True,
    help="For randomesque: draw from this many best items.",
)
@click.option(
    "--draw", type=SEED, default=0, show_default=True, metavar="SEED", help="Seed for randomesque and random."
)
@click.option("--balance", is_flag=True, help="Ask the same number of items from each category.")
@chain_option
@model_options
@json_option
@quiet_option("progress")
@options_object(ModelArguments, "model_arguments")
@options_object(PlaceOptions)
def command(options: PlaceOptions, model_arguments: ModelArguments) -> int:
    """Estimate a model's ability on a bank from the most informative questions.

    The questions come from the bundle that the bank was calibrated on; if the items of the bank are templates, from any
    bundle of the same templates. The replies so far decide which one comes next (by default, four are asked at a time;
    with --concurrency 1, each choice uses all earlier replies), until the standard error is small enough, the budget is
    spent or all items have been asked. The replies are stored in a run; to resume an interrupted
    placement, repeat the command. With --replay, recorded replies are used in the order in which they would have been
    requested.

    \b
    Example:
      dia place --bank build/bank.json --replay idk.run
    """
    from dia_runtime.psychometrics.rasch.bank import read_bank

    if bool(options.replay) == bool(options.models and options.bundle):
        help = "give either `--bundle BUNDLE --model NAME`, to ask, or `--replay RUN`, to use recorded replies"
        raise DiaError(Diagnostic("E896", _unclear(options), None, help))
    bank, placement = read_bank(options.bank_file), _placement_options(options)
    if options.replay:
        from dia_runtime.psychometrics.boundary.placing import place_recorded

        recorded = place_recorded(bank, options.replay, options.models, placement, options.bundle)
        placed, code = list(recorded), 0
    else:
        placed, code = _ask_models(bank, options, placement, model_arguments)
    if options.as_json:
        echo(json.dumps(as_record(bank, options.bank_file, placement, placed), indent=2))
    else:
        echo("\n".join(result_lines(placed)))
    return code


def _placement_options(options: PlaceOptions) -> PlacementOptions:
    from dia_runtime.psychometrics.boundary.placement import EstimationMethod, StoppingRule
    from dia_runtime.psychometrics.boundary.placing import PlacementOptions
    from dia_runtime.psychometrics.boundary.selection import SelectionRule

    return PlacementOptions(
        StoppingRule(options.se, options.budget, options.trials),
        EstimationMethod(options.method, options.quadrature),
        SelectionRule(options.rule, options.exposure, options.draw, options.balance),
        options.chain,
    )


def _ask_models(
    bank: Bank, options: PlaceOptions, placement: PlacementOptions, model_arguments: ModelArguments
) -> tuple[list[PlacementResult], int]:
    """Ask the models; return their placements and the exit code."""
    from dia_runtime.bundle.open import open_bundle
    from dia_runtime.commands.progress_lines import ProgressLine
    from dia_runtime.commands.run import exit_code, note_left_out, note_retry, print_notes, run_file
    from dia_runtime.psychometrics.boundary.placing import place
    from dia_runtime.respondents.registry import built_in_beside_url

    assert options.bundle is not None
    arguments = replace(model_arguments, concurrency=model_arguments.concurrency or AT_ONCE)
    terms, opened, quiet = run_options(arguments), open_bundle(options.bundle), is_quiet(options.quiet)
    built_in_beside_url(options.models, [], terms.model_options)
    placed: list[PlacementResult] = []
    summaries = []
    progress_line = ProgressLine()
    if not quiet:
        terms = replace(terms, on_left_out=progress_line.above(note_left_out), on_retry=progress_line.above(note_retry))
    for model in dict.fromkeys(options.models):
        path = options.out or run_file(opened, model, model, "-placed")
        try:
            placements, summary = place(
                bank, opened, model, path, placement, terms, None if quiet else _report(progress_line)
            )
        except KeyboardInterrupt:
            progress_line.clear()
            message = f"interrupted: the replies so far are in {path}; repeat the command to continue"
            echo(message, err=True)
            return placed, 130
        placed += placements
        summaries.append(summary)
        progress_line.clear()
        print_notes(summary.respondents, quiet)
        if not quiet:
            echo(f"{model}: replies in {path}", err=True)
    refused = exit_code(summaries)
    return placed, refused if refused == 4 else int(any(map(_lacks_replies, placed)))


def _lacks_replies(placed: PlacementResult) -> bool:
    """Return whether the placement would be more accurate if questions without a reply had one."""
    return placed.ending == "going" or (placed.ending == "exhausted" and placed.lost > 0)


def _report(progress_line: ProgressLine) -> Callable[[PlacementResult, Progress], None]:
    """Return a callback that shows a model's current placement, and the progress of asking."""

    def update(placed: PlacementResult, step: Progress) -> None:
        progress_line.update(placed.model, lambda: progress_text(placed, step))

    return update


def progress_text(placed: PlacementResult, step: Progress) -> str:
    """Return a model's current placement on one line."""
    from dia_runtime.commands.progress_lines import state_text

    items = f"{placed.model[:60]}: {counted(len(placed.steps), 'item')}"
    return f"{items}, {placed.ability:.2f} +- {placed.se:.2f} logits{state_text(step)}"


def _unclear(options: PlaceOptions) -> str:
    """Return which of the options that name models and questions is missing or too much."""
    if options.replay:
        return "`--replay` and `--bundle` exclude each other"
    if options.models:
        return "`--bundle` is missing"
    return "`--model` is missing" if options.bundle else "no model is named"


def result_lines(placed: Sequence[PlacementResult]) -> list[str]:
    """Return a line for each model."""
    width = max((len(visible(one.model)) for one in placed), default=0)
    lines = []
    for one in placed:
        beyond = "the ability is outside the bank's range of difficulties"
        near = beyond if one.ending == "se" else "too few items near this ability"
        outside = f"; {near}" if one.is_outside else ""
        lost = f"; {counted(one.lost, 'item')} without a reply" if one.lost else ""
        lines.append(
            f"{visible(one.model):{width}}  {one.ability:7.3f} +- {one.se:.3f} logits  {len(one.steps):4} items  "
            f"{ENDINGS[one.ending]}{outside}{lost}"
        )
    return lines


def as_record(bank: Bank, file: Path, options: PlacementOptions, placed: Sequence[PlacementResult]) -> dict[str, Any]:
    """Return what `dia place --json` prints."""
    from dia_runtime.psychometrics.rasch.bank import as_record as of_bank

    return {
        "bank": {"path": str(file), "checksum": of_bank(bank)["checksum"], "gauge": bank.gauge},
        "method": options.method.name,
        "quadrature": options.method.quadrature,
        "prior": asdict(options.method.prior),
        "rule": options.rule.name,
        "goal": asdict(options.stopping),
        "models": [
            {
                "model": one.model,
                "ability": one.ability,
                "se": one.se,
                "items": len(one.steps),
                "ending": one.ending,
                "outside_coverage": one.is_outside,
                "lost": one.lost,
                "steps": [asdict(step) for step in one.steps],
            }
            for one in placed
        ],
    }

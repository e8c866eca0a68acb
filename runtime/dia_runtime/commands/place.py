"""`dia place`: where a model stands on a calibrated bank, by as few questions as it takes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from dia_language.diagnostics import DiaError, Diagnostic, visible

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

if TYPE_CHECKING:
    from dia_runtime.psychometrics.boundary.placing import PlacementOptions, PlacementResult
    from dia_runtime.psychometrics.rasch.bank import Bank

RUNS = Path("build") / "runs"
AT_ONCE = 4  # questions under way unless said: each but the first is chosen a little earlier than it could be
RULES = ("max-info", "randomesque", "random")
ENDINGS = {
    "se": "the error is reached",
    "budget": "the budget is spent",
    "exhausted": "the bank has no more items",
    "going": "questions are left without a reply",
}


@dataclass(frozen=True)
class PlaceOptions:
    """What `dia place` is given, beside how models are asked."""

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
@click.option("--bundle", type=PATH, help="The bundle that holds the bank's questions.")
@click.option("--model", "models", multiple=True, metavar="NAME", help="Whom to ask, or whom to take from --replay.")
@click.option("--replay", multiple=True, type=PATH, metavar="RUN", help="Place recorded replies.")
@click.option("-o", "--out", type=PATH, metavar="RUN", help="The file of the run.")
@click.option("--se", type=click.FloatRange(min=0.01), default=0.3, show_default=True, help="End at this error.")
@click.option("--budget", type=click.IntRange(min=1), metavar="N", help="Ask so many items at most.")
@click.option("--trials", type=click.IntRange(1, 1000), default=1, show_default=True, help="Questions an item.")
@choice_option("--method", choices=["eap", "map", "wle"], default="eap", help="The estimator.")
@choice_option(
    "--quadrature",
    choices=["adaptive", "fixed"],
    default="adaptive",
    help="Where eap looks; fixed repeats what was published, and is wrong from about ten items on.",
)
@choice_option("--rule", choices=RULES, default="max-info", help="How items are chosen.")
@click.option(
    "--exposure",
    type=click.IntRange(1, 1000),
    default=5,
    show_default=True,
    help="Of so many best items randomesque draws one.",
)
@click.option("--draw", type=SEED, default=0, show_default=True, metavar="SEED", help="Seed of randomesque and random.")
@click.option("--balance", is_flag=True, help="Ask categories alike.")
@chain_option
@model_options
@json_option
@quiet_option("progress")
@options_object(ModelArguments, "model_arguments")
@options_object(PlaceOptions)
def command(options: PlaceOptions, model_arguments: ModelArguments) -> int:
    """Say where a model stands on a bank, asking it the questions that tell most.

    The model is asked one question after the other of the bundle that the bank was calibrated on, each chosen by what
    it has replied so far, until the standard error is reached, the budget is spent or the bank is empty. The replies
    are kept in a run; the same command takes an interrupted placement up. With --replay recorded replies are taken in
    the order in which they would have been asked, and nobody is.

    \b
    Example:
      dia place --bank build/bank.json --replay idk.run
    """
    from dia_runtime.psychometrics.rasch.bank import read_bank

    if bool(options.replay) == bool(options.models and options.bundle):
        help = "`--bundle BUNDLE --model NAME` asks, `--replay RUN` takes what is recorded"
        raise DiaError(Diagnostic("E896", "it is unclear whom to place", None, help))
    bank, placement = read_bank(options.bank_file), _placement_options(options)
    if options.replay:
        from dia_runtime.psychometrics.boundary.placing import place_recorded

        recorded = place_recorded(bank, options.replay, options.models, placement, options.bundle)
        placed, code = list(recorded), 0
    else:
        placed, code = _ask_models(bank, options, placement, model_arguments)
    if options.as_json:
        click.echo(json.dumps(as_record(bank, options.bank_file, placement, placed), indent=2))
    else:
        click.echo("\n".join(result_lines(placed)))
    return code


def _placement_options(options: PlaceOptions) -> PlacementOptions:
    """How to place, as placing takes it."""
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
    """Where the models stand, and the exit code."""
    from dia_runtime.bundle.open import open_bundle
    from dia_runtime.commands.run import exit_code, file_name_part
    from dia_runtime.psychometrics.boundary.placing import place

    assert options.bundle is not None
    arguments = replace(model_arguments, concurrency=model_arguments.concurrency or AT_ONCE)
    terms, opened, quiet = run_options(arguments), open_bundle(options.bundle), is_quiet(options.quiet)
    placed: list[PlacementResult] = []
    summaries = []
    for model in dict.fromkeys(options.models):
        name = f"{file_name_part(str(opened.manifest['benchmark']))}-{file_name_part(model)}-placed.run"
        path = options.out or RUNS / name
        try:
            placements, summary = place(bank, opened, model, path, placement, terms, None if quiet else _progress())
        except KeyboardInterrupt:
            message = f"interrupted: the replies so far are in {path}; the same command goes on"
            click.echo(visible(message), err=True)
            return placed, 130
        placed += placements
        summaries.append(summary)
        if not quiet:
            click.echo(visible(f"{model}: the replies are in {path}"), err=True)
    refused = exit_code(summaries)
    return placed, refused if refused == 4 else int(any(one.ending == "going" for one in placed))


def _progress() -> Callable[[PlacementResult], None] | None:
    """What to call with each step: a line that is written again on a terminal."""
    import sys

    if not sys.stderr.isatty():
        return None

    def tell(placed: PlacementResult) -> None:
        line = f"{placed.model[:60]}: {len(placed.steps)} items, {placed.ability:.2f} +- {placed.se:.2f} logits"
        click.echo(f"\r\x1b[K{visible(line)}", err=True, nl=False)

    return tell


def result_lines(placed: Sequence[PlacementResult]) -> list[str]:
    """A line for each model."""
    width = max((len(visible(one.model)) for one in placed), default=0)
    lines = []
    for one in placed:
        outside = "; outside what the bank covers" if one.is_outside else ""
        lost = f"; {one.lost} items without a reply" if one.lost else ""
        lines.append(
            f"{visible(one.model):{width}}  {one.ability:7.3f} +- {one.se:.3f} logits  {len(one.steps):4} items  "
            f"{ENDINGS[one.ending]}{outside}{lost}"
        )
    return lines


def as_record(bank: Bank, file: Path, options: PlacementOptions, placed: Sequence[PlacementResult]) -> dict[str, Any]:
    """What `dia place --json` prints."""
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

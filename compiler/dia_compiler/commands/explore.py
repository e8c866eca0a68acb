"""`dia explore`: new items at which a model succeeds about half of the time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_runtime.commands.model_options import OPTIONS, ModelArguments, run_options

from dia_compiler.commands.console import is_quiet
from dia_compiler.commands.programs import allow_programs

if TYPE_CHECKING:
    from dia_runtime.respondents.registry import ModelOptions

    from dia_compiler.explore.search import SearchOptions, SearchResult

FOLDER = Path("build") / "explored"
OWN = ("seed", "roles", "role_urls", "prefill")  # what a search has for itself, and what only sessions need
ENDINGS = {
    "items": "as many items are found as were wanted",
    "budget": "the budget is spent",
    "too easy": "the hardest items that the types allow are too easy for this model",
    "too hard": "the easiest items that the types allow are too hard for this model",
    "nothing left": "no item between those that are passed and those that are failed is left to try",
    "questions without a reply": "questions are left without a reply; the same command asks them",
}


def asking(command: Any) -> Any:
    """The command with the options of `dia run` that say how one model is asked."""
    for add in reversed(OPTIONS):
        command = add(command)
    command.__click_params__ = [parameter for parameter in command.__click_params__ if parameter.name not in OWN]
    return command


@click.command("explore")
@click.argument("spec", type=click.Path(path_type=Path))
@click.option("--bank", type=click.Path(path_type=Path), required=True, help="The bank that the items are linked into.")
@click.option("--model", required=True, metavar="NAME", help="Whom to ask, as `dia run` has it.")
@click.option("--ability", type=click.FloatRange(-100, 100), metavar="LOGITS", help="Its ability, if not in the bank.")
@click.option("--run", "runs", multiple=True, type=click.Path(path_type=Path), metavar="RUN",
              help="What the bank was calibrated from: explains what makes items hard. Repeatable.")  # fmt: skip
@click.option("--move", "moved", multiple=True, metavar="NAME", help="Move this parameter alone. Repeatable.")
@click.option("--items", type=click.IntRange(1, 1000), default=20, show_default=True, help="Items that are wanted.")
@click.option("--budget", type=click.IntRange(min=3), default=1000, show_default=True, help="Questions at most.")
@click.option("--at-once", type=click.IntRange(1, 100), default=8, show_default=True, help="Items tried together.")
@click.option("--accept", type=click.FloatRange(0.5, 0.95), default=0.78, show_default=True,
              help="How sure an item must be to lie between 0.35 and 0.65.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of search and instances.")
@click.option("--chain", type=click.Choice(["strict", "lenient", "compat"]), default="strict", show_default=True,
              help="How answers are read out of replies.")  # fmt: skip
@click.option("-o", "--out", type=click.Path(path_type=Path), metavar="DIR", help="The folder of the search.")
@asking
@allow_programs
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
@click.pass_context
def command(
    ctx: click.Context, /, spec: Path, bank: Path, model: str, out: Path | None, as_json: bool, **chosen: Any
) -> int:
    """Find new items of a template at which a model succeeds about half of the time.

    Whole numbers of the template's types (bounds, bits, lengths, sizes) are moved, and the entries of a catalog are
    added and dropped: harder where the model passes, easier where it fails. An item is a moved template with ten
    instances; it is tried on three, then five, then ten of them, and accepted when its success rate surely lies near
    one half. The accepted ones become a bundle and join the bank, whose scale stays as it is.

    Everything lies in --out; the same command takes an interrupted search up and asks nothing twice.

    \b
    Example:
      dia explore specs/dia_bench/d008_small_square.yaml --bank build/bank.json --model oracle --ability 2
    """
    from dia_runtime.commands.run import exit_code, file_name_part

    from dia_compiler.explore.search import REPORT, as_record, explore, put

    place = out or FOLDER / f"{file_name_part(spec.stem)}-{file_name_part(model)}"
    options, quiet = _search_options(chosen), is_quiet(ctx)
    terms = run_options(ModelArguments(**chosen))
    _require_one(model, terms.model_options.temperatures)
    _announce(model, terms.model_options, quiet)
    try:
        result = explore(spec, bank, model, place, options, terms, lambda text: _tell(text, quiet))
    except KeyboardInterrupt:
        click.echo(visible(f"interrupted: the replies so far are in {place}; the same command goes on"), err=True)
        return 130
    record = as_record(result, options.plan, bank, place)
    put(place / REPORT, json.dumps(record, indent=1) + "\n")
    click.echo(json.dumps(record, indent=2) if as_json else "\n".join(map(visible, result_lines(result, record))))
    if result.trouble is not None:
        return exit_code([result.trouble]) or 1
    return 0 if result.ending in ("items", "too easy", "too hard", "nothing left") else 1


def _search_options(chosen: dict[str, Any]) -> SearchOptions:
    """What is to be explored; what says how to ask is left."""
    from dia_runtime.psychometrics.boundary.search import Plan

    from dia_compiler.explore.search import SearchOptions

    plan = Plan(
        chosen.pop("items"), chosen.pop("budget"), at_once=chosen.pop("at_once"), seed=chosen.pop("seed"),
        accept=chosen.pop("accept"),
    )  # fmt: skip
    return SearchOptions(
        plan, chosen.pop("moved"), chosen.pop("ability"), chosen.pop("runs"), chosen.pop("chain"),
        chosen.pop("allow_programs"),
    )  # fmt: skip


def _require_one(model: str, temperatures: tuple[str, ...]) -> None:
    if len(temperatures) > 1:
        message = visible(f"`{model[:80]}` at several temperatures is several models, and a search is of one")
        raise DiaError(Diagnostic("E897", message, None, "give one `--temperature`"))


def _announce(model: str, options: ModelOptions, quiet: bool) -> None:
    """Says where a key goes before anything is asked. Raises DiaError (exit 2) for a model that there is not."""
    from dia_runtime.respondents.registry import key_destinations, require_known

    require_known(model, options)
    for line in key_destinations([model], options):
        click.echo(visible(line), err=True)


def _tell(text: str, quiet: bool) -> None:
    if not quiet:
        click.echo(visible(text), err=True)


def result_lines(result: SearchResult, record: dict[str, Any]) -> list[str]:
    """The result in words: a line for each accepted item, then what it took."""
    accepted = record["accepted"]
    width = max((len(entry["item"]) for entry in accepted), default=0)
    lines = []
    for entry in accepted:
        levels = [f"{name} {value}" for name, value in entry["levels"].items()]
        place = entry["difficulty"]
        where = "" if place is None else f"  {place['value']:7.2f} +- {place['se']:.2f} logits"
        lines.append(
            f"{entry['item']:{width}}  {entry['successes']:2}/{entry['trials']}{where}  "
            f"{', '.join([*levels, *entry['skills']])}"
        )
    each = record["queries_per_accepted"]
    costs = "" if each is None else f", {each:.1f} for each accepted item"
    lines.append(f"{len(accepted)} of {record['tried']} items accepted; {record['queries']} queries{costs}")
    if record["spread"] is not None:
        lines.append(f"success rate {record['success_rate']:.2f}, standard deviation {record['spread']:.2f}")
    if record["impossible"]:
        lines.append(f"{record['impossible']} items could not be made")
    lines.append(f"ended: {ENDINGS.get(result.ending, result.ending)}")
    if result.bundle is not None:
        lines += [result.bundle.path.as_posix(), f"  digest {result.bundle.digest}", str(result.bank)]
    return lines

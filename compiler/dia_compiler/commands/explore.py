"""`dia explore`: new items at which a model succeeds about half of the time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from dia_language.diagnostics import DiaError, Diagnostic, counted, visible
from dia_runtime.commands.model_options import ModelArguments, model_options_except, run_options
from dia_runtime.commands.options import json_option
from dia_runtime.commands.ranges import FloatRange, IntRange
from dia_runtime.commands.terminal import echo

from dia_compiler.commands.console import is_quiet
from dia_compiler.commands.programs import allow_programs

if TYPE_CHECKING:
    from dia_runtime.commands.progress_lines import ProgressLine
    from dia_runtime.respondents.registry import ModelOptions
    from dia_runtime.running.run import Progress

    from dia_compiler.explore.search import OnProgress, SearchOptions, SearchResult

FOLDER = Path("build") / "explored"
MOST_REASONS = 3
ENDINGS = {
    "items": "found the requested number of items",
    "budget": "budget spent",
    "too easy": "even the hardest items that the parameter types allow are too easy for this model",
    "too hard": "even the easiest items that the parameter types allow are too hard for this model",
    "nothing left": "no items are left between those that the model passes and those that it fails",
    "questions without a reply": "some questions have no reply; repeat the command to ask them",
}


@click.command("explore")
@click.argument("spec", type=click.Path(path_type=Path))
@click.option(
    "--bank",
    type=click.Path(path_type=Path),
    required=True,
    help="Bank whose scale is used for the new items; it is not changed.",
)
@click.option("--model", required=True, metavar="NAME", help="Model to ask, as for `dia run`.")
@click.option(
    "--ability",
    type=FloatRange(-100, 100),
    metavar="LOGITS",
    help="The model's ability, if it is not in the bank.",
)
@click.option("--run", "runs", multiple=True, type=click.Path(path_type=Path), metavar="RUN",
              help="Run that the bank was calibrated from. The search predicts difficulties from its replies, whether "
              "or not `dia explain --save` stored predictions in the bank. Repeatable.")  # fmt: skip
@click.option(
    "--move",
    "moved",
    multiple=True,
    metavar="NAME",
    help="Vary only this parameter, which may also be a choice, a boolean or a column of a data file (row.category). "
    "Repeatable.",
)
@click.option("--items", type=IntRange(1, 1000), default=20, show_default=True, help="Number of items to find.")
@click.option(
    "--budget", type=IntRange(min=3), default=1000, show_default=True, help="Maximum number of questions to ask."
)
@click.option("--at-once", type=IntRange(1, 100), default=8, show_default=True, help="Items to try in parallel.")
@click.option("--accept", type=FloatRange(0.5, 0.95), metavar="P",
              help="Required probability that an item's success rate is between 0.35 and 0.65. Default: 0.7 if "
              "difficulties are predicted and the model is not beyond the bank (see above), otherwise "
              "0.78.")  # fmt: skip
@click.option(
    "--seed", type=IntRange(min=0), default=0, show_default=True, help="Seed of the search and of the instances."
)
@click.option(
    "--chain", type=click.Choice(["standard", "strict", "lenient", "compat"]), default="standard", show_default=True,
    help="How answers are read from replies. standard: the last answer in the prescribed format, with any text around "
    "it. strict: the same format, without text around tags or JSON. lenient: more tolerant. compat: as a published "
    "evaluator does (DIA-Bench for the answer format xml, evaluate-idk for letter, the Self-Execution Benchmark for "
    "json and in conversations).",
)  # fmt: skip
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder for the search. Default: build/explored/SPEC-MODEL.",
)
@model_options_except("seed")  # the search itself needs it
@allow_programs
@json_option
@click.pass_context
def command(
    ctx: click.Context, /, spec: Path, bank: Path, model: str, out: Path | None, as_json: bool, **chosen: Any
) -> int:
    """Find new items of a template that a model solves about half of the time.

    The search varies the numbers that control the size of the template's parameters (bounds, bits, lengths, sizes),
    and which entries of a catalog are used: harder where the model passes, easier where it fails. An item is a
    varied template with ten instances, or twenty if the model is beyond the bank (its ability is a logit or more
    above or below all items there). For each item, the model is first asked three of its instances, then two more,
    then five, and where there are twenty, the other ten. An item whose success rate is clearly far from one half is
    dropped on the way; after the last instance, an item is accepted if its success rate is close to one half with
    sufficient probability. Accepted items become a bundle, and are added to a copy of the bank, on the same scale.
    With a bank from `dia explain --save`, or with --run, the search predicts difficulties, to ask fewer questions.

    All files are in --out. To resume an interrupted search, repeat the command; nothing is asked twice.

    \b
    Example:
      dia explore specs/dia_bench/d008_small_square.yaml --bank build/bank.json --model oracle --ability 2
    """
    from dia_runtime.commands.progress_lines import ProgressLine
    from dia_runtime.commands.run import exit_code, file_name_part, note_left_out, note_retry, print_notes
    from dia_runtime.running.run import combined_summary

    from dia_compiler.explore.search import REPORT, as_record, explore, put

    place = out or FOLDER / f"{file_name_part(spec.stem)}-{file_name_part(model)}"
    options, quiet = _search_options(chosen), is_quiet(ctx)
    terms = run_options(ModelArguments(**chosen))
    _require_one(model, terms.model_options.temperatures)
    _announce(model, terms.model_options, quiet)
    progress_line = ProgressLine()
    if not quiet:
        terms.on_left_out, terms.on_retry = progress_line.above(note_left_out), progress_line.above(note_retry)
    tell = progress_line.above(lambda text: _tell(text, quiet))
    try:
        result = explore(spec, bank, model, place, options, terms, tell, None if quiet else _report(progress_line))
    except KeyboardInterrupt:
        progress_line.clear()
        echo(f"interrupted: the replies so far are in {place}; repeat the command to continue", err=True)
        return 130
    progress_line.clear()
    if result.asked:
        print_notes([combined_summary(result.asked)], quiet)
    record = as_record(result, options.plan, bank, place)
    put(place / REPORT, json.dumps(record, indent=1) + "\n")
    echo(json.dumps(record, indent=2) if as_json else "\n".join(map(visible, result_lines(result, record))))
    if result.trouble is not None:
        return exit_code([result.trouble]) or 1
    if _has_no_item(record):
        return 2
    return 0 if result.ending in ("items", "too easy", "too hard", "nothing left") else 1


def _search_options(chosen: dict[str, Any]) -> SearchOptions:
    """Return the options of the search, and leave the options for asking."""
    from dia_runtime.psychometrics.boundary.search import Plan

    from dia_compiler.explore.search import SearchOptions

    plan = Plan(
        chosen.pop("items"), chosen.pop("budget"), at_once=chosen.pop("at_once"), seed=chosen.pop("seed")
    )  # fmt: skip
    return SearchOptions(
        plan, chosen.pop("moved"), chosen.pop("ability"), chosen.pop("runs"), chosen.pop("chain"),
        chosen.pop("allow_programs"), chosen.pop("accept"),
    )  # fmt: skip


def _require_one(model: str, temperatures: tuple[str, ...]) -> None:
    if len(temperatures) > 1:
        message = visible(f"`{model[:80]}` has several temperatures, but a search needs exactly one model")
        raise DiaError(Diagnostic("E897", message, None, "give only one `--temperature`"))


def _announce(model: str, options: ModelOptions, quiet: bool) -> None:
    """Report where a key is sent before anything is asked. Raises DiaError (exit 2) for an unknown model."""
    from dia_runtime.respondents.registry import built_in_beside_url, key_destinations, require_known

    require_known(model, options)
    built_in_beside_url([model], [], options)
    for line in key_destinations([model], options):
        echo(line, err=True)


def _tell(text: str, quiet: bool) -> None:
    if not quiet:
        echo(text, err=True)


def _report(progress_line: ProgressLine) -> OnProgress:
    """Return a callback that shows how many replies of the current round have come."""

    def update(replied: int, total: int, step: Progress) -> None:
        if replied < total:
            progress_line.update(step.respondent, lambda: progress_text(replied, total, step))

    return update


def progress_text(replied: int, total: int, step: Progress) -> str:
    """Return how far the current round is in a line."""
    from dia_runtime.commands.progress_lines import state_text

    return f"{step.respondent[:60]}: {replied:,} of {total:,} replies of this round{state_text(step)}"


def result_lines(result: SearchResult, record: dict[str, Any]) -> list[str]:
    """Return the result in words: a line for each accepted item, then how many replies it took."""
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
    queries = f"{record['queries']:,} " + ("query" if record["queries"] == 1 else "queries")
    lines.append(f"accepted {len(accepted)} of {counted(record['tried'], 'tried item')}; {queries}{costs}")
    if record["spread"] is not None:
        lines.append(f"success rate {record['success_rate']:.2f}, standard deviation {record['spread']:.2f}")
    if record["impossible"]:
        needs = f"an item needs {record['stages'][-1]} instances"
        lines.append(f"{counted(record['impossible'], 'item')} could not be generated; {needs}")
        lines += _reason_lines(record)
    if _has_no_item(record):
        lines.append("ended: no item could be generated")
    else:
        lines.append(f"ended: {ENDINGS.get(result.ending, result.ending)}")
    if record["outside_coverage"]:
        lines.append("the model is beyond the bank's items, so each item has twenty instances instead of ten")
    if result.bundle is not None:
        lines += [result.bundle.path.as_posix(), f"  digest {result.bundle.digest}", str(result.bank)]
    return lines


def _has_no_item(record: dict[str, Any]) -> bool:
    """Return whether the search ended because none of its items could be generated."""
    return record["ending"] == "nothing left" and not record["tried"]


def _reason_lines(record: dict[str, Any]) -> list[str]:
    """Return why items could not be generated: each reason once, with the first item that it concerns."""
    firsts: dict[str, str] = {}
    for entry in record["items"]:
        if entry["why"] is not None:
            levels = ", ".join(f"{name} {value}" for name, value in entry["levels"].items())
            firsts.setdefault(entry["why"], f"  {entry['item']}  {levels}: {entry['why']}")
    lines = list(firsts.values())[:MOST_REASONS]
    more = len(firsts) - len(lines)
    return [*lines, f"  and {counted(more, 'other reason')}"] if more else lines

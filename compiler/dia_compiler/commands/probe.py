"""`dia probe`: find shortcuts, rules that answer without understanding."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from dia_language.counts import counted
from dia_runtime.commands.options import json_option
from dia_runtime.commands.ranges import IntRange
from dia_runtime.commands.terminal import echo

from dia_compiler.commands.console import is_quiet, print_diagnostics, progress
from dia_compiler.commands.programs import allow_programs, jobs_option

if TYPE_CHECKING:
    from dia_compiler.pipeline.api import Probe
    from dia_compiler.probe.probe import Shortcut
    from dia_compiler.probe.rows import SkippedTemplate

NAMED = 5  # skipped templates that are named for each reason


@click.command("probe")
@click.argument("paths", metavar="SPEC...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--k", type=IntRange(20, 100_000), default=400, show_default=True, metavar="N",
              help="Number of instances of each template.")  # fmt: skip
@click.option("--seed", metavar="TEXT", help="Seed of the instances (default: the benchmark's seed, or 0).")
@jobs_option
@allow_programs
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[Path, ...],
    k: int,
    seed: str | None,
    jobs: int | None,
    allow_programs: str,
    as_json: bool,
) -> int:
    """Find shortcuts: rules that answer a template's questions without understanding them.

    Rules see only the prompt and its text attachments. They answer, for example, with the most common answer, the
    longest or last token that matches the answer pattern, the token nearest to a keyword, a line that stands out,
    or the prediction of a shallow decision tree from counts such as the length of the prompt (needs the extra
    `probe`). They are learned on one half of the instances, and up to 20 of the best are tested on the other half.
    A template is over its limit if the lower bound of the best rule's 95 % interval, corrected for the number of
    rules tested, is above 25 % and above 1/n plus 5 percentage points, where n is the number of different answers
    (2 for rules that only tell whether a question can be answered). Nothing is written. Exit code 1 if a template
    is over its limit, unless its spec has `allow: {shortcut: reason}`.

    \b
    Example:
      dia probe specs/dia_bench/d001_next_prime.yaml --k 100
    """
    from dia_compiler.pipeline.api import probe_specs

    with progress(is_quiet(ctx), has_lines=False) as report:
        result = probe_specs(list(paths), k, seed, jobs, allow_programs, report)
    entries = result.checked.diagnostics.ordered(result.checked.sources)
    errors = [entry for entry in entries if entry.severity == "error"]
    shortcuts = sorted(result.shortcuts, key=lambda one: (-one.low, one.benchmark, one.template))
    if as_json:
        templates, skipped = [facts(one, result) for one in shortcuts], list(map(asdict, result.skipped))
        echo(json.dumps({"k": k, "templates": templates, "skipped": skipped}, indent=2))
    elif shortcuts:
        echo("\n".join(table(shortcuts, result)))
    print_diagnostics(errors, result.checked.sources)
    if errors:
        return 2
    over = sum(one.is_over for one in shortcuts)
    refused = sum(one.is_over and reason_of(one, result) is None for one in shortcuts)
    if not as_json:
        allowed = f", {over - refused} of them allowed" if over else ""
        echo(f"{counted(len(shortcuts), 'template')} probed, {over} over the limit{allowed}")
        for line in skipped_lines(result.skipped):
            echo(line)
    return 1 if refused else 0


def reason_of(shortcut: Shortcut, result: Probe) -> str | None:
    """Return why the spec allows the shortcut; None if it does not."""
    return result.reasons.get((shortcut.benchmark, shortcut.template))


def facts(shortcut: Shortcut, result: Probe) -> dict[str, Any]:
    """Return the entry of a template as `--json` prints it."""
    return {
        "benchmark": shortcut.benchmark,
        "template": shortcut.template,
        "rule": shortcut.rule,
        "accuracy": {"value": shortcut.accuracy, "ci": [shortcut.low, shortcut.high]},
        "instances": shortcut.instances,
        "rules": shortcut.rules_judged,
        "limit": shortcut.limit,
        "points": shortcut.points,
        "over": shortcut.is_over,
        "allowed": reason_of(shortcut, result),
    }


def skipped_lines(skipped: Sequence[SkippedTemplate]) -> list[str]:
    """Return how many templates were skipped, and a line for each reason with the first few templates."""
    names: dict[str, list[str]] = {}
    for one in skipped:
        names.setdefault(one.why, []).append(one.template)
    lines = [f"{counted(len(skipped), 'template')} skipped:"] if skipped else []
    for why, templates in names.items():
        more = f" and {len(templates) - NAMED} more" if len(templates) > NAMED else ""
        lines.append(f"  {why}: {', '.join(templates[:NAMED])}{more}")
    return lines


def table(shortcuts: Sequence[Shortcut], result: Probe) -> list[str]:
    """Return the lines of the table: the strongest shortcut first."""
    width = max(8, *(len(one.template) for one in shortcuts))
    lines = [f"{'template':<{width}}  accuracy  95 % CI      limit  points           best rule"]
    for one in shortcuts:
        state = "" if not one.is_over else "allowed" if reason_of(one, result) is not None else "over"
        points = "-" if one.points is None else f"{one.points:+.2f}"
        interval = f"{100 * one.low:3.0f} - {100 * one.high:3.0f} %"
        lines.append(
            f"{one.template:<{width}}  {100 * one.accuracy:6.0f} %  {interval}  {100 * one.limit:3.0f} %  {points:>6}"
            f"  {state:<7}  {one.rule}".rstrip()
        )
    return lines

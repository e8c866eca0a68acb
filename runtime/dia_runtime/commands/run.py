"""`dia run`: ask respondents the questions of a bundle."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from dia_language.diagnostics import DiaError, Diagnostic, counted, visible

from dia_runtime.commands.model_options import ModelArguments, model_options, run_options
from dia_runtime.commands.options import PATH, is_quiet, json_option, options_object, quiet_option
from dia_runtime.commands.progress_lines import LineTimer, state_text
from dia_runtime.commands.ranges import IntRange
from dia_runtime.commands.terminal import echo
from dia_runtime.commands.tool_options import tool_notes

if TYPE_CHECKING:
    from dia_runtime.bundle.open import Bundle
    from dia_runtime.respondents.registry import ModelOptions
    from dia_runtime.running.dry_run import Estimate
    from dia_runtime.running.run import Progress, RespondentSummary, RunOptions, RunSummary
    from dia_runtime.store.schema import ModelVersion

RUNS = Path("build") / "runs"
Report = Callable[["Progress"], None]


@dataclass(frozen=True)
class RunCommandOptions:
    """The arguments of `dia run`, except how models are asked."""

    bundle: Path
    models: tuple[str, ...]
    out: Path | None
    attempts: int
    limit: int | None
    part: str | None
    as_json: bool
    quiet: bool
    dry_run: bool = False


@click.command("run")
@click.argument("bundle", type=PATH)
@click.option("--model", "models", multiple=True, required=True, metavar="NAME", help="Model to ask. Repeatable.")
@click.option("-o", "--out", type=PATH, metavar="RUN", help="File for the run.")
@click.option(
    "--attempts",
    type=IntRange(1, 1_000_000),
    default=1,
    show_default=True,
    help="Number of replies to each question.",
)
@click.option("--limit", type=IntRange(min=1), help="Ask only the first N questions.")
@click.option("--part", metavar="I/N", help="Ask only part I of N: every N-th question, starting with the I-th.")
@model_options
@click.option("--dry-run", is_flag=True, help="Send nothing; print the requests, tokens and cost.")
@json_option
@quiet_option("progress")
@options_object(ModelArguments, "model_arguments")
@options_object(RunCommandOptions)
def command(options: RunCommandOptions, model_arguments: ModelArguments) -> int:
    """Ask models the questions of a bundle and store every reply.

    --model takes a provider and its model, such as openai/gpt-4o-mini. The API key comes from the environment or from
    .env in the current folder. These models need no provider: oracle, abstain, wrong and guess (baselines), replay:FILE
    (recorded replies), 'command:PROGRAM ARGUMENTS' (reads and writes one line of JSON for each question),
    manual:FOLDER (prompts as files; you paste the replies), simulated:theta=0.5 (a simulated Rasch model) and says:TEXT
    (always the same text).

    A question can consist of conversations (sessions). Some of them ask another model instead of the tested one, such
    as a judge: --role judge=NAME chooses that model, and --role judge=none leaves out the sessions that need it.

    To resume an interrupted run, repeat the command. Without --out, each model has its own file
    build/runs/BENCHMARK-MODEL.run.

    \b
    Example:
      dia run build/dia_bench-1.0.0-k5 --model oracle
    """
    from dia_runtime.bundle.open import open_bundle
    from dia_runtime.respondents.registry import NOBODY, built_in_beside_url, key_destinations, require_known
    from dia_runtime.respondents.roles import role_options

    names, terms = list(dict.fromkeys(options.models)), run_options(model_arguments, options.part)
    for name in names:
        require_known(name, terms.model_options)
    role_models = [name for role, name in terms.roles.items() if role not in terms.role_urls]
    built_in = built_in_beside_url(names, role_models, terms.model_options)
    bundle = open_bundle(options.bundle)
    if options.dry_run:
        estimates = list(_estimates(bundle, names, options, terms))
        as_text = "\n".join(_estimate_line(entry) for entry in estimates)
        echo(json.dumps(dry_run_json(bundle, estimates), indent=2) if options.as_json else as_text)
        return 0
    destinations = key_destinations(names, terms.model_options)
    destinations += [f"{name} is the baseline built into dia, not a model at --base-url" for name in built_in]
    destinations += tool_notes(terms.model_options.toolbox)
    for role, name in terms.roles.items():
        if name != NOBODY:
            destinations += key_destinations([name], role_options(role, terms.role_urls, terms.model_options))
    for line in dict.fromkeys(destinations):
        echo(line, err=True)
    summaries = []
    for path, group in _files(bundle, names, options.out, terms.model_options):
        summary = _run_one(bundle, group, path, options, terms)
        if summary is None:
            return 130
        summaries.append(summary)
    echo(json.dumps(run_json(summaries), indent=2) if options.as_json else _paths_text(summaries))
    return exit_code(summaries)


def _estimates(bundle: Bundle, names: list[str], options: RunCommandOptions, terms: RunOptions) -> Iterator[Estimate]:
    """Yield what is left to ask of each respondent."""
    from dia_runtime.respondents.registry import BASELINES, has_prefix, respondent_names
    from dia_runtime.running.dry_run import estimate
    from dia_runtime.running.jobs import Workload

    questions = bundle.manifest["counts"]["questions"]
    size = questions if options.limit is None else min(options.limit, questions)
    part, of = terms.part
    extent = Workload(size, options.attempts, part - 1, of)
    chosen = terms.model_options
    for path, group in _files(bundle, names, options.out, chosen):
        for model in group:
            is_local = model in BASELINES or has_prefix(model) or chosen.base_url is not None
            yield from estimate(
                bundle, [model] if model in BASELINES else respondent_names(model, chosen), model, path, extent,
                system=chosen.settings.system, max_tokens=chosen.settings.max_tokens,
                has_tools=chosen.toolbox is not None, has_own_url=is_local, own_price=chosen.prices.of(model),
            )  # fmt: skip


def _estimate_line(entry: Estimate) -> str:
    least = "at least " if entry.is_minimum else ""
    stored = f" (the run already has {counted(entry.kept, 'reply', 'replies')})" if entry.kept else ""
    cost = "unknown cost" if entry.cost is None else f"about {float(entry.cost):.4g} US dollars"
    return (
        f"{entry.respondent}: {least}{counted(entry.requests, 'request')}{stored}, about {entry.prompt_tokens:,} "
        f"prompt tokens and {entry.completion_tokens:,} completion tokens ({entry.per_reply:,} per reply, "
        f"{entry.basis}), {cost}"
    )


def dry_run_json(bundle: Bundle, estimates: Sequence[Estimate]) -> dict[str, Any]:
    """Return what `dia run --dry-run --json` prints."""
    from dataclasses import asdict

    return {
        "bundle": bundle.id,
        "questions_root": bundle.questions_root,
        "dry_run": [{"model": entry.pop("respondent"), **entry} for entry in map(asdict, estimates)],
    }


def exit_code(summaries: Sequence[RunSummary]) -> int:
    """Return the exit code, and print an error for each model that a provider refused."""
    from dia_language.diagnostics import render_diagnostic

    refused = [entry for summary in summaries for entry in summary.respondents if entry.is_refused]
    for entry in refused:
        message = visible(f"stopped asking `{entry.respondent}`: {entry.ended}")
        echo(
            render_diagnostic(
                Diagnostic(
                    "E825", message, None, "fix the cause, then repeat the command to ask the remaining questions"
                ),
                {},
            ),
            err=True,
        )
    return 4 if refused else int(any(summary.has_errors for summary in summaries))


def _files(bundle: Bundle, models: list[str], out: Path | None, options: ModelOptions) -> list[tuple[Path, list[str]]]:
    """Return the files to write, each with its models: one for all, or one for each model."""
    if out is not None:
        return [(out, models)]
    from dia_runtime.store.tool_transcripts import name_with_tools

    tools = () if options.toolbox is None else options.toolbox.given
    return [(run_file(bundle, model, name_with_tools(model, tools)), [model]) for model in models]


def run_file(bundle: Bundle, model: str, name: str, suffix: str = "") -> Path:
    """Return the file for the run of a model, under build/runs.

    A run that an older version of dia wrote under another name is continued: its names had one hyphen for each series
    of hyphens and other characters, so that `simulated:theta=-1` and `simulated:theta=1` shared a file.
    """
    start = f"{file_name_part(bundle.manifest['benchmark'])}-"
    path = RUNS / f"{start}{file_name_part(name)}{suffix}.run"
    old = RUNS / f"{start}{re.sub('-+', '-', file_name_part(name))}{suffix}.run"
    return old if old != path and not path.exists() and _has_replies_of(old, model) else path


def _has_replies_of(path: Path, model: str) -> bool:
    """Return whether a file is a run of the model."""
    from dia_runtime.store.store import read_store

    if not path.is_file():
        return False
    try:
        with read_store(path) as store:
            return any(entry.model == model for entry in store.respondents())
    except DiaError:
        return False


def file_name_part(name: str) -> str:
    """Return the name in a form that can be part of a file name; hyphens stay.

    >>> file_name_part("openai/gpt-4o"), file_name_part("simulated:theta=-1"), file_name_part("simulated:theta=1")
    ('openai-gpt-4o', 'simulated-theta--1', 'simulated-theta-1')
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:100] or "unnamed"


def _run_one(
    bundle: Bundle, models: list[str], path: Path, options: RunCommandOptions, terms: RunOptions
) -> RunSummary | None:
    """Run one file's models and return the summary; None if the run was interrupted."""
    from dia_runtime.running.run import run

    quiet = is_quiet(options.quiet)
    try:
        with _progress(_shown_names(models, terms), quiet) as report:
            noted = terms if quiet else replace(terms, on_left_out=note_left_out, on_retry=note_retry)
            summary = run(bundle, models, path, options.limit, options.attempts, report, noted)
    except KeyboardInterrupt:
        message = f"interrupted: the replies so far are in {path}; repeat the command to continue"
        echo(message, err=True)
        return None
    if not quiet and not sys.stderr.isatty():
        for line in _summary_lines(summary):
            echo(line, err=True)
    print_notes(summary.respondents, quiet)
    return summary


def print_notes(respondents: Sequence[RespondentSummary], quiet: bool) -> None:
    """Print which new replies are no full answers, unless quiet, and always why questions have no reply."""
    notes = [] if quiet else [*_flag_lines(respondents), *_change_lines(respondents), *_version_lines(respondents)]
    notes += [] if quiet else _tool_lines(respondents)
    for line in [*notes, *_cause_lines(respondents)]:
        echo(line, err=True)


def _shown_names(models: list[str], terms: RunOptions) -> list[str]:
    """Return the names of the respondents: one for each model and temperature."""
    from dia_runtime.respondents.registry import BASELINES, respondent_names

    options = terms.model_options
    return [n for m in models for n in ([m] if m in BASELINES else respondent_names(m, options))]


def _progress(models: Sequence[str], quiet: bool) -> AbstractContextManager[Report | None]:
    """Return a callback for progress: bars on a terminal, otherwise lines of text."""
    if quiet:
        return nullcontext()
    if not sys.stderr.isatty():
        return nullcontext(_progress_lines())
    from dia_runtime.commands.progress_bars import progress_bars

    return progress_bars(models)


def _progress_lines() -> Report:
    """Return a callback that prints a line for each model every 10 s, and one when it waits for another process."""
    announced: set[str] = set()
    timer = LineTimer()

    def report(step: Progress) -> None:
        if step.elsewhere and step.respondent not in announced:
            announced.add(step.respondent)
            message = (
                f"{step.respondent}: waiting for {counted(step.elsewhere, 'question')} that another process is asking"
            )
            echo(message, err=True)
        if step.done < step.total and timer.is_due(step.respondent):
            echo(f"{step.respondent}: {step.done:,} of {step.total:,} replies{state_text(step)}", err=True)

    return report


def _summary_lines(summary: RunSummary) -> Iterator[str]:
    total = summary.questions * summary.attempts
    for entry in summary.respondents:
        from_before = f", {entry.kept:,} of them already in the run" if entry.kept else ""
        errors = f", {counted(entry.errors, 'error')}" if entry.errors else ""
        still = f", {entry.open:,} still to be answered" if entry.open else ""
        still += f", {entry.cost} US dollars" if entry.cost not in (None, "0") else ""
        left_out = sum(entry.left_out.values())
        still += f", {counted(left_out, 'question')} not asked" if left_out else ""
        # a refusal is reported as an error of its own
        still += f"; stopped early: {entry.ended}" if entry.ended and not entry.is_refused else ""
        there = entry.kept + entry.asked - entry.errors
        yield f"{entry.respondent}: {there:,} of {total:,} replies{from_before}{errors}{still}"


def note_left_out(respondent: str, reasons: Mapping[str, int]) -> None:
    """Report the questions that will not be asked, before the first request.

    Unlike click.echo, print writes above the progress bars of rich, which replace sys.stderr.
    """
    for why, number in reasons.items():
        print(visible(f"{respondent}: {counted(number, 'question')} not asked: {why}"), file=sys.stderr)


def note_retry(respondent: str, why: str) -> None:
    """Report why no reply has come yet, above any progress bars."""
    print(visible(f"{respondent}: no reply yet: {why}; asking again"), file=sys.stderr)


def _flag_lines(respondents: Sequence[RespondentSummary]) -> Iterator[str]:
    """Yield how many new replies of each model are no full answers, and what can be done."""
    from dia_runtime.grading.flags import FLAGS

    for entry in respondents:
        for name, number in entry.flags.items():
            flag = FLAGS[name]
            finding = flag.finding[0].lower() + flag.finding[1:]
            yield f"{entry.respondent}: {finding}: {number:,} of {entry.asked - entry.errors:,}. {flag.advice}".rstrip()


def _tool_lines(respondents: Sequence[RespondentSummary]) -> Iterator[str]:
    """Yield the models with tools that called none."""
    from dia_runtime.grading.flags import NO_CALLS_ADVICE

    for entry in respondents:
        replies = entry.asked - entry.errors
        if entry.with_tool_calls == 0 and replies:
            yield f"{entry.respondent}: no tool was called in any of {replies:,} replies. {NO_CALLS_ADVICE}"


def _change_lines(respondents: Sequence[RespondentSummary]) -> Iterator[str]:
    """Yield what a client library changed in the requests of each model."""
    for entry in respondents:
        for change, number in entry.request_changes.items():
            yield f"{entry.respondent}: {change}: {counted(number, 'request')}. {change_advice(change)}".rstrip()


def _version_lines(respondents: Sequence[RespondentSummary]) -> Iterator[str]:
    """Yield the models for which the provider says that it asked several."""
    from dia_runtime.store.error_causes import versions_text

    for entry in respondents:
        if len(entry.model_versions) > 1:
            versions = versions_text(_version_records(entry))
            yield f"{entry.respondent}: replies of several models, as the provider names them: {versions}"


def _version_records(entry: RespondentSummary) -> list[ModelVersion]:
    return [{"version": version, "replies": number} for version, number in entry.model_versions.items()]


def change_advice(change: str) -> str:
    """Return what a user can do about a change of a request."""
    return "Use `--max-tokens` to choose the limit." if "set max_tokens" in change else ""


def _cause_lines(respondents: Sequence[RespondentSummary]) -> Iterator[str]:
    """Yield why questions have no reply: the most frequent causes, with an example of each."""
    from dia_runtime.store.error_causes import cause_lines

    for entry in respondents:
        for line in cause_lines(entry.causes):
            yield f"{entry.respondent}: {line}"


def _paths_text(summaries: Sequence[RunSummary]) -> str:
    return "\n".join(visible(str(summary.path)) for summary in summaries)


def run_json(summaries: Sequence[RunSummary]) -> dict[str, Any]:
    """Return what `dia run --json` prints."""
    return {
        "bundle": summaries[0].bundle_id,
        "questions_root": summaries[0].questions_root,
        "questions": summaries[0].questions,
        "attempts": summaries[0].attempts,
        "runs": [
            {
                "path": str(summary.path),
                "model": entry.respondent,
                "asked": entry.asked,
                "kept": entry.kept,
                "errors": entry.errors,
                "ended": entry.ended,
                "open": entry.open,
                "flags": dict(entry.flags),
                "causes": list(entry.causes),
                "left_out": [{"why": why, "questions": number} for why, number in entry.left_out.items()],
                "request_changes": [
                    {"change": change, "replies": number} for change, number in entry.request_changes.items()
                ],
                "model_versions": _version_records(entry),
                "requests": entry.requests,
                "prompt_tokens": entry.prompt_tokens,
                "completion_tokens": entry.completion_tokens,
                "reasoning_tokens": entry.reasoning_tokens,
                "replies_with_tool_calls": entry.with_tool_calls,
                "cost": entry.cost,
            }
            for summary in summaries
            for entry in summary.respondents
        ],
    }

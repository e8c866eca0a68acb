"""`dia run`: asks respondents the questions of a bundle."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dia_runtime.commands.options import is_quiet
from dia_runtime.language.diagnostics import visible

if TYPE_CHECKING:
    from dia_runtime.bundle.open import Bundle
    from dia_runtime.run import Progress, RunSummary

RUNS = Path("build") / "runs"
Report = Callable[["Progress"], None]


@click.command("run")
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option("--model", "models", multiple=True, required=True, metavar="NAME", help="Whom to ask; repeatable.")
@click.option("-o", "--out", type=click.Path(path_type=Path), metavar="RUN", help="The file of the run.")
@click.option("--attempts", type=click.IntRange(min=1), default=1, show_default=True, help="Tries a question.")
@click.option("--limit", type=click.IntRange(min=1), help="Ask the first so many questions only.")
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print no progress.")
def command(
    bundle: Path,
    models: tuple[str, ...],
    out: Path | None,
    attempts: int,
    limit: int | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Ask models the questions of a bundle and keep every reply.

    The same command takes an interrupted run up where it stopped. Without --out each model's run is
    build/runs/BENCHMARK-MODEL.run. The models oracle, abstain, wrong and guess need no provider.

    \b
    Example:
      dia run build/dia_bench-0.2.0-k5 --model oracle
    """
    from dia_runtime.bundle.open import open_bundle
    from dia_runtime.respondents import require_known

    names = list(dict.fromkeys(models))
    for name in names:
        require_known(name)
    opened = open_bundle(bundle)
    summaries = []
    for path, group in _files(opened, names, out):
        summary = _asked(opened, group, path, limit, attempts, is_quiet(quiet))
        if summary is None:
            return 130
        summaries.append(summary)
    click.echo(json.dumps(run_json(summaries), indent=2) if as_json else _places(summaries))
    return 1 if any(summary.has_errors for summary in summaries) else 0


def _files(bundle: Bundle, models: list[str], out: Path | None) -> list[tuple[Path, list[str]]]:
    """The files to write, each with its models: one of all, or one a model."""
    if out is not None:
        return [(out, models)]
    benchmark = _plain(bundle.manifest["benchmark"])
    return [(RUNS / f"{benchmark}-{_plain(model)}.run", [model]) for model in models]


def _plain(name: str) -> str:
    """The name as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")[:100] or "unnamed"


def _asked(
    bundle: Bundle, models: list[str], path: Path, limit: int | None, attempts: int, quiet: bool
) -> RunSummary | None:
    """The summary; None for a run that was interrupted."""
    from dia_runtime.run import run

    try:
        with _progress(models, quiet) as report:
            summary = run(bundle, models, path, limit, attempts, report)
    except KeyboardInterrupt:
        message = f"interrupted: the replies so far are in {path}; the same command asks for the others"
        click.echo(visible(message), err=True)
        return None
    if not quiet and not sys.stderr.isatty():
        for line in _lines(summary):
            click.echo(visible(line), err=True)
    return summary


def _progress(models: Sequence[str], quiet: bool) -> AbstractContextManager[Report | None]:
    """What to call with each step: a bar on a terminal, else nothing."""
    if quiet or not sys.stderr.isatty():
        return nullcontext()
    from dia_runtime.commands.bars import bars

    return bars(models)


def _lines(summary: RunSummary) -> Iterator[str]:
    total = summary.questions * summary.attempts
    for entry in summary.respondents:
        kept = f", {entry.kept} of them from before" if entry.kept else ""
        errors = f", {entry.errors} errors" if entry.errors else ""
        there = entry.kept + entry.asked - entry.errors
        yield f"{entry.respondent}: {there} of {total} replies{kept}{errors}"


def _places(summaries: Sequence[RunSummary]) -> str:
    return "\n".join(visible(str(summary.path)) for summary in summaries)


def run_json(summaries: Sequence[RunSummary]) -> dict[str, Any]:
    """What `dia run --json` prints."""
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
            }
            for summary in summaries
            for entry in summary.respondents
        ],
    }

"""`dia merge`: join parts into one bundle, or runs into one run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from dia_language.counts import counted
from dia_runtime.commands.options import json_option
from dia_runtime.commands.progress import activity
from dia_runtime.commands.terminal import echo

from dia_compiler.commands.console import is_quiet, print_diagnostics
from dia_compiler.commands.programs import allow_programs, jobs_option

if TYPE_CHECKING:
    from dia_compiler.freeze.output import FrozenBundle


@click.command("merge")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The folder that becomes the bundle, or the run file to write.",
)
@jobs_option
@click.option("--force", is_flag=True,
              help="Replace whatever exists. Without it, a bundle is replaced only in the default folder, and only if "
              "it is not signed, sealed or used by a run.")  # fmt: skip
@allow_programs
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[Path, ...],
    out: Path | None,
    jobs: int | None,
    force: bool,
    allow_programs: str,
    as_json: bool,
) -> int:
    """Join parts made by `dia compile --part I/N` into one bundle, or runs of the same questions into one.

    A PATH is a part, a folder of parts, or a run. The bundle is byte for byte the one that a single compile makes.
    Without -o, it gets a folder of its own in the build folder; with -o DIR, DIR becomes the bundle. Runs need -o.
    Nothing is written if parts are missing, duplicate or made from other specs or versions, or if runs contradict each
    other.

    \b
    Example:
      dia merge parts -o merged
    """
    from dia_runtime.psychometrics.panel import is_run

    if all(path.is_file() and is_run(path) for path in paths):
        return _runs(paths, out, force, as_json)
    from dia_compiler.pipeline.merge import merge

    with activity("merging"):
        merged = merge(paths, out, jobs or os.cpu_count() or 1, force, allow_programs)
    if not is_quiet(ctx):
        print_diagnostics(merged.warnings, merged.sources)
    if merged.made_here and not is_quiet(ctx):
        remade = counted(merged.made_here, "question")
        echo(f"note: {remade} after a gap in the instance numbers had to be compiled again here", err=True)
    _print(merged.frozen, as_json)
    return 0


def _print(frozen: FrozenBundle, as_json: bool) -> None:
    if as_json:
        echo(json.dumps({"bundle": frozen.as_json(), "run": None}, indent=2))
        return
    echo(f"{frozen.path.as_posix()}\n  {frozen.contents}")
    echo(f"  digest {frozen.digest}")


def _runs(paths: tuple[Path, ...], out: Path | None, force: bool, as_json: bool) -> int:
    from dia_runtime.store.merge import merge_runs

    if out is None:
        raise click.UsageError("merged runs are written to a new run file: name it with `-o`")
    with activity("merging"):
        run = merge_runs(paths, out, force)
    if as_json:
        echo(json.dumps({"bundle": None, "run": run}, indent=2))
        return 0
    replies = counted(run["replies"], "reply", "replies")
    echo(f"{run['path']}\n  {counted(run['questions'], 'question')}, {replies}")
    for entry in run["respondents"]:
        echo(f"  {entry['respondent']}: {counted(entry['replies'], 'reply', 'replies')}")
    return 0

"""`dia check`: report every error of every spec."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import NoReturn

import click
from dia_language.counts import counted
from dia_runtime.commands.ranges import IntRange
from dia_runtime.commands.terminal import echo

from dia_compiler.commands.console import (
    diagnostics_json,
    github_lines,
    is_quiet,
    is_verbose,
    print_diagnostics,
    progress,
)
from dia_compiler.commands.programs import allow_programs, jobs_option

PAUSE = 0.3  # seconds between two checks for changes
UNREADABLE = {"E102", "E103", "E104", "E107"}  # errors after which nothing of the file is known


@click.command("check")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(["text", "json", "github"]), default="text", show_default=True,
              help="How errors and warnings are printed.")  # fmt: skip
@click.option("--k", type=IntRange(1, 100_000), default=3, show_default=True, metavar="N",
              help="Instances of each template that are made and checked.")  # fmt: skip
@click.option("--strict", is_flag=True,
              help="Also look for strong shortcuts, as `dia probe` does, in at least 60 instances of each template, "
              "and exit with code 1 if there are warnings.")  # fmt: skip
@jobs_option
@click.option("--watch", is_flag=True, help="Check again whenever a file changes, until Ctrl-C.")
@allow_programs
@click.option("--json", "as_json", is_flag=True, help="Same as --format json.")
def command(
    paths: tuple[Path, ...],
    form: str,
    k: int,
    strict: bool,
    jobs: int | None,
    watch: bool,
    allow_programs: str,
    as_json: bool,
) -> int:
    """Report every error in every spec, with its location and a suggested fix.

    Runs the worked examples of each template and makes three of its instances, or as many as --k says. Nothing is
    written. With -v, also prints how many different instances each template can make; for a template
    with several items (`each`), the number for the item with the fewest. It is estimated where it cannot be counted;
    `vast` is more than 2^128.

    \b
    Example:
      dia check specs/
    """
    form = "json" if as_json else form
    if not watch:
        return check_once(list(paths), form, strict, jobs, allow_programs, k)
    return check_again_and_again(list(paths), form, strict, jobs, allow_programs, k)


def check_once(paths: list[Path], form: str, strict: bool, jobs: int | None, programs: str, k: int) -> int:
    """Check the specs, print the errors and warnings, and return the exit code."""
    from dia_compiler.pipeline.api import check_specs

    context = click.get_current_context()
    with progress(is_quiet(context), has_lines=False) as report:
        checked = check_specs(
            list(paths),
            jobs,
            on_progress=report,
            allow_programs=programs,
            estimates=is_verbose(context),
            finds_shortcuts=strict,
            k=k,
        )
    diagnostics = checked.diagnostics.ordered(checked.sources)
    errors = [entry for entry in diagnostics if entry.severity == "error"]
    if form == "json":
        echo(diagnostics_json(diagnostics))
    elif form == "github":
        for line in github_lines(diagnostics):
            echo(line)
    else:
        print_diagnostics(diagnostics, checked.sources)
        for item in checked.benchmarks:
            for left in item.left_out:
                echo(f"left out of {item.benchmark.name}: {left.template} needs {left.why}", err=True)
        for name, freedom in checked.freedoms.items():
            echo(f"{name}: possible instances: {freedom}", err=True)
        templates = [template for item in checked.benchmarks for template in item.benchmark.templates]
        warnings = len(diagnostics) - len(errors)
        unread = {entry.position.file for entry in errors if entry.code in UNREADABLE and entry.position}
        unread -= {template.position.file for template in templates}
        files = [f"{counted(len(unread), 'file')} that could not be read"] if unread else []
        counts = (counted(len(errors), "error"), counted(warnings, "warning"))
        echo(", ".join([counted(len(templates), "template"), *files, *counts]))
    if errors:
        return 2
    return 1 if strict and diagnostics else 0


def check_again_and_again(
    paths: list[Path], form: str, strict: bool, jobs: int | None, programs: str, k: int
) -> NoReturn:
    """Check the specs again after every change of a file, until Ctrl-C."""
    from dia_language.diagnostics import DiaError, render_diagnostic

    while True:
        stamps_before = stamps(paths)
        try:
            check_once(paths, form, strict, jobs, programs, k)
        except DiaError as error:
            for entry in error.diagnostics:
                echo(render_diagnostic(entry, getattr(error, "sources", {})), err=True)
        echo("watching for changes; press Ctrl-C to stop", err=True)
        wait_for_change(paths, stamps_before)
        if sys.stdout.isatty():
            click.clear()


def wait_for_change(paths: list[Path], stamps_before: dict[str, tuple[int, int]]) -> None:
    """Return when files have changed and then stayed as they are for a pause: an editor may write in several steps."""
    stamps_last = stamps_before
    while True:
        sleep(PAUSE)
        stamps_now = stamps(paths)
        if stamps_now == stamps_last != stamps_before:
            return
        stamps_last = stamps_now


def stamps(paths: list[Path]) -> dict[str, tuple[int, int]]:
    """Return the modification time and size of every readable file in the folders of the paths and below."""
    stamps_by_path: dict[str, tuple[int, int]] = {}
    for path in paths:
        folder = path if path.is_dir() else path.parent
        for base, folders, names in os.walk(folder):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                with suppress(OSError):
                    facts = os.stat(os.path.join(base, name))  # noqa: PTH116, PTH118 - as os.walk gives them
                    stamps_by_path[os.path.join(base, name)] = (facts.st_mtime_ns, facts.st_size)  # noqa: PTH118
    return stamps_by_path

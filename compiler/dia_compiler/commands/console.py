"""How commands print diagnostics."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click
from dia_language.counts import counted
from dia_language.diagnostics import Diagnostic, render_diagnostic
from dia_runtime.commands.terminal import echo

Progress = Callable[[str, int, int], None]


def is_quiet(ctx: click.Context) -> bool:
    """Return whether -q was given, before or after the command's name."""
    return bool(ctx.find_root().meta.get("dia.quiet"))


def is_verbose(ctx: click.Context) -> bool:
    """Return whether -v was given, before or after the command's name."""
    return bool(ctx.find_root().meta.get("dia.verbose"))


def print_diagnostics(entries: Iterable[Diagnostic], sources: Mapping[str, str]) -> None:
    """Print each diagnostic with its excerpt on standard error."""
    for entry in entries:
        echo(render_diagnostic(entry, sources), err=True)


def diagnostics_json(entries: Iterable[Diagnostic]) -> str:
    """Return the diagnostics as one JSON object, `{"diagnostics": [...]}`."""
    return json.dumps({"diagnostics": [entry.as_json() for entry in entries]}, indent=2, ensure_ascii=False)


def github_lines(entries: Iterable[Diagnostic]) -> Iterable[str]:
    """Return the diagnostics as workflow commands that GitHub shows next to the changed lines."""
    for entry in entries:
        place = entry.position
        where = f"file={_property(Path(place.file).as_posix())},line={place.line},col={place.column}," if place else ""
        text = entry.message + (f" - {entry.help}" if entry.help else "")
        yield f"::{entry.severity} {where}title={entry.code}::{_escaped(text)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


@contextmanager
def progress(quiet: bool, has_lines: bool = True) -> Iterator[Progress | None]:
    """Yield the callback for progress: a bar on a terminal, otherwise a line per template if `has_lines`, or None."""
    if quiet or not (has_lines or sys.stderr.isatty()):
        yield None
    elif sys.stderr.isatty():
        with _bar() as report:
            yield report
    else:
        shown_names: set[str] = set()
        yield lambda name, done, total: _line(name, done, total, shown_names)


@contextmanager
def _bar() -> Iterator[Progress]:
    """Show one progress bar for all templates."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    name = TextColumn("{task.description}", markup=False)
    columns = (name, BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task, rows = bars.add_task("", total=None, rate=""), dict[str, tuple[int, int]]()

        def report(name: str, done: int, total: int) -> None:
            rows[name] = (done, total)
            count, expected = (sum(parts) for parts in zip(*rows.values(), strict=True))
            speed = bars.tasks[task].speed
            rate = f"{speed:,.0f} per second" if speed else ""
            bars.update(task, description=name, completed=count, total=expected, rate=rate)

        yield report


def _line(name: str, done: int, total: int, shown_names: set[str]) -> None:
    if done == total and done and name not in shown_names:
        shown_names.add(name)
        echo(f"{name}: {counted(done, 'instance')}", err=True)

"""How commands print diagnostics."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from dia_language.counts import counted
from dia_language.diagnostics import Diagnostic, render_diagnostic
from dia_runtime.commands.terminal import echo

Progress = Callable[[str, int, int], None]
LATE = 0.5  # seconds after which a progress bar appears


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
    """Show one progress bar for all templates, once there is something to wait for."""
    bar = _LateBar()
    try:
        yield bar.report
    finally:
        bar.close()


class _LateBar:
    """A progress bar that appears after a while: its library takes longer to import than most checks take."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[int, int]] = {}
        self.name = ""
        self.lock = threading.Lock()
        self.timer: threading.Timer | None = None
        self.bars: Any = None
        self.is_over = False

    def report(self, name: str, done: int, total: int) -> None:
        """Remember how far the template is, and show it."""
        with self.lock:
            self.rows[name], self.name = (done, total), name
            if self.timer is None:  # not earlier: a process with threads must not fork
                self.timer = threading.Timer(LATE, self.start)
                self.timer.daemon = True
                self.timer.start()
            self.update()

    def start(self) -> None:
        """Show the bar."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        name = TextColumn("{task.description}", markup=False)
        columns = (name, BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
        with self.lock:
            if not self.is_over:
                self.bars = Bars(*columns, console=Console(stderr=True), transient=True)
                self.task = self.bars.add_task("", total=None, rate="")
                self.bars.start()
                self.update()

    def update(self) -> None:
        if self.bars is None:
            return
        count, expected = (sum(parts) for parts in zip(*self.rows.values(), strict=True))
        speed = self.bars.tasks[self.task].speed
        rate = f"{speed:,.0f} per second" if speed else ""
        self.bars.update(self.task, description=self.name, completed=count, total=expected, rate=rate)

    def close(self) -> None:
        """Remove the bar."""
        with self.lock:
            self.is_over = True
            if self.timer is not None:
                self.timer.cancel()
            if self.bars is not None:
                self.bars.stop()


def _line(name: str, done: int, total: int, shown_names: set[str]) -> None:
    if done == total and done and name not in shown_names:
        shown_names.add(name)
        echo(f"{name}: {counted(done, 'question')}", err=True)

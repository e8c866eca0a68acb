"""A spinner for work that takes more than a second, shown on terminals only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic

from dia_language.diagnostics import visible

from dia_runtime.commands.options import is_quiet

SECONDS = 1.0


@contextmanager
def activity(what: str, quiet: bool = False) -> Iterator[None]:
    """Show what is being done and for how long, unless standard error is not a terminal."""
    if is_quiet(quiet) or not sys.stderr.isatty():
        yield
        return
    is_over = Event()
    thread = Thread(target=_show_spinner, args=(visible(what), is_over, monotonic()), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _show_spinner(what: str, is_over: Event, start: float) -> None:
    if is_over.wait(SECONDS):
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn("line"), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, get_time=monotonic) as display:
        task = display.add_task(what, total=None)
        display.tasks[task].start_time = start
        is_over.wait()

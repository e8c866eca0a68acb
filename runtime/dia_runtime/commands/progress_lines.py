"""Progress of asking models: a line every ten seconds, or on a terminal one line that changes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from shutil import get_terminal_size
from typing import TYPE_CHECKING, ParamSpec

from dia_language.diagnostics import counted

from dia_runtime.commands.terminal import echo, overwrite

if TYPE_CHECKING:
    from dia_runtime.running.run import Progress

Arguments = ParamSpec("Arguments")
LINE_SECONDS = 10.0  # between two lines of progress for a model


class LineTimer:
    """When a line about a model is due: ten seconds after the start, and after the line before it."""

    def __init__(self) -> None:
        self.started_at = time.monotonic()
        self.printed_at: dict[str, float] = {}

    def is_due(self, model: str) -> bool:
        """Return whether to print a line about the model now; the next one is due ten seconds later."""
        now = time.monotonic()
        if now - self.printed_at.get(model, self.started_at) < LINE_SECONDS:
            return False
        self.printed_at[model] = now
        return True


class ProgressLine:
    """The progress of one kind of work, as lines or as one line that changes."""

    def __init__(self) -> None:
        self.is_terminal = sys.stderr.isatty()
        self.timer = LineTimer()
        self.is_shown = False

    def update(self, model: str, line: Callable[[], str]) -> None:
        """Show the line on a terminal, or print it if one is due."""
        if self.is_terminal:
            overwrite(line()[: get_terminal_size().columns - 1])
            self.is_shown = True
        elif self.timer.is_due(model):
            echo(line(), err=True)

    def clear(self) -> None:
        """Remove the line from the terminal, so that something else can be printed."""
        if self.is_shown:
            overwrite()
            self.is_shown = False

    def above(self, note: Callable[Arguments, None]) -> Callable[Arguments, None]:
        """Return a function that prints a note, for which the line makes room."""

        def print_note(*arguments: Arguments.args, **options: Arguments.kwargs) -> None:
            self.clear()
            note(*arguments, **options)

        return print_note


def state_text(step: Progress) -> str:
    """Return the errors, the cost and the current rate limit of a model, as the end of a line of progress."""
    errors = f", {counted(step.errors, 'error')}" if step.errors else ""
    cost = f", {step.cost} US dollars" if step.cost not in (None, "0") else ""
    pause = "; waiting for the rate limit" if step.is_limited else ""
    if step.pause >= 1:
        pause = f"; the rate limit allows the next request in {step.pause:.0f} s"
    return errors + cost + pause

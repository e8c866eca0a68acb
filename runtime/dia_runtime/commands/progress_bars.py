"""Progress bars for terminals. Imported only when needed, because importing rich is slow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING

from dia_language.diagnostics import counted, visible
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable

    from dia_runtime.running.run import Progress as Step


class Rate(ProgressColumn):
    """The current rate of replies, the number of errors, and the cost so far."""

    def render(self, task: Task) -> Text:
        """Return the text of the column."""
        cost = task.fields["cost"]
        money = "" if cost is None else f", ${Decimal(cost):.4f}"
        elsewhere = task.fields["elsewhere"]
        waiting = f", {elsewhere:,} asked by another process" if elsewhere else ""
        if task.fields["pause"] >= 1:
            waiting += f", rate limit: {task.fields['pause']:.0f} s"
        elif task.fields.get("is_limited"):
            waiting += ", waiting for the rate limit"
        errors = counted(task.fields["errors"], "error")
        return Text(f"{rate_text(task.speed or 0)}, {errors}{money}{waiting}")


def rate_text(speed: float) -> str:
    """Return the replies per second, or per minute where they are few.

    >>> rate_text(12.3), rate_text(0.25)
    ('12/s', '15/min')
    """
    return f"{speed:.0f}/s" if speed >= 1 or not speed else f"{60 * speed:.0f}/min"


@contextmanager
def progress_bars(models: Sequence[str]) -> Iterator[Callable[[Step], None]]:
    """Draw one bar for each model on standard error; yield the callback for progress."""
    name = TextColumn("{task.description}", markup=False)
    columns = (name, BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as display:
        tasks = {
            model: display.add_task(
                visible(model), total=None, errors=0, cost=None, elsewhere=0, pause=0.0, is_limited=False
            )
            for model in models
        }

        def report(step: Step) -> None:
            display.update(
                tasks[step.respondent],
                completed=step.done,
                total=step.total,
                errors=step.errors,
                cost=step.cost,
                elsewhere=step.elsewhere,
                pause=step.pause,
                is_limited=step.is_limited,
            )

        yield report

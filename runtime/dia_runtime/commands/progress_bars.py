"""Progress bars for terminals; imported only where there is one, since rich takes its time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING

from dia_language.diagnostics import visible
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
    """How many replies a second came lately, how many errors there are, and what the replies have cost."""

    def render(self, task: Task) -> Text:
        """The column's text."""
        cost = task.fields["cost"]
        money = "" if cost is None else f", ${Decimal(cost):.4f}"
        elsewhere = task.fields["elsewhere"]
        waiting = f", {elsewhere} asked by another process" if elsewhere else ""
        return Text(f"{rate_text(task.speed or 0)}, {task.fields['errors']} errors{money}{waiting}")


def rate_text(speed: float) -> str:
    """Replies a second, or a minute where they are few.

    >>> pace(12.3), pace(0.25)
    ('12 a second', '15 a minute')
    """
    return f"{speed:.0f} a second" if speed >= 1 or not speed else f"{60 * speed:.0f} a minute"


@contextmanager
def progress_bars(models: Sequence[str]) -> Iterator[Callable[[Step], None]]:
    """What to call with each step, while a bar a model is drawn on standard error."""
    name = TextColumn("{task.description}", markup=False)
    columns = (name, BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as display:
        tasks = {
            model: display.add_task(visible(model), total=None, errors=0, cost=None, elsewhere=0) for model in models
        }

        def report(step: Step) -> None:
            display.update(
                tasks[step.respondent],
                completed=step.done,
                total=step.total,
                errors=step.errors,
                cost=step.cost,
                elsewhere=step.elsewhere,
            )

        yield report

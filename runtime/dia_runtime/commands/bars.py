"""Progress bars for terminals; imported only where there is one, since rich takes its time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

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

from dia_runtime.language.diagnostics import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from dia_runtime.run import Progress as Step


class Rate(ProgressColumn):
    """How many replies a second came lately, and how many errors there are."""

    def render(self, task: Task) -> Text:
        """The column's text."""
        return Text(f"{task.speed or 0:.0f} a second, {task.fields['errors']} errors")


@contextmanager
def bars(models: Sequence[str]) -> Iterator[Callable[[Step], None]]:
    """What to call with each step, while a bar a model is drawn on standard error."""
    name = TextColumn("{task.description}", markup=False)
    columns = (name, BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as drawn:
        tasks = {model: drawn.add_task(visible(model), total=None, errors=0) for model in models}

        def report(step: Step) -> None:
            drawn.update(tasks[step.respondent], completed=step.done, total=step.total, errors=step.errors)

        yield report

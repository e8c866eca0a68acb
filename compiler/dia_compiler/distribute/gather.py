"""The rows of all templates, made by workers or found in the cache, kept on disk until they are frozen.

Which stretches of instances a template is divided into depends on the template alone, never on the number of workers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dia_compiler.distribute.task import (
    ChunkResult,
    TemplateChecked,
    TemplateJob,
    expand_chunk,
    expand_rest,
    expand_template,
    locate_first_instance,
)
from dia_compiler.freeze.spool import Batch, Spool
from dia_compiler.freeze.summary import Summary
from dia_compiler.parse.model import Template
from dia_language.diagnostics import Diagnostic, Diagnostics
from dia_language.workers.pool import SECONDS, Outcome, Task, WorkerPool

Progress = Callable[[str, int, int], None]
ENDED = "E502"  # the code of what is ended because it takes too long or too much
ORDERED = 1024  # stretches of a template that are handed out or wait for it; the others cost no memory yet


@dataclass(slots=True)
class GatheredRows:
    """The rows of one template, and the summary where all of them were made."""

    template: Template
    spool: Spool
    summary: Summary | None = None

    @property
    def is_whole(self) -> bool:
        """Whether every row is there."""
        return self.summary is not None


@dataclass(slots=True)
class _Chunk:
    """A stretch of instances that a worker makes, or has made."""

    spool: Spool
    diagnostics: tuple[Diagnostic, ...] = ()
    result: ChunkResult | None = None
    is_done: bool = False


@dataclass(slots=True)
class _JobState:
    """A template in the making; stretches are added to it in order, whenever they come."""

    number: int
    job: TemplateJob
    sent: TemplateJob  # one object for all stretches, by which a cluster knows that they belong together
    rows: GatheredRows
    folder: Path | None
    summary: Summary | None = None
    stretches: dict[int, _Chunk] = field(default_factory=dict)
    begins: deque[int] = field(default_factory=deque)
    rows_done: int = 0
    following: int = 0  # the instance from which on no stretch has been ordered, where there are more
    is_ready: bool = False
    is_over: bool = False

    @property
    def last(self) -> int:
        """The number before which the instances end that are made in stretches; 0 where none are."""
        total = self.summary.instances if self.summary is not None else None
        return (total if total is None or self.job.last is None else min(total, self.job.last)) or 0

    def task(self, function: Callable[..., Any], first: int, *arguments: int) -> Task:
        """Return the task of making instances from the number `first` on."""
        seconds = float(self.job.template.limits.get("seconds", SECONDS))
        task_arguments = (self.sent, first, *arguments) if arguments else (self.sent,)
        name = f"{self.number}-{first}"
        self.stretches[first] = _Chunk(Spool(self.folder, name) if arguments else self.rows.spool)
        self.begins.append(first)
        return Task((self.number, first), function, task_arguments, seconds)


class Gatherer:
    """Hands out the work of many templates and gathers what comes back."""

    def __init__(
        self,
        template_jobs: list[TemplateJob],
        diagnostics: Diagnostics,
        folder: Path | None,
        on_progress: Progress | None,
        explain: Callable[[TemplateJob], list[Diagnostic]],
    ) -> None:
        """`explain` reports the errors of a template that can be found without a worker."""
        spools = [Spool(folder, str(number)) for number in range(len(template_jobs))]
        self.states = [
            _JobState(
                number, job, replace(job, template=job.template.folded), GatheredRows(job.template, spool), folder
            )
            for number, (job, spool) in enumerate(zip(template_jobs, spools, strict=True))
        ]
        self.diagnostics, self.on_progress, self.explain = diagnostics, on_progress, explain
        self.waiting: deque[Task] = deque()

    def run(self, pool: WorkerPool) -> list[GatheredRows]:
        """Return the rows of every template, made by the pool; what goes wrong is added to the errors."""
        heaviest_first = sorted(
            self.states, key=lambda state: not state.job.template.assets
        )  # no worker idles at the end
        self.waiting.extend(
            state.task(locate_first_instance if state.job.first else expand_template, state.job.first)
            for state in heaviest_first
        )
        if self.states:
            pool.refill()  # before a progress bar starts its thread
        for state in self.states:
            self.tell(state)
        with closing(pool.run(self.waiting)) as outcomes:
            for outcome in outcomes:
                number, first = outcome.key
                self.take(self.states[number], first, outcome)
        return [state.rows for state in self.states]

    def take(self, state: _JobState, first: int, outcome: Outcome) -> None:
        """Something that a worker has sent."""
        stretch = state.stretches.get(first)
        if stretch is None:
            return  # a stretch after a hole or an error: its rows are not needed any more
        if outcome.is_end:
            stretch.is_done, stretch.diagnostics = True, outcome.diagnostics
            self.settle(state)
        elif isinstance(outcome.item, Batch):
            stretch.spool.add(outcome.item)
            state.rows_done += outcome.item.rows
            self.tell(state)
        elif isinstance(outcome.item, TemplateChecked):
            self.diagnostics.entries += outcome.item.warnings if not state.is_ready else ()
            state.is_ready = True
        elif isinstance(outcome.item, Summary):
            state.summary = outcome.item
        else:
            stretch.result = outcome.item

    def tell(self, state: _JobState) -> None:
        """Report how far the template is."""
        if self.on_progress is not None:
            total = state.rows_done if state.is_over else max(state.job.share, state.rows_done)
            self.on_progress(state.job.template.name, state.rows_done, total)

    def settle(self, state: _JobState) -> None:
        """Add the stretches that are done, in order, to the template's rows; orders what is to be made next."""
        while state.begins and state.stretches[state.begins[0]].is_done:
            first = state.begins.popleft()
            stretch = state.stretches.pop(first)
            if stretch.diagnostics:
                self.fail(state, stretch.diagnostics)
            elif stretch.result is None:
                self.divide(state)
            else:
                state.rows.spool.take(stretch.spool)
                self.count(state, stretch.result)
        self.order_chunks(state)
        if not state.begins and not state.is_over:
            state.is_over, state.rows.summary = True, state.summary
            self.tell(state)

    def fail(self, state: _JobState, diagnostics: tuple[Diagnostic, ...]) -> None:
        """Report the errors of the template, the first that there are in the order of its instances."""
        if not state.is_ready and not any(entry.code == ENDED for entry in diagnostics):
            errors = self.explain(state.job)
            diagnostics = tuple(errors) if any(entry.severity == "error" for entry in errors) else diagnostics
        for entry in diagnostics:
            place = entry.position or state.job.template.position
            self.diagnostics.entries.append(Diagnostic(entry.code, entry.message, place, entry.help, entry.severity))
        self.drop(state)
        state.is_over = True

    def drop(self, state: _JobState) -> None:
        """Forgets every stretch that has not been added."""
        for stretch in state.stretches.values():
            stretch.spool.drop()
        state.stretches.clear()
        state.begins.clear()
        state.following = state.last
        remaining = [task for task in self.waiting if task.key[0] != state.number]
        self.waiting.clear()
        self.waiting.extend(remaining)

    def divide(self, state: _JobState) -> None:
        """Orders the rest of a template whose first instances are there."""
        assert state.summary is not None
        self.diagnostics.entries.extend(state.summary.warnings)
        begin = state.job.first or state.job.span
        if begin < state.last and not state.summary.goes_straight:
            self.waiting.append(state.task(expand_rest, begin, state.last, state.summary.next_position))
            begin = state.last
        state.following = begin

    def order_chunks(self, state: _JobState) -> None:
        """Orders more stretches, as many as there may be at once."""
        while state.summary is not None and 0 < state.following < state.last and len(state.begins) < ORDERED:
            first, state.following = state.following, state.following + state.job.span
            self.waiting.append(state.task(expand_chunk, first, min(state.following, state.last)))

    def count(self, state: _JobState, result: ChunkResult) -> None:
        """Add up the draws; what comes after the first hole is made one by one."""
        assert state.summary is not None
        state.summary = state.summary.with_draws(result.acceptance, result.tools)
        if result.hole is not None:
            self.drop(state)
            self.waiting.append(state.task(expand_rest, result.hole, state.last, result.hole + 1))

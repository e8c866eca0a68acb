"""The rows of all templates, made by workers or found in the cache, kept on disk until they are frozen.

How a template is divided into chunks of instances depends only on the template, never on the number of workers.
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
ENDED = "E502"  # the error code for tasks that are stopped because of a limit
ORDERED = 1024  # chunks of a template that are running or waiting; others use no memory yet


@dataclass(slots=True)
class GatheredRows:
    """The rows of one template, and the summary once all of them exist."""

    template: Template
    spool: Spool
    summary: Summary | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all rows exist."""
        return self.summary is not None


@dataclass(slots=True)
class _Chunk:
    """A chunk of instances that a worker makes, or has made."""

    spool: Spool
    diagnostics: tuple[Diagnostic, ...] = ()
    result: ChunkResult | None = None
    is_done: bool = False


@dataclass(slots=True)
class _JobState:
    """The state of a template; chunks are added to it in order, whenever they arrive."""

    number: int
    job: TemplateJob
    sent: TemplateJob  # shared by all chunks, so that a cluster knows that they belong together
    rows: GatheredRows
    folder: Path | None
    summary: Summary | None = None
    stretches: dict[int, _Chunk] = field(default_factory=dict)
    begins: deque[int] = field(default_factory=deque)
    rows_done: int = 0
    following: int = 0  # the first instance that is in no chunk yet, if there are more
    is_ready: bool = False
    is_over: bool = False

    @property
    def last(self) -> int:
        """The end of the instances that are made in chunks; 0 if none are."""
        total = self.summary.instances if self.summary is not None else None
        return (total if total is None or self.job.last is None else min(total, self.job.last)) or 0

    def task(self, function: Callable[..., Any], first: int, *arguments: int) -> Task:
        """Return the task that makes instances from number `first` on."""
        seconds = float(self.job.template.limits.get("seconds", SECONDS))
        task_arguments = (self.sent, first, *arguments) if arguments else (self.sent,)
        name = f"{self.number}-{first}"
        self.stretches[first] = _Chunk(Spool(self.folder, name) if arguments else self.rows.spool)
        self.begins.append(first)
        return Task((self.number, first), function, task_arguments, seconds)


class Gatherer:
    """Distributes the work of many templates, and collects the results."""

    def __init__(
        self,
        template_jobs: list[TemplateJob],
        diagnostics: Diagnostics,
        folder: Path | None,
        on_progress: Progress | None,
        explain: Callable[[TemplateJob], list[Diagnostic]],
    ) -> None:
        """`explain` reports those errors of a template that can be found without a worker."""
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
        """Return the rows of every template, made by the pool; errors are added to the diagnostics."""
        heaviest_first = sorted(
            self.states, key=lambda state: not state.job.template.assets
        )  # so that no worker is idle at the end
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
        """Handle what a worker has sent."""
        stretch = state.stretches.get(first)
        if stretch is None:
            return  # a chunk after a hole or an error, whose rows are no longer needed
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
        """Report the progress of the template. Rows equal the total only when it is over, as `share` is a guess."""
        if self.on_progress is not None:
            total = state.rows_done if state.is_over else max(state.job.share, state.rows_done + 1)
            self.on_progress(state.job.name, state.rows_done, total)

    def settle(self, state: _JobState) -> None:
        """Add finished chunks, in order, to the template's rows, and submit the next ones."""
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
        """Report the errors of the template: the first in the order of its instances."""
        if not state.is_ready and not any(entry.code == ENDED for entry in diagnostics):
            errors = self.explain(state.job)
            diagnostics = tuple(errors) if any(entry.severity == "error" for entry in errors) else diagnostics
        for entry in diagnostics:
            place = entry.position or state.job.template.position
            self.diagnostics.entries.append(Diagnostic(entry.code, entry.message, place, entry.help, entry.severity))
        self.drop(state)
        state.is_over = True

    def drop(self, state: _JobState) -> None:
        """Forget every chunk that has not been added."""
        for stretch in state.stretches.values():
            stretch.spool.drop()
        state.stretches.clear()
        state.begins.clear()
        state.following = state.last
        remaining = [task for task in self.waiting if task.key[0] != state.number]
        self.waiting.clear()
        self.waiting.extend(remaining)

    def divide(self, state: _JobState) -> None:
        """Submit the rest of a template whose first instances are done."""
        assert state.summary is not None
        self.diagnostics.entries.extend(state.summary.warnings)
        begin = state.job.first or state.job.span
        if begin < state.last and not state.summary.goes_straight:
            self.waiting.append(state.task(expand_rest, begin, state.last, state.summary.next_position))
            begin = state.last
        state.following = begin

    def order_chunks(self, state: _JobState) -> None:
        """Submit more chunks, up to the limit."""
        while state.summary is not None and 0 < state.following < state.last and len(state.begins) < ORDERED:
            first, state.following = state.following, state.following + state.job.span
            self.waiting.append(state.task(expand_chunk, first, min(state.following, state.last)))

    def count(self, state: _JobState, result: ChunkResult) -> None:
        """Add up the draws; after the first hole, instances are made one by one."""
        assert state.summary is not None
        state.summary = state.summary.with_draws(result.acceptance, result.tools)
        if result.hole is not None:
            self.drop(state)
            self.waiting.append(state.task(expand_rest, result.hole, state.last, result.hole + 1))

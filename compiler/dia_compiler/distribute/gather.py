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
    Ready,
    Stretch,
    Work,
    expand_later,
    expand_rest,
    expand_stretch,
    expand_template,
)
from dia_compiler.freeze.spool import Batch, Spool
from dia_compiler.freeze.summary import Summary
from dia_compiler.parse.model import Template
from dia_language.diagnostics import Diagnostic, Faults
from dia_language.workers.pool import SECONDS, Crew, Outcome, Task

Progress = Callable[[str, int, int], None]
ENDED = "E502"  # the code of what is ended because it takes too long or too much
ORDERED = 1024  # stretches of a template that are handed out or wait for it; the others cost no memory yet


@dataclass(slots=True)
class Expanded:
    """The rows of one template, and the summary where all of them were made."""

    template: Template
    spool: Spool
    summary: Summary | None = None

    @property
    def is_whole(self) -> bool:
        """Whether every row is there."""
        return self.summary is not None


@dataclass(slots=True)
class _Stretch:
    """A stretch of instances that a worker makes, or has made."""

    spool: Spool
    faults: tuple[Diagnostic, ...] = ()
    result: Stretch | None = None
    is_done: bool = False


@dataclass(slots=True)
class _Job:
    """A template in the making; stretches are added to it in order, whenever they come."""

    number: int
    work: Work
    sent: Work  # one object for all stretches, by which a cluster tells that they belong together
    held: Expanded
    folder: Path | None
    summary: Summary | None = None
    stretches: dict[int, _Stretch] = field(default_factory=dict)
    begins: deque[int] = field(default_factory=deque)
    made: int = 0
    following: int = 0  # the instance from which on no stretch has been ordered, where there are more
    is_ready: bool = False
    is_over: bool = False

    @property
    def last(self) -> int:
        """The number before which the instances end that are made in stretches; 0 where none are."""
        wanted = self.summary.wanted if self.summary is not None else None
        return (wanted if wanted is None or self.work.last is None else min(wanted, self.work.last)) or 0

    def task(self, function: Callable[..., Any], first: int, *arguments: int) -> Task:
        """The task of making instances from the number `first` on."""
        seconds = float(self.work.template.limits.get("seconds", SECONDS))
        given = (self.sent, first, *arguments) if arguments else (self.sent,)
        name = f"{self.number}-{first}"
        self.stretches[first] = _Stretch(Spool(self.folder, name) if arguments else self.held.spool)
        self.begins.append(first)
        return Task((self.number, first), function, given, seconds)


class Gathering:
    """Hands out the work of many templates and gathers what comes back."""

    def __init__(
        self,
        works: list[Work],
        faults: Faults,
        folder: Path | None,
        on_progress: Progress | None,
        explain: Callable[[Work], list[Diagnostic]],
    ) -> None:
        """`explain` tells the faults of a template that can be told without a worker, with all that is known here."""
        spools = [Spool(folder, str(number)) for number in range(len(works))]
        self.jobs = [
            _Job(number, work, replace(work, template=work.template.folded), Expanded(work.template, spool), folder)
            for number, (work, spool) in enumerate(zip(works, spools, strict=True))
        ]
        self.faults, self.on_progress, self.explain = faults, on_progress, explain
        self.waiting: deque[Task] = deque()

    def run(self, crew: Crew) -> list[Expanded]:
        """The rows of every template, made by the crew; what goes wrong is added to the faults."""
        heaviest_first = sorted(self.jobs, key=lambda job: not job.work.template.assets)  # no worker idles at the end
        self.waiting.extend(
            job.task(expand_later if job.work.first else expand_template, job.work.first) for job in heaviest_first
        )
        for job in self.jobs:
            self.tell(job)
        with closing(crew.run(self.waiting)) as outcomes:
            for outcome in outcomes:
                number, first = outcome.key
                self.take(self.jobs[number], first, outcome)
        return [job.held for job in self.jobs]

    def take(self, job: _Job, first: int, outcome: Outcome) -> None:
        """Something that a worker has sent."""
        stretch = job.stretches.get(first)
        if stretch is None:
            return  # a stretch behind a hole or a fault: what it gives is not wanted any more
        if outcome.is_end:
            stretch.is_done, stretch.faults = True, outcome.diagnostics
            self.settle(job)
        elif isinstance(outcome.item, Batch):
            stretch.spool.add(outcome.item)
            job.made += outcome.item.rows
            self.tell(job)
        elif isinstance(outcome.item, Ready):
            self.faults.entries += outcome.item.warnings if not job.is_ready else ()
            job.is_ready = True
        elif isinstance(outcome.item, Summary):
            job.summary = outcome.item
        else:
            stretch.result = outcome.item

    def tell(self, job: _Job) -> None:
        """Tells how far the template is."""
        if self.on_progress is not None:
            total = job.made if job.is_over else max(job.work.share, job.made)
            self.on_progress(job.work.template.name, job.made, total)

    def settle(self, job: _Job) -> None:
        """Adds the stretches that are done, in order, to the template's rows; orders what is to be made next."""
        while job.begins and job.stretches[job.begins[0]].is_done:
            first = job.begins.popleft()
            stretch = job.stretches.pop(first)
            if stretch.faults:
                self.fail(job, stretch.faults)
            elif stretch.result is None:
                self.divide(job)
            else:
                job.held.spool.take(stretch.spool)
                self.count(job, stretch.result)
        self.order(job)
        if not job.begins and not job.is_over:
            job.is_over, job.held.summary = True, job.summary
            self.tell(job)

    def fail(self, job: _Job, diagnostics: tuple[Diagnostic, ...]) -> None:
        """Tells the faults of the template, the first that there are in the order of its instances."""
        if not job.is_ready and not any(entry.code == ENDED for entry in diagnostics):
            found = self.explain(job.work)
            diagnostics = tuple(found) if any(entry.severity == "error" for entry in found) else diagnostics
        for entry in diagnostics:
            place = entry.position or job.work.template.position
            self.faults.entries.append(Diagnostic(entry.code, entry.message, place, entry.help, entry.severity))
        self.drop(job)
        job.is_over = True

    def drop(self, job: _Job) -> None:
        """Forgets every stretch that has not been added."""
        for stretch in job.stretches.values():
            stretch.spool.drop()
        job.stretches.clear()
        job.begins.clear()
        job.following = job.last
        kept = [task for task in self.waiting if task.key[0] != job.number]
        self.waiting.clear()
        self.waiting.extend(kept)

    def divide(self, job: _Job) -> None:
        """Orders the rest of a template whose first instances are there."""
        assert job.summary is not None
        self.faults.entries.extend(job.summary.warnings)
        begin = job.work.first or job.work.span
        if begin < job.last and not job.summary.goes_straight:
            self.waiting.append(job.task(expand_rest, begin, job.last, job.summary.next_position))
            begin = job.last
        job.following = begin

    def order(self, job: _Job) -> None:
        """Orders more stretches, as many as there may be at once."""
        while job.summary is not None and 0 < job.following < job.last and len(job.begins) < ORDERED:
            first, job.following = job.following, job.following + job.work.span
            self.waiting.append(job.task(expand_stretch, first, min(job.following, job.last)))

    def count(self, job: _Job, result: Stretch) -> None:
        """Adds up the draws; what lies behind the first hole is made one by one."""
        assert job.summary is not None
        job.summary = job.summary.with_draws(result.acceptance, result.tools)
        if result.hole is not None:
            self.drop(job)
            self.waiting.append(job.task(expand_rest, result.hole, job.last, result.hole + 1))

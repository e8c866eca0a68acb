"""The tasks of workers: make the rows of a template, all of them or a chunk of its instances."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

from dia_compiler.analyze.items import Item
from dia_compiler.analyze.prepare import prepare
from dia_compiler.analyze.settings import Settings
from dia_compiler.analyze.worker_resources import NO_RESOURCES, WorkerResources
from dia_compiler.freeze.output import SPAN
from dia_compiler.freeze.spool import Batch, asset_frame
from dia_compiler.freeze.summary import DeadEnds, Summary
from dia_compiler.generate.bundle_rows import Writer
from dia_compiler.generate.examples import check_examples
from dia_compiler.generate.expand import ALL, Draft, Expansion, Instance
from dia_compiler.generate.expansions import expansion_of
from dia_compiler.parse.model import Benchmark, Template
from dia_compiler.sampling.instance_tree import DRY_POSITIONS, Exhausted, Walker
from dia_compiler.sampling.steering import TargetUnreached
from dia_language.budgets import STEPS
from dia_language.confinement import permission
from dia_language.diagnostics import DiaError, Diagnostic, Diagnostics
from dia_language.limits import INTEGER_DIGITS
from dia_language.workers import heartbeat
from dia_language.workers.heartbeat import begin_search, end_search
from dia_language.workers.pool import Positions

BATCH_ROWS = 100
BATCH_BYTES = 1 << 18
BATCH_SECONDS = 0.5  # seconds after which slow rows are sent, so that progress is visible
KEPT = 2
MISTAKES_TRIED = 300  # a mistake that equals the answer in this many instances is an error


@dataclass(frozen=True, slots=True)
class TemplateJob:
    """A template to be expanded: everything that its rows depend on."""

    template: Template
    benchmark: Benchmark
    lists: dict[str, list[str]]
    settings: Settings
    k: int
    canary: str | None
    is_trial: bool = False
    span: int = SPAN
    resources: WorkerResources = NO_RESOURCES
    first: int = 0
    spreads: bool = False  # whether a trial takes instances of as many items as possible, instead of a few items
    estimates: bool = False  # whether to estimate degrees of freedom that cannot be counted
    last: int | None = None  # only instances from `first` on and below `last`, if the template can be divided

    @property
    def name(self) -> str:
        """The name of the template in messages: several benchmarks may have templates of one name."""
        return f"{self.benchmark.name}/{self.template.name}"

    @property
    def share(self) -> int:
        """How many of its instances are wanted."""
        return (self.k if self.last is None else self.last) - self.first


@dataclass(frozen=True, slots=True)
class TemplateChecked:
    """The first report of a worker about a template whose expressions compile: the warnings so far."""

    warnings: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class ChunkResult:
    """The report of a worker about a chunk: draws accepted and made, and the hole before which it ends."""

    acceptance: tuple[int, int]
    hole: int | None = None
    tools: dict[str, str] = field(default_factory=dict)


class _Batches:
    """Collects rows until there are enough for a batch."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.empty()

    def empty(self) -> None:
        self.questions: list[bytes] = []
        self.answers: list[bytes] = []
        self.index: list[bytes] = []
        self.assets: list[bytes] = []
        self.size, self.sample, self.begin = 0, "", monotonic()

    def add(self, instance: Instance) -> Iterator[Batch]:
        """Add the row of an instance; return the batch if it is full."""
        question, answer, entry = self.writer.row(instance)
        self.sample = self.sample if self.questions else instance.text[:40]
        self.questions.append(question)
        self.answers.append(answer)
        self.index.append(entry)
        self.assets += [asset_frame(asset.digest, asset.extension, asset.content) for asset in instance.attachments]
        self.size += len(question) + len(answer) + sum(len(asset.content) for asset in instance.attachments)
        is_full = len(self.index) >= BATCH_ROWS or self.size >= BATCH_BYTES
        if is_full or monotonic() - self.begin >= BATCH_SECONDS:
            yield from self.rest()

    def rest(self) -> tuple[Batch, ...]:
        """Return the remaining rows as the last batch."""
        if not self.index:
            return ()
        parts = (self.questions, self.answers, self.index, self.assets)
        questions, answers, index, assets = map(b"".join, parts)
        batch = Batch(len(self.index), questions, answers, index, self.sample, assets)
        self.empty()
        return (batch,)


def expand_template(job: TemplateJob) -> Iterator[Any]:
    """Yield batches of rows, then the summary; only the first instances if the rest can be made in chunks.

    Raises DiaError with every error of the template.
    """
    diagnostics = Diagnostics()
    expansion = yield from _prepared(job, diagnostics, is_first=True)
    _check(expansion, diagnostics)
    total = _divisible(expansion, job)
    batches, place, is_straight = _Batches(Writer(expansion, job.canary)), 0, True
    stop = min(job.span, total if job.last is None else job.last) if total is not None else None
    refused, unseen = None, set(expansion.prepared.mistakes)
    try:
        for instance in expansion.instances(expansion.drafts(job.k, job.is_trial, stop, job.spreads)):
            place = instance.position
            unseen -= instance.mistakes.keys()
            is_straight = is_straight and instance.position == instance.number
            yield from batches.add(instance)
    except TargetUnreached as why:
        refused = str(why)
    yield from batches.rest()
    if refused is None:
        _warn_off_target(expansion, diagnostics)
    summary = _summary(expansion, diagnostics, total, is_straight, place + 1, job.estimates)
    if refused is None:
        _require_mistakes(expansion, unseen)
    yield replace(summary, refused=refused)


def _warn_off_target(expansion: Expansion, diagnostics: Diagnostics) -> None:
    """Warn if the chosen instances are on one side of the success that was asked for."""
    template = expansion.prepared.template
    for chooser in expansion.choosers:
        message = chooser.off_target()
        if message is not None and "off-target" not in template.allow:
            help = "change its parameters, ask for a success in that range, or allow it: `allow: {off-target: reason}`"
            diagnostics.warn("off-target", message, template.position, help)


def _require_mistakes(expansion: Expansion, unseen: set[str]) -> None:
    """Raise DiaError for a mistake that is the correct answer in many instances, drawing more if necessary."""
    drafts = expansion.drafts(MISTAKES_TRIED, is_trial=True) if unseen else iter(())
    with suppress(DiaError, TargetUnreached):  # more instances than requested
        for count, draft in enumerate(drafts):
            unseen -= expansion.instance(draft).mistakes.keys()
            if not unseen or count > MISTAKES_TRIED:
                break
    if unseen:
        name = min(unseen)
        place = expansion.prepared.mistakes[name].parsed.source.place(0)
        choices = expansion.prepared.template.choices
        problem = "is the correct answer in every" if choices is None else "is not the value of a wrong option in any"
        message = f"the mistake `{name}` {problem} instance that was tried"
        raise DiaError(Diagnostic("E508", message, place, "correct its expression, or remove it"))


def _summary(
    expansion: Expansion,
    diagnostics: Diagnostics,
    total: int | None,
    is_straight: bool,
    following: int,
    estimates: bool = False,
) -> Summary:
    drawing = expansion.drawing
    warnings = tuple(entry for entry in diagnostics.entries if entry.severity == "warning")
    functions = tuple(sorted(expansion.prepared.used_functions))
    drawn = (drawing.drawn - drawing.rejected, drawing.drawn)
    estimate = drawing.estimated() if estimates and expansion.freedom.kind in ("at_least", "at_most") else None
    dead_ends = None
    if drawing.dead_ends:
        dead_ends = DeadEnds(drawing.dead_ends, drawing.dead_end, drawing.strictest_condition())
    return Summary(
        expansion.freedom,
        drawn,
        functions,
        warnings,
        total,
        is_straight,
        following,
        permission.used(),
        estimate,
        dead_ends=dead_ends,
    )


def locate_first_instance(job: TemplateJob) -> Iterator[Any]:
    """Yield the summary of a template whose instances from number `first` on are wanted, without rows.

    If the first instances are at the positions of their numbers, the others are assumed to be, too, which is verified
    when they are joined. Otherwise the position is found by drawing parameters only.
    """
    diagnostics = Diagnostics()
    expansion = yield from _prepared(job, diagnostics, is_first=True)
    total = _divisible(expansion, job)
    position = 0 if total is None else _following(expansion, job)
    yield _summary(expansion, diagnostics, total, position == job.first, position)


def _following(expansion: Expansion, job: TemplateJob) -> int:
    """Return the position from which to search for instance number `first`."""
    walker, ahead = expansion.drawing.walker(Item()), min(job.span, job.first)
    position = number = dry = 0
    while number < job.first:
        if position == number == ahead:
            return job.first
        is_hole = _scope_at(expansion, walker, position, number, job.k) is None
        dry, number, position = dry + 1 if is_hole else 0, number + (not is_hole), position + 1
        if dry >= DRY_POSITIONS:
            raise expansion.too_few(number, job.k, Item(), "all combinations of values were tried")
    return position


def _divisible(expansion: Expansion, job: TemplateJob) -> int | None:
    """Return the number of instances if they are many and can be made in chunks; otherwise None."""
    template, (item, *others) = job.template, expansion.drawing.items
    is_plain = expansion.drawing.each is None and not template.is_boundary_first and not others
    if job.is_trial or not is_plain or template.instances == ALL or not expansion.drawing.has_choices(item):
        return None
    if job.settings.steering is not None or expansion.can_repeat:  # an instance depends on those before it
        return None
    total = expansion.instance_count(item, job.k, False)
    return total if total is not None and total > job.span else None


def expand_chunk(job: TemplateJob, first: int, last: int) -> Iterator[Any]:
    """Yield batches of rows of instances at the positions of their numbers, then the report; ends at a hole."""
    expansion = yield from _prepared(job, Diagnostics())
    batches, walker = _Batches(Writer(expansion, job.canary)), expansion.drawing.walker(Item())
    number = first
    for instance in expansion.instances(_straight(expansion, walker, first, last, job.k)):
        yield from batches.add(instance)
        number = instance.number + 1
    yield from batches.rest()
    hole = number if number < last else None
    yield ChunkResult((walker.drawn - walker.rejected, walker.drawn), hole, permission.used())


def _straight(expansion: Expansion, walker: Walker[Any], first: int, last: int, k: int) -> Iterator[Draft]:
    """Yield the drafts of instances at the positions of their numbers, up to a hole."""
    for number in range(first, last):
        scope = _scope_at(expansion, walker, number, number, k)
        if scope is None:
            return
        yield Draft(Item(), number, number, scope)


def expand_rest(job: TemplateJob, first: int, last: int, position: int) -> Iterator[Any]:
    """Yield batches of rows of all instances from number `first` on, searched for from the position on."""
    expansion = yield from _prepared(job, Diagnostics())
    batches, walker = _Batches(Writer(expansion, job.canary)), expansion.drawing.walker(Item())
    for instance in expansion.instances(_scattered(expansion, walker, first, last, job.k, position)):
        yield from batches.add(instance)
    yield from batches.rest()
    yield ChunkResult((walker.drawn - walker.rejected, walker.drawn), tools=permission.used())


def _scattered(
    expansion: Expansion, walker: Walker[Any], first: int, last: int, k: int, position: int
) -> Iterator[Draft]:
    """Yield the drafts of the instances with these numbers, searched for from the position on."""
    number, dry = first, 0
    while number < last:
        scope = _scope_at(expansion, walker, position, number, k)
        dry = dry + 1 if scope is None else 0
        if scope is not None:
            yield Draft(Item(), number, position, scope)
            number += 1
        elif dry >= DRY_POSITIONS:
            raise expansion.too_few(number, k, Item(), "all combinations of values were tried")
        position += 1


def _scope_at(expansion: Expansion, walker: Walker[Any], position: int, count: int, k: int) -> Any:
    """Return the parameters at a position, or None if it is a hole."""
    begin_search()
    try:
        return walker.at(position)
    except Exhausted as error:
        raise expansion.too_few(count, k, Item(), str(error)) from None
    finally:
        end_search()


_EXPANSIONS: dict[tuple[str, str, str], Expansion] = {}


def _prepared(job: TemplateJob, diagnostics: Diagnostics, is_first: bool = False) -> Generator[Any, None, Expansion]:
    """Yield the positions of expressions; return the prepared template, which is cached for its chunks."""
    key = (job.benchmark.folder, job.template.file, job.settings.seed)
    expansion = None if is_first else _EXPANSIONS.pop(key, None)
    apply_limits(job)
    if expansion is None:
        with _literals_bounded():
            prepared = prepare(job.template, job.benchmark, diagnostics, job.lists, job.resources.programs)
        if diagnostics.errors:
            raise DiaError(diagnostics.errors)
        yield Positions(prepared.places)
        yield TemplateChecked(tuple(diagnostics.entries))
        expansion = expansion_of(prepared, job.settings, job.resources)
    while len(_EXPANSIONS) >= KEPT:
        del _EXPANSIONS[next(iter(_EXPANSIONS))]
    _EXPANSIONS[key] = expansion
    return expansion


def apply_limits(job: TemplateJob) -> None:
    """Set the limits of the template's evaluations, and whether they may start programs."""
    limits = job.template.limits
    heartbeat.set_limits(
        int(limits.get("steps", STEPS)), float(limits.get("seconds", heartbeat.SECONDS)),
        int(limits.get("digits", INTEGER_DIGITS)),
    )  # fmt: skip
    permission.permit(job.resources.programs)


@contextmanager
def _literals_bounded() -> Iterator[None]:
    """Parse expressions as a check does, with the limit on digits of literals."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(sys.int_info.default_max_str_digits)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(limit)


def _check(expansion: Expansion, diagnostics: Diagnostics) -> None:
    """Raise DiaError unless every domain that needs no draw is valid and every example passes."""
    makers = list(expansion.prepared.makers.values())
    for entry in expansion.prepared.entry_makers.values():
        makers += entry.values()
    before = len(diagnostics.errors)
    for maker in makers:
        if maker.is_fixed:
            try:
                maker.make(dict(expansion.lists))
            except DiaError as error:
                diagnostics.entries.extend(error.diagnostics)
    if len(diagnostics.errors) == before:
        check_examples(expansion, diagnostics)
    if diagnostics.errors:
        raise DiaError(diagnostics.errors)

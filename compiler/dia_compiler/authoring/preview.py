"""Show instances before a bundle is made: what they ask, which checks they pass, how long they take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import Any

from dia_compiler.analyze.check import Checked, check
from dia_compiler.analyze.items import Item
from dia_compiler.analyze.prepare import prepare
from dia_compiler.analyze.settings import seed_of
from dia_compiler.analyze.worker_resources import WorkerResources
from dia_compiler.authoring.session_preview import shown_sessions, shown_truth
from dia_compiler.distribute.gather import Progress
from dia_compiler.distribute.task import TemplateJob, apply_limits
from dia_compiler.freeze.bundle_plan import BundlePlan
from dia_compiler.freeze.output import CompileOptions, scratch_folder
from dia_compiler.generate.bundle_rows import RoundTrip
from dia_compiler.generate.draw import value_text
from dia_compiler.generate.examples import check_examples
from dia_compiler.generate.expand import Expansion, Instance
from dia_compiler.generate.expansions import expansion_of
from dia_compiler.parse.discover import discover
from dia_compiler.parse.model import Template
from dia_compiler.pipeline.phases import SpecFaults, job_of
from dia_compiler.sampling.degrees_of_freedom import Freedom
from dia_language.confinement.permission import NO
from dia_language.counts import counted
from dia_language.diagnostics import DiaError, Diagnostic, Diagnostics, did_you_mean, visible
from dia_language.numbers.radix import integer_text
from dia_language.numbers.values import Entry, Value
from dia_language.workers.pool import SECONDS, ForkingPool, Positions, Task

SHOWN = 3
COUNTED = 20
LISTED = 12  # items that are named if there is none of the name asked for
SAFE = 10**15
LONGEST_WORD = 40  # characters of a text that is counted as it is, rather than by its length alone
BATCH_SECONDS = 0.2  # seconds between two batches of measurements


@dataclass(frozen=True, slots=True)
class Sample:
    """Measurements of one instance: seconds, its answer, each parameter; None for values without a size.

    `sizes` says what is measured, "length" or "digits", unless it is the value itself. `words` has the parameters that
    are short texts.
    """

    number: int
    seconds: float
    text: str
    answer: float | None
    measures: dict[str, float | str | None]
    sizes: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shown:
    """One instance in words, in one wording."""

    item: str
    number: int
    variant: str | None
    parameters: dict[str, str]
    challenge: str
    content: str
    answer: str
    mistakes: dict[str, str]
    explanation: str | None
    seconds: float
    assets: tuple[str, ...] = ()
    sessions: tuple[dict[str, Any], ...] = ()
    truth: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Overview:
    """Facts of the template: its degrees of freedom, and the numbers of items, checks, examples and draws."""

    freedom: Freedom
    items: int
    checks: int
    examples: int
    draws: tuple[int, int]
    estimate: tuple[int, int] | None = None


@dataclass(slots=True)
class Preview:
    """A template, the instances that are shown of it, and the measures of those that were made."""

    template: Template
    overview: Overview | None = None
    shown: list[Shown] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)


def preview(
    path: Path,
    seed: str | None = None,
    instance: int | None = None,
    stress: int | None = None,
    allow_programs: str = NO,
    on_progress: Progress | None = None,
    item_name: str | None = None,
) -> tuple[list[Preview], Checked]:
    """Return the previews of the templates that a path names, and what the check of their specs found.

    `instance` makes and shows only that one; `stress` is the number to measure. `item_name` is the name or the number
    of the item whose instances are shown, by default the first one. Raises DiaError if a spec has errors.
    """
    checked = check(discover([path]), programs=allow_programs, skips_others=True)
    order = CompileOptions(k=max(stress or 0, (instance or 0) + 1, COUNTED))
    plans = [BundlePlan(item, seed_of(item.benchmark, seed), order, False) for item in checked.benchmarks]
    template_jobs = [(job_of(plan, template), plan.item.programs) for plan in plans for template in plan.item.clean]
    _refuse(checked)
    numbers = range(SHOWN if len(template_jobs) == 1 else 1) if instance is None else range(instance, instance + 1)
    measured = stress or (COUNTED if instance is None else 0)  # only this instance; others may fail
    previews = [Preview(job.template) for job, _ in template_jobs]
    with scratch_folder() as scratch:
        tasks = [
            _task(place, replace(job, resources=WorkerResources(scratch, programs)), numbers, measured, item_name)
            for place, (job, programs) in enumerate(template_jobs)
        ]
        _gather(tasks, previews, checked, max(measured, len(numbers)), on_progress)
    _refuse(checked)
    return previews, checked


def _task(place: int, job: TemplateJob, numbers: range, counted: int, item_name: str | None) -> Task:
    seconds = float(job.template.limits.get("seconds", SECONDS))
    return Task(place, look_at, (job, numbers, counted, item_name), seconds)


def _gather(
    tasks: list[Task], previews: list[Preview], checked: Checked, count: int, on_progress: Progress | None
) -> None:
    """Fill the previews; errors are added to those of the check. `count` instances are made of each template."""
    pool = ForkingPool(1, __name__)  # one worker, because a second one would disturb the measurement
    if tasks:
        pool.refill()  # before a progress bar starts its thread
    if on_progress is not None:
        for preview in previews:
            on_progress(preview.template.name, 0, count)
    with closing(pool.run(tasks)) as outcomes:
        for outcome in outcomes:
            if outcome.is_end:
                checked.diagnostics.entries.extend(outcome.diagnostics)
            else:
                preview = previews[outcome.key]
                _take(preview, outcome.item)
                if on_progress is not None:
                    on_progress(preview.template.name, len(preview.samples), count)


def _take(preview: Preview, item: Any) -> None:
    if isinstance(item, Overview):
        preview.overview = item
    elif isinstance(item, Shown):
        preview.shown.append(item)
    else:
        preview.samples.extend(item)


def _refuse(checked: Checked) -> None:
    if checked.diagnostics.errors:
        raise SpecFaults(checked.diagnostics.ordered(checked.sources), checked.sources)


def look_at(job: TemplateJob, numbers: range, count: int, item_name: str | None = None) -> Iterator[Any]:
    """Yield the work of a worker: instances in words, measures in batches, the overview. Raises DiaError for errors.

    The instances are those of the item with this name or number, by default of the first one.
    """
    diagnostics = Diagnostics()
    prepared = prepare(job.template, job.benchmark, diagnostics, job.lists, job.resources.programs)
    yield Positions(prepared.places)
    apply_limits(job)
    expansion = expansion_of(prepared, job.settings, job.resources)
    check_examples(expansion, diagnostics)
    if diagnostics.errors:
        raise DiaError(diagnostics.errors)
    items = expansion.drawing.items
    item = items[0] if item_name is None else _item(job, items, item_name)
    bound = expansion.drawing.freedom_of(item).bound
    if bound is not None and numbers.start >= bound:
        raise _none_such(job, item, numbers, bound)  # before all others are searched for it
    samples: list[Sample] = []
    shown_count, sent = 0, perf_counter()
    for sample, in_words in _instances(expansion, item, numbers, count):
        yield from in_words
        shown_count += bool(in_words)
        samples.append(sample)
        if perf_counter() - sent > BATCH_SECONDS:
            yield samples
            samples, sent = [], perf_counter()
    yield samples
    if not shown_count:
        raise _none_such(job, item, numbers, bound)
    drawing = expansion.drawing
    draws = (drawing.drawn - drawing.rejected, drawing.drawn)
    checks, examples = len(job.template.checks), len(job.template.examples)
    freedom = expansion.freedom
    estimate = drawing.estimated() if freedom.kind in ("at_least", "at_most") else None
    yield Overview(freedom, len(drawing.items), checks, examples, draws, estimate)


def _item(job: TemplateJob, items: Sequence[Item], name: str) -> Item:
    """Return the item with this name, or else this number. Raises DiaError if there is none."""
    names = [item.name for item in items]
    if name in names:
        return items[names.index(name)]
    if name.isascii() and name.isdigit() and len(name) < 9 and int(name) < len(items):
        return items[int(name)]
    message, each = visible(f"the template has no item `{name[:80]}`"), job.template.each
    if each is None:
        help = "it has no `each`, so it is a single item"
        raise DiaError(Diagnostic("E505", message, job.template.position, help))
    listed = ", ".join(names[:LISTED]) + (", ..." if len(names) > LISTED else "")
    help = f"its {counted(len(names), 'item')}, numbered from 0: {listed}"
    near = did_you_mean(name, names)
    raise DiaError(Diagnostic("E505", message, each.position, f"{near} {help}" if near else help))


def _none_such(job: TemplateJob, item: Item, numbers: range, bound: int | None) -> DiaError:
    message = f"there is no instance {numbers.start}"
    of = f"the item `{item.name}`" if item.name else "the template"
    most = "" if bound is None else f"; {of} has at most {counted(bound, 'instance')}"
    return DiaError(Diagnostic("E505", message, job.template.position, f"instances are numbered from 0{most}"))


def _instances(expansion: Expansion, item: Item, numbers: range, count: int) -> Iterator[tuple[Sample, list[Shown]]]:
    """Yield each instance of the item that is measured, with its wordings where it is to be shown."""
    trip = RoundTrip(expansion)
    begin = perf_counter()
    for draft in expansion.first_drafts(item, max(count, numbers.stop), is_trial=True):
        if draft.number < count or draft.number in numbers:
            instance = expansion.instance(draft)
            trip.check(instance)
            seconds = perf_counter() - begin
            wordings = [shown_instance(instance, seconds)] if draft.number in numbers else []
            if wordings:
                variants = (
                    expansion.variant(instance, draft.scope, wording) for wording in expansion.prepared.variants
                )
                wordings += [shown_instance(variant, seconds) for variant in variants]
            yield sample_of(instance, seconds), wordings
        begin = perf_counter()


def sample_of(instance: Instance, seconds: float) -> Sample:
    """Return the measures of an instance that took this many seconds."""
    measures = {name: measure(value) for name, value in instance.parameters.items()}
    values = {**instance.parameters, "answer": instance.answer}
    sizes = {name: size for name, value in values.items() if (size := _size(value)) is not None}
    answer = None if instance.grading.is_unanswerable else measure(instance.answer)
    number = None if isinstance(answer, str) else answer
    words = {name: value for name, value in values.items() if isinstance(value, str) and len(value) <= LONGEST_WORD}
    return Sample(instance.number, seconds, instance.text, number, measures, sizes, words)


def _size(value: Value) -> str | None:
    """Return what is measured of a value, if it is not the value itself."""
    if isinstance(value, (str, bytes, list)):
        return "length"
    is_long = isinstance(value, (int, Fraction)) and not -SAFE < value < SAFE
    return "digits" if is_long else None


def measure(value: Value) -> float | str | None:
    """Return the size of a value: a number itself, or its digits if it is long; the length of texts and lists; a name.

    >>> measure(12), measure(10**20), measure("abc"), measure(True)
    (12.0, 21.0, 3.0, 'True')
    """
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, (int, Fraction)):
        return float(value) if -SAFE < value < SAFE else float(len(integer_text(abs(int(value)))))
    if isinstance(value, Entry):
        return value.name
    return float(len(value)) if isinstance(value, (str, bytes, list)) else None


def shown_instance(instance: Instance, seconds: float) -> Shown:
    """Return an instance in words; `seconds` is how long it took to make it."""
    rendered = instance.rendered_sessions
    return Shown(
        item=instance.item.name,
        number=instance.number,
        variant=instance.variant,
        parameters={name: value_text(value) for name, value in instance.parameters.items()},
        challenge=instance.challenge,
        content=instance.content,
        answer=instance.text,
        mistakes=dict(instance.mistakes),
        explanation=instance.explanation,
        seconds=seconds,
        sessions=tuple(shown_sessions(rendered.sessions)) if rendered is not None else (),
        truth=tuple(shown_truth(rendered.truth)) if rendered is not None else (),
        assets=tuple(
            f"{attachment.name} ({attachment.deliver}, {counted(len(attachment.content), 'byte')})"
            for attachment in instance.attachments
        ),
    )

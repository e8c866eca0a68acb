"""Tasks of a worker: instances of one template as the model reads them, with everything known about each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

from dia_compiler.analyze.check import check, faults_of
from dia_compiler.analyze.items import Item
from dia_compiler.analyze.prepare import prepare
from dia_compiler.analyze.settings import seed_of
from dia_compiler.analyze.worker_resources import WorkerResources
from dia_compiler.authoring.preview import sample_of, shown_instance
from dia_compiler.authoring.session_preview import truth_reads
from dia_compiler.authoring.studio.attachments import attachment_view
from dia_compiler.authoring.studio.readings import chains_of, readings, spellings
from dia_compiler.authoring.studio.trial import PARSER, excerpts
from dia_compiler.distribute.task import TemplateJob, apply_limits
from dia_compiler.freeze.bundle_plan import BundlePlan
from dia_compiler.freeze.output import CompileOptions, scratch_folder
from dia_compiler.generate.asset_builder import Artefact
from dia_compiler.generate.bundle_rows import RoundTrip, answer_record, question_record
from dia_compiler.generate.draw import value_text
from dia_compiler.generate.examples import check_examples
from dia_compiler.generate.expand import Draft, Expansion, Instance
from dia_compiler.generate.expansions import expansion_of
from dia_compiler.parse.discover import discover
from dia_compiler.parse.model import Snippet, Template
from dia_compiler.pipeline.phases import job_of
from dia_compiler.probe.probe import FEWEST, probe_questions
from dia_language.counts import counted, freedom_text
from dia_language.diagnostics import DiaError, Diagnostic, Diagnostics
from dia_language.workers.pool import Positions

Record = dict[str, Any]
MOST_SHOWN = 20
BATCH_SECONDS = 0.2  # seconds between two batches of measurements
PROBED = 400  # instances for the search for shortcuts


class _Opened:
    """A template that is ready to make instances, or its errors."""

    def __init__(self, file: str, seed: str | None, count: int, programs: str, scratch: str) -> None:
        self.checked = check(discover([Path(file)]), defers=True, programs=programs, parser=PARSER)
        self.job: TemplateJob | None = None
        self.diagnostics = Diagnostics(list(self.checked.diagnostics.entries))
        self.template: Template | None = None
        for item in self.checked.benchmarks:
            self.template = next((one for one in item.benchmark.templates if one.file == file), None)
            plan = BundlePlan(item, seed_of(item.benchmark, seed), CompileOptions(k=count), False)
            for template in item.clean:
                job = job_of(plan, template)
                self.job = replace(job, resources=WorkerResources(scratch, item.programs))
                self.item = item

    def expansion(self) -> Iterator[Any]:
        """Yield the positions of expressions; return the expansion of the template. Raises DiaError with its errors."""
        assert self.job is not None
        job, diagnostics = self.job, Diagnostics()
        prepared = prepare(job.template, job.benchmark, diagnostics, job.lists, job.resources.programs)
        if diagnostics.errors:
            raise DiaError(faults_of(self.item, job.template) or diagnostics.errors)
        self.diagnostics.entries.extend(diagnostics.entries)
        yield Positions(prepared.places)
        apply_limits(job)
        self.template_expansion = expansion_of(prepared, job.settings, job.resources)

    def reported(self, entries: list[Diagnostic] | None = None) -> list[Record]:
        """Return the diagnostics, or those given, with their source lines."""
        collected = Diagnostics(self.diagnostics.entries if entries is None else entries)
        return excerpts(collected.ordered(self.checked.sources), self.checked.sources)


def look(file: str, seed: str | None, first: int, count: int, programs: str, item: int = 0) -> Iterator[Any]:
    """Yield records about a template: `template`, `text`, `instance` for each of `count` from `first` on, `overview`.

    `text` has the diagnostics that need no instance, so that they need not wait for a costly one.

    `item` is the number of the data row for a template that has some; it shows the following ones, too, if each makes
    one instance.
    A record has its kind in `kind`; an instance that cannot be made has its errors in `diagnostics`. Errors of the
    spec itself are in a record of kind `errors`.
    """
    count = max(1, min(count, MOST_SHOWN))
    with scratch_folder() as scratch:
        opened = _Opened(file, seed, first + count, programs, scratch)
        yield {"kind": "template", **_template(opened, file)}
        if opened.job is None:
            yield {"kind": "errors", "diagnostics": opened.reported()}
            return
        try:
            yield from opened.expansion()
        except DiaError as error:
            yield {"kind": "errors", "diagnostics": opened.reported([*opened.diagnostics.entries, *error.diagnostics])}
            return
        yield {"kind": "text", "diagnostics": opened.reported()}
        yield from _instances(opened, range(first, first + count), item)
        diagnostics = Diagnostics(opened.diagnostics.entries)
        check_examples(opened.template_expansion, diagnostics)
        yield {"kind": "errors", "diagnostics": opened.reported(diagnostics.entries)}
        yield {"kind": "overview", **_overview(opened.template_expansion)}


def _template(opened: _Opened, file: str) -> Record:
    """Return what is known of a template before instances are made: title, notes, checks, mistakes, source."""
    template = opened.template
    record: Record = {"file": file, "source": opened.checked.sources.get(file, "")}
    if template is None:
        return record
    return record | {
        "name": template.name,
        "title": str(template.facts.get("title", "")),
        "category": str(template.facts.get("category", "")),
        "level": str(template.facts.get("level", "")),
        "has_sessions": template.session_spec is not None,
        "checks": [_snippet(piece) for piece in template.checks],
        "where": [_snippet(piece) for piece in template.where],
        "mistakes": {name: _snippet(piece) for name, piece in template.mistakes.items()},
        "answer": _snippet(template.answer.value) if template.answer is not None else None,
        "seed": opened.job.settings.seed if opened.job is not None else None,
    }


def _snippet(piece: Snippet) -> Record:
    return {"text": piece.text, "line": piece.position.line}


def _instances(opened: _Opened, numbers: range, place: int) -> Iterator[Record]:
    """Yield the instances of these numbers of an item in every wording; of items with one instance, several items."""
    expansion = opened.template_expansion
    items, trip = expansion.drawing.items[place:], RoundTrip(expansion)
    if items and not expansion.drawing.has_choices(items[0]) and numbers.start == 0:
        for item in items[: len(numbers)]:
            yield from _instances_of(opened, item, range(1), trip)
    elif items:
        yield from _instances_of(opened, items[0], numbers, trip)
    else:
        yield {"kind": "none", "first": numbers.start}


def _instances_of(opened: _Opened, item: Item, numbers: range, trip: RoundTrip) -> Iterator[Record]:
    expansion = opened.template_expansion
    begin, is_any = perf_counter(), False
    try:
        for draft in expansion.first_drafts(item, numbers.stop, is_trial=True):
            if draft.number in numbers:
                is_any = True
                yield from _wordings(opened, draft, trip, begin)
            begin = perf_counter()
    except DiaError as error:
        yield {"kind": "instance", "number": None, "diagnostics": opened.reported(list(error.diagnostics))}
        return
    if not is_any:
        yield {"kind": "none", "first": numbers.start}


def _wordings(opened: _Opened, draft: Draft, trip: RoundTrip, begin: float) -> Iterator[Record]:
    """Yield an instance and its variants; if it fails, its errors take its place."""
    expansion = opened.template_expansion
    try:
        instance = expansion.instance(draft)
        trip.check(instance)
        seconds = perf_counter() - begin
        yield _record(opened, instance, seconds)
        for wording in expansion.prepared.variants:
            yield _record(opened, expansion.variant(instance, draft.scope, wording), seconds)
    except DiaError as error:
        yield {
            "kind": "instance",
            "number": draft.number,
            "parameters": _drawn(expansion, draft),
            "diagnostics": opened.reported(list(error.diagnostics)),
        }


def _drawn(expansion: Expansion, draft: Draft) -> dict[str, str]:
    """Return the parameters of an instance that cannot be made."""
    return {name: value_text(draft.scope[name]) for name in expansion.prepared.makers if name in draft.scope}


def _record(opened: _Opened, instance: Instance, seconds: float) -> Record:
    expansion, record = opened.template_expansion, asdict(shown_instance(instance, seconds))
    question = question_record(instance, expansion, None)
    answer = answer_record(instance, expansion, question["id"], None)
    format = dict(instance.grading.format)
    rendered = instance.rendered_sessions
    is_base, has_sessions = instance.variant is None, rendered is not None
    return {
        "kind": "instance",
        **record,
        "truth_reads": truth_reads(rendered.sessions, rendered.truth) if rendered is not None else {},
        "id": question["id"],
        "accept": [instance.grading.kind.write(value) for value in instance.accept],
        "type": answer["comparison"]["type"],
        "format": format["kind"],
        "chains": [] if has_sessions else chains_of(format),
        "options": instance.grading.options.listed if instance.grading.options is not None else None,
        "attachments": [_attachment(asset) for asset in (*instance.attachments, *expansion.asset_builder.inlined())],
        "spellings": spellings(answer, format, _known_texts(instance)) if is_base and not has_sessions else [],
        "grading": None if has_sessions else {"answer": answer, "format": format},
        "play": {"question": question, "answer": answer} if has_sessions else None,
    }


def _attachment(asset: Artefact) -> Record:
    return {
        "name": asset.name,
        "media_type": asset.media_type,
        "deliver": asset.deliver,
        "size": counted(len(asset.content), "byte"),
        "digest": asset.digest,
        "content": asset.content,
        "view": attachment_view(asset.name, asset.media_type, asset.content),
    }


def _known_texts(instance: Instance) -> dict[str, str]:
    """Return the accepted forms and the mistakes of an instance, which its chains should distinguish."""
    texts = {instance.grading.kind.write(value): "accepted form" for value in instance.accept}
    return texts | {text: f"mistake `{name}`" for name, text in instance.mistakes.items()}


def _overview(expansion: Expansion) -> Record:
    examples = len(expansion.prepared.template.examples)
    return {"items": len(expansion.drawing.items), "draws": _draws(expansion), "examples": examples}


def count_freedom(file: str, seed: str | None, programs: str) -> Iterator[Any]:
    """Yield a record `freedom` about a template without errors: its degrees of freedom, counted or estimated.

    That may take more than a second, so instances are not kept waiting for it.
    """
    with scratch_folder() as scratch:
        opened = _Opened(file, seed, 1, programs, scratch)
        if opened.job is not None:
            yield from opened.expansion()
            yield {"kind": "freedom", "freedom": _freedom(opened.template_expansion)}


def _freedom(expansion: Expansion) -> str:
    freedom = expansion.freedom
    estimate = expansion.drawing.estimated() if freedom.kind in ("at_least", "at_most") else None
    return freedom_text(freedom.as_json(), estimate)


def stress(file: str, seed: str | None, count: int, programs: str) -> Iterator[Any]:
    """Yield records about this many instances of a template while they are made: `samples`, `freedom`, `probe`.

    Samples have the seconds, the answer and the sizes of the parameters of each instance.
    """
    with scratch_folder() as scratch:
        opened = _Opened(file, seed, count, programs, scratch)
        if opened.job is None:
            raise DiaError(opened.diagnostics.errors)
        yield from opened.expansion()
        expansion = opened.template_expansion
        trip = RoundTrip(expansion)
        samples: list[Record] = []
        questions: list[Record] = []
        answers: dict[str, Record] = {}
        texts: dict[str, str] = {}
        begin = sent = perf_counter()
        for draft in _spread(expansion, count):
            instance = expansion.instance(draft)
            trip.check(instance)
            now = perf_counter()
            sample = sample_of(instance, now - begin)
            samples.append({"seconds": sample.seconds, "text": sample.text[:80], "measures": sample.measures})
            if len(questions) < PROBED and instance.rendered_sessions is None:
                _keep(expansion, instance, questions, answers, texts)
            if now - sent > BATCH_SECONDS:
                yield {"kind": "samples", "samples": samples, "draws": _draws(expansion)}
                samples, sent = [], now
            begin = perf_counter()
        yield {"kind": "samples", "samples": samples, "draws": _draws(expansion)}
        yield {"kind": "freedom", "freedom": _freedom(expansion)}
        yield {"kind": "probe", **_probe(questions, answers, texts)}


def _spread(expansion: Expansion, count: int) -> Iterator[Draft]:
    """Return the drafts of this many instances, evenly from as many items as possible."""
    items = expansion.drawing.items[:count]
    return islice(
        (draft for item in items for draft in expansion.first_drafts(item, -(-count // len(items)), is_trial=True)),
        count,
    )


def _draws(expansion: Expansion) -> list[int]:
    return [expansion.drawing.drawn - expansion.drawing.rejected, expansion.drawing.drawn]


def _keep(expansion: Expansion, instance: Instance, questions: list[Record], answers: dict[str, Record],
          texts: dict[str, str]) -> None:  # fmt: skip
    """Store what the probe sees of an instance."""
    question = question_record(instance, expansion, None)
    questions.append(question)
    record = answer_record(instance, expansion, question["id"], None)
    answers[question["id"]] = {"text": record["text"], "accept": record["accept"]}
    for asset in instance.attachments:
        if b"\0" not in asset.content:
            texts[asset.record()["path"]] = asset.content.decode("utf-8", "replace")


def _probe(questions: list[Record], answers: dict[str, Record], texts: dict[str, str]) -> Record:
    """Return the best shortcut, or why there is none to report."""
    if len(questions) < FEWEST:
        return {"why": f"a search for shortcuts needs at least {FEWEST} instances"}
    shortcut = probe_questions(questions, answers, texts)
    if shortcut is None:
        return {"why": "there are too few questions"}
    commonest = Counter(record["text"] for record in answers.values()).most_common(1)[0][1] / len(answers)
    return {"rule": shortcut.rule, "accuracy": shortcut.accuracy, "low": shortcut.low, "high": shortcut.high,
            "limit": shortcut.limit, "is_over": shortcut.is_over, "instances": shortcut.instances,
            "commonest": commonest}  # fmt: skip


def read_reply(answer: Record, format: Record, reply: str) -> Iterator[list[Record]]:
    """Yield how each chain reads the reply, see `readings`."""
    yield readings(answer, format, reply)

"""Search for shortcuts in the rows of templates while they are made, several templates at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from dia_language.diagnostics import Diagnostics

from dia_compiler.probe.probe import ALWAYS, DECIDES, FEWEST, Shortcut, probe_questions

if TYPE_CHECKING:
    from dia_compiler.analyze.check import CheckedBenchmark
    from dia_compiler.distribute.gather import GatheredRows
    from dia_compiler.distribute.task import TemplateJob

NUL = b"\0"  # which no attachment has that a reader takes for text
BALANCE_ADVICE = (
    "make about half of the instances unanswerable; if a `where` rejects one kind more often, use `balance`"
)
ANSWERABLE_ADVICE = (
    "give the questions that can and cannot be answered the same words, length and order; adjacent words count, too"
)
ADVICE = "make the wrong candidates in the prompt look like the answer, draw the answer's position at random"

WITH_SESSIONS = "sessions, whose answers depend on the model's replies"


@dataclass(frozen=True, slots=True)
class SkippedTemplate:
    """A template that has no errors but was not probed, and why."""

    benchmark: str
    template: str
    why: str


class Prober:
    """Searches for shortcuts in the rows of templates; a context manager, because it has workers."""

    def __init__(self, jobs: int) -> None:
        self.executor = ProcessPoolExecutor(jobs, get_context("spawn")) if jobs > 1 else ThreadPoolExecutor(1)
        self.waiting: list[tuple[TemplateJob, Future[Shortcut | str]]] = []
        self.skipped: list[SkippedTemplate] = []
        self.reasons: dict[tuple[str, str], str] = {}

    def __enter__(self) -> Prober:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.executor.shutdown(wait=kind is None, cancel_futures=True)

    def look(self, job: TemplateJob, rows: GatheredRows) -> None:
        """Take the rows of a template that has answers."""
        template = job.template
        if template.session_spec is not None:
            self.skipped.append(SkippedTemplate(job.benchmark.name, template.name, WITH_SESSIONS))
            return
        questions, answers = (b"".join(rows.spool.parts[name].lines()) for name in ("questions", "answers"))
        texts = {name: content for name, content in rows.spool.assets() if NUL not in content}
        self.waiting.append((job, self.executor.submit(shortcut_in, questions, answers, texts)))
        reason = template.allow.get("shortcut")
        if reason is not None:
            self.reasons[job.benchmark.name, template.name] = reason.text

    def shortcuts(self, diagnostics: Diagnostics) -> tuple[Shortcut, ...]:
        """Return the shortcuts in the order of the templates; add a warning for each that is over its limit."""
        shortcuts = []
        for job, future in self.waiting:
            template, shortcut = job.template, future.result()
            if isinstance(shortcut, str):
                self.skipped.append(SkippedTemplate(job.benchmark.name, template.name, shortcut))
                continue
            shortcuts.append(shortcut)
            if shortcut.is_over and "shortcut" not in template.allow:
                place = template.prompt.position if template.prompt else template.position
                message = (
                    f"a simple rule ({shortcut.rule}) is right in {shortcut.right} of {shortcut.instances} instances: "
                    "a model can answer without understanding the question"
                )
                advice = ANSWERABLE_ADVICE if shortcut.rule.startswith(DECIDES) else ADVICE
                advice = BALANCE_ADVICE if shortcut.rule.startswith(ALWAYS) else advice
                diagnostics.warn("shortcut", message, place, f"{advice}, or allow it: `allow: {{shortcut: reason}}`")
        return tuple(shortcuts)


def left_out_of(benchmarks: Iterable[CheckedBenchmark]) -> list[SkippedTemplate]:
    """Return the templates for which something is missing on this machine."""
    return [
        SkippedTemplate(item.benchmark.name, entry.template, f"needs {entry.why}")
        for item in benchmarks
        for entry in item.left_out
    ]


def shortcut_in(questions: bytes, answers: bytes, texts: dict[str, bytes]) -> Shortcut | str:
    """Return the best shortcut of the lines of a template's questions and answers, or why there is none.

    `texts` has the attachments by their names.
    """
    records: list[dict[str, Any]] = [json.loads(line) for line in questions.splitlines()]
    answers_by_id = {record["id"]: record for record in map(json.loads, answers.splitlines())}
    by_path = {f"assets/{name}": content.decode("utf-8", "replace") for name, content in texts.items()}
    shortcut = probe_questions(records, answers_by_id, by_path)
    if shortcut is not None:
        return shortcut
    has_items = len({record["item"] for record in records}) > 1
    return f"fewer than {FEWEST} {'items' if has_items else 'instances'}, too few to learn rules from"

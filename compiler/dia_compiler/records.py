"""Instance -> the rows of a bundle, after the round trip through the runtime's own grader."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from dia_runtime.bundle.canonical import line
from dia_runtime.bundle.records import leaf
from dia_runtime.formats import FORMATS
from dia_runtime.grade import CORRECT, SKIPPED, WRONG
from dia_runtime.language.conditions import condition
from dia_runtime.language.diagnostics import DiaError, Diagnostic, Position
from dia_runtime.language.values import Record, encode

from dia_compiler.expand import Expansion, Freedom, Instance, encoded_parameters
from dia_compiler.spec import Template


@dataclass(frozen=True, slots=True)
class Row:
    """One question as a bundle holds it: two lines, its leaf, and what the health checks want to know."""

    question: bytes
    answer: bytes
    leaf: bytes
    content_digest: bytes
    text: str
    position: int
    is_answer_shown: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """What a worker says of a template beside its rows."""

    freedom: Freedom
    acceptance: tuple[int, int]
    functions: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]


@dataclass(slots=True)
class Expanded:
    """The rows of one template and its summary."""

    template: Template
    rows: list[Row] = field(default_factory=list)
    summary: Summary | None = None


def frozen_row(instance: Instance, expansion: Expansion, canary: str | None) -> Row:
    """The instance's row. Raises DiaError where its own grader would not grade it right."""
    question = question_record(instance, expansion, canary)
    answer = answer_record(instance, expansion, question["id"], canary)
    check_round_trip(instance, expansion)
    return Row(
        question=line(question),
        answer=line(answer),
        leaf=leaf(question),
        content_digest=sha256(instance.content.encode()).digest(),
        text=instance.text,
        position=instance.position,
        is_answer_shown=is_shown(instance.text, instance.challenge),
    )


def question_record(instance: Instance, expansion: Expansion, canary: str | None) -> dict[str, Any]:
    """The question as `questions.jsonl` holds it."""
    template, settings = expansion.prepared.template, expansion.settings
    facts = template.facts
    question: dict[str, Any] = {
        "id": f"{expansion.prepared.benchmark.name}/{template.name}/{instance.number}",
        "template": template.name,
        "item": template.name,
        "instance": instance.number,
        "variant": None,
        "category": str(facts.get("category", "uncategorised")),
        "domain": str(facts.get("domain", facts.get("category", "uncategorised"))),
        "level": str(facts.get("level", "")),
        "skills": list(instance.skills),
        "messages": [{"role": "user", "content": instance.content}],
        "assets": [],
        "format": dict(settings.format),
        "points": settings.stored_points,
    }
    return question | ({"canary": canary} if canary else {})


def answer_record(instance: Instance, expansion: Expansion, name: str, canary: str | None) -> dict[str, Any]:
    """The answer as `answers.jsonl` holds it."""
    comparison = stored_comparison(instance.way.comparison)
    if instance.accept_if is not None:
        comparison["accept_if"] = instance.accept_if
    answer: dict[str, Any] = {
        "id": name,
        "template": expansion.prepared.template.name,
        "answer": encode(instance.answer),
        "text": instance.text,
        "comparison": comparison,
        "accept": [encode(value) for value in instance.accept],
        "mistakes": dict(instance.mistakes),
        "parameters": encoded_parameters(instance),
        "explanation": instance.explanation,
    }
    return answer | ({"canary": canary} if canary else {})


def stored_comparison(comparison: Mapping[str, Any]) -> dict[str, Any]:
    """The comparison with its exact numbers as JSON."""
    return {name: _stored(name, value) for name, value in comparison.items()}


def _stored(name: str, value: Any) -> Any:
    if name == "of":
        return [_stored(name, item) for item in value] if isinstance(value, list) else stored_comparison(value)
    if name == "tolerance":
        return {key: encode(held) for key, held in value.items()}
    return dict(value) if isinstance(value, Record) else value


def check_round_trip(instance: Instance, expansion: Expansion) -> None:
    """Raises DiaError unless the truth is graded correct, the skip token skipped, every named mistake wrong."""
    settings, grader = expansion.settings, instance.way.grader
    wrap = FORMATS[settings.format["kind"]].wrap
    holds = condition(instance.accept_if) if instance.accept_if is not None else None
    accept = list(instance.accept)
    for text, verdict, what in _expected(instance, settings.skip):
        reply = wrap(text, settings.format)
        found = grader.grade(instance.answer, accept, instance.text, reply, holds).verdict
        if found != verdict:
            shown = text if len(text) <= 60 else text[:60] + "..."
            message = f"the round trip fails: {what} `{shown}` is graded {found}, not {verdict}"
            place = _place(what, expansion)
            fault = Diagnostic("E508", message, place, _mend(what, found, instance))
            raise expansion.with_values(DiaError(fault), dict(instance.parameters))


def _expected(instance: Instance, skip: str) -> list[tuple[str, str, str]]:
    """Answer texts, the verdict that each must get, and what it is."""
    expected = [(instance.text, CORRECT, "the answer"), (skip, SKIPPED, "the skip token")]
    expected += [(instance.way.kind.write(value), CORRECT, "an accepted form") for value in instance.accept]
    expected += [(text, WRONG, f"the mistake `{name}`") for name, text in instance.mistakes.items()]
    return expected


def _place(what: str, expansion: Expansion) -> Position:
    """Where the spec says what was graded otherwise."""
    for name, piece in expansion.prepared.template.mistakes.items():
        if what == f"the mistake `{name}`":
            return piece.position
    return expansion.answer.position


def _mend(what: str, found: str, instance: Instance) -> str | None:
    if found == SKIPPED or what == "the skip token":
        return "choose a `skip` token that is no answer"
    if what.startswith("the mistake"):
        return "leave the mistake out, or let `accept_if` refuse it"
    if instance.accept_if is not None:
        return "`accept_if` must accept the answer itself"
    return "the answer must be such that a reply in the answer format can hold it"


def is_shown(text: str, challenge: str) -> bool:
    """Whether the canonical answer stands in the challenge as a whole token."""
    if not text or text not in challenge:
        return False
    edge = r"(?<!\w)" if text[0].isalnum() else ""
    end = r"(?!\w)" if text[-1].isalnum() else ""
    return re.search(edge + re.escape(text) + end, challenge) is not None

"""A row's cells to a question with its answer, and the reply to it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dia_language.answers import Unreadable
from dia_language.answers.base import AnswerType
from dia_language.diagnostics import DiaError, Diagnostic, LanguageError, visible
from dia_language.numbers.values import encode
from dia_runtime.integrations.reading.base import Number, Row, Unfit
from dia_runtime.respondents.respondent import Reply

# Fields of the question, of the reply, and what their cells must be.
LABELS = {
    "template": "text",
    "item": "text",
    "instance": "count",
    "variant": "text",
    "category": "text",
    "domain": "text",
    "level": "text",
    "adversarial": "text",
    "number": "text",
    "skills": "texts",
}
OF_REPLIES = {
    "error": "text",
    "finish_reason": "text",
    "prompt_tokens": "count",
    "completion_tokens": "count",
    "cost": "amount",
    "seconds": "amount",
    "model_version": "text",
    "asked_at": "text",
}
NEEDED = ("id", "gold", "reply")
ROOT = "questions_root"
FIELDS = (*NEEDED, "model", "attempt", "accept", ROOT, *LABELS, *OF_REPLIES)
NO_REPLY = "the table holds no reply"
LONGEST_NAME = 1_000
ACCEPTED = 1_000
COUNT = re.compile(r"[0-9]{1,15}", re.ASCII)
AMOUNT = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,30})?(?:[eE]-?[0-9]{1,2})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Told:
    """What a row tells: the question's id, labels (JSON) and grading record (JSON), and who replied what."""

    id: str
    labels: str
    grading: str
    model: str
    attempt: int
    reply: Reply


@dataclass(frozen=True, slots=True)
class Said:
    """What a row tells of a question that is known: its id, its questions' root if told, and who replied what."""

    id: str
    root: str | None
    model: str
    attempt: int
    reply: Reply


@dataclass(frozen=True, slots=True)
class Cells:
    """Which column holds which field."""

    of: Mapping[str, str]

    def said(self, row: Row, model: str) -> Said:
        """The reply in a row; `model` is who replied where no column says so. Raises Unfit for a cell that is none."""
        found = self.found(row)
        return Said(found["id"], found.get("questions_root"), *replied(found, model))

    def found(self, row: Row) -> dict[str, Any]:
        """The value of each field."""
        return {name: self._cell(row, name) for name in self.of}

    def _cell(self, row: Row, field: str) -> Any:
        column = self.of[field]
        if column not in row.cells:
            raise Unfit(f"no column `{column}`", "`--field NAME=COLUMN` says which column holds what", field)
        try:
            return READ[field](row.cells[column])
        except Unfit as error:
            raise Unfit(f"the {field} {error.message}", error.help, field) from None


def replied(found: Mapping[str, Any], model: str) -> tuple[str, int, Reply]:
    """Who replied, which attempt it was, and the reply."""
    error, text = found.get("error"), found["reply"]
    if text is None and error is None and found.get("finish_reason") is None:
        error = NO_REPLY
    facts = {name: found[name] for name in OF_REPLIES if name != "error" and name in found}
    attempt = 1 if found.get("attempt") is None else found["attempt"]
    return found.get("model") or model, attempt, Reply(None if error is not None else text, error, **facts)


@dataclass(frozen=True, slots=True)
class Columns(Cells):
    """Which column holds which field, and what the answers are."""

    answer: AnswerType
    comparison: Mapping[str, Any]
    skip: str | None

    def told(self, row: Row, model: str) -> Told:
        """What the row tells; `model` is who replied where no column says so. Raises Unfit for a cell that is none."""
        root = self._cell(row, ROOT) if ROOT in self.of else None
        if root is not None:
            message = f"the log is one of a bundle, whose questions have the root {root[:64]}"
            raise DiaError(Diagnostic("E864", visible(message), None, "name the bundle with `--bundle`"))
        found = self.found(row)
        labels = {name: found[name] for name in LABELS if found.get(name) is not None}
        grading = self._grading(found["gold"], found.get("accept"))
        return Told(found["id"], _encoded(labels), grading, *replied(found, model))

    def _grading(self, gold: Any, accept: list[Any] | None) -> str:
        """The record by which replies are graded. Raises Unfit for a gold answer that is none of its type."""
        try:
            truth = self._value(gold)
            text = self.answer.write(truth)
            forms = [encode(self._value(form)) for form in accept or ()]
        except (LanguageError, Unreadable) as error:
            shown = f"`{str(gold)[:60]}` is no {self.comparison['type']}"
            why = error.message if isinstance(error, LanguageError) else shown
            raise Unfit(f"the gold answer is none: {why}", None, "gold") from None
        if text == self.skip:
            raise Unfit(f"the gold answer `{text}` is what skips a question", "`--skip` names another token", "gold")
        record = {"answer": encode(truth), "text": text, "comparison": self.comparison, "accept": forms, "mistakes": {}}
        return _encoded(record)

    def _value(self, gold: Any) -> Any:
        if isinstance(gold, str):
            return self.answer.settle(self.answer.read(gold, "strict"))
        return self.answer.settle(gold)


def _encoded(record: Any) -> str:
    return json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _name(held: Any) -> str:
    text = _text(held)
    if not text or text.isspace():
        raise Unfit("is empty")
    if len(text) > LONGEST_NAME:
        raise Unfit(f"has more than {LONGEST_NAME:,} characters")
    return text


def _text(held: Any) -> str | None:
    if held is None or type(held) is str:
        return held
    if isinstance(held, int | Number) and not isinstance(held, bool):
        return str(held)
    raise Unfit(f"is {_kind(held)}, no text")


def _label(held: Any) -> str | None:
    text = _text(held)
    return None if text is None or not text else _name(text)


def _said(held: Any) -> str | None:
    if held is None or type(held) is str:
        return held
    raise Unfit(f"is {_kind(held)}, no text")


def _gold(held: Any) -> Any:
    if held is None or held == "":
        raise Unfit("is empty")
    if isinstance(held, bool):
        return "true" if held else "false"
    return str(held) if isinstance(held, int | str) else held


def _count(held: Any) -> int | None:
    if held is None or held == "":
        return None
    if isinstance(held, bool) or not COUNT.fullmatch(str(held).removesuffix(".0")):
        raise Unfit(f"`{str(held)[:40]}` is no whole number")
    return int(str(held).removesuffix(".0"))


def _attempt(held: Any) -> int | None:
    number = _count(held)
    if number == 0:
        raise Unfit("counts from 1")
    return number


def _amount(held: Any) -> str | None:
    if held is None or held == "":
        return None
    if isinstance(held, bool) or not AMOUNT.fullmatch(str(held)):
        raise Unfit(f"`{str(held)[:40]}` is no amount")
    return str(held)


def _texts(held: Any) -> list[str] | None:
    if held is None or held == "":
        return None
    if isinstance(held, str):
        return [part.strip() for part in held.split(",") if part.strip()][:ACCEPTED]
    if isinstance(held, list) and all(isinstance(part, str) for part in held):
        return held[:ACCEPTED]
    raise Unfit(f"are {_kind(held)}, no texts")


def _forms(held: Any) -> list[Any] | None:
    if held is None or held == "":
        return None
    if not isinstance(held, list) or len(held) > ACCEPTED:
        raise Unfit(f"is {_kind(held)}, no list of at most {ACCEPTED:,} further answers")
    return [_gold(form) for form in held]


def _kind(held: Any) -> str:
    kinds = {bool: "a truth value", dict: "an object", list: "a list", int: "a number", Number: "a number"}
    return kinds.get(type(held), "of another type")


BY_KIND: dict[str, Callable[[Any], Any]] = {"text": _label, "count": _count, "amount": _amount, "texts": _texts}
READ: dict[str, Callable[[Any], Any]] = {
    "id": _name,
    "gold": _gold,
    "reply": _said,
    "model": _name,
    "attempt": _attempt,
    "accept": _forms,
    ROOT: _label,
    **{name: BY_KIND[kind] for name, kind in {**LABELS, **OF_REPLIES}.items()},
}

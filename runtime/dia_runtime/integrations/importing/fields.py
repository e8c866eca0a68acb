"""Convert the cells of a row to a question with its answer, and the reply to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dia_language.answers import Unreadable
from dia_language.answers.base import AnswerType
from dia_language.diagnostics import DiaError, Diagnostic, LanguageError, visible
from dia_language.numbers.values import encode
from dia_runtime.bundle.canonical import compact_json
from dia_runtime.integrations.reading.base import Number, Row, UnusableRow
from dia_runtime.respondents.respondent import Reply
from dia_runtime.store.schema import LONGEST_TEXT
from dia_runtime.store.tool_transcripts import read_tool_transcript, tool_transcript_text, transcript_from_record

# Fields of the question and of the reply, with the required type of their cells.
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
    "reasoning_tokens": "count",
    "cost": "amount",
    "seconds": "amount",
    "model_version": "text",
    "asked_at": "text",
    "tool_transcript": "tools",
}
NEEDED = ("id", "gold", "reply")
ROOT = "questions_root"
FIELDS = (*NEEDED, "model", "attempt", "accept", ROOT, *LABELS, *OF_REPLIES)
NO_REPLY = "the table has no replies"
LONGEST_NAME = 1_000
ACCEPTED = 1_000
COUNT = re.compile(r"[0-9]{1,15}", re.ASCII)
AMOUNT = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,30})?(?:[eE]-?[0-9]{1,2})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class GradedRow:
    """The content of a row: the question's id, labels (JSON) and grading record (JSON), the model and its reply."""

    id: str
    labels: str
    grading: str
    model: str
    attempt: int
    reply: Reply


@dataclass(frozen=True, slots=True)
class ReplyRow:
    """The content of a row for a known question: its id, its questions' root if present, the model and its reply."""

    id: str
    root: str | None
    model: str
    attempt: int
    reply: Reply


@dataclass(frozen=True, slots=True)
class Cells:
    """The column of each field."""

    of: Mapping[str, str]

    def reply_row(self, row: Row, model: str) -> ReplyRow:
        """Return the reply in a row; `model` applies if no column names it. Raises UnusableRow for a bad cell."""
        values = self.values(row)
        return ReplyRow(values["id"], values.get("questions_root"), *attempt_and_reply(values, model))

    def values(self, row: Row) -> dict[str, Any]:
        return {name: self._cell(row, name) for name in self.of}

    def _cell(self, row: Row, field: str) -> Any:
        column = self.of[field]
        if column not in row.cells:
            raise UnusableRow(f"no column `{column}`", "use `--field NAME=COLUMN` to name the column of a field", field)
        try:
            return READ[field](row.cells[column])
        except UnusableRow as error:
            raise UnusableRow(f"the {field} {error.message}", error.help, field) from None


def attempt_and_reply(values: Mapping[str, Any], model: str) -> tuple[str, int, Reply]:
    """Return the model, the attempt and the reply."""
    error, text = values.get("error"), values["reply"]
    if text is None and error is None and values.get("finish_reason") is None:
        error = NO_REPLY
    facts = {name: values[name] for name in OF_REPLIES if name != "error" and name in values}
    attempt = 1 if values.get("attempt") is None else values["attempt"]
    return values.get("model") or model, attempt, Reply(None if error is not None else text, error, **facts)


@dataclass(frozen=True, slots=True)
class Columns(Cells):
    """The column of each field, and the type of the answers."""

    answer: AnswerType
    comparison: Mapping[str, Any]
    skip: str | None

    def graded_row(self, row: Row, model: str) -> GradedRow:
        """Return the content of the row; `model` applies if no column names it. Raises UnusableRow for a bad cell."""
        root = self._cell(row, ROOT) if ROOT in self.of else None
        if root is not None:
            message = f"the log is about questions of a bundle with the root {root[:64]}"
            raise DiaError(Diagnostic("E864", visible(message), None, "name the bundle with `--bundle`"))
        values = self.values(row)
        labels = {name: values[name] for name in LABELS if values.get(name) is not None}
        grading = self._grading(values["gold"], values.get("accept"))
        return GradedRow(values["id"], compact_json(labels), grading, *attempt_and_reply(values, model))

    def _grading(self, gold: Any, accept: list[Any] | None) -> str:
        """Return the record with which replies are graded. Raises UnusableRow for an invalid correct answer."""
        try:
            truth = self._value(gold)
            text = self.answer.write(truth)
            forms = [encode(self._value(form)) for form in accept or ()]
        except (LanguageError, Unreadable) as error:
            mismatch = f"`{str(gold)[:60]}` is not a valid {self.comparison['type']}"
            why = error.message if isinstance(error, LanguageError) else mismatch
            raise UnusableRow(f"the gold answer is not valid: {why}", None, "gold") from None
        if text == self.skip:
            raise UnusableRow(
                f"the gold answer `{text}` is also the skip token", "choose another token with `--skip`", "gold"
            )
        record = {"answer": encode(truth), "text": text, "comparison": self.comparison, "accept": forms, "mistakes": {}}
        return compact_json(record)

    def _value(self, gold: Any) -> Any:
        if isinstance(gold, str):
            return self.answer.settle(self.answer.read(gold, "strict"))
        return self.answer.settle(gold)


def _name(cell: Any) -> str:
    text = _text(cell)
    if not text or text.isspace():
        raise UnusableRow("is empty")
    if len(text) > LONGEST_NAME:
        raise UnusableRow(f"has more than {LONGEST_NAME:,} characters")
    return text


def _text(cell: Any) -> str | None:
    if cell is None or type(cell) is str:
        return cell
    if isinstance(cell, int | Number) and not isinstance(cell, bool):
        return str(cell)
    raise UnusableRow(f"is {_kind(cell)}, not text")


def _label(cell: Any) -> str | None:
    text = _text(cell)
    return None if text is None or not text else _name(text)


def _reply(cell: Any) -> str | None:
    if cell is not None and type(cell) is not str:
        raise UnusableRow(f"is {_kind(cell)}, not text")
    if cell is not None and len(cell) > LONGEST_TEXT:
        raise UnusableRow(f"has more than {LONGEST_TEXT:,} characters")
    return cell


def _gold(cell: Any) -> Any:
    if cell is None or cell == "":
        raise UnusableRow("is empty")
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return str(cell) if isinstance(cell, int | str) else cell


def _count(cell: Any) -> int | None:
    if cell is None or cell == "":
        return None
    if isinstance(cell, bool) or not COUNT.fullmatch(str(cell).removesuffix(".0")):
        raise UnusableRow(f"`{str(cell)[:40]}` is not an integer")
    return int(str(cell).removesuffix(".0"))


def _attempt(cell: Any) -> int | None:
    number = _count(cell)
    if number == 0:
        raise UnusableRow("must be at least 1")
    return number


def _amount(cell: Any) -> str | None:
    if cell is None or cell == "":
        return None
    if isinstance(cell, bool) or not AMOUNT.fullmatch(str(cell)):
        raise UnusableRow(f"`{str(cell)[:40]}` is not an amount")
    return str(cell)


def _texts(cell: Any) -> list[str] | None:
    if cell is None or cell == "":
        return None
    if isinstance(cell, str):
        return [part.strip() for part in cell.split(",") if part.strip()][:ACCEPTED]
    if isinstance(cell, list) and all(isinstance(part, str) for part in cell):
        return cell[:ACCEPTED]
    raise UnusableRow(f"must be texts, not {_kind(cell)}")


def _tools(cell: Any) -> str | None:
    """Return the calls of tools before a reply, which exports have as an object, or as its JSON."""
    if cell is None or cell == "":
        return None
    try:
        transcript = read_tool_transcript(cell) if isinstance(cell, str) else transcript_from_record(cell)
    except ValueError as error:
        raise UnusableRow(f"cannot be read: {error}") from None
    return tool_transcript_text(transcript)


def _forms(cell: Any) -> list[Any] | None:
    if cell is None or cell == "":
        return None
    if not isinstance(cell, list) or len(cell) > ACCEPTED:
        raise UnusableRow(f"is not a list of at most {ACCEPTED:,} further answers")
    return [_gold(form) for form in cell]


def _kind(cell: Any) -> str:
    kinds = {bool: "a boolean", dict: "an object", list: "a list", int: "a number", Number: "a number"}
    return kinds.get(type(cell), "another type")


BY_KIND: dict[str, Callable[[Any], Any]] = {
    "text": _label,
    "count": _count,
    "amount": _amount,
    "texts": _texts,
    "tools": _tools,
}
READ: dict[str, Callable[[Any], Any]] = {
    "id": _name,
    "gold": _gold,
    "reply": _reply,
    "model": _name,
    "attempt": _attempt,
    "accept": _forms,
    ROOT: _label,
    **{name: BY_KIND[kind] for name, kind in {**LABELS, **OF_REPLIES}.items()},
}

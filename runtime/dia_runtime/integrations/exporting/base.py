"""The interface of exporters: from a bundle to the files of another harness, the same bytes for the same bundle."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from itertools import repeat, zip_longest
from typing import Any, ClassVar

from dia_language.answers import answer_type
from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_runtime.bundle.open import Bundle
from dia_runtime.formats import FORMATS
from dia_runtime.formats.base import RULES, rules_of

Record = Mapping[str, Any]
Files = Iterator[tuple[str, Iterator[bytes]]]


class Exporter(ABC):
    """Export for another harness: the files that its users need."""

    summary: ClassVar[str]
    takes_model: ClassVar[bool] = False  # the class is instantiated with the names of `--model`

    @abstractmethod
    def files(self, bundle: Bundle) -> Files:
        """Yield the path and pieces of every file; each must be read to its end before the next. Raises DiaError.

        The files depend on the bundle only: not on the time, the host or a path.
        """


def pairs(bundle: Bundle, sessions: bool = False) -> Iterator[tuple[Record, Record]]:
    """Yield each question with its answer. Raises DiaError (exit 2) if the answers are withheld.

    Questions of `sessions` are refused unless the exporter says that it supports them.
    """
    if not bundle.has_answers:
        help = "unseal the bundle first; some targets, such as `jsonl`, export questions without answers"
        message = visible(f"this target needs the answers, but `{bundle.path}` has none")
        raise DiaError(Diagnostic("E713", message, None, help))
    for question, answer in questions_and_answers(bundle, sessions):
        if answer is not None:
            yield question, answer


def questions_and_answers(bundle: Bundle, sessions: bool = False) -> Iterator[tuple[Record, Record | None]]:
    """Yield each question with its answer, or with None if the answers are sealed or withheld."""
    answers: Iterator[Record | None] = bundle.answers() if bundle.has_answers else _none(bundle)
    for question, answer in zip_longest(bundle.questions(), answers):
        if question is None or (bundle.has_answers and (answer is None or answer["id"] != question["id"])):
            message = f"the answers of `{bundle.path}` do not match its questions"
            raise DiaError(Diagnostic("E709", message, None), 3)
        if "messages" not in question and not (sessions and "sessions" in question):
            message = f"`{question['id']}` is a session, which this target does not support"
            raise DiaError(
                Diagnostic("E714", visible(message), None, "run it with `dia run`, or export it to `inspect`")
            )
        yield question, answer


def _none(bundle: Bundle) -> Iterator[None]:
    return repeat(None, bundle.manifest["counts"]["questions"])


def instruction(question: Record, answer: Record) -> str | None:
    """Return how to write the final answer, as the prompt says it; None for older bundles, whose wording differs."""
    format = question["format"]
    if rules_of(format) < RULES:
        return None
    return FORMATS[format["kind"]].instruction(format, answer_type(answer["comparison"]).describe())


def reply_with_answer(question: Record, answer: Record) -> str:
    """Return a reply with the correct answer."""
    format = question["format"]
    return FORMATS[format["kind"]].wrap(answer["text"], format)


def origin(bundle: Bundle, question: Record) -> dict[str, Any]:
    """Return the origin of a row, which connects logs of the other harness to the question."""
    names = ("id", "template", "item", "instance", "variant")
    canary = bundle.manifest["canary"]
    return {name: question[name] for name in names} | {
        "questions_root": bundle.questions_root,
        "bundle_id": bundle.id,
        **({"canary": canary} if canary else {}),
    }


def assets_of(bundle: Bundle) -> Files:
    for name in sorted(bundle.manifest["files"]):
        if name.startswith("assets/"):
            yield name, bundle.pieces(name)


def json_text(value: Any) -> str:
    """Return the value as JSON on one line, with sorted names."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def json_line(value: Any) -> bytes:
    """Return the value as a line of JSON Lines."""
    return f"{json_text(value)}\n".encode()

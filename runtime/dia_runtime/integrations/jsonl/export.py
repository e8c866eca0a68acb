"""The common form of evaluation sets: one line per question, with its messages and its ideal reply.

A question of sessions has its sessions and its grading instead. In a sealed bundle, everything that reveals the answer
is null.
"""

from __future__ import annotations

from collections.abc import Iterator

from dia_runtime.bundle.open import Bundle
from dia_runtime.integrations.exporting.base import (
    Exporter,
    Files,
    assets_of,
    instruction,
    json_line,
    origin,
    questions_and_answers,
    reply_with_answer,
)
from dia_runtime.integrations.exporting.question_rows import SESSIONS, session_record


class JsonLines(Exporter):
    """`{"input": [messages], "ideal": reply, "id": ...}` on each line."""

    summary = "one line per question: input, ideal, id"

    def files(self, bundle: Bundle) -> Files:
        """Yield one file with the questions, and their assets."""
        yield f"{bundle.manifest['benchmark']}.jsonl", _lines(bundle)
        yield from assets_of(bundle)


def _lines(bundle: Bundle) -> Iterator[bytes]:
    for question, answer in questions_and_answers(bundle, sessions=True):
        if SESSIONS in question:
            yield json_line(session_record(bundle, question, answer))
            continue
        row = origin(bundle, question) | {
            "input": question["messages"],
            "ideal": reply_with_answer(question, answer) if answer else None,
            "answer": answer["text"] if answer else None,
            "skip": question["format"].get("skip"),
            "format_instruction": instruction(question, answer) if answer else None,
            "assets": question["assets"],
        }
        yield json_line(row)

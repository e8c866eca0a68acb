"""A data set for `datasets.load_dataset`: a complete card, Parquet, and Croissant metadata (MLCommons, 1.0).

Questions of sessions have their sessions as JSON, in a column that other bundles do not have, and no prompt. Questions
are the default configuration and contain no answers; these are in a separate configuration, which is missing if the
answers are sealed. In a sealed bundle, only the prompt contains the instruction to the model.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dia_runtime.bundle.open import Bundle
from dia_runtime.bundle.session_records import may_have_sessions
from dia_runtime.integrations.exporting.base import (
    Exporter,
    Files,
    Record,
    assets_of,
    instruction,
    json_text,
    origin,
    questions_and_answers,
)
from dia_runtime.integrations.exporting.parquet_writer import INTEGER, TEXT, TEXTS, Columns, parquet
from dia_runtime.integrations.exporting.question_rows import SESSIONS, row, session_record
from dia_runtime.integrations.huggingface.card import card
from dia_runtime.integrations.huggingface.croissant import croissant

QUESTIONS, ANSWERS = "data/questions.parquet", "data/answers.parquet"
ORIGIN: Columns = {
    "id": TEXT,
    "template": TEXT,
    "item": TEXT,
    "instance": INTEGER,
    "variant": TEXT,
    "questions_root": TEXT,
    "bundle_id": TEXT,
    "canary": TEXT,
}
OF_QUESTIONS: Columns = {
    **ORIGIN,
    "category": TEXT,
    "domain": TEXT,
    "level": TEXT,
    "skills": TEXTS,
    "prompt": TEXT,
    "messages": {"role": TEXT, "content": TEXT},
    "assets": {"name": TEXT, "path": TEXT, "media_type": TEXT, "deliver": TEXT, "sha256": TEXT},
    "format_instruction": TEXT,
    "format": TEXT,
    "points": TEXT,
}
OF_ANSWERS: Columns = {
    **ORIGIN,
    "answer": TEXT,
    "target": TEXT,
    "skip": TEXT,
    "format_instruction": TEXT,
    "grading": TEXT,
}


class HuggingFace(Exporter):
    """A folder that is a data set."""

    summary = "Hugging Face: card, Parquet and Croissant metadata"

    def files(self, bundle: Bundle) -> Files:
        """Return the tables, their descriptions, and the assets of prompts."""
        of_questions = {**OF_QUESTIONS, SESSIONS: TEXT} if may_have_sessions(bundle) else OF_QUESTIONS
        tables = [_HashedFile(QUESTIONS, parquet(of_questions, _questions(bundle, of_questions), "`jsonl`"))]
        if bundle.has_answers:
            tables.append(_HashedFile(ANSWERS, parquet(OF_ANSWERS, _answers(bundle), "`jsonl`")))
        for table in tables:
            yield table.name, table.hashed()
        digests = {table.name: table.digest.hexdigest() for table in tables}
        columns = {QUESTIONS: of_questions, ANSWERS: OF_ANSWERS}
        described = croissant(bundle.manifest, bundle.id, digests, columns)
        yield (
            "croissant.json",
            iter([json.dumps(described, ensure_ascii=False, indent=2, sort_keys=True).encode() + b"\n"]),
        )
        yield "README.md", iter([card(bundle).encode()])
        yield from assets_of(bundle)


@dataclass
class _HashedFile:
    """A file whose SHA-256 is known once it has been read to its end."""

    name: str
    pieces: Iterator[bytes]
    digest: Any = field(default_factory=hashlib.sha256)

    def hashed(self) -> Iterator[bytes]:
        for piece in self.pieces:
            self.digest.update(piece)
            yield piece


def _questions(bundle: Bundle, columns: Columns) -> Iterator[Record]:
    for question, answer in questions_and_answers(bundle, sessions=True):
        has_sessions = SESSIONS in question
        conversation = () if has_sessions else question["messages"]
        messages = [{"role": message["role"], "content": _text(message["content"])} for message in conversation]
        record = origin(bundle, question) | {
            **{name: question[name] for name in ("category", "domain", "level")},
            "skills": [str(skill) for skill in question.get("skills") or ()],
            "prompt": messages[-1]["content"] if messages else None,
            "messages": messages,
            "assets": question["assets"],
            "format_instruction": instruction(question, answer) if answer and not has_sessions else None,
            "format": json_text(question["format"]),
            "points": json_text(question["points"]),
        }
        if SESSIONS in columns:
            record[SESSIONS] = json_text(question[SESSIONS]) if has_sessions else None
        yield record


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json_text(content)


def _answers(bundle: Bundle) -> Iterator[Record]:
    for question, answer in questions_and_answers(bundle, sessions=True):
        if answer is None:
            continue
        if SESSIONS in question:
            grading = session_record(bundle, question, answer)["grading"]
            yield dict.fromkeys(OF_ANSWERS) | origin(bundle, question) | {"grading": json_text(grading)}
        else:
            yield {name: value for name, value in row(bundle, question, answer).items() if name in OF_ANSWERS}

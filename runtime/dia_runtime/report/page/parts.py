"""The questions of a report with their replies, packed in parts that the page opens one by one.

A part is a JSON list of questions, deflated, in base64, whose letters cannot become markup. The index, packed in the
same way, has the id of every question, one sign per model for its verdict, and where each part begins.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from dia_runtime.bundle.open import Bundle
from dia_runtime.grading.judge import Judged
from dia_runtime.report.page.texts import displayed, sessions, short
from dia_runtime.scoring.align import AlignedReply
from dia_runtime.store.store import Store
from dia_runtime.store.tool_transcripts import tool_messages, tool_transcript_or_none

ABSENT = "-"
PART = 250_000  # approximate characters of JSON in a part
CHOICES = (4000, 2000, 1000, 500, 350, 200, 120)  # default number of characters that are kept of a reply
ROOM = 52_000_000  # characters in a page; packed they take about half as many
ALIKE = 0.55  # questions of one template compress better than replies, but also have labels and answers
CALLS_KEPT = 20  # maximum length of the calls of tools before a reply, in multiples of that of a reply
PROMPT = 6000  # characters of a message that are kept
LABELS = ("category", "domain", "level", "variant")


@dataclass(slots=True)
class WrittenPage:
    """What was written: the numbers of questions, replies and parts, and of shortened texts."""

    length: int
    questions: int = 0
    replies: int = 0
    cut: int = 0
    has_prompts: bool = False
    starts: list[int] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    signs: list[str] = field(default_factory=list)

    @property
    def parts(self) -> int:
        """Return the number of parts, without the index."""
        return len(self.starts)


def fitting(stores: Sequence[Store], source: Bundle | None, attempt: int | None) -> int:
    """Return how many characters of each reply may be kept so that the page stays small enough to be sent."""
    files = source.manifest["files"] if source else {}
    question_bytes = sum(int(files[name]["size"]) for name in source.names("questions")) if source else 0
    room = ROOM - question_bytes * ALIKE
    return next((length for length in CHOICES if _stored_characters(stores, length, attempt) <= room), CHOICES[-1])


def _stored_characters(stores: Sequence[Store], length: int, attempt: int | None) -> int:
    query = "SELECT coalesce(sum(min(length(text), ?1)), 0) FROM reply WHERE ?2 IS NULL OR attempt = ?2"
    size = sum(int(store.rows(query, length, attempt)[0][0]) for store in stores)
    return size + sum(store.tool_transcript_characters(CALLS_KEPT * length, attempt) for store in stores)


@dataclass(frozen=True, slots=True)
class ToolTexts:
    """The calls of tools before replies, by the position of the respondent."""

    sources: Mapping[int, tuple[Store, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, stores: Sequence[Store]) -> ToolTexts:
        """Collect them from the runs, whose respondents are numbered one run after the other."""
        pairs = [(store, entry.id) for store in stores for entry in store.respondents()]
        users = {id(store): store.tool_users() for store in stores}
        return cls({at: pair for at, pair in enumerate(pairs) if pair[1] in users[id(pair[0])]})

    def before(self, entry: AlignedReply) -> list[tuple[str, str]]:
        """Return the texts, calls and outputs before a reply, each with its role."""
        source = self.sources.get(entry.respondent)
        if source is None:
            return []
        store, respondent = source
        judged = entry.judged
        text = store.tool_transcript(respondent, judged.question.position, judged.reply.attempt)
        transcript = tool_transcript_or_none(text)
        return [] if transcript is None else list(tool_messages(transcript))


def write_parts(
    out: BinaryIO,
    replies: Iterator[list[AlignedReply]],
    models: int,
    source: Bundle | None,
    length: int,
    on_progress: Callable[[int], None] = lambda done: None,
    tools: ToolTexts | None = None,
) -> WrittenPage:
    """Write the questions part by part, and return what was written; `on_progress` gets the number of finished ones."""
    written, prompts = WrittenPage(length), _Prompts(source)
    records: list[str] = []
    size = 0
    for entries in replies:
        record = _question(entries, prompts, written, tools or ToolTexts())
        records.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")))
        size += len(records[-1])
        _note(entries, models, written)
        if size > PART:
            _close(out, records, written)
            records, size = [], 0
            on_progress(written.questions)
    if records:
        _close(out, records, written)
    prompts.read_rest()
    on_progress(written.questions)
    index = {"starts": written.starts, "ids": written.ids, "signs": written.signs}
    out.write(block("index", json.dumps(index, ensure_ascii=False, separators=(",", ":"))))
    return written


def _close(out: BinaryIO, records: Sequence[str], written: WrittenPage) -> None:
    out.write(block(f"part-{written.parts}", f"[{','.join(records)}]"))
    written.starts.append(written.questions - len(records))


def block(name: str, text: str) -> bytes:
    """Return the text as a packed data block of the page."""
    packed = b64encode(zlib.compress(text.encode("utf-8", "replace"), 6))
    return b'<script type="application/octet-stream" id="%b">%b</script>\n' % (name.encode(), packed)


def _note(entries: Sequence[AlignedReply], models: int, written: WrittenPage) -> None:
    """Add the question to the index; a model's sign is that of its first attempt."""
    signs = [ABSENT] * models
    for entry in reversed(entries):
        signs[entry.respondent] = entry.judged.mark.verdict.sign
    written.questions += 1
    written.replies += len(entries)
    written.ids.append(displayed(entries[0].judged.question.id))
    written.signs.append("".join(signs))


def _question(
    entries: Sequence[AlignedReply], prompts: _Prompts, written: WrittenPage, tools: ToolTexts
) -> dict[str, Any]:
    first = entries[0].judged
    question = first.question
    labels = {name: displayed(str(value)) for name in LABELS if (value := getattr(question, name)) not in (None, "")}
    record = {"id": displayed(question.id), "truth": short(displayed(first.truth), PROMPT), "labels": labels}
    messages = prompts.of(question.id)
    if messages:
        written.has_prompts = True
        record["messages"] = [[displayed(role), short(displayed(text), PROMPT)] for role, text in messages]
    return {**record, "replies": [_reply(entry, written, tools) for entry in entries]}


def _reply(entry: AlignedReply, written: WrittenPage, tools: ToolTexts) -> dict[str, Any]:
    judged = entry.judged
    points = judged.mark.low, judged.mark.high
    reply: dict[str, Any] = {"model": entry.respondent, "verdict": judged.mark.verdict}
    reply["points"] = str(points[0]) if points[0] == points[1] else f"{points[0]} to {points[1]}"
    if judged.reply.attempt != 1:
        reply["attempt"] = judged.reply.attempt
    facts = {
        "step": displayed(judged.step or ""),
        "said": None if judged.extracted is None else short(displayed(judged.extracted), 300),
        "share": None if judged.share is None else str(judged.share),
        "flags": sorted(judged.flags),
        "mistakes": [displayed(name) for name, is_it in judged.mistakes.items() if is_it],
        "error": short(displayed(judged.reply.error or ""), 600),
        "tools": _tools(tools.before(entry), written) if written.length else [],
        **_text(judged, written),
    }
    return reply | {name: value for name, value in facts.items() if value or (value == "" and name == "text")}


def _tools(messages: Sequence[tuple[str, str]], written: WrittenPage) -> list[Any]:
    """Return the calls of tools before a reply."""
    parts = [[displayed(role), short(displayed(text), written.length)] for role, text in messages]
    written.cut += any(not isinstance(text, str) for _, text in parts)
    return parts


def _text(judged: Judged, written: WrittenPage) -> dict[str, Any]:
    """Return the reply's text, or its sessions if it is a transcript."""
    text = judged.reply.text
    if text is None or not written.length:
        return {}
    conversations = sessions(text)
    if conversations is None:
        part = short(displayed(text), written.length)
        written.cut += not isinstance(part, str)
        return {"text": part}
    length = written.length
    parts = [
        [name, [[displayed(role), short(displayed(content), length)] for role, content in messages]]
        for name, messages in conversations
    ]
    written.cut += any(not isinstance(content, str) for _, messages in parts for _, content in messages)
    return {"sessions": parts}


class _Prompts:
    """The prompts of a bundle's questions in their order; nothing if there is no bundle."""

    def __init__(self, source: Bundle | None) -> None:
        self._questions = source.questions() if source else iter(())

    def of(self, id: str) -> list[tuple[str, str]]:
        """Return the messages of the question as (role, text), and the names of its attachments."""
        record: Mapping[str, Any] = next((question for question in self._questions if question["id"] == id), {})
        messages = [
            (str(message.get("role")), _content(message.get("content"))) for message in record.get("messages", ())
        ]
        assets = ", ".join(f"{asset['name']} ({asset['deliver']})" for asset in record.get("assets", ()))
        return [*messages, ("attached", assets)] if assets else messages

    def read_rest(self) -> None:
        """Read the rest of the questions. Raises DiaError (exit 3) if their files do not match the manifest."""
        deque(self._questions, maxlen=0)


def _content(content: Any) -> str:
    """Return the text of a message; for other parts only their type."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    return "\n".join(
        str(part["text"]) if isinstance(part, dict) and "text" in part else f"[{_kind(part)}]" for part in parts
    )


def _kind(part: Any) -> str:
    return str(part.get("type", "something else")) if isinstance(part, dict) else "something else"

"""Transcripts: what was said in the sessions of a question, as the text that a run keeps as the question's reply.

One line of canonical JSON: `{"transcript": 1, "sessions": [{"name", "item", "role", "model", "shared", "messages",
"replies"}]}`. A session that runs once per item appears once per item. `messages` is the conversation as it was
sent, with the model's replies in it; an assistant message whose beginning was given to the model has that beginning
under `prefill` in addition to its whole `content`. Each of `replies` has `name, turn, item, text, tokens, seconds,
finish_reason`, where known `prompt_tokens` and `cost`, and if there is no text `error` with `kind` and `message`:

- `left_out`: no model has the role; `condition`: a `when` did not hold; `unset`: what it was to be asked needs a reply
  that is not there; `language`: what it was to be asked could not be computed; `ended`: the conversation was over
  before, because the provider refused to go on (`finish_reason` says why).

A provider's refusal itself has neither text nor error, but a `finish_reason`: `content_filter` or `over_context`.
`extracted` is only in imported transcripts: the typed value if the text is not known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from dia_runtime.store.endings import reply_flags

VERSION = 1
SUBJECT = "subject"
LONGEST = 10_000_000  # maximum number of characters; a longer text is not a transcript, and is never written
DEEPEST = 60  # nesting levels of a value in a log
AMOUNT = re.compile(r"[0-9]{1,30}(\.[0-9]{1,30})?", re.ASCII)
HEADING = re.compile(r"^(?=== |\[)", re.MULTILINE)  # a line in a message that looks like one of our headings
Message: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TranscriptReply:
    """A reply in a session: its turn, its item of the turn's list, and the text, or why there is none."""

    name: str | None
    turn: int
    item: int | None = None
    text: str | None = None
    tokens: int | None = None
    seconds: str | None = None
    finish_reason: str | None = None
    error: Mapping[str, str] | None = None
    extracted: Any = None
    prompt_tokens: int | None = None
    cost: str | None = None
    reasoning_tokens: int | None = None

    def as_json(self) -> dict[str, Any]:
        names = ("name", "turn", "item", "text", "tokens", "seconds", "finish_reason")
        more = ("error", "extracted", "prompt_tokens", "cost", "reasoning_tokens")
        optional = {name: getattr(self, name) for name in more if getattr(self, name) is not None}
        return {name: getattr(self, name) for name in names} | optional


@dataclass(frozen=True, slots=True)
class TranscriptSession:
    """A session, or its conversation for one item of its list: who was asked, the messages, and the replies."""

    name: str
    role: str
    model: str
    item: int | None = None
    shared: str | None = None
    messages: tuple[Message, ...] = ()
    replies: tuple[TranscriptReply, ...] = ()

    def as_json(self) -> dict[str, Any]:
        names = ("name", "item", "role", "model", "shared")
        fields = {name: getattr(self, name) for name in names}
        return {**fields, "messages": list(self.messages), "replies": [reply.as_json() for reply in self.replies]}


def transcript_text(sessions: Iterable[TranscriptSession]) -> str:
    """Return the transcript as a run stores it.

    >>> transcript_text([])
    '{"sessions":[],"transcript":1}'
    """
    record = {"transcript": VERSION, "sessions": [session.as_json() for session in sessions]}
    return json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def read_transcript(text: str) -> list[TranscriptSession]:
    """Return the sessions of a transcript. Raises ValueError if it is malformed, because it is untrusted."""
    if len(text) > LONGEST:
        raise ValueError(f"it is longer than {LONGEST:,} characters")
    try:
        record = json.loads(text)
        if record["transcript"] != VERSION:
            raise ValueError(f"its version is not {VERSION}")
        return [_session(entry) for entry in record["sessions"]]
    except (KeyError, TypeError, AttributeError, RecursionError):
        raise ValueError("it is not a transcript") from None
    except json.JSONDecodeError:
        raise ValueError("it is not JSON") from None


def subject_characters(text: str) -> int:
    """Return how many characters the model itself wrote in a transcript; if the text is none, its length.

    >>> characters(transcript_text([SaidSession("talk", "subject", "m", replies=(SaidReply(None, 0, text="yes"),))]))
    3
    """
    try:
        sessions = [session for session in read_transcript(text) if session.role == SUBJECT]
    except ValueError:
        return len(text)
    return sum(len(reply.text or "") for session in sessions for reply in session.replies)


def subject_flags(sessions: Iterable[TranscriptSession]) -> frozenset[str]:
    """Return the flags of the model's own replies."""
    return frozenset().union(
        *(
            reply_flags(reply.text, None if reply.error is None else str(reply.error), reply.finish_reason)
            for session in sessions
            if session.role == SUBJECT
            for reply in session.replies
        )
    )


def transcript_flags(text: str | None) -> frozenset[str]:
    """Return the flags of the model's own replies in a transcript; none for a text that is no transcript."""
    try:
        return frozenset() if text is None else subject_flags(read_transcript(text))
    except ValueError:
        return frozenset()


def readable_transcript(text: str) -> str:
    """Return the transcript for people to read: each message below a heading that names session and speaker.

    A line in a message that looks like such a heading gets a leading space. A text that is not a transcript is returned
    as it is.
    """
    try:
        return "\n\n".join(part for session in read_transcript(text) for part in _parts(session))
    except ValueError:
        return text


def _parts(session: TranscriptSession) -> Iterator[str]:
    item = "" if session.item is None else f" {session.item + 1}"
    who = session.role if session.role == SUBJECT else f"{session.role}, {session.model}"
    yield f"== {session.name}{item} ({who})"
    for message in session.messages:
        yield f"[{message['role']}]\n{HEADING.sub(' ', message['content'])}"
    for reply in session.replies:
        if reply.text is None:
            step = "" if reply.item is None else f".{reply.item + 1}"
            why = (
                reply.error["message"] if reply.error else f"no reply: {reply.finish_reason or 'its text is not known'}"
            )
            name = f", reply {reply.name}" if reply.name else ""
            yield f"[turn {reply.turn + 1}{step}{name}] {why}"


def _session(record: Mapping[str, Any]) -> TranscriptSession:
    return TranscriptSession(
        _text(record["name"]),
        _text(record["role"]),
        _text(record["model"]),
        _count(record["item"]),
        _text_or_none(record.get("shared")),
        tuple(_message(message) for message in record["messages"]),
        tuple(_reply(reply) for reply in record["replies"]),
    )


def _message(record: Mapping[str, Any]) -> Message:
    beginning = {"prefill": _text(record["prefill"])} if "prefill" in record else {}
    return {"role": _text(record["role"]), "content": _text(record["content"]), **beginning}


def _reply(record: Mapping[str, Any]) -> TranscriptReply:
    error = record.get("error")
    turn = _count(record["turn"])
    if turn is None:
        raise ValueError("a reply belongs to no turn")
    return TranscriptReply(
        _text_or_none(record["name"]),
        turn,
        _count(record["item"]),
        _text_or_none(record["text"]),
        _count(record["tokens"]),
        _amount(record["seconds"]),
        _text_or_none(record["finish_reason"]),
        None if error is None else {"kind": _text(error["kind"]), "message": _text(error["message"])},
        _require_shallow(record.get("extracted")),
        _count(record.get("prompt_tokens")),
        _amount(record.get("cost")),
        _count(record.get("reasoning_tokens")),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text is missing")
    return value


def _text_or_none(value: Any) -> str | None:
    return None if value is None else _text(value)


def _amount(value: Any) -> str | None:
    if value is not None and not (isinstance(value, str) and AMOUNT.fullmatch(value)):
        raise ValueError("a decimal number is missing or invalid")
    return value


def _require_shallow(value: Any, depth: int = 0) -> Any:
    """Return the value. Raises ValueError if it is nested so deeply that reading it would overflow the stack."""
    if depth > DEEPEST:
        raise ValueError(f"it contains a value of more than {DEEPEST} levels")
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _require_shallow(item, depth + 1)
    return value


def _count(value: Any) -> int | None:
    if value is not None and (type(value) is not int or not 0 <= value < 2**53):
        raise ValueError("an integer is missing or invalid")
    return value

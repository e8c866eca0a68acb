"""Texts for a page: shortened, with control characters made visible, and conversations by turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dia_language.diagnostics import visible

from dia_runtime.store.transcripts import TranscriptSession, read_transcript

HEAD = 3  # the first third of a long text is kept, and the end, which has the answer
UNKNOWN = "its text is not known"


def short(text: str, length: int) -> str | list[Any]:
    """Return the text; of a long one its beginning, the number of characters that are left out, and its end.

    >>> short("abcdefghi", 9), short("abcdefghij", 9)
    ('abcdefghi', ['abc', 1, 'efghij'])
    """
    if len(text) <= length:
        return text
    head = length // HEAD
    return [text[:head], len(text) - length, text[len(text) - length + head :]]


def displayed(text: str) -> str:
    """Return the text with invisible and control characters made visible; fast if there are none."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return visible(text)


def sessions(text: str) -> list[tuple[str, list[tuple[str, str]]]] | None:
    """Return the sessions of a transcript with their messages; None for any other text."""
    if not (text.startswith("{") and '"transcript"' in text[-40:]):
        return None
    try:
        found_sessions = read_transcript(text)
    except ValueError:
        return None
    return [
        (
            displayed(_name(session)),
            [*((str(each["role"]), str(each["content"])) for each in session.messages), *_missing(session)],
        )
        for session in found_sessions
    ]


def _missing(session: TranscriptSession) -> Iterator[tuple[str, str]]:
    """Yield the replies that are not among the messages: values without a text, and the reason."""
    for reply in session.replies:
        if reply.text is None or not session.messages:
            step = "" if reply.item is None else f".{reply.item + 1}"
            why = (
                reply.error["message"] if reply.error else f"no reply: {reply.finish_reason or 'its text is not known'}"
            )
            value = reply.text if reply.extracted is None else f"read: {reply.extracted}"
            yield f"{reply.name or 'turn'} {reply.turn + 1}{step}", why if value is None else value


def _name(session: TranscriptSession) -> str:
    return session.name if session.item is None else f"{session.name} {session.item + 1}"

"""Replies as records, as `schemas/reply.schema.json` describes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dia_runtime.respondents.respondent import Reply
from dia_runtime.store.schema import LONGEST_TEXT
from dia_runtime.store.tool_transcripts import (
    AMOUNT,
    count_or_none,
    read_tool_transcript,
    text_or_none,
    tool_transcript_text,
    transcript_from_record,
)

LONGEST_WORD = 10_000
WORDS = ("error", "finish_reason", "model_version", "asked_at", "request_changes")
COUNTS = ("prompt_tokens", "completion_tokens", "reasoning_tokens")
AMOUNTS = ("cost", "seconds")
SURROGATE = re.compile("[\ud800-\udfff]")


def reply_from_record(record: Mapping[str, Any]) -> Reply:
    """Return the reply in a record. Raises ValueError with the reason if it is malformed.

    >>> reply_from_record({"text": "<xml>7</xml>", "cost": "0.01"}).cost
    '0.01'
    """
    if record.get("text") is None and record.get("error") is None and record.get("finish_reason") is None:
        raise ValueError("it has neither `text` nor `error`")
    fields: dict[str, Any] = {"text": _text(record, "text", LONGEST_TEXT)}
    fields |= {name: _text(record, name, LONGEST_WORD) for name in WORDS}
    fields |= {name: count_or_none(record, name) for name in COUNTS}
    fields |= {name: _amount(record, name) for name in AMOUNTS}
    return Reply(**fields, tool_transcript=_tool_transcript(record))


def _tool_transcript(record: Mapping[str, Any]) -> str | None:
    """Return the transcript of calls of tools, which a run has as text and an export as an object."""
    value = record.get("tool_transcript")
    if value is None:
        return None
    try:
        transcript = read_tool_transcript(value) if isinstance(value, str) else transcript_from_record(value)
    except ValueError as error:
        raise ValueError(f"`tool_transcript` cannot be read: {error}") from None
    return tool_transcript_text(transcript)


def reply_key(record: Mapping[str, Any]) -> tuple[str, str, int]:
    """Return the respondent (default ""), question and attempt (default 1) of a record.

    Raises ValueError.
    """
    respondent, question, attempt = record.get("respondent", ""), record.get("question"), record.get("attempt", 1)
    if not isinstance(question, str) or not question or SURROGATE.search(question):
        raise ValueError("`question` must be the id of a question")
    if not isinstance(respondent, str) or SURROGATE.search(respondent):
        raise ValueError("`respondent` must be a name")
    if type(attempt) is not int or not 1 <= attempt < 2**53:
        raise ValueError("`attempt` must be an integer of at least 1")
    return respondent, question, attempt


def _text(record: Mapping[str, Any], name: str, longest: int) -> str | None:
    value = text_or_none(record, name)
    if value is not None and len(value) > longest:
        raise ValueError(f"`{name}` is longer than {longest} characters")
    return value


def _amount(record: Mapping[str, Any], name: str) -> str | None:
    value = record.get(name)
    if value is not None and (not isinstance(value, str) or not AMOUNT.fullmatch(value)):
        raise ValueError(f'`{name}` must be a decimal number as text, such as "0.01", or null')
    return value

"""Formats of replies in sessions: one module per kind, each with its instruction and its chains."""

from __future__ import annotations

from typing import Any

from dia_language.diagnostics import did_you_mean, visible
from dia_language.numbers.values import Value

from dia_runtime.formats import FORMATS
from dia_runtime.formats.base import STANDARD
from dia_runtime.formats.replies.base import Read, ReplyFormat, ReplyRecord
from dia_runtime.formats.replies.objects import FLAGS, JSON_REPLY
from dia_runtime.formats.replies.options import LABEL_REPLY, LETTER_REPLY, RANKING, SUBSET
from dia_runtime.formats.replies.texts import LINES, TEXT
from dia_runtime.formats.replies.typed import Typed

__all__ = ["REPLY_FORMATS", "Read", "ReplyFormat", "faults", "instruction", "read_reply", "reply_format", "write_reply"]

REPLY_FORMATS: dict[str, ReplyFormat] = {
    "flags": FLAGS,
    "json": JSON_REPLY,
    "label": LABEL_REPLY,
    "letter": LETTER_REPLY,
    "lines": LINES,
    "ranking": RANKING,
    "subset": SUBSET,
    "text": TEXT,
}


def reply_format(kind: Any) -> ReplyFormat | None:
    """The reply format with this name: a reply format, or an answer format as the reply of a turn; None for neither."""
    if not isinstance(kind, str):
        return None
    own = REPLY_FORMATS.get(kind)
    return own or (Typed(FORMATS[kind]) if kind in FORMATS else None)


def faults(format: ReplyRecord) -> list[str]:
    """Return one message for each error in the format of a turn's reply."""
    form = reply_format(format.get("kind"))
    if form is not None:
        return form.faults(format)
    name, names = visible(str(format.get("kind"))[:60]), [*REPLY_FORMATS, *FORMATS]
    return [f"there is no reply format `{name}`; {did_you_mean(name, names) or 'the formats are ' + ', '.join(names)}"]


def instruction(format: ReplyRecord) -> str:
    """How to write the reply, as prompts say it; empty if any text is accepted."""
    return _form_of(format).instruction(format)


def read_reply(text: str, format: ReplyRecord, chain: str = STANDARD) -> Read:
    """Return the typed value of a reply, extracted with a chain, and the step that decided; None if there is no value.

    >>> read_reply("- red\\n- blue", {"kind": "lines"})
    Read(value=['red', 'blue'], step='lines')
    """
    return _form_of(format).read(text, format, chain)


def write_reply(value: Value, format: ReplyRecord) -> str:
    """Return a reply that the chain `strict` parses as the value."""
    return _form_of(format).write(value, format)


def _form_of(format: ReplyRecord) -> ReplyFormat:
    form = reply_format(format.get("kind"))
    if form is None:
        raise ValueError(faults(format)[0])
    return form

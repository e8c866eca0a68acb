"""Replies that are text: the whole text or its lines.

| format | chain | what is read |
|---|---|---|
| text | strict | the unchanged reply, unless it is only white space (step `whole`) |
| lines | strict | the non-empty lines, without bullets, numbers and white space around them; with `count: n` there must be n (`lines`) |
| lines | standard | the same, without bold, backticks, quotes and a full stop around each line under rules 2 |
| lines | lenient | as standard; otherwise the lines with a bullet or number (`listed`), or the items of a JSON list that is the reply or the only list in its object (`json`), or the parts of the only line between commas (`commas`) |
"""  # noqa: E501 - a table

from __future__ import annotations

import re

from dia_language.numbers.values import Value

from dia_runtime.formats.base import CHARACTERS, FormatOption, rules_of
from dia_runtime.formats.markup import without_markup
from dia_runtime.formats.replies.base import ReplyFormat, ReplyRecord, count_fault
from dia_runtime.formats.replies.json_text import braced, parsed
from dia_runtime.formats.whole import whole

BULLET = re.compile(r"\s*(?:[-*+•–]|\(?[0-9]{1,4}[.):])\s+")
QUOTES = (('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"))
MOST_LINES = 10_000


def lines(reply: str, format: ReplyRecord) -> Value | None:
    """Return the lines without bullets."""
    return _enough([BULLET.sub("", line, count=1).strip() for line in _lines(reply)], format)


def plain_lines(reply: str, format: ReplyRecord) -> Value | None:
    """Return the lines without bullets and, under rules 2, without Markdown, quotes and a full stop around each."""
    texts = lines(reply, format)
    return texts if texts is None or rules_of(format) < 2 else _enough([_plain(text) for text in texts], format)


def _plain(text: str) -> str:
    bare = without_markup(_without_stop(without_markup(text)))
    for opening, closing in QUOTES:
        if bare.startswith(opening) and bare.endswith(closing) and len(bare) > 2:
            bare = _without_stop(bare[1:-1].strip())
    return bare


def _without_stop(text: str) -> str:
    return text[:-1] if text[-1:] == "." != text[-2:-1] and text[:-1] else text


def listed(reply: str, format: ReplyRecord) -> Value | None:
    """Return the lines that have a bullet or number, without it."""
    return _enough([BULLET.sub("", line, count=1).strip() for line in _lines(reply) if BULLET.match(line)], format)


def in_json(reply: str, format: ReplyRecord) -> Value | None:
    """Return the texts of the JSON list that is the whole reply, or of the only list of its object."""
    parsed_value = parsed(reply.strip())
    parsed_value = braced(reply) if parsed_value is None else parsed_value
    if isinstance(parsed_value, dict):
        lists = [value for value in parsed_value.values() if isinstance(value, list)]
        parsed_value = lists[0] if len(lists) == 1 else None
    is_texts = isinstance(parsed_value, list) and all(isinstance(one, str) for one in parsed_value)
    return _enough([one.strip() for one in parsed_value], format) if parsed_value and is_texts else None


def commas(reply: str, format: ReplyRecord) -> Value | None:
    """Return the parts between commas, if the reply is one line."""
    lines = _lines(reply)
    return _enough([part.strip() for part in lines[0].split(",")], format) if len(lines) == 1 else None


def _lines(reply: str) -> list[str]:
    return [line for line in reply[:CHARACTERS].splitlines() if line.strip()]


def _enough(texts: list[str], format: ReplyRecord) -> Value | None:
    """Return the texts, if their number is right and none is empty."""
    count = format.get("count", len(texts))
    return texts if 0 < len(texts) == count and len(texts) <= MOST_LINES and all(texts) else None


class Text(ReplyFormat):
    """The whole reply."""

    chains = {"strict": (("whole", whole),)}

    def instruction(self, format: ReplyRecord) -> str:
        return ""

    def write(self, value: Value, format: ReplyRecord) -> str:
        return str(value)


class Lines(ReplyFormat):
    """One text per line."""

    options = {"count": FormatOption("count", "How many lines there must be.")}
    chains = {
        "standard": (("lines", plain_lines),),
        "strict": (("lines", lines),),
        "lenient": (("lines", plain_lines), ("listed", listed), ("json", in_json), ("commas", commas)),
    }

    def faults(self, format: ReplyRecord) -> list[str]:
        return super().faults(format) + count_fault(format, "count")

    def instruction(self, format: ReplyRecord) -> str:
        number = format.get("count")
        quantity = "as many lines as you need" if number is None else "one line" if number == 1 else f"{number} lines"
        return f"Reply with {quantity}, one entry per line, and nothing else."

    def write(self, value: Value, format: ReplyRecord) -> str:
        return "\n".join(value)


TEXT, LINES = Text(), Lines()

"""Expressions and templates as text: strings, words and the tags of a template, even if they are half-typed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dia_language.templates.tags import RAW_END
from dia_language.templates.templates import RAW_BEGIN

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
TOKEN = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|[A-Za-z_]\w*|\d\w*|\S", re.ASCII)
LOOP = re.compile(r"\bfor\s+([A-Za-z_][\w, ]*?)\s+in\b", re.ASCII)
TAG = re.compile(r"\{\{|\{%")
TAG_NAME = re.compile(r"[-+]?\s*\w*")
CLOSES = {"{{": "}}", "{%": "%}"}


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag of a template: `{{` or `{%`, and where its content begins and ends."""

    opening: str
    start: int
    end: int
    is_closed: bool


def tags(text: str) -> Iterator[Tag]:
    """Yield the tags of a template in order; those between raw tags are text. The last one may be open."""
    at = 0
    while (match := TAG.search(text, at)) is not None:
        raw = RAW_BEGIN.match(text, match.start())
        if raw is not None:
            end = RAW_END.search(text, raw.end())
            if end is None:
                return
            at = end.end()
            continue
        start, closing = match.end(), CLOSES[match.group()]
        end_at = _end_of_tag(text, start, closing)
        yield Tag(match.group(), start, len(text) if end_at < 0 else end_at, end_at >= 0)
        if end_at < 0:
            return
        at = end_at + 2


def _end_of_tag(text: str, at: int, closing: str) -> int:
    """Return where the closing braces of a tag begin, skipping quoted texts; -1 if there are none."""
    while at < len(text):
        if text.startswith(closing, at):
            return at
        if text[at] in "'\"":
            close = text.find(text[at], at + 1)
            at = close if close >= 0 else at
        at += 1
    return -1


def tag_at(text: str, offset: int) -> Tag | None:
    """Return the tag of a template that is open at an offset."""
    last = None
    for tag in tags(text[:offset]):
        last = tag
    return last if last is not None and not last.is_closed else None


def is_in_quotes(before: str) -> bool:
    """Return whether an expression is inside a text in quotes at its end; the braces of an f-string are not."""
    quote, depth, is_formatted, last = "", 0, False, ""
    for char in before:
        if quote and depth == 0:
            if char == quote and last != "\\":
                quote = ""
            elif char == "{" and is_formatted:
                depth = 1
        elif quote:
            depth += (char == "{") - (char == "}")
        elif char in "'\"":
            quote, is_formatted, depth = char, last in ("f", "F"), 0
        last = char
    return bool(quote) and depth == 0


def loop_names(text: str) -> set[str]:
    """Return the variables of the loops in a text."""
    return {name for match in LOOP.finditer(text) for name in WORD.findall(match[1])}


def names_in_tags(text: str, name: str) -> list[int]:
    """Return where a template uses a value of this name, in characters."""
    places = []
    for tag in tags(text):
        tokens = list(TOKEN.finditer(text, tag.start, tag.end))
        for at, token in enumerate(tokens):
            before = tokens[at - 1].group() if at else ""
            after = tokens[at + 1].group() if at + 1 < len(tokens) else ""
            if token.group() == name and before not in (".", "|") and after != "(":
                places.append(token.start())
    return places

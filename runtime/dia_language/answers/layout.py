"""The form of an answer given by `written`, such as `"({{ x }}, {{ y }})"`: filling and parsing it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dia_language.answers.base import Unreadable

LONGEST = 2_000
GAP = re.compile(r"\{\{ ?([A-Za-z][A-Za-z0-9_]*|it\[[0-9]{1,3}\]) ?\}\}")
SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Layout:
    """Literal texts with gaps between them, and the names of the gaps."""

    literals: tuple[str, ...]
    names: tuple[str, ...]

    def fill(self, texts: Sequence[str]) -> str:
        """Fill the gaps of the form with the texts."""
        parts = [part for pair in zip(self.literals, texts, strict=False) for part in pair]
        return "".join((*parts, self.literals[-1]))

    def gaps(self, text: str) -> list[str]:
        """Return the texts in the gaps of a filled form, ignoring whitespace. Raises Unreadable.

        A gap ends at the first occurrence of the literal text after it.
        """
        marks = [literal.strip() for literal in self.literals]
        text = text.strip()
        if not text.startswith(marks[0]):
            raise Unreadable("not in the requested form")
        texts, place = [], len(marks[0])
        for mark in marks[1:-1]:
            start, end = _next(mark, text, place)
            texts.append(text[place:start].strip())
            place = end
        end = len(text) - len(marks[-1])
        if not text.endswith(marks[-1]) or end < place:
            raise Unreadable("not in the requested form")
        return [*texts, text[place:end].strip()]


def _next(mark: str, text: str, place: int) -> tuple[int, int]:
    """Return the start and end of the literal text; one of only whitespace matches any whitespace after the gap."""
    if mark:
        start = text.find(mark, place)
        end = start + len(mark)
    else:
        first = re.compile(r"\S").search(text, place)
        space = SPACE.search(text, first.end()) if first else None
        start, end = space.span() if space else (-1, -1)
    if start < 0:
        raise Unreadable("not in the requested form")
    return start, end


def layout_of(template: str) -> Layout:
    """Return the form of a template without errors."""
    parts = GAP.split(template)
    return Layout(tuple(parts[::2]), tuple(parts[1::2]))


def written_faults(template: object, names: Sequence[str]) -> list[str]:
    """Return the errors in the option `written` of an answer whose parts have these names."""
    if not isinstance(template, str) or len(template) > LONGEST:
        return [f"`written` must be a text of at most {LONGEST:,} characters"]
    layout = layout_of(template)
    if any(mark in literal for literal in layout.literals for mark in ("{{", "{%")):
        return ["`written` can only contain text and the parts of the answer, such as `{{ " + names[0] + " }}`"]
    if sorted(layout.names) != sorted(names):
        gaps = ", ".join("`{{ " + name + " }}`" for name in names[:10])
        return [f"`written` must contain every part of the answer once: {gaps}"]
    if not all(layout.literals[1:-1]):
        return ["`written` needs text between its parts to separate them"]
    return []

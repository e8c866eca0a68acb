"""The elements of a written list: one pass over the text, no recursion, no backtracking."""

from __future__ import annotations

import re
from functools import lru_cache

from dia_language.answers.base import ELEMENTS, Unreadable
from dia_language.answers.text import BRACKETS, QUOTES

# Linear: there is only one way to match the text between quotes.
QUOTED = {mark: re.compile(rf"{mark}[^{mark}\\]*(?:\\.[^{mark}\\]*)*{mark}", re.DOTALL) for mark in QUOTES}
SPACE = re.compile(r"\s*")


# The separators that count at each depth of brackets; a list of scalars has one depth.
Separators = tuple[frozenset[str], ...]


def pieces_of(text: str, separator: str, separators: Separators, has_quotes: bool) -> list[str]:
    """The texts of the elements of a list, without outer whitespace. The list can be in one pair of brackets or none.

    Quotes count if elements can be texts, and only at the start of an element. Inner brackets count if
    elements are lists, and must match; otherwise a bare text can contain any, as long as they do not close
    the pair around the list before its end. A whitespace separator can be repeated. Raises Unreadable.
    """
    text = text.strip()
    if not is_bracketed(text):
        return _filled(_split(text, separator, separators, has_quotes), separator)
    inner = text[1:-1].strip()
    if not inner:
        return []
    pieces = _inner_pieces(inner, text[0], separator, separators, has_quotes)
    if pieces is None:
        pieces = _split(text, separator, separators, has_quotes)
    return _filled(pieces, separator)


def is_bracketed(text: str) -> bool:
    """Return whether the text begins with a bracket and ends with the one that closes its kind."""
    return len(text) > 1 and BRACKETS.get(text[0]) == text[-1]


def _split(text: str, separator: str, separators: Separators, has_quotes: bool) -> list[str]:
    return flat(text, separator, has_quotes) if len(separators) == 1 else nested(text, separators, has_quotes)


def _inner_pieces(
    inner: str, opener: str, separator: str, separators: Separators, has_quotes: bool
) -> list[str] | None:
    """Return the pieces between the brackets; None if these are not a pair, because the first is closed earlier."""
    if len(separators) > 1:
        try:
            return nested(inner, separators, has_quotes)
        except Unreadable:
            return None
    pieces = flat(inner, separator, has_quotes)
    return None if has_quotes and _close_early(pieces, opener) else pieces


def _filled(pieces: list[str], separator: str) -> list[str]:
    if separator.isspace():
        pieces = [piece for piece in pieces if piece]
    if len(pieces) > ELEMENTS:
        raise Unreadable("too many elements")
    if not all(pieces) or not pieces:
        raise Unreadable("an empty element")
    return pieces


def _close_early(pieces: list[str], opener: str) -> bool:
    """Return whether a bracket in a bare text closes the bracket before the pieces."""
    closer, depth = BRACKETS[opener], 0
    if closer not in "".join(pieces):
        return False
    for piece in pieces:
        for char in piece if piece[:1] not in QUOTES else "":
            depth += (char == opener) - (char == closer)
            if depth < 0:
                return True
    return False


def flat(text: str, separator: str, has_quotes: bool) -> list[str]:
    """Return the pieces between separators outside quotes."""
    if not has_quotes or not ('"' in text or "'" in text or separator.isspace()):
        return [piece.strip() for piece in text.split(separator)]
    pieces, place = [], 0
    while place <= len(text):
        start = _after(SPACE, text, place)
        end = _end(text, start, separator)
        pieces.append(text[start:end].rstrip())
        place = end + len(separator)
    return pieces


def _end(text: str, start: int, separator: str) -> int:
    """Return the end of the element that starts at this position: at a separator or at the end of the text."""
    behind = _after(QUOTED[text[start]], text, start) if text[start : start + 1] in QUOTED else start
    place = text.find(separator, behind)
    end = len(text) if place < 0 else place
    if behind > start and text[behind:end].strip():
        raise Unreadable("text after a closing quote")
    return end


def _after(pattern: re.Pattern[str], text: str, place: int) -> int:
    match = pattern.match(text, place)
    if match is None:
        raise Unreadable("a quote that is not closed")
    return match.end()


def nested(text: str, separators: Separators, has_quotes: bool) -> list[str]:
    """Return the pieces between separators outside quotes and brackets."""
    marks = [_marks(level) for level in (*separators, frozenset[str]())]
    pieces, start, place = [], 0, 0
    waiting: list[str] = []  # the expected closing brackets
    fresh: int | None = 0  # start of the element, until its first character has been seen
    while match := marks[min(len(waiting), len(separators))].search(text, place):
        at, place = match.span()
        mark = match[0]
        if mark in BRACKETS:
            waiting.append(BRACKETS[mark])
            fresh = place if len(waiting) < len(separators) else None
        elif mark in CLOSERS:
            if not waiting or waiting.pop() != mark:
                raise Unreadable("brackets that do not match")
            fresh = None
        elif mark in QUOTED:
            if has_quotes and fresh is not None and not text[fresh:at].strip():
                place = _after(QUOTED[mark], text, at)
            fresh = None
        else:
            fresh = place
            if not waiting:
                pieces.append(text[start:at].strip())
                start = place
    if waiting:
        raise Unreadable("brackets that do not match")
    return [*pieces, text[start:].strip()]


CLOSERS = frozenset(BRACKETS.values())


@lru_cache(maxsize=64)
def _marks(separators: frozenset[str]) -> re.Pattern[str]:
    """Brackets, quotes and these separators, the longest first."""
    longest_first = sorted(separators, key=lambda mark: (-len(mark), mark))
    return re.compile("|".join([r"[\[\](){}\"']", *map(re.escape, longest_first)]))

"""The elements of a written list: one pass over the text, no recursion, no backtracking."""

from __future__ import annotations

import re
from functools import lru_cache

from dia_runtime.language.answers.base import ELEMENTS, Unreadable
from dia_runtime.language.answers.texts import BRACKETS, QUOTES

# Linear: what stands between quotes is read in one way only.
QUOTED = {mark: re.compile(rf"{mark}[^{mark}\\]*(?:\\.[^{mark}\\]*)*{mark}", re.DOTALL) for mark in QUOTES}
SPACE = re.compile(r"\s*")


def pieces_of(text: str, separator: str, has_quotes: bool, has_brackets: bool) -> list[str]:
    """The texts, without outer white space, of the elements of a list in one pair of brackets or in none.

    Quotes count where elements may be texts, and only at the beginning of an element. Inner brackets count
    where elements are lists; elsewhere a bare text may hold any, as long as they do not close the pair around
    the list before its end. A separator of white space may be repeated. Raises Unreadable.
    """
    text = text.strip()
    if not is_bracketed(text):
        return _filled(_split(text, separator, has_quotes, has_brackets), separator)
    inner = text[1:-1].strip()
    if not inner:
        return []
    if has_brackets and len(nested(text, separator, has_quotes)) > 1:
        return _filled(nested(text, separator, has_quotes), separator)
    pieces = _split(inner, separator, has_quotes, has_brackets)
    if has_quotes and not has_brackets and _close_early(pieces, text[0]):
        pieces = flat(text, separator, has_quotes)
    return _filled(pieces, separator)


def is_bracketed(text: str) -> bool:
    """Whether the text begins with a bracket and ends with the one that closes its kind."""
    return len(text) > 1 and BRACKETS.get(text[0]) == text[-1]


def _split(text: str, separator: str, has_quotes: bool, has_brackets: bool) -> list[str]:
    return nested(text, separator, has_quotes) if has_brackets else flat(text, separator, has_quotes)


def _filled(pieces: list[str], separator: str) -> list[str]:
    if separator.isspace():
        pieces = [piece for piece in pieces if piece]
    if len(pieces) > ELEMENTS:
        raise Unreadable("too many elements")
    if not all(pieces) or not pieces:
        raise Unreadable("an empty element")
    return pieces


def _close_early(pieces: list[str], opener: str) -> bool:
    """Whether the bracket before the pieces is closed by one in a bare text."""
    closer, depth = BRACKETS[opener], 0
    for piece in pieces:
        for char in piece if piece[:1] not in QUOTES else "":
            depth += (char == opener) - (char == closer)
            if depth < 0:
                return True
    return False


def flat(text: str, separator: str, has_quotes: bool) -> list[str]:
    """The pieces between separators that stand outside quotes."""
    if not has_quotes:
        return [piece.strip() for piece in text.split(separator)]
    pieces, place = [], 0
    while place <= len(text):
        start = _after(SPACE, text, place)
        end = _end(text, start, separator)
        pieces.append(text[start:end].rstrip())
        place = end + len(separator)
    return pieces


def _end(text: str, start: int, separator: str) -> int:
    """Where the element that starts at the place ends: at a separator or at the end of the text."""
    behind = _after(QUOTED[text[start]], text, start) if text[start : start + 1] in QUOTED else start
    found = text.find(separator, behind)
    end = len(text) if found < 0 else found
    if behind > start and text[behind:end].strip():
        raise Unreadable("text behind a closing quote")
    return end


def _after(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    if found is None:
        raise Unreadable("a quote that is not closed")
    return found.end()


def nested(text: str, separator: str, has_quotes: bool) -> list[str]:
    """The pieces between separators that stand outside quotes and brackets."""
    pieces, start, place = [], 0, 0
    waiting: list[str] = []  # the closing brackets to come
    fresh: int | None = 0  # where the element begins, until something of it has been seen
    while found := _marks(separator).search(text, place):
        at, place = found.span()
        mark = found[0]
        if mark in BRACKETS:
            waiting.append(BRACKETS[mark])
        elif mark in CLOSERS:
            if not waiting or waiting.pop() != mark:
                raise Unreadable("brackets that do not match")
        elif mark in QUOTED:
            if has_quotes and fresh is not None and not text[fresh:at].strip():
                place = _after(QUOTED[mark], text, at)
        elif not waiting:
            pieces.append(text[start:at].strip())
            start = place
        fresh = None if mark in CLOSERS or mark in QUOTED else place
    if waiting:
        raise Unreadable("brackets that do not match")
    return [*pieces, text[start:].strip()]


CLOSERS = frozenset(BRACKETS.values())


@lru_cache(maxsize=64)
def _marks(separator: str) -> re.Pattern[str]:
    return re.compile(rf"[\[\](){{}}\"']|{re.escape(separator)}")

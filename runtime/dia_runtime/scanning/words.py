"""A text as its words, and a number for every run of several words.

Words are runs of ASCII letters and digits, in lowercase, and of all non-ASCII characters as they are; everything else
only separates words. So spacing, punctuation, markup and the case of ASCII letters make no difference.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

SPACE = 32
BASE = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2**64
INVERSE = pow(BASE, -1, 1 << 64)
BACKSLASH, LONG = b"\\u"
UNICODE = re.compile(rb"(?:\\u[0-9a-fA-F]{4})+")


def _fold(code: int) -> int:
    if 65 <= code <= 90:
        return code + 32
    return code if 97 <= code <= 122 or 48 <= code <= 57 or code >= 128 else SPACE


TABLE = bytes(map(_fold, range(256)))


def normalized_words(text: bytes) -> bytes:
    """Return the words with a space after each.

    >>> words_of(b"What is **2 + 2**, Ada?")
    b'what is 2 2 ada '
    """
    return b"".join(word + b" " for word in text.translate(TABLE).split())


@dataclass(frozen=True, slots=True)
class Unescaped:
    """A JSON text without its escapes, and the positions where characters were removed."""

    text: bytes
    places: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()

    def offset(self, place: int) -> int:
        """Return the position in the escaped text."""
        before = bisect_right(self.places, place)
        return place + (self.removed[before - 1] if before else 0)

    def place(self, offset: int) -> int:
        """Return the position of a place in the escaped text."""
        ends = [place + removed for place, removed in zip(self.places, self.removed, strict=True)]
        before = bisect_right(ends, offset)
        return offset - (self.removed[before - 1] if before else 0)


def unescaped(text: bytes) -> Unescaped:
    """Replace JSON escapes: those of a single character by two spaces, others by what they stand for."""
    import numpy

    codes = numpy.frombuffer(text, dtype=numpy.uint8)
    at = numpy.flatnonzero(codes == BACKSLASH)
    if not len(at):
        return Unescaped(text)
    # Of backslashes in a row, every second one is itself escaped.
    begins = numpy.maximum.accumulate(numpy.where(numpy.diff(at, prepend=-2) != 1, at, 0))
    starts = at[(at - begins) % 2 == 0]
    starts = starts[starts + 1 < len(codes)]
    is_long = codes[starts + 1] == LONG
    short, changed = starts[~is_long], codes.copy()
    changed[short] = changed[short + 1] = SPACE
    return _with_characters(changed.tobytes(), starts[is_long].tolist())


def _with_characters(text: bytes, starts: list[int]) -> Unescaped:
    """Return the text with the characters that the escapes at these positions stand for."""
    places, removed, parts, end, missing = [], [], [], 0, 0
    for start in starts:
        match = UNICODE.match(text, start) if start >= end else None
        if match is None:
            continue
        clear = _clear(match[0])
        parts += [text[end:start], clear]
        end = match.end()
        missing += len(match[0]) - len(clear)
        places.append(end - missing)
        removed.append(missing)
    return Unescaped(b"".join([*parts, text[end:]]), tuple(places), tuple(removed))


def _clear(escapes: bytes) -> bytes:
    units = bytes.fromhex(escapes.replace(b"\\u", b"").decode())
    return units.decode("utf-16-be", "replace").encode()


@cache
def _values() -> Any:
    """Return a number for each byte."""
    import numpy

    digests = [hashlib.sha256(bytes([code])).digest() for code in range(256)]
    return numpy.array([int.from_bytes(digest[:8], "big") for digest in digests], dtype=numpy.uint64)


class _Powers:
    """Powers of a base modulo 2**64, extended as needed."""

    def __init__(self, base: int) -> None:
        self.base = base
        self.powers: Any = ()

    def first(self, count: int) -> Any:
        """Return the powers 0 to count - 1."""
        import numpy

        if len(self.powers) < count:
            factors = numpy.full(max(count, 1 << 16), self.base, dtype=numpy.uint64)
            factors[0] = 1
            self.powers = numpy.cumprod(factors, dtype=numpy.uint64)
        return self.powers[:count]


POWERS, INVERSES = _Powers(BASE), _Powers(INVERSE)


class Words:
    """The words of a text with the numbers of its runs, and their positions in the text."""

    def __init__(self, text: bytes) -> None:
        import numpy

        small = numpy.frombuffer(text.translate(TABLE) + b" ", dtype=numpy.uint8)
        self._is_text = small != SPACE
        self._is_text[1:] |= self._is_text[:-1].copy()  # the one space after each word
        self._codes = small[self._is_text]

    @cached_property
    def clear(self) -> bytes:
        """Return the words with a space after each."""
        return bytes(self._codes.tobytes())

    @cached_property
    def ends(self) -> Any:
        """Return where each word ends in `clear`."""
        import numpy

        return numpy.flatnonzero(self._codes == SPACE)

    @cached_property
    def starts(self) -> Any:
        """Return where each word begins in `clear`."""
        import numpy

        return numpy.concatenate((numpy.zeros(1, dtype=self.ends.dtype), self.ends[:-1] + 1))[: len(self.ends)]

    @cached_property
    def _sums(self) -> Any:
        import numpy

        values = _values()[self._codes]
        values *= POWERS.first(len(values))
        return numpy.concatenate((numpy.zeros(1, dtype=numpy.uint64), numpy.cumsum(values, dtype=numpy.uint64)))

    def numbers(self, begins: Any, ends: Any) -> Any:
        """Return the numbers of the pieces of `clear` between these positions."""
        numbers = self._sums[ends] - self._sums[begins]
        numbers *= INVERSES.first(len(self._codes) + 1)[begins]
        return numbers

    def runs(self, count: int) -> Any:
        """Return the number of every run of several words, by its first word."""
        if len(self.ends) < count:
            return self.ends[:0].astype("uint64")
        return self.numbers(self.starts[: len(self.ends) - count + 1], self.ends[count - 1 :])

    def place(self, at: int) -> int:
        """Return the position in the text for a position in `clear`."""
        return int(self._places[at]) if at < len(self._places) else len(self._is_text) - 1

    @cached_property
    def _places(self) -> Any:
        import numpy

        return numpy.flatnonzero(self._is_text)

    def before(self, place: int) -> int:
        """Return how much of `clear` comes from before a position in the text."""
        return int(self._is_text[:place].sum())

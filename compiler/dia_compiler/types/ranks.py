"""Subsets of numbered things: the one of a rank, a free sample, and how many there are."""

from __future__ import annotations

from bisect import bisect_right
from functools import cache, lru_cache
from math import comb

from dia_compiler.types.base import VAST, Choose

COUNT_CAP = 1 << 4096
"""Beyond this a count says nothing more than vast."""
TABULATED = 128
"""Up to so many things, choices of them are looked up: at most 128 rows of numbers."""


def combination(rank: int, size: int, length: int) -> list[int]:
    """The `length` ascending numbers below `size` of that rank in the combinatorial number system."""
    found: list[int] = []
    tables = _choices(1 << size.bit_length()) if size <= TABULATED else None
    for left in range(length, 0, -1):
        if tables is not None:
            low = bisect_right(tables[left], rank, left, size) - 1
            rank -= tables[left][low]
        else:
            low = _greatest(rank, size, left)
            rank -= comb(low, left)
        found.append(low)
        size = low
    return found[::-1]


def _greatest(rank: int, size: int, length: int) -> int:
    """The greatest number below `size` of which there are no more than `rank` choices of that length."""
    low, high = length - 1, size
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if comb(middle, length) <= rank else (low, middle)
    return low


class _Choices(dict[int, list[int]]):
    """For each length: how many choices of it there are of 0, 1, 2 ... things."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __missing__(self, length: int) -> list[int]:
        self[length] = [comb(number, length) for number in range(self.size)]
        return self[length]


_choices = cache(_Choices)


@lru_cache(maxsize=1024)
def capped_choices(size: int, length: int) -> int:
    """How many subsets of that length there are; no more than 2**4096."""
    if not 0 <= length <= size:
        return 0
    least = min(length, size - length)
    # size over least is at least (size / least)**least
    if least and least * ((size // least).bit_length() - 1) > 4096:
        return COUNT_CAP
    return min(COUNT_CAP, comb(size, least))


def capped_subsets(size: int, low: int, high: int) -> int:
    """How many subsets with lengths between bounds there are; no more than 2**4096."""
    total = 0
    for length in range(low, min(high, size) + 1):
        total += capped_choices(size, length)
        if total >= COUNT_CAP:
            return COUNT_CAP
    return total


def drawn_length(choose: Choose, low: int, high: int) -> int:
    """A length between the bounds; no choice where they are one."""
    return low + choose.below(high - low + 1) if high > low else low


def drawn_places(choose: Choose, size: int, length: int) -> list[int]:
    """`length` ascending numbers below `size`: by rank, or from the stream where there are more than 2**128."""
    count = capped_choices(size, length)
    if count <= VAST:
        return combination(choose.below(count), size, length)
    choose.vast()
    if length > size // 2:
        left_out = set(_sampled(choose, size, size - length))
        return [place for place in range(size) if place not in left_out]
    return sorted(_sampled(choose, size, length))


def _sampled(choose: Choose, size: int, length: int) -> list[int]:
    found: dict[int, None] = {}
    while len(found) < length:
        found.update(dict.fromkeys(choose.several(size, length - len(found))))
    return list(found)

"""Subsets of numbered items: by rank, as a free sample, and their number."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from math import comb
from typing import TypeVar

from dia_compiler.types.base import VAST, Choose

T = TypeVar("T")
COUNT_CAP = 1 << 4096
"""Beyond this a count says nothing more than vast."""
TABULATED = 128
"""Choices among up to this many things are looked up in a table of at most 128 rows of numbers."""


def combination(rank: int, size: int, length: int) -> list[int]:
    """Return the `length` ascending numbers below `size` with this rank in the combinatorial number system."""
    places: list[int] = []
    tables = _choices(1 << size.bit_length()) if size <= TABULATED else None
    for length_left in range(length, 0, -1):
        if tables is not None:
            low = bisect_right(tables[length_left], rank, length_left, size) - 1
            rank -= tables[length_left][low]
        else:
            low = _greatest(rank, size, length_left)
            rank -= comb(low, length_left)
        places.append(low)
        size = low
    return places[::-1]


def _greatest(rank: int, size: int, length: int) -> int:
    """Return the largest number below `size` with at most `rank` choices of this length."""
    low, high = length - 1, size
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if comb(middle, length) <= rank else (low, middle)
    return low


class _Choices(dict[int, list[int]]):
    """For each length, the number of choices from 0, 1, 2 ... items."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __missing__(self, length: int) -> list[int]:
        self[length] = [comb(number, length) for number in range(self.size)]
        return self[length]


_choices = cache(_Choices)


@lru_cache(maxsize=1024)
def capped_choices(size: int, length: int) -> int:
    """Return the number of subsets of this length, capped at 2**4096."""
    if not 0 <= length <= size:
        return 0
    least = min(length, size - length)
    # size choose least is at least (size / least)**least
    if least and least * ((size // least).bit_length() - 1) > 4096:
        return COUNT_CAP
    return min(COUNT_CAP, comb(size, least))


def capped_subsets(size: int, low: int, high: int) -> int:
    """Return the number of subsets with lengths between bounds, capped at 2**4096."""
    total = 0
    for length in range(low, min(high, size) + 1):
        total += capped_choices(size, length)
        if total >= COUNT_CAP:
            return COUNT_CAP
    return total


def drawn_places(choose: Choose, size: int, length: int) -> list[int]:
    """`length` ascending numbers below `size`: by rank, or from the stream if there are more than 2**128."""
    count = capped_choices(size, length)
    if count <= VAST:
        return combination(choose.below(count), size, length)
    choose.vast()
    if length > size // 2:
        left_out = set(drawn_apart(choose, size, size - length))
        return [place for place in range(size) if place not in left_out]
    return sorted(drawn_apart(choose, size, length))


def drawn_apart(choose: Choose, size: int, length: int, first: Iterable[int] = ()) -> list[int]:
    """`length` different numbers below `size` from the stream; the first ones can be given."""
    places = dict.fromkeys(first)
    while len(places) < length:
        places.update(dict.fromkeys(choose.several(size, length - len(places))))
    return list(places)


def permutation(rank: int, items: Sequence[T]) -> list[T]:
    """Return the items in the order of that rank, below the factorial of their number."""
    remaining, places = list(items), []
    for size in range(1, len(remaining) + 1):
        rank, place = divmod(rank, size)
        places.append(place)
    return [remaining.pop(place) for place in reversed(places)]

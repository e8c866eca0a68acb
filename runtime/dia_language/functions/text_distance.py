"""How near two texts are: edit distances, common subsequences and substrings.

The two lengths multiplied are the steps that a function costs, but for `indel_distance`, which works on
whole rows as bits of one integer and shares nothing with `longest_common_subsequence`, so that each can
check the other.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import repeat
from operator import contains
from typing import Any

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.registry import library_function


@library_function
def levenshtein(a: str, b: str) -> int:
    """Fewest insertions, deletions and replacements of one character that turn one text into the other.

    Source: Wagner and Fischer, Journal of the ACM 21 (1974).

    >>> levenshtein("kitten", "sitting")
    3
    """
    charge((len(a) + 1) * (len(b) + 1))
    above = list(range(len(b) + 1))
    for row, x in enumerate(a, 1):
        left, corner, current = row, row - 1, [row]
        for y, up in zip(b, above[1:], strict=True):
            left = corner if x == y else 1 + min(corner, left, up)
            corner = up
            current.append(left)
        above = current
    return above[-1]


@library_function
def hamming(a: str, b: str) -> int:
    """How many places of the two texts differ.

    An error unless they have the same length.

    >>> hamming("karolin", "kathrin")
    3
    """
    if len(a) != len(b):
        raise LanguageError(f"`hamming` needs texts of one length; these have {len(a)} and {len(b)}")
    charge(len(a) // 4)
    return sum(x != y for x, y in zip(a, b, strict=True))


@library_function
def longest_common_subsequence(a: str, b: str) -> str:
    """Longest text that both texts become when some of their characters are taken out.

    Of several the one that this walk from the two beginnings finds: equal characters are taken; else the
    character of `b` is left out where that loses nothing, else that of `a`.
    Source of the lengths: Hunt and Szymanski, Communications of the ACM 20 (1977).

    >>> longest_common_subsequence("abcd", "acbd")
    'abd'
    """
    steps = _last_beginnings(a, b)
    common, j, last = [], 0, len(b) - 1
    for character, ends in zip(a, steps, strict=True):
        longer = bisect_right(ends, last - j)
        stop = last - ends[longer - 1] if longer else last  # the first place that cannot be left out for nothing
        place = b.find(character, j, stop + 1)
        if place >= 0:
            common.append(character)
            j = place + 1
        elif longer:
            j = stop
        else:
            break
    return "".join(common)


def _last_beginnings(a: str, b: str) -> list[list[int]]:
    """For each rest a[i:], and each length 1, 2, ... of a common subsequence, how near b's end one can begin.

    Behind them stands the length of b, which is farther than any.
    """
    charge((len(a) + 1) * (len(b) + 1))
    places: dict[str, list[int]] = {}
    for place, character in enumerate(reversed(b)):
        places.setdefault(character, []).append(place)
    for ascending in places.values():
        ascending.reverse()  # from the last one on, when counted from the end
    ends, beginnings = [len(b)], []
    for character in reversed(a):
        for place in places.get(character, ()):
            ends[bisect_left(ends, place)] = place
        if ends[-1] < len(b):  # a character makes the longest one longer by no more than itself
            ends.append(len(b))
        beginnings.append(ends.copy())
    return beginnings[::-1]


@library_function
def longest_common_substring(a: str, b: str) -> str:
    """Longest run of neighbouring characters that stands in both texts.

    Of several the one that begins first in `a`.

    >>> longest_common_substring("bananas", "kahana")
    'ana'
    """
    charge((len(a) + 1) * (len(b) + 1))
    first, size = 0, 0
    for start in range(len(a)):
        while a[start : start + size + 1] in b and start + size < len(a):
            first, size = start, size + 1
    return a[first : first + size]


@library_function
def is_subsequence(part: str, whole: str) -> bool:
    """Whether the part is what is left of the whole when some of its characters are taken out.

    >>> is_subsequence("ace", "abcde"), is_subsequence("aec", "abcde")
    (True, False)
    """
    charge(len(whole) // 8)
    rest: Any = iter(whole)  # each search goes on where the last one ended
    return all(map(contains, repeat(rest), part))


@library_function
def indel_distance(a: str, b: str) -> int:
    """Fewest insertions and deletions of one character that turn one text into the other.

    Source: Hyyro, Bit-parallel LCS-length computation revisited, AWOCA 2004.

    >>> indel_distance("abcd", "acbd")
    2
    """
    charge(len(b) * (len(a) // 1024 + 1) + len(a))
    places: dict[str, int] = {}
    bit = 1
    for character in a:
        places[character] = places.get(character, 0) | bit
        bit <<= 1
    row = every = bit - 1
    for mask in filter(None, map(places.get, b)):
        matches = row & mask
        row = row + matches | row - matches  # what is carried beyond the row are as many bits as len(b) has
    return len(a) + len(b) - 2 * (len(a) - (row & every).bit_count())

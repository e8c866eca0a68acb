"""Similarity of texts: edit distances, common subsequences and substrings.

`levenshtein`, `longest_common_subsequence` and `longest_common_substring` cost about as many steps as the product of
the two lengths; the other functions cost far fewer. `indel_distance` shares no code with `longest_common_subsequence`,
so each can check the other.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import repeat
from operator import contains, ne
from typing import Any

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.registry import library_function


@library_function
def levenshtein(a: str, b: str) -> int:
    """The smallest number of single-character insertions, deletions and replacements that turn `a` into `b`.

    Source: Wagner and Fischer, Journal of the ACM 21 (1974).

    Examples:
        levenshtein("kitten", "sitting") -> 3
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
    """The number of positions at which two texts of equal length differ.

    Raises an error if the lengths differ.

    Examples:
        hamming("karolin", "kathrin") -> 3
    """
    if len(a) != len(b):
        raise LanguageError(f"`hamming` needs texts of the same length; these have {len(a)} and {len(b)} characters")
    charge(len(a) // 4)
    return sum(map(ne, a, b))


@library_function
def longest_common_subsequence(a: str, b: str) -> str:
    """The longest text that can be obtained from both texts by deleting characters.

    If there are several, the result is the one found by walking both texts from the start: equal characters are taken;
    otherwise the character of `b` is skipped if that loses nothing, else the character of `a`. Source (for the
    lengths): Hunt and Szymanski, Communications of the ACM 20 (1977).

    Examples:
        longest_common_subsequence("abcd", "acbd") -> "abd"
    """
    steps = _last_beginnings(a, b)
    common, j, last = [], 0, len(b) - 1
    for character, ends in zip(a, steps, strict=True):
        longer = bisect_right(ends, last - j)
        stop = last - ends[longer - 1] if longer else last  # the first position that cannot be skipped without loss
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
    """For each suffix a[i:] and each length of a common subsequence, the last position in b where one can start.

    The last entry is the length of b, beyond all positions.
    """
    charge((len(a) + 1) * (len(b) + 1))
    places: dict[str, list[int]] = {}
    for place, character in enumerate(reversed(b)):
        places.setdefault(character, []).append(place)
    for ascending in places.values():
        ascending.reverse()  # last one first, counted from the end
    ends, beginnings = [len(b)], []
    for character in reversed(a):
        for place in places.get(character, ()):
            ends[bisect_left(ends, place)] = place
        if ends[-1] < len(b):  # one more character makes the longest one longer by at most one
            ends.append(len(b))
        beginnings.append(ends.copy())
    return beginnings[::-1]


@library_function
def longest_common_substring(a: str, b: str) -> str:
    """The longest run of consecutive characters that occurs in both texts.

    If there are several, the result is the one that starts first in `a`.

    Examples:
        longest_common_substring("bananas", "kahana") -> "ana"
    """
    charge((len(a) + 1) * (len(b) + 1))
    first, size = 0, 0
    for start in range(len(a)):
        while a[start : start + size + 1] in b and start + size < len(a):
            first, size = start, size + 1
    return a[first : first + size]


@library_function
def is_subsequence(part: str, whole: str) -> bool:
    """Whether `part` can be obtained from `whole` by deleting characters.

    Examples:
        is_subsequence("ace", "abcde") -> True
        is_subsequence("aec", "abcde") -> False
    """
    charge(len(whole) // 8)
    rest: Any = iter(whole)  # each search continues where the last one ended
    return all(map(contains, repeat(rest), part))


@library_function
def indel_distance(a: str, b: str) -> int:
    """The smallest number of single-character insertions and deletions that turn `a` into `b`.

    Source: Hyyro, Bit-parallel LCS-length computation revisited, AWOCA 2004.

    Examples:
        indel_distance("abcd", "acbd") -> 2
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
        row = row + matches | row - matches  # the carry beyond the row has as many bits as len(b)
    return len(a) + len(b) - 2 * (len(a) - (row & every).bit_count())

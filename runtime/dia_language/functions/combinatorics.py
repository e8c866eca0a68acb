"""Combinatorics: counting arrangements, and listing them in a fixed order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

from dia_language.budgets import charge, require_bits, require_items
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Value
from dia_language.functions.number_theory import binomial
from dia_language.functions.registry import library_function

TABLE = 2_000  # largest argument of functions that compute all smaller values first
DERANGED = 20_000


@library_function
def combinations(items: list[Value], k: int) -> list[list[Value]]:
    """All combinations of `k` of the items, ordered by position; each keeps the order of the list.

    Equal items at different positions count as different. At most 1,000,000 items in total over all combinations.

    Examples:
        combinations([1, 2, 3], 2) -> [[1, 2], [1, 3], [2, 3]]
    """
    charge(require_items("combinations", math.comb(len(items), _chosen("combinations", items, k)) * max(k, 1)))
    return [list(chosen) for chosen in itertools.combinations(items, k)]


@library_function
def permutations(items: list[Value], k: int | None = None) -> list[list[Value]]:
    """All ordered selections of `k` items (by default, of all items), ordered by position.

    Equal items at different positions count as different. At most 1,000,000 items in total over all permutations.

    Examples:
        permutations([1, 2, 3], 2) -> [[1, 2], [1, 3], [2, 1], [2, 3], [3, 1], [3, 2]]
    """
    size = _chosen("permutations", items, len(items) if k is None else k)
    charge(require_items("permutations", count_permutations(len(items), size) * max(size, 1)))
    return [list(chosen) for chosen in itertools.permutations(items, size)]


@library_function
def count_permutations(n: int, k: int) -> int:
    """The number of ordered selections of k out of n items: n (n - 1) ... (n - k + 1); 0 if k exceeds n.

    `n` and `k` must be 0 or more. Raises an error if the result could exceed 1,000,000 bits.

    Examples:
        count_permutations(10, 3) -> 720
    """
    _natural("count_permutations", n, k)
    if k > n:
        return 0
    bits = k * n.bit_length()
    require_bits("count_permutations", bits)
    charge(bits * bits // 100_000)
    return math.perm(n, k)


@library_function
def multinomial(counts: list[int]) -> int:
    """The number of different arrangements of items of several kinds, where counts[i] is the number of items of kind i.

    This is the factorial of the sum divided by the factorials of the counts. Each count must be 0 or more.

    Examples:
        multinomial([1, 4, 4, 2]) -> 34650
    """
    _natural("multinomial", *counts)
    ways, total = 1, 0
    for count in counts:
        total += count
        ways *= binomial(total, count)
        require_bits("multinomial", ways.bit_length())
        charge(1 + ways.bit_length() // 1_000)
    return ways


@library_function
def partitions(n: int, k: int | None = None) -> int:
    """The number of ways to write n as an unordered sum of positive integers, or of exactly `k` of them.

    `n` must be from 0 to 2,000.

    Examples:
        partitions(5) -> 7
        partitions(100) -> 190569292
        partitions(7, 3) -> 4
    """
    _natural("partitions", n, 0 if k is None else k)
    _table("partitions", n)
    if k is not None and not 0 < k <= n:
        return int(n == k)
    charge(n * n // 8)
    # Equal to the number of partitions of n - k into parts of at most k, by conjugating the Ferrers diagram
    rest, most = (n, n) if k is None else (n - k, k)
    ways = [1] + [0] * rest
    for part in range(1, min(most, rest) + 1):
        for total in range(part, rest + 1):
            ways[total] += ways[total - part]
    return ways[rest]


@library_function
def derangements(n: int) -> int:
    """The number of permutations of n items that leave no item in its original position.

    `n` must be from 0 to 20,000.

    Examples:
        [derangements(n) for n in range(7)] -> [1, 0, 1, 2, 9, 44, 265]
    """
    _natural("derangements", n)
    if n > DERANGED:
        raise LanguageError(f"`derangements` needs `n` to be at most {DERANGED:,}", code="E502")
    charge(n + n * n // 100)
    count = 1
    for size in range(1, n + 1):
        count = size * count + (-1 if size % 2 else 1)
    return count


@library_function
def stirling_first(n: int, k: int) -> int:
    """The unsigned Stirling number of the first kind: the number of permutations of n items with exactly k cycles.

    `n` and `k` must be 0 or more, and `n` at most 2,000.

    Examples:
        [stirling_first(4, k) for k in range(5)] -> [0, 6, 11, 6, 1]
    """
    return _triangle("stirling_first", n, k, lambda size, place: size - 1)


@library_function
def stirling_second(n: int, k: int) -> int:
    """The Stirling number of the second kind: the ways to partition n items into k unlabelled, non-empty groups.

    `n` and `k` must be 0 or more, and `n` at most 2,000.

    Examples:
        [stirling_second(4, k) for k in range(5)] -> [0, 1, 7, 6, 1]
    """
    return _triangle("stirling_second", n, k, lambda size, place: place)


def _triangle(name: str, n: int, k: int, factor: Callable[[int, int], int]) -> int:
    _natural(name, n, k)
    _table(name, n)
    if k > n:
        return 0
    charge(n * (k + 1) // 4)
    row = [1] + [0] * k
    for size in range(1, n + 1):
        for place in range(min(size, k), 0, -1):
            row[place] = row[place - 1] + factor(size, place) * row[place]
        row[0] = 0
    return row[k]


@library_function
def bell(n: int) -> int:
    """The Bell number: the number of ways to partition n distinct items into unlabelled, non-empty groups.

    `n` must be from 0 to 2,000. Computed with Aitken's triangle (1933).

    Examples:
        [bell(n) for n in range(7)] -> [1, 1, 2, 5, 15, 52, 203]
    """
    _natural("bell", n)
    _table("bell", n)
    charge(n * n // 4)
    row = [1]
    for _ in range(n):
        row = list(itertools.accumulate(row, initial=row[-1]))
    return row[0]


@library_function
def catalan(n: int) -> int:
    """The Catalan number: the number of ways to arrange n pairs of brackets correctly.

    `n` must be 0 or more. Raises an error if the result could exceed 1,000,000 bits.

    Examples:
        [catalan(n) for n in range(7)] -> [1, 1, 2, 5, 14, 42, 132]
    """
    _natural("catalan", n)
    return binomial(2 * n, n) // (n + 1)


def _chosen(name: str, items: list[Value], k: int) -> int:
    if not 0 <= k <= len(items):
        raise LanguageError(f"`{name}` needs `k` to be from 0 to the number of items, which is {len(items)}")
    return k


def _natural(name: str, *numbers: int) -> None:
    if any(number < 0 for number in numbers):
        raise LanguageError(f"`{name}` needs numbers that are 0 or more")


def _table(name: str, n: int) -> None:
    if n > TABLE:
        raise LanguageError(f"`{name}` needs numbers up to {TABLE:,}", code="E502")

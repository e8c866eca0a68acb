"""Integers as digits of any base and back, without Python's limit on the digits of decimal texts.

Python refuses to write or read decimal texts of more than 4,300 digits, since that takes it quadratic time;
integers of the language have up to 300,000. Here both split the number in halves.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import chain, product
from typing import Any

LEAF_BITS = 1_500
TABLED = 1_024  # numbers at most whose digits are kept, so that a division gives several digits at once
SUMMED = 10_000  # numbers at most whose digit sums are kept
QUICK_BITS = 1_000  # to write so many takes hardly longer than to look for what has been written
SAFE_BITS = 14_000
SAFE_DIGITS = 4_000
WHOLE = {int}


def digits_of(number: int, base: int) -> list[int]:
    """The digits of a number from 0 on, most significant first; 0 is [0]."""
    if base * base > TABLED:
        return _single_digits(number, base)
    table = _table(base)
    found = list(chain.from_iterable(map(table.__getitem__, _single_digits(number, len(table)))))
    start = 0
    while not found[start] and start < len(found) - 1:
        start += 1
    return found[start:]


@cache
def _table(base: int) -> list[tuple[int, ...]]:
    """The digits of each number below a power of the base, with leading zeros."""
    width = 2
    while base ** (width + 1) <= TABLED:
        width += 1
    return list(product(range(base), repeat=width))


def digit_sum_of(number: int, base: int) -> int:
    """The sum of the digits of a number from 0 on."""
    if base == 2:
        return number.bit_count()
    if base * base > SUMMED:
        return sum(_single_digits(number, base))
    sums = _sums(base)
    return sum(map(sums.__getitem__, _single_digits(number, len(sums))))


@lru_cache(maxsize=8)
def _sums(base: int) -> Sequence[int]:
    """The digit sum of each number below a power of the base."""
    sums: Sequence[int] = range(base)
    while len(sums) * base <= SUMMED:
        sums = [high + low for high in sums for low in range(base)]
    return sums


def _single_digits(number: int, base: int) -> list[int]:
    if number.bit_length() <= LEAF_BITS:
        return _leaf(number, base)
    powers = [base]
    while powers[-1].bit_length() * 2 - 1 <= number.bit_length():
        powers.append(powers[-1] ** 2)
    found = _split(number, powers, len(powers) - 1, base)
    start = next((place for place, digit in enumerate(found) if digit), len(found) - 1)
    return found[start:]


def _leaf(number: int, base: int) -> list[int]:
    found = []
    while True:
        number, digit = divmod(number, base)
        found.append(digit)
        if not number:
            return found[::-1]


def _split(number: int, powers: list[int], level: int, base: int) -> list[int]:
    """The digits of a number, at level n padded to 2**(n + 1) of them."""
    width = 2 ** (level + 1)
    if level < 0 or powers[level].bit_length() <= LEAF_BITS // 2:
        found = _leaf(number, base)
        return [0] * (width - len(found)) + found
    high, low = divmod(number, powers[level])
    return _split(high, powers, level - 1, base) + _split(low, powers, level - 1, base)


def number_of(digits: Sequence[int], base: int) -> int:
    """The number with these digits, most significant first; no digits are 0."""
    parts, power = list(digits[::-1]), base
    while len(parts) > 1:
        if len(parts) % 2:
            parts.append(0)
        parts = [low + high * power for low, high in zip(parts[::2], parts[1::2], strict=True)]
        power *= power
    return parts[0] if parts else 0


def integer_text(number: int) -> str:
    """The decimal text of an integer of any size."""
    return str(number) if number.bit_length() <= QUICK_BITS else _long_text(number)


@lru_cache(maxsize=8)
def _long_text(number: int) -> str:
    """The same, kept for a while: prompts, answers and what is stored of them print a number several times."""
    if number.bit_length() <= SAFE_BITS:
        return str(number)
    return ("-" if number < 0 else "") + "".join(map(str, digits_of(abs(number), 10)))


def short_bounds(values: Sequence[Any]) -> tuple[int, int] | None:
    """The least and the greatest of values that are integers alone, none of more than SAFE_BITS bits; else None."""
    if not values or type(values[0]) is not int or set(map(type, values)) != WHOLE:
        return None
    low, high = min(values), max(values)
    return (low, high) if max(-low, high).bit_length() <= SAFE_BITS else None


SMALL = [str(number) for number in range(1000)]


def integers_text(numbers: Sequence[int], joint: str, low: int, high: int) -> str:
    """The decimal texts of short integers between the bounds, with the joint between them.

    Small ones are looked up, others formatted at once, in half the time.
    """
    if low >= 0 and high < len(SMALL):
        return joint.join([SMALL[number] for number in numbers])
    joint = joint.replace("%", "%%")
    return (f"%d{joint}" * len(numbers)).removesuffix(joint) % tuple(numbers)


def integer_of(text: str) -> int:
    """The integer that a decimal text of any length writes; ValueError for other texts."""
    if len(text) <= SAFE_DIGITS:
        return int(text)
    body = text.removeprefix("-")
    if not (body.isascii() and body.isdigit()):
        raise ValueError("not an integer")
    number = number_of([int(digit) for digit in body], 10)
    return -number if text.startswith("-") else number

"""Integers as digits of any base and back, without Python's limit on the digits of decimal texts."""

from __future__ import annotations

from collections.abc import Sequence

from dia_runtime.language.budgets import charge

LEAF_BITS = 1_500


def digits_of(number: int, base: int) -> list[int]:
    """The digits of a number from 0 on, most significant first; 0 is [0]."""
    charge(number.bit_length() // 8 + 1)
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
    charge(len(digits) + 1)
    parts, power = list(digits[::-1]), base
    while len(parts) > 1:
        if len(parts) % 2:
            parts.append(0)
        parts = [low + high * power for low, high in zip(parts[::2], parts[1::2], strict=True)]
        power *= power
    return parts[0] if parts else 0


def ascii_digits(number: int) -> str:
    """The decimal digits of an integer of any size, with its sign."""
    sign = "-" if number < 0 else ""
    return sign + "".join(map(str, digits_of(abs(number), 10)))

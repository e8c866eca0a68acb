"""Integers as digits of any base and back, without Python's limit on the digits of decimal texts.

Python refuses to convert decimal texts of more than 4,300 digits, because it needs quadratic time; integers of the
language have up to 300,000 digits. Here both directions split the number in halves.
"""

from __future__ import annotations

from collections.abc import Sequence

LEAF_BITS = 1_500
SAFE_BITS = 14_000
SAFE_DIGITS = 4_000


def digits_of(number: int, base: int) -> list[int]:
    """Return the digits of a nonnegative number, most significant first; 0 is [0]."""
    if number.bit_length() <= LEAF_BITS:
        return _leaf(number, base)
    powers = [base]
    while powers[-1].bit_length() * 2 - 1 <= number.bit_length():
        powers.append(powers[-1] ** 2)
    digits = _split(number, powers, len(powers) - 1, base)
    start = next((place for place, digit in enumerate(digits) if digit), len(digits) - 1)
    return digits[start:]


def _leaf(number: int, base: int) -> list[int]:
    digits = []
    while True:
        number, digit = divmod(number, base)
        digits.append(digit)
        if not number:
            return digits[::-1]


def _split(number: int, powers: list[int], level: int, base: int) -> list[int]:
    """Return the digits of a number, at level n padded to 2**(n + 1) of them."""
    width = 2 ** (level + 1)
    if level < 0 or powers[level].bit_length() <= LEAF_BITS // 2:
        digits = _leaf(number, base)
        return [0] * (width - len(digits)) + digits
    high, low = divmod(number, powers[level])
    return _split(high, powers, level - 1, base) + _split(low, powers, level - 1, base)


def number_of(digits: Sequence[int], base: int) -> int:
    """Return the number with these digits, most significant first; without digits, 0."""
    parts, power = list(digits[::-1]), base
    while len(parts) > 1:
        if len(parts) % 2:
            parts.append(0)
        parts = [low + high * power for low, high in zip(parts[::2], parts[1::2], strict=True)]
        power *= power
    return parts[0] if parts else 0


def integer_text(number: int) -> str:
    """Return the decimal text of an integer of any size."""
    if number.bit_length() <= SAFE_BITS:
        return str(number)
    if number < 0:
        return "-" + integer_text(-number)
    return _padded_text(number, number.bit_length() * 30103 // 100_000 + 1).lstrip("0")


def integer_texts(numbers: Sequence[int]) -> list[str]:
    """Return the decimal texts of integers of any size."""
    are_short = max(map(int.bit_length, numbers), default=0) <= SAFE_BITS
    return list(map(str if are_short else integer_text, numbers))


def _padded_text(number: int, width: int) -> str:
    """Return the decimal text of a nonnegative number, with leading zeros up to the width."""
    if number.bit_length() <= SAFE_BITS:
        return str(number).rjust(width, "0")
    low_width = width // 2
    high, low = divmod(number, 10**low_width)
    return _padded_text(high, width - low_width) + _padded_text(low, low_width)


def integer_of(text: str) -> int:
    """Return the integer of a decimal text of any length. Raises ValueError for other texts."""
    if len(text) <= SAFE_DIGITS:
        return int(text)
    body = text.removeprefix("-")
    if not (body.isascii() and body.isdigit()):
        raise ValueError("not an integer")
    number = number_of([int(digit) for digit in body], 10)
    return -number if text.startswith("-") else number

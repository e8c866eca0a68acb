"""Axes of plots: their ticks, and the position of a value on them, all in exact numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from dia_language.numbers.values import Value

from dia_compiler.assets.base import OptionFault

MOST_STEPS: Final = 8
MOST_TICKS: Final = 50
LARGEST: Final = 10**12
FINEST: Final = 10**12
LABEL: Final = 40


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from its first tick to its last, or one of slots with a label each."""

    ticks: tuple[Fraction, ...]
    labels: tuple[str, ...]
    is_of_slots: bool = False

    def place(self, value: Fraction, length: int) -> int:
        """Return the pixel of the value on an axis with the given length in pixels."""
        low, high = (Fraction(0), Fraction(len(self.ticks))) if self.is_of_slots else (self.ticks[0], self.ticks[-1])
        return int((value - low) * length / (high - low) + Fraction(1, 2))


def numbers(option: str, values: Any, most: int) -> list[Fraction]:
    """Return the option as exact numbers. Raises OptionFault."""
    if not isinstance(values, list) or not 1 <= len(values) <= most:
        raise OptionFault(option, f"`{option}` must be a list of 1 to {most} numbers")
    if any(type(value) is bool or not isinstance(value, (int, Fraction)) for value in values):
        raise OptionFault(option, f"`{option}` may contain only integers, fractions and decimals")
    fractions = [Fraction(value) for value in values]
    if any(abs(value) > LARGEST or value.denominator > FINEST for value in fractions):
        raise OptionFault(option, f"a number in `{option}` is above {LARGEST} or finer than 1/{FINEST}")
    return fractions


def axis_of(option: str, tick_values: Any, values: list[Fraction]) -> Axis:
    """Return the axis with the given ticks, or with automatic ticks around the values. Raises OptionFault."""
    if tick_values is None:
        return chosen(min(values), max(values))
    ticks = numbers(option, tick_values, MOST_TICKS)
    if len(ticks) < 2 or any(first >= second for first, second in pairwise(ticks)):
        raise OptionFault(option, f"`{option}` must be in ascending order, with at least two ticks")
    if min(values) < ticks[0] or max(values) > ticks[-1]:
        raise OptionFault(
            option, "a value is outside the range of the ticks", "the first and the last tick are the ends of the axis"
        )
    return Axis(tuple(ticks), tuple(map(decimal_text, ticks)))


def chosen(low: Fraction, high: Fraction) -> Axis:
    """Return an axis from at most `low` to at least `high`, with steps of 1, 2 or 5 times a power of ten."""
    step = next(step for step in _steps() if low == high or (high - low) / step <= MOST_STEPS)
    first, last = low // step, -(-high // step)
    ticks = tuple(place * step for place in range(first, max(last, first + 1) + 1))
    return Axis(ticks, tuple(map(decimal_text, ticks)))


def _steps() -> list[Fraction]:
    return [Fraction(10) ** power * leading for power in range(-12, 14) for leading in (1, 2, 5)]


def slots(labels: list[Value]) -> Axis:
    """Return an axis with one slot per label, centred in the slot. Raises OptionFault."""
    texts = [label if isinstance(label, str) else decimal_text(Fraction(label)) for label in _allowed(labels)]
    middles = (Fraction(2 * place + 1, 2) for place in range(len(texts)))
    return Axis(tuple(middles), tuple(texts), is_of_slots=True)


def _allowed(labels: list[Value]) -> list[Any]:
    for label in labels:
        is_text = isinstance(label, str) and len(label) <= LABEL and "\n" not in label
        if not is_text and (type(label) is bool or not isinstance(label, (int, Fraction))):
            raise OptionFault("x", f"`x` must contain numbers, or texts of one line and at most {LABEL:,} characters")
    return labels


def decimal_text(value: Fraction) -> str:
    """Return the number as a decimal if it is finite, otherwise as a fraction."""
    rest, places = value.denominator, 0
    while places < 12 and rest != 1 and (10**places) % rest:
        places += 1
    if (10**places) % rest:
        return f"{value.numerator}/{value.denominator}"
    digits = str(abs(value.numerator) * 10**places // rest).zfill(places + 1)
    text = f"{digits[:-places]}.{digits[-places:]}" if places else digits
    return f"-{text}" if value < 0 else text

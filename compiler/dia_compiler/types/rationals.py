"""The parameter type rational: fractions in lowest terms."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, floor, gcd
from typing import Any

from dia_language.numbers.values import Value, normal, plain

from dia_compiler.types.base import (
    Choose,
    Domain,
    OptionFault,
    ParameterType,
    bounds_option,
    number_help,
    option,
    written,
)
from dia_compiler.types.numbers import MAXIMUM_BITS

COUNTED_PAIRS = 20_000
Range = tuple[int, int]


class Rationals(Domain):
    """Fractions in lowest terms: a denominator is drawn, then a numerator, until they are coprime."""

    __slots__ = ("denominators", "high", "low", "numerators", "size")

    def __init__(
        self, numerators: Range | None, denominators: Range, low: Fraction | None, high: Fraction | None
    ) -> None:
        self.numerators, self.denominators, self.low, self.high = numerators, denominators, low, high
        self.size: int | None = self._counted()

    def _numerators(self, denominator: int) -> Range:
        """Return the lowest and highest numerator over the denominator."""
        lows = [] if self.numerators is None else [self.numerators[0]]
        highs = [] if self.numerators is None else [self.numerators[1]]
        if self.low is not None:
            lows.append(ceil(self.low * denominator))
        if self.high is not None:
            highs.append(floor(self.high * denominator))
        return max(lows), min(highs)

    def _pair(self, choose: Choose) -> Range | None:
        denominator = self.denominators[0] + choose.below(self.denominators[1] - self.denominators[0] + 1)
        low, high = self._numerators(denominator)
        return (low + choose.below(high - low + 1), denominator) if low <= high else None

    def draw(self, choose: Choose) -> Value:
        pair = choose.where(self._pair, lambda pair: pair is not None and gcd(*pair) == 1, tries=100_000)
        assert pair is not None
        return normal(Fraction(*pair))

    def contains(self, value: Value) -> bool:
        if type(value) is bool or not isinstance(value, (int, Fraction)):
            return False
        low, high = self._numerators(value.denominator)
        least, most = self.denominators
        return least <= value.denominator <= most and low <= value.numerator <= high

    def refusal(self, value: Value) -> str:
        if type(value) is bool or not isinstance(value, (int, Fraction)):
            return f"{written(value)} is not a number"
        numerator, denominator, (least, most) = value.numerator, value.denominator, self.denominators
        if not least <= denominator <= most:
            return f"the denominator of {written(value)} is not {_from_to(least, most)}"
        if self.low is not None and value < self.low:
            return f"{written(value)} is below {plain(normal(self.low))}"
        if self.high is not None and value > self.high:
            return f"{written(value)} is above {plain(normal(self.high))}"
        assert self.numerators is not None and not self.numerators[0] <= numerator <= self.numerators[1]
        return f"the numerator of {written(value)} is not {_from_to(*self.numerators)}"

    def _widths(self) -> list[tuple[int, Range]] | None:
        """Return each denominator with its numerators, or None if there are too many."""
        least, most = self.denominators
        if most - least >= COUNTED_PAIRS:
            return None
        return [(number, self._numerators(number)) for number in range(least, most + 1)]

    def _counted(self) -> int | None:
        widths = self._widths()
        if widths is None or sum(max(0, high - low + 1) for _, (low, high) in widths) > COUNTED_PAIRS:
            return None
        return sum(gcd(number, over) == 1 for over, (low, high) in widths for number in range(low, high + 1))

    @property
    def is_counted(self) -> bool:  # type: ignore[override]
        return self.size is not None

    @property
    def count(self) -> int:
        if self.size is not None:
            return self.size
        least, most = self.denominators
        low, high = self._numerators(most)
        widest = high - low + 1 if self.numerators is None else self.numerators[1] - self.numerators[0] + 1
        return (most - least + 1) * max(1, widest)

    def boundary(self) -> list[Value]:
        """The lowest and highest value over the smallest and largest denominator, if they are in lowest terms."""
        values = [Fraction(number, over) for over in self.denominators for number in self._numerators(over)]
        return [normal(value) for value in dict.fromkeys(values) if self.contains(value)]


class RationalType(ParameterType):
    """Fractions of integers in lowest terms, each value once."""

    summary = "a fraction of two integers in lowest terms"
    options = {
        "numerator": option("data", "numerator of the reduced fraction: a number or {min, max}"),
        "denominator": option(
            "data", "denominator of the reduced fraction, 1 or more: a number or {min, max}", required=True
        ),
        "min": option("data", "lowest value"),
        "max": option("data", "highest value"),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        numerators = bounds_option(options, "numerator", -_LIMIT, _LIMIT) if "numerator" in options else None
        denominators = bounds_option(options, "denominator", 1, _LIMIT)
        low, high = (_edge(options, name) for name in ("min", "max"))
        if numerators is None and (low is None or high is None):
            raise OptionFault(None, "give `numerator`, or `min` and `max`")
        if low is not None and high is not None and low > high:
            raise OptionFault("max", f"min {options['min']} is above max {options['max']}")
        domain = Rationals(numerators, denominators, low, high)
        if domain.count < 1:
            raise OptionFault("denominator", "no quotient in lowest terms is between the bounds")
        return domain


def _from_to(low: int, high: int) -> str:
    return str(low) if low == high else f"from {low} to {high}"


_LIMIT = 1 << MAXIMUM_BITS


def _edge(options: Mapping[str, Any], name: str) -> Fraction | None:
    value = options.get(name)
    if value is None:
        return None
    if type(value) is bool or not isinstance(value, (int, Fraction)):
        raise OptionFault(name, f"`{name}` must be a number", number_help(name, value))
    return Fraction(value)

"""The parameter type set, and the sets of a domain's values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any

from dia_language.counts import counted
from dia_language.numbers.values import Value

from dia_compiler.types.base import (
    VAST,
    Choose,
    Domain,
    Enumerable,
    OptionFault,
    ParameterType,
    between,
    element_refusal,
    key_of,
    length_option,
    option,
    order_of,
    too_few_values,
    written,
)
from dia_compiler.types.members import members
from dia_compiler.types.numbers import Integers
from dia_compiler.types.ranks import capped_choices, capped_subsets, drawn_places
from dia_compiler.types.texts import Items

SHORT = 4
ORDER_REFUSAL = "its elements must be in ascending order, each at most once"


def _set_refusal(of: Domain, low: int, high: int, value: Value) -> str | None:
    """Return what is wrong with the number of elements of a set, or with one of them."""
    if not isinstance(value, list):
        return f"{written(value)} is not a list"
    if not low <= len(value) <= high:
        return f"it has {counted(len(value), 'element')}, not {between(low, high)}"
    return element_refusal(of, value)


class Subsets(Domain):
    """Subsets of numbered values: the length, then one choice by rank; in the order of the values, or ascending."""

    def __init__(self, of: Enumerable, low: int, high: int, is_ascending: bool) -> None:
        self.of, self.low, self.high, self.is_ascending = of, low, high, is_ascending

    def draw(self, choose: Choose) -> Value:
        places = drawn_places(choose, self.of.count, choose.between(self.low, self.high))
        return self._values(places)

    def _values(self, places: list[int]) -> Value:
        values = self.of.at_all(places)
        return sorted(values, key=order_of) if self.is_ascending and not isinstance(self.of, Integers) else values

    @cached_property
    def places(self) -> dict[Any, int]:
        """The index of each value; only used for explicit lists."""
        return {key_of(self.of.at(place)): place for place in range(self.of.count)}

    def contains(self, value: Value) -> bool:
        if not isinstance(value, list) or not self.low <= len(value) <= self.high:
            return False
        if not all(map(self.of.contains, value)):
            return False
        is_written = isinstance(self.of, Items) and not self.is_ascending
        order = [self.places[key_of(item)] for item in value] if is_written else list(map(order_of, value))
        return all(first < second for first, second in pairwise(order))

    def refusal(self, value: Value) -> str:
        is_written = isinstance(self.of, Items) and not self.is_ascending
        in_order = "its elements must be in the order of the list, each at most once"
        return _set_refusal(self.of, self.low, self.high, value) or (in_order if is_written else ORDER_REFUSAL)

    @property
    def count(self) -> int:
        return capped_subsets(self.of.count, self.low, self.high)

    def boundary(self) -> list[Value]:
        """Return the shortest and longest subsets of the first and of the last values."""
        size = self.of.count
        ranges = [range(start, start + length) for length in (self.low, self.high) for start in (0, size - length)]
        return [self._values(list(places)) for places in dict.fromkeys(map(tuple, ranges))]


class FreeSets(Domain):
    """Ascending sets of values, if there are too many to number.

    Up to four values are drawn until they ascend, so that each set has exactly one draw. Longer sets, and those of
    uncounted values, are drawn from the stream: among 2**71 or more of them, a clash is practically impossible.
    """

    is_counted = False

    def __init__(self, of: Domain, low: int, high: int) -> None:
        self.of, self.low, self.high = of, low, high

    def draw(self, choose: Choose) -> Value:
        length = choose.between(self.low, self.high)
        if length <= SHORT and capped_choices(self.of.count, length) <= VAST << 64:
            return choose.where(lambda inner: self._drawn(inner, length), _ascends, tries=100_000)
        choose.vast()
        values: dict[Any, Value] = {}
        for _ in range(length):
            value = choose.where(self.of.draw, lambda value: key_of(value) not in values, tries=10_000)
            values[key_of(value)] = value
        return sorted(values.values(), key=order_of)

    def _drawn(self, choose: Choose, length: int) -> list[Value]:
        return [self.of.draw(choose) for _ in range(length)]

    def contains(self, value: Value) -> bool:
        if not isinstance(value, list) or not self.low <= len(value) <= self.high:
            return False
        return all(map(self.of.contains, value)) and _ascends(value)

    def refusal(self, value: Value) -> str:
        return _set_refusal(self.of, self.low, self.high, value) or ORDER_REFUSAL

    @property
    def count(self) -> int:
        return capped_subsets(self.of.count, self.low, self.high)


def _ascends(values: list[Value]) -> bool:
    return all(order_of(first) < order_of(second) for first, second in pairwise(values))


def sets_of(of: Domain, low: int, high: int, is_ascending: bool, name: str) -> Domain:
    """The sets of a domain's values with lengths between bounds. Raises OptionFault if there are too few values."""
    numbered = members(of)
    if numbered is None:
        return FreeSets(of, low, high)
    if numbered.count < high:
        raise OptionFault(name, too_few_values(high, numbered.count))
    return Subsets(numbered, low, high, is_ascending or not isinstance(numbered, Items))


class SetType(ParameterType):
    summary = "a list of different values of one type, in ascending order"
    options = {
        "of": option("type", "the type of its elements", required=True),
        "length": option("data", "number of elements, or {min, max}", required=True),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        return sets_of(options["of"], *length_option(options), is_ascending=True, name="length")

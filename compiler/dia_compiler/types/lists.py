"""Parameter types made of others in order: list, permutation, matrix."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from math import comb, factorial
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
    all_differ,
    between,
    element_refusal,
    flag,
    flag_option,
    integer_option,
    keys_of,
    length_option,
    option,
    too_few_values,
    written,
)
from dia_compiler.types.ranks import COUNT_CAP, combination, drawn_apart, permutation
from dia_compiler.types.texts import items_option


class Lists(Domain):
    """Lists of values of one domain. Each element is drawn separately; `unique` redraws repeated ones."""

    __slots__ = ("high", "is_unique", "low", "of")

    def __init__(self, of: Domain, low: int, high: int, is_unique: bool) -> None:
        self.of, self.low, self.high, self.is_unique = of, low, high, is_unique

    def draw(self, choose: Choose) -> Value:
        length = choose.between(self.low, self.high)
        draw = self.of.draw_different if self.is_unique else self.of.draw_several
        return draw(choose, length)

    def contains(self, value: Value) -> bool:
        if not isinstance(value, list) or not self.low <= len(value) <= self.high:
            return False
        if self.is_unique and not all_differ(value):
            return False
        return all(self.of.contains(item) for item in value)

    def refusal(self, value: Value) -> str | None:
        if not isinstance(value, list):
            return f"{written(value)} is not a list"
        if not self.low <= len(value) <= self.high:
            return f"it has {counted(len(value), 'element')}, not {between(self.low, self.high)}"
        if self.is_unique and not all_differ(value):
            return "two of its elements are equal"
        return element_refusal(self.of, value)

    @property
    def count(self) -> int:
        size = self.of.count
        lengths = range(self.low, self.high + 1)
        if self.is_unique:
            return sum(factorial(length) * comb(size, length) if length <= size else 0 for length in lengths)
        return sum(capped_power(size, length) for length in lengths)

    @property
    def is_counted(self) -> bool:  # type: ignore[override]
        return self.of.is_counted

    def boundary(self) -> list[Value]:
        if self.is_unique:
            return []
        return [[edge] * length for length in sorted({self.low, self.high}) for edge in self.of.boundary()[:1]]


ORDER_REFUSAL = "its elements must be in ascending order"


class SortedLists(Domain):
    """Ascending lists: sets (`unique`) or multisets of a numbered domain, drawn by rank.

    If there are more than 2**128 of them, elements are drawn freely and sorted; two instances then clash with a
    probability below that of two random streams.
    """

    def __init__(self, of: Enumerable, length: int, is_unique: bool) -> None:
        self.of, self.length, self.is_unique = of, length, is_unique

    @cached_property
    def count(self) -> int:
        size = self.of.count
        return comb(size, self.length) if self.is_unique else comb(size + self.length - 1, self.length)

    def draw(self, choose: Choose) -> Value:
        count = self.count
        if count > VAST:
            choose.vast()
            return self.of.at_all(sorted(self._indices(choose)))
        return self.of.at_all(self._unranked(choose.below(count)))

    def _indices(self, choose: Choose) -> list[int]:
        if not self.is_unique:
            return choose.several(self.of.count, self.length)
        return drawn_apart(choose, self.of.count, self.length)

    def _unranked(self, rank: int) -> list[int]:
        """The ascending indexes of this rank; those of a multiset are those of a set, each minus its position."""
        if self.is_unique:
            return combination(rank, self.of.count, self.length)
        places = combination(rank, self.of.count + self.length - 1, self.length)
        return [place - number for number, place in enumerate(places)]

    def contains(self, value: Value) -> bool:
        if not isinstance(value, list) or len(value) != self.length or not all(map(self.of.contains, value)):
            return False
        return all(a < b or (a == b and not self.is_unique) for a, b in pairwise(value))

    def refusal(self, value: Value) -> str:
        if not isinstance(value, list):
            return f"{written(value)} is not a list"
        if len(value) != self.length:
            return f"it has {counted(len(value), 'element')}, not {self.length}"
        return element_refusal(self.of, value) or ORDER_REFUSAL


class ListType(ParameterType):
    summary = "a list of values of one type"
    options = {
        "of": option("type", "the type of its elements", required=True),
        "length": option("data", "number of elements, or {min, max}", required=True),
        "unique": flag("no two elements are equal"),
        "sorted": flag("sorted in ascending order"),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        of: Domain = options["of"]
        low, high = length_option(options)
        is_unique = flag_option(options, "unique")
        if is_unique and of.is_counted and of.count < high:
            raise OptionFault("length", too_few_values(high, of.count))
        if not flag_option(options, "sorted"):
            return Lists(of, low, high, is_unique)
        if low != high or not isinstance(of, Enumerable):
            raise OptionFault(
                "sorted", "`sorted` needs a fixed length and elements of type integer, real, boolean or choice"
            )
        return SortedLists(of, low, is_unique)


class Permutations(Domain):
    """All orders of a list of different items; drawn by rank up to 34 items, shuffled above."""

    __slots__ = ("items",)

    def __init__(self, items: list[Value]) -> None:
        self.items = items

    @property
    def count(self) -> int:
        return factorial(len(self.items))

    def draw(self, choose: Choose) -> Value:
        if len(self.items) > 34:
            return choose.shuffled(self.items)
        return permutation(choose.below(self.count), self.items)

    def contains(self, value: Value) -> bool:
        if not isinstance(value, list) or len(value) != len(self.items):
            return False
        return set(keys_of(value)) == set(keys_of(self.items))

    def refusal(self, value: Value) -> str:
        return f"{written(value)} does not have each of the {counted(len(self.items), 'item')} once"


class PermutationType(ParameterType):
    summary = "the items of a list in random order"
    options = {"of": option("data", "the items, all of which must differ", required=True)}

    def domain(self, options: Mapping[str, Any]) -> Domain:
        return Permutations(items_option(options))


class Matrices(Domain):
    """Matrices as lists of rows; each entry is drawn separately, in reading order."""

    __slots__ = ("columns", "of", "rows")

    def __init__(self, of: Domain, rows: int, columns: int) -> None:
        self.of, self.rows, self.columns = of, rows, columns

    def draw(self, choose: Choose) -> Value:
        return [self.of.draw_several(choose, self.columns) for _ in range(self.rows)]

    def contains(self, value: Value) -> bool:
        return (
            isinstance(value, list)
            and len(value) == self.rows
            and all(isinstance(row, list) and len(row) == self.columns for row in value)
            and all(self.of.contains(entry) for row in value for entry in row)
        )

    @property
    def count(self) -> int:
        return capped_power(self.of.count, self.rows * self.columns)

    @property
    def is_counted(self) -> bool:  # type: ignore[override]
        return self.of.is_counted

    def boundary(self) -> list[Value]:
        return [[[edge] * self.columns for _ in range(self.rows)] for edge in self.of.boundary()]


class MatrixType(ParameterType):
    summary = "a matrix, as a list of rows"
    options = {
        "rows": option("data", "number of rows", required=True),
        "columns": option("data", "number of columns", required=True),
        "of": option("type", "the type of its entries", required=True),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        rows, columns = (self._size(options, name) for name in ("rows", "columns"))
        return Matrices(options["of"], rows, columns)

    def _size(self, options: Mapping[str, Any], name: str) -> int:
        size = integer_option(options, name)
        if size is None or not 1 <= size <= 1000:
            raise OptionFault(name, f"`{name}` must be between 1 and 1000")
        return size


def capped_power(base: int, exponent: int) -> int:
    """base**exponent, capped at 2**4096; larger counts all mean vast."""
    if base > 1 and base.bit_length() * exponent > 4096:
        return COUNT_CAP if base ** min(exponent, 4096) >= COUNT_CAP else base**exponent
    return int(base**exponent)

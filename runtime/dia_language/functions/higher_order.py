"""Functions that take another function by name: map, filter, reduce and others.

Each call of that function costs a step.
"""

from __future__ import annotations

from functools import reduce as fold
from itertools import accumulate, chain

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Function, Value
from dia_language.functions.ordering import compare, distinct, order, same
from dia_language.functions.registry import library_function
from dia_language.limits import LIST_LENGTH
from dia_language.numbers import operators

CALLS = 1_000  # limit for the function of a fixpoint


@library_function
def map_(function: Function, items: list[Value]) -> list[Value]:
    """The list of the function's results for the items.

    Examples:
        map(upper, ["a", "b"]) -> ["A", "B"]
    """
    charge(len(items))
    return [function(item) for item in items]


@library_function
def filter_(function: Function, items: list[Value]) -> list[Value]:
    """The items for which the function returns true, in their original order.

    Raises an error if the function returns anything other than true or false.

    Examples:
        filter(is_prime, [1, 2, 3, 4, 5]) -> [2, 3, 5]
    """
    charge(len(items))
    return [item for item in items if operators.truth(function(item))]


@library_function
def reduce(function: Function, items: list[Value], start: Value) -> Value:
    """The final state after function(state, item) has been applied to each item in order, starting from `start`.

    Examples:
        reduce(lcm, [2, 3, 4], 1) -> 12
    """
    charge(len(items))
    return fold(function, items, start)


@library_function
def scan(function: Function, items: list[Value], start: Value) -> list[Value]:
    """The list of all states of `reduce`: `start`, then the state after each item. It is one longer than `items`.

    Examples:
        scan(lcm, [2, 3, 4], 1) -> [1, 2, 6, 12]
    """
    charge(len(items))
    return list(accumulate(chain((start,), items), function))


@library_function
def iterate(function: Function, start: Value, times: int) -> list[Value]:
    """The list start, function(start), function(function(start)), ... with `times` values.

    `times` must be from 0 to 1,000,000. The function is called one time fewer than there are values.

    Examples:
        iterate(next_prime, 2, 5) -> [2, 3, 5, 7, 11]
    """
    if not 0 <= times <= LIST_LENGTH:
        raise LanguageError(f"`iterate` needs `times` from 0 to {LIST_LENGTH:,}", code="E501" if times < 0 else "E502")
    charge(times)
    values, value = [start][:times], start
    for _ in range(times - 1):
        value = function(value)
        values.append(value)
    return values


@library_function
def fixpoint(function: Function, start: Value, limit: int = 0) -> Value:
    """The first value in the sequence start, function(start), ... that the function does not change.

    If there is none within `limit` calls, the result is the value after the last of these calls. If `limit` is not
    given, `fixpoint` raises an error after 1,000 calls.

    Examples:
        fixpoint(digit_sum, 987654321) -> 9
        fixpoint(next_prime, 2, 5) -> 13
    """
    value = start
    for _ in range(limit if limit > 0 else CALLS):
        charge(1)
        following = function(value)
        if same(value, following):
            return value
        value = following
    if limit > 0:
        return value
    raise LanguageError(f"no fixpoint was reached within {CALLS:,} calls of the function", code="E504")


@library_function
def sort_by(function: Function, items: list[Value]) -> list[Value]:
    """The items sorted in ascending order of the function's results; items with equal results keep their order.

    Examples:
        sort_by(length, ["pear", "fig", "apple", "kiwi"]) -> ["fig", "pear", "kiwi", "apple"]
    """
    return [items[place] for place in order(map_(function, items))]


@library_function
def max_by(function: Function, items: list[Value]) -> Value:
    """The first item for which the function's result is largest.

    Raises an error for an empty list.

    Examples:
        max_by(length, ["fig", "pear", "kiwi"]) -> "pear"
    """
    return items[_extreme("max_by", map_(function, items), -1)]


@library_function
def min_by(function: Function, items: list[Value]) -> Value:
    """The first item for which the function's result is smallest.

    Raises an error for an empty list.

    Examples:
        min_by(length, ["pear", "fig", "yam"]) -> "fig"
    """
    return items[_extreme("min_by", map_(function, items), 0)]


@library_function
def group_by(function: Function, items: list[Value]) -> list[list[Value]]:
    """The items grouped by the function's result: a list of [result, items] in order of first appearance.

    Examples:
        group_by(length, ["fig", "pear", "yam"]) -> [[3, ["fig", "yam"]], [4, ["pear"]]]
    """
    results = map_(function, items)
    groups = distinct(results)
    charge(len(items) * len(groups))
    pairs = list(zip(items, results, strict=True))
    return [[group, [item for item, result in pairs if same(result, group)]] for group in groups]


def _extreme(name: str, results: list[Value], place: int) -> int:
    if not results:
        raise LanguageError(f"`{name}` needs a list that is not empty", code="E504")
    extreme = results[order(results)[place]]
    return next(at for at, result in enumerate(results) if compare(result, extreme) == 0)

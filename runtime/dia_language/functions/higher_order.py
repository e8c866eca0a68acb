"""Functions that take a function: map, filter, reduce and so on. Each call costs a step of the budget."""

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

CALLS = 1_000  # of the function of a fixpoint


@library_function
def map_(function: Function, items: list[Value]) -> list[Value]:
    """List of the function's results for each item.

    >>> map_(str.upper, ["a", "b"])
    ['A', 'B']
    """
    charge(len(items))
    return [function(item) for item in items]


@library_function
def filter_(function: Function, items: list[Value]) -> list[Value]:
    """Items for which the function is true, in their order.

    An error where the function gives anything but true or false.

    >>> filter_(str.isdigit, ["7", "x", "42"])
    ['7', '42']
    """
    charge(len(items))
    return [item for item in items if operators.truth(function(item))]


@library_function
def reduce(function: Function, items: list[Value], start: Value) -> Value:
    """Last state after function(state, item) for each item in order; the first state is `start`.

    >>> reduce(operators.subtract, [1, 2, 3], 10)
    4
    """
    charge(len(items))
    return fold(function, items, start)


@library_function
def scan(function: Function, items: list[Value], start: Value) -> list[Value]:
    """List of `start` and of each state after function(state, item): one longer than the items.

    >>> scan(operators.subtract, [1, 2, 3], 10)
    [10, 9, 7, 4]
    """
    charge(len(items))
    return list(accumulate(chain((start,), items), function))


@library_function
def iterate(function: Function, start: Value, times: int) -> list[Value]:
    """List of so many values: start, function(start), function(function(start)) and so on.

    `times` is from 0 to 1,000,000; the function is called once less.

    >>> iterate(operators.bit_not, 5, 4)
    [5, -6, 5, -6]
    """
    if not 0 <= times <= LIST_LENGTH:
        raise LanguageError(f"`iterate` makes 0 to {LIST_LENGTH} values", code="E501" if times < 0 else "E502")
    charge(times)
    values, value = [start][:times], start
    for _ in range(times - 1):
        value = function(value)
        values.append(value)
    return values


@library_function
def fixpoint(function: Function, start: Value, limit: int = 0) -> Value:
    """First value of start, function(start), ... that the function leaves as it is.

    Where there is none: the value after `limit` calls if a limit is given, so that a condition can judge it; else an
    error after 1,000 calls.

    >>> fixpoint(lambda text: text.replace("  ", " "), "a     b")
    'a b'
    >>> fixpoint(lambda n: 1 - n, 0, 5)
    1
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
    raise LanguageError(f"no value stays as it is within {CALLS} calls of the function", code="E504")


@library_function
def sort_by(function: Function, items: list[Value]) -> list[Value]:
    """Items in ascending order of the function's results; items with equal results keep their order.

    >>> sort_by(len, ["fig", "pear", "kiwi", "apple"])
    ['fig', 'pear', 'kiwi', 'apple']
    """
    return [items[place] for place in order(map_(function, items))]


@library_function
def max_by(function: Function, items: list[Value]) -> Value:
    """First item for which the function's result is greatest.

    An error for an empty list.

    >>> max_by(len, ["fig", "pear", "kiwi"])
    'pear'
    """
    return items[_extreme("max_by", map_(function, items), -1)]


@library_function
def min_by(function: Function, items: list[Value]) -> Value:
    """First item for which the function's result is least.

    An error for an empty list.

    >>> min_by(len, ["pear", "fig", "yam"])
    'fig'
    """
    return items[_extreme("min_by", map_(function, items), 0)]


@library_function
def group_by(function: Function, items: list[Value]) -> list[list[Value]]:
    """Items with equal results of the function together, as a list of [result, items] in the order of appearance.

    >>> group_by(len, ["fig", "pear", "yam"])
    [[3, ['fig', 'yam']], [4, ['pear']]]
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

"""Lists used as sets: union, intersection, difference, and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import filterfalse

from dia_language.budgets import charge
from dia_language.functions.argument_types import Value
from dia_language.functions.ordering import PLAIN, distinct, same
from dia_language.functions.registry import library_function


@library_function
def union(a: list[Value], b: list[Value]) -> list[Value]:
    """The items of both lists without duplicates, in order of first appearance: first those of `a`, then those of `b`.

    Examples:
        union([3, 1, 1], [2, 3]) -> [3, 1, 2]
    """
    return distinct([*a, *b])


@library_function
def intersection(a: list[Value], b: list[Value]) -> list[Value]:
    """The items that are in both lists, without duplicates, in the order of `a`.

    Examples:
        intersection([3, 1, 2, 3], [3, 2, 5]) -> [3, 2]
    """
    items = distinct(a)
    return list(filter(_membership(items, b), items))


@library_function
def difference(a: list[Value], b: list[Value]) -> list[Value]:
    """The items of `a` that are not in `b`, without duplicates, in the order of `a`.

    Examples:
        difference([3, 1, 2, 1], [3, 5]) -> [1, 2]
    """
    items = distinct(a)
    return list(filterfalse(_membership(items, b), items))


@library_function
def is_subset(a: list[Value], b: list[Value]) -> bool:
    """Whether every item of `a` is in `b`.

    Examples:
        is_subset([2, 1, 1], [1, 2, 3]) -> True
        is_subset([4], [1, 2, 3]) -> False
    """
    items = distinct(a)
    return all(list(map(_membership(items, b), items)))


@library_function
def tally(items: list[Value]) -> list[list[Value]]:
    """The number of times each item occurs, as a list of [item, count] in order of first appearance.

    Examples:
        tally(["b", "a", "b"]) -> [["b", 2], ["a", 1]]
    """
    items_once = distinct(items)
    if PLAIN.issuperset(map(type, items)):
        charge(len(items))
        counts = Counter(items)
        return [[item, counts[item]] for item in items_once]
    charge(len(items) * len(items_once))
    return [[item, sum(same(item, other) for other in items)] for item in items_once]


def _membership(items: list[Value], others: list[Value]) -> Callable[[Value], bool]:
    """A function that says whether an item is in the list."""
    if PLAIN.issuperset(map(type, items)) and PLAIN.issuperset(map(type, others)):
        charge(len(items) + len(others))
        return set(others).__contains__
    charge(len(items) * len(others))
    return lambda item: any(same(item, other) for other in others)

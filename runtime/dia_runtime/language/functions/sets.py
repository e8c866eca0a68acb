"""Lists as sets: what two have in common, and how often each item stands in one."""

from __future__ import annotations

from dia_runtime.language.budgets import charge
from dia_runtime.language.functions.kinds import Value
from dia_runtime.language.functions.ordering import distinct, same


def union(a: list[Value], b: list[Value]) -> list[Value]:
    """Items of either list without repeats, in the order of their first appearance, those of `a` first.

    >>> union([3, 1, 1], [2, 3])
    [3, 1, 2]
    """
    return distinct([*a, *b])


def intersection(a: list[Value], b: list[Value]) -> list[Value]:
    """Items that stand in both lists, without repeats, in the order of `a`.

    >>> intersection([3, 1, 2, 3], [3, 2, 5])
    [3, 2]
    """
    return [item for item, is_there in _present(distinct(a), b) if is_there]


def difference(a: list[Value], b: list[Value]) -> list[Value]:
    """Items of `a` that do not stand in `b`, without repeats, in the order of `a`.

    >>> difference([3, 1, 2, 1], [3, 5])
    [1, 2]
    """
    return [item for item, is_there in _present(distinct(a), b) if not is_there]


def is_subset(a: list[Value], b: list[Value]) -> bool:
    """Whether every item of `a` stands in `b`.

    >>> is_subset([2, 1, 1], [1, 2, 3]), is_subset([4], [1, 2, 3])
    (True, False)
    """
    return all(is_there for _, is_there in _present(distinct(a), b))


def tally(items: list[Value]) -> list[list[Value]]:
    """How often each item stands in the list, as a list of [item, count] in the order of first appearance.

    >>> tally(["b", "a", "b"])
    [['b', 2], ['a', 1]]
    """
    known = distinct(items)
    if all(type(item) in (int, str) for item in items):
        charge(len(items))
        counts: dict[Value, int] = {}
        for item in items:
            counts[item] = counts.get(item, 0) + 1
        return [[item, counts[item]] for item in known]
    charge(len(items) * len(known))
    return [[item, sum(same(item, other) for other in items)] for item in known]


def _present(items: list[Value], others: list[Value]) -> list[tuple[Value, bool]]:
    """Each item with whether it is among the others."""
    if all(type(item) in (int, str) for item in [*items, *others]):
        charge(len(items) + len(others))
        members = set(others)
        return [(item, item in members) for item in items]
    charge(len(items) * len(others))
    return [(item, any(same(item, other) for other in others)) for item in items]

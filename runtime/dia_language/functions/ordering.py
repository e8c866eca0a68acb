"""Order and sameness of values, as `sort`, `unique` and their like need them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from functools import cmp_to_key
from itertools import chain

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.numbers import operators
from dia_language.numbers.values import Entry, ExactDecimal, Record, Value, is_symbolic, kind_of

FAMILIES: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "booleans"),
    ((int, Fraction), "numbers"),
    (str, "texts"),
    (bytes, "bytes"),
    (list, "lists"),
)


def order(values: Sequence[Value]) -> list[int]:
    """The indexes of the values in ascending order of the values; equal values keep their order.

    Raises LanguageError if two of the values cannot be compared.
    """
    charge(len(values))
    if is_plain(values) or are_plain_lists(values):
        return sorted(range(len(values)), key=values.__getitem__)
    families = {_family(value) for value in values}
    if len(families) > 1:
        raise LanguageError(f"{' and '.join(sorted(families))} cannot be compared")
    if "lists" in families or any(map(is_symbolic, values)):
        key = cmp_to_key(compare)
        return sorted(range(len(values)), key=lambda place: key(values[place]))
    return sorted(range(len(values)), key=values.__getitem__)


def ascending(values: Sequence[Value]) -> list[Value]:
    """The values in ascending order. Raises LanguageError if two of them cannot be compared."""
    if is_plain(values) or are_plain_lists(values):
        charge(len(values))
        return sorted(values)
    return [values[place] for place in order(values)]


def is_plain(values: Sequence[Value]) -> bool:
    """Whether the values are all integers or all texts, which Python orders as the language does."""
    kinds = set(map(type, values))
    return len(kinds) == 1 and not kinds.isdisjoint(PLAIN)


def are_plain_lists(values: Sequence[Value]) -> bool:
    """Whether the values are lists of integers, or lists of texts, which Python orders as the language does."""
    if set(map(type, values)) != {list}:
        return False
    kinds = set(map(type, chain.from_iterable(values)))
    return len(kinds) <= 1 and PLAIN.issuperset(kinds)


PLAIN = frozenset({int, str})


def compare(a: Value, b: Value) -> int:
    """Compare two values in the language's order and return -1, 0 or 1; lists are compared element by element."""
    charge(1)
    if type(a) is list and type(b) is list:
        for x, y in zip(a, b, strict=False):
            if difference := compare(x, y):
                return difference
        return (len(a) > len(b)) - (len(a) < len(b))
    if operators.less(a, b):
        return -1
    return 1 if operators.less(b, a) else 0


def _family(value: Value) -> str:
    for kind, word in FAMILIES:
        if isinstance(value, kind):
            return word
    if is_symbolic(value):
        return "numbers"
    raise LanguageError(
        f"{kind_of(value)} values cannot be ordered", "use `sort_by` with a function that gives numbers or texts"
    )


def same(a: Value, b: Value) -> bool:
    """Whether two values are equal; values of different kinds are unequal, without an error."""
    if type(a) is list and type(b) is list:
        return len(a) == len(b) and all(map(same, a, b))
    if is_symbolic(a) or is_symbolic(b):
        return operators.is_number(a) and operators.is_number(b) and operators.equal(a, b)
    return bool(a == b)


def is_exact(value: Value) -> bool:
    """Whether Python's `==` gives the same result as `same` for the value: it contains nothing symbolic or unknown."""
    if type(value) is list:
        return EXACT.issuperset(map(type, value)) or (list in map(type, value) and all(map(is_exact, value)))
    return type(value) in EXACT


OWN_KEYS = frozenset({int, str, bool, bytes, Fraction, ExactDecimal})
EXACT = OWN_KEYS | {type(None)}


def distinct(values: Sequence[Value]) -> list[Value]:
    """The values without duplicates, in order of first appearance."""
    charge(len(values))
    if is_plain(values):
        return list(dict.fromkeys(values))
    keys = [hashable(value) for value in values]
    if None in keys:
        return _distinct_by_pairs(values)
    first: dict[Hashable, Value] = {}
    for key, value in zip(keys, values, strict=True):
        first.setdefault(key, value)
    return list(first.values())


def _distinct_by_pairs(values: Sequence[Value]) -> list[Value]:
    unequal: list[Value] = []
    for value in values:
        charge(len(unequal))
        if not any(same(value, other) for other in unequal):
            unequal.append(value)
    return unequal


def hashable(value: Value) -> Hashable | None:
    """A key that equal values share, or None if only computation can decide (symbolic expressions)."""
    if type(value) in OWN_KEYS:
        return value  # type: ignore[no-any-return]
    if is_symbolic(value):
        return None
    if isinstance(value, list):
        return _keys("list", value)
    if isinstance(value, Record):
        names = sorted(value)
        return _keys(("record", *names), [value[name] for name in names])
    if isinstance(value, Entry):
        return _keys(("entry", value.catalog, value.name), list(value.values.values()))
    return ("none",) if value is None else value


def _keys(kind: Hashable, values: Sequence[Value]) -> Hashable | None:
    if OWN_KEYS.issuperset(map(type, values)):
        return kind, tuple(values)
    keys = tuple(map(hashable, values))
    return None if None in keys else (kind, keys)

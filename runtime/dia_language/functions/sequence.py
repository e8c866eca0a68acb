"""Lists, and what texts have in common with them. Places count from 0, and nothing is changed in place."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate, chain, pairwise, product
from operator import add

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Number, Sized, Value
from dia_language.functions.arithmetic import INTEGERS
from dia_language.functions.ordering import ascending, compare, distinct, is_exact, is_plain, same
from dia_language.functions.registry import library_function
from dia_language.limits import LIST_LENGTH
from dia_language.numbers import operators
from dia_language.numbers.values import Record


@library_function
def length(whole: Sized) -> int:
    """How many items a list, characters a text, bytes a byte string or fields a record has.

    >>> length([3, 1, 2]), length("naïve")
    (3, 5)
    """
    return len(whole)


@library_function
def range_(first: int, *others: int) -> list[int]:
    """List of integers: range(stop), range(start, stop) or range(start, stop, step), without the stop.

    At most 1,000,000 integers; the step is not 0.

    >>> range_(4), range_(1, 4), range_(9, 0, -3)
    ([0, 1, 2, 3], [1, 2, 3], [9, 6, 3])
    """
    if len(others) > 2 or (len(others) == 2 and not others[1]):
        raise LanguageError("`range` takes a stop, or a start, a stop and a step that is not 0")
    numbers = range(first, *others)
    try:
        charge(_bounded("range", len(numbers)))
    except OverflowError:
        _bounded("range", LIST_LENGTH + 1)
    return list(numbers)


@library_function
def sort(items: list[Value]) -> list[Value]:
    """Items in ascending order: numbers by size, texts by code point, lists by their first difference.

    An error for items of different kinds and for such as have no order.

    >>> sort([3, 1, 2]), sort(["b", "B", "a"])
    ([1, 2, 3], ['B', 'a', 'b'])
    """
    return ascending(items)


@library_function
def is_sorted(items: list[Value]) -> bool:
    """Whether each item is at least as great as the one before it.

    >>> is_sorted([1, 2, 2]), is_sorted([2, 1])
    (True, False)
    """
    if is_plain(items):
        charge(len(items) // 4)
        return items == sorted(items)  # which takes a third of the time of pairs, since what is sorted is left alone
    return all(compare(*pair) <= 0 for pair in pairwise(items))


@library_function
def all_(values: Iterable[Value]) -> bool:
    """Whether all values are true; of no values it is true.

    An error for a value that is neither true nor false.

    >>> all_([True, False]), all_([])
    (False, True)
    """
    return operators.every(values)


@library_function
def any_(values: Iterable[Value]) -> bool:
    """Whether one of the values is true; of no values it is false.

    An error for a value that is neither true nor false.

    >>> any_([True, False]), any_([])
    (True, False)
    """
    return operators.some(values)


@library_function
def unique(items: list[Value]) -> list[Value]:
    """Items without repeats, in the order of their first appearance.

    >>> unique([3, 1, 3, 2, 1])
    [3, 1, 2]
    """
    return distinct(items)


@library_function
def set_(items: list[Value]) -> list[Value]:
    """Items without repeats in ascending order, so that sets with the same members are equal.

    An error for items that have no order among each other.

    >>> set_([3, 1, 3, 2, 1])
    [1, 2, 3]
    """
    return ascending(distinct(items))


@library_function
def reverse(whole: str | bytes | list[Value]) -> str | bytes | list[Value]:
    """Text, bytes or list from its end to its beginning.

    >>> reverse([1, 2, 3]), reverse("abc")
    ([3, 2, 1], 'cba')
    """
    return whole[::-1]


@library_function
def rotate(whole: str | bytes | list[Value], n: int) -> str | bytes | list[Value]:
    """Text, bytes or list with its last n elements moved to the front.

    A negative `n` moves the first ones to the end; `n` may be greater than the length.

    >>> rotate([1, 2, 3, 4], 1), rotate("abcd", -1)
    ([4, 1, 2, 3], 'bcda')
    """
    at = len(whole) - n % len(whole) if whole else 0
    return operators.add(whole[at:], whole[:at])  # type: ignore[no-any-return]


@library_function
def zip_(first: list[Value], *others: list[Value]) -> list[Value]:
    """List of lists that hold the first items, the second items and so on; as long as the shortest list.

    >>> zip_([1, 2, 3], ["a", "b", "c"])
    [[1, 'a'], [2, 'b'], [3, 'c']]
    """
    charge(len(first))
    return [list(row) for row in zip(first, *others, strict=False)]


@library_function
def enumerate_(items: list[Value], start: int = 0) -> list[Value]:
    """List of [number, item] for each item, counted from `start`.

    >>> enumerate_(["a", "b"]), enumerate_(["a"], 1)
    ([[0, 'a'], [1, 'b']], [[1, 'a']])
    """
    charge(len(items))
    return [[number, item] for number, item in enumerate(items, start)]


LISTS = frozenset({list})


@library_function
def flatten(items: list[Value]) -> list[Value]:
    """Items of the lists in the list, one level deep; what is no list stays as it is.

    At most 1,000,000 items.

    >>> flatten([[1, 2], 3, [[4]]])
    [1, 2, 3, [4]]
    """
    are_lists = LISTS.issuperset(map(type, items))
    parts = items if are_lists else [item if isinstance(item, list) else [item] for item in items]
    charge(_bounded("flatten", sum(map(len, parts))))
    return list(chain.from_iterable(parts))


@library_function
def cartesian(first: list[Value], *others: list[Value]) -> list[Value]:
    """All lists of one item from each list, the last list's items changing fastest.

    At most 1,000,000 of them.

    >>> cartesian([0, 1], ["a", "b"])
    [[0, 'a'], [0, 'b'], [1, 'a'], [1, 'b']]
    """
    total = 1
    for items in (first, *others):
        total *= len(items)
    charge(_bounded("cartesian", total))
    return [list(chosen) for chosen in product(first, *others)]


@library_function
def count(whole: str | list[Value], value: Value) -> int:
    """How often the value stands in a list, or a text in another without overlaps.

    An error where the text that is sought is empty.

    >>> count([1, 2, 1], 1), count("banana", "ana")
    (2, 1)
    """
    if isinstance(whole, str):
        return whole.count(_sought(value))
    charge(len(whole))
    if is_exact(value) and is_exact(whole):
        return whole.count(value)  # equals the sum below, and saves a quarter of the compile of captcha
    return sum(same(item, value) for item in whole)


@library_function
def first_index(whole: str | list[Value], value: Value) -> int | None:
    """Place of the value's first appearance in a list, or of a text's in another; none where it is absent.

    Places count from 0. An error where the text that is sought is empty.

    >>> first_index(["a", "b"], "b"), first_index("banana", "nan"), first_index([1], 2)
    (1, 2, None)
    """
    if isinstance(whole, str):
        place = whole.find(_sought(value))
        return None if place < 0 else place
    charge(len(whole))
    if is_exact(value) and is_exact(whole):
        return whole.index(value) if value in whole else None  # saves a third of the compile of aes_ecb
    return next((at for at, item in enumerate(whole) if same(item, value)), None)


@library_function
def field_names(record: Record) -> list[str]:
    """Names of a record's fields, in their order.

    >>> field_names(Record({"red": True, "blue": False}))
    ['red', 'blue']
    """
    charge(len(record))
    return list(record)


def _sought(value: Value) -> str:
    if not isinstance(value, str) or not value:
        raise LanguageError("what is sought in a text is a text that is not empty")
    return value


@library_function
def first(whole: str | list[Value]) -> Value:
    """First item of the list, or first character of the text.

    An error where it is empty.

    >>> first([7, 8]), first("abc")
    (7, 'a')
    """
    return _filled("first", whole)[0]


@library_function
def last(whole: str | list[Value]) -> Value:
    """Last item of the list, or last character of the text.

    An error where it is empty.

    >>> last([7, 8]), last("abc")
    (8, 'c')
    """
    return _filled("last", whole)[-1]


def _filled(name: str, whole: str | list[Value]) -> str | list[Value]:
    if not whole:
        raise LanguageError(f"an empty list or text has no {name} element", code="E504")
    return whole


@library_function
def take(whole: str | list[Value], n: int) -> str | list[Value]:
    """First n items of the list or characters of the text, all of them where it has fewer.

    `n` is 0 or more.

    >>> take([1, 2, 3], 2), take("abc", 5)
    ([1, 2], 'abc')
    """
    return whole[: _size("take", n, 0)]


@library_function
def drop(whole: str | list[Value], n: int) -> str | list[Value]:
    """List or text without its first n items or characters, empty where it has fewer.

    `n` is 0 or more.

    >>> drop([1, 2, 3], 2), drop("abc", 5)
    ([3], '')
    """
    return whole[_size("drop", n, 0) :]


@library_function
def chunks(whole: str | list[Value], n: int) -> list[Value]:
    """Pieces of n items or characters in their order; the last one may be shorter.

    `n` is 1 or more.

    >>> chunks([1, 2, 3, 4, 5], 2), chunks("abcdef", 3)
    ([[1, 2], [3, 4], [5]], ['abc', 'def'])
    """
    size = _size("chunks", n, 1)
    charge(len(whole) // size + 1)
    return [whole[at : at + size] for at in range(0, len(whole), size)]


@library_function
def windows(whole: str | list[Value], n: int) -> list[Value]:
    """All runs of n neighbouring items or characters, from left to right.

    None where there are fewer. `n` is 1 or more; at most 1,000,000 items in all runs together.

    >>> windows([1, 2, 3, 4], 2), windows("abcd", 3)
    ([[1, 2], [2, 3], [3, 4]], ['abc', 'bcd'])
    """
    size = _size("windows", n, 1)
    runs = max(0, len(whole) - size + 1)
    charge(_bounded("windows", runs * size))
    return [whole[at : at + size] for at in range(runs)]


def _size(name: str, n: int, least: int) -> int:
    if n < least:
        raise LanguageError(f"`{name}` needs `n` to be {least} or more")
    return n


@library_function
def riffle(a: list[Value], b: list[Value]) -> list[Value]:
    """Items of the two lists in turns, beginning with `a`: a[0], b[0], a[1], b[1] and so on.

    An error unless `b` has as many items as `a` or one less.

    >>> riffle([1, 2, 3], ["+", "*"])
    [1, '+', 2, '*', 3]
    """
    if len(a) - len(b) not in (0, 1):
        raise LanguageError(f"`riffle` has {len(a)} and {len(b)} items", "`b` has as many as `a`, or one less")
    charge(len(a))
    mixed = [item for pair in zip(a, b, strict=False) for item in pair]
    return mixed + a[len(b) :]


@library_function
def interleave(a: list[Value], b: list[Value]) -> list[Value]:
    """Items of the two lists, each in its own order, the shorter list's spread evenly over the longer's.

    Item i of n stands at (2 i + 1) / 2 n of the way; of two at one place that of `a` comes first.

    >>> interleave([1, 2], ["a", "b", "c", "d"])
    ['a', 1, 'b', 'c', 2, 'd']
    """
    charge(len(a) + len(b))
    mixed, used = [], 0
    for at, item in enumerate(a):
        while used < len(b) and (2 * used + 1) * len(a) < (2 * at + 1) * len(b):
            mixed.append(b[used])
            used += 1
        mixed.append(item)
    return mixed + b[used:]


@library_function
def prefix_sums(values: list[Number]) -> list[Number]:
    """Running sums of the numbers: the first, the sum of the first two and so on; as long as the list.

    >>> prefix_sums([1, 2, 3])
    [1, 3, 6]
    """
    charge(len(values))
    return list(accumulate(values, add if INTEGERS.issuperset(map(type, values)) else operators.add))


def _bounded(name: str, size: int) -> int:
    if size > LIST_LENGTH:
        raise LanguageError(f"`{name}` would give more than {LIST_LENGTH} items", code="E502")
    return size

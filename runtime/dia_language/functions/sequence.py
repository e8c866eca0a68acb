"""Operations on lists, and those that lists and texts share. Positions are counted from 0."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate, chain, pairwise, product
from operator import add

from dia_language.budgets import charge, require_items
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
    """The number of items in a list, characters in a text, bytes in a byte string, or fields in a record.

    Examples:
        length([3, 1, 2]) -> 3
        length("naïve") -> 5
    """
    return len(whole)


@library_function
def range_(first: int, *others: int) -> list[int]:
    """The integers from start up to, but not including, stop.

    Call it as range(stop), range(start, stop) or range(start, stop, step). At most 1,000,000 integers. The step must
    not be 0.

    Examples:
        range(4) -> [0, 1, 2, 3]
        range(1, 4) -> [1, 2, 3]
        range(9, 0, -3) -> [9, 6, 3]
    """
    if len(others) > 2 or (len(others) == 2 and not others[1]):
        raise LanguageError("`range` needs a stop, or a start, a stop and a step that is not 0")
    numbers = range(first, *others)
    try:
        charge(require_items("range", len(numbers)))
    except OverflowError:
        require_items("range", LIST_LENGTH + 1)
    return list(numbers)


@library_function
def sort(items: list[Value]) -> list[Value]:
    """The items in ascending order: numbers by size, texts by code point, lists by their first difference.

    Raises an error if the items are of different kinds or cannot be ordered.

    Examples:
        sort([3, 1, 2]) -> [1, 2, 3]
        sort(["b", "B", "a"]) -> ["B", "a", "b"]
    """
    return ascending(items)


@library_function
def is_sorted(items: list[Value]) -> bool:
    """Whether the items are in ascending order; equal neighbours are allowed.

    Examples:
        is_sorted([1, 2, 2]) -> True
        is_sorted([2, 1]) -> False
    """
    if is_plain(items):
        charge(len(items) // 4)
        return items == sorted(items)  # a third of the time of comparing pairs, because sorting sorted data is fast
    return all(compare(*pair) <= 0 for pair in pairwise(items))


@library_function
def all_(values: Iterable[Value]) -> bool:
    """Whether all values are true; true for an empty list.

    Raises an error for a value that is not a boolean.

    Examples:
        all([true, false]) -> False
        all([]) -> True
    """
    return operators.every(values)


@library_function
def any_(values: Iterable[Value]) -> bool:
    """Whether any value is true; false for an empty list.

    Raises an error for a value that is not a boolean.

    Examples:
        any([true, false]) -> True
        any([]) -> False
    """
    return operators.some(values)


@library_function
def unique(items: list[Value]) -> list[Value]:
    """The items without duplicates, in order of first appearance.

    Examples:
        unique([3, 1, 3, 2, 1]) -> [3, 1, 2]
    """
    return distinct(items)


@library_function
def set_(items: list[Value]) -> list[Value]:
    """The items without duplicates in ascending order, so that sets with the same members are equal.

    Raises an error if the items cannot be ordered.

    Examples:
        set([3, 1, 3, 2, 1]) -> [1, 2, 3]
    """
    return ascending(distinct(items))


@library_function
def reverse(whole: str | bytes | list[Value]) -> str | bytes | list[Value]:
    """The text, bytes or list in reverse order.

    Examples:
        reverse([1, 2, 3]) -> [3, 2, 1]
        reverse("abc") -> "cba"
    """
    return whole[::-1]


@library_function
def rotate(whole: str | bytes | list[Value], n: int) -> str | bytes | list[Value]:
    """The text, bytes or list with its last `n` elements moved to the front.

    A negative `n` moves the first elements to the end. `n` can be larger than the length.

    Examples:
        rotate([1, 2, 3, 4], 1) -> [4, 1, 2, 3]
        rotate("abcd", -1) -> "bcda"
    """
    at = len(whole) - n % len(whole) if whole else 0
    return operators.add(whole[at:], whole[:at])  # type: ignore[no-any-return]


@library_function
def zip_(first: list[Value], *others: list[Value]) -> list[Value]:
    """The list of lists that hold the first items, the second items, and so on, up to the length of the shortest list.

    Examples:
        zip([1, 2, 3], ["a", "b", "c"]) -> [[1, "a"], [2, "b"], [3, "c"]]
    """
    charge(len(first))
    return [list(row) for row in zip(first, *others, strict=False)]


@library_function
def enumerate_(items: list[Value], start: int = 0) -> list[Value]:
    """The list of [index, item] for each item, with indexes counted from `start`.

    Examples:
        enumerate(["a", "b"]) -> [[0, "a"], [1, "b"]]
        enumerate(["a"], 1) -> [[1, "a"]]
    """
    charge(len(items))
    return [[number, item] for number, item in enumerate(items, start)]


LISTS = frozenset({list})


@library_function
def flatten(items: list[Value]) -> list[Value]:
    """The items of the inner lists as one list, flattened by one level; items that are not lists are kept.

    At most 1,000,000 items.

    Examples:
        flatten([[1, 2], 3, [[4]]]) -> [1, 2, 3, [4]]
    """
    are_lists = LISTS.issuperset(map(type, items))
    parts = items if are_lists else [item if isinstance(item, list) else [item] for item in items]
    charge(require_items("flatten", sum(map(len, parts))))
    return list(chain.from_iterable(parts))


@library_function
def cartesian(first: list[Value], *others: list[Value]) -> list[Value]:
    """The Cartesian product: all lists with one item from each list. The last list varies fastest.

    At most 1,000,000 combinations.

    Examples:
        cartesian([0, 1], ["a", "b"]) -> [[0, "a"], [0, "b"], [1, "a"], [1, "b"]]
    """
    total = 1
    for items in (first, *others):
        total *= len(items)
    charge(require_items("cartesian", total))
    return [list(chosen) for chosen in product(first, *others)]


@library_function
def count(whole: str | list[Value], value: Value) -> int:
    """The number of times that `value` occurs in a list, or, without overlaps, in a text.

    Raises an error for an empty search text.

    Examples:
        count([1, 2, 1], 1) -> 2
        count("banana", "ana") -> 1
    """
    if isinstance(whole, str):
        return whole.count(_search_text(value))
    charge(len(whole))
    if is_exact(value) and is_exact(whole):
        return whole.count(value)  # equals the sum below and saves a quarter of the compile time of captcha
    return sum(same(item, value) for item in whole)


@library_function
def first_index(whole: str | list[Value], value: Value) -> int | None:
    """The position of the first occurrence of `value` in a list or text, or none if it does not occur.

    Positions are counted from 0. Raises an error for an empty search text.

    Examples:
        first_index(["a", "b"], "b") -> 1
        first_index("banana", "nan") -> 2
        first_index([1], 2) -> none
    """
    if isinstance(whole, str):
        place = whole.find(_search_text(value))
        return None if place < 0 else place
    charge(len(whole))
    if is_exact(value) and is_exact(whole):
        return whole.index(value) if value in whole else None  # saves a third of the compile time of aes_ecb
    return next((at for at, item in enumerate(whole) if same(item, value)), None)


@library_function
def field_names(record: Record) -> list[str]:
    """The field names of a record, in order.

    Examples:
        field_names({"red": true, "blue": false}) -> ["red", "blue"]
    """
    charge(len(record))
    return list(record)


def _search_text(value: Value) -> str:
    if not isinstance(value, str) or not value:
        raise LanguageError("the value to look for in a text must be a text that is not empty")
    return value


@library_function
def first(whole: str | list[Value]) -> Value:
    """The first item of a list or first character of a text.

    Raises an error if it is empty.

    Examples:
        first([7, 8]) -> 7
        first("abc") -> "a"
    """
    return _filled("first", whole)[0]


@library_function
def last(whole: str | list[Value]) -> Value:
    """The last item of a list or last character of a text.

    Raises an error if it is empty.

    Examples:
        last([7, 8]) -> 8
        last("abc") -> "c"
    """
    return _filled("last", whole)[-1]


def _filled(name: str, whole: str | list[Value]) -> str | list[Value]:
    if not whole:
        raise LanguageError(f"an empty list or text has no {name} element", code="E504")
    return whole


@library_function
def take(whole: str | list[Value], n: int) -> str | list[Value]:
    """The first `n` items of the list or characters of the text; all of them if there are fewer.

    `n` must be 0 or more.

    Examples:
        take([1, 2, 3], 2) -> [1, 2]
        take("abc", 5) -> "abc"
    """
    return whole[: _size("take", n, 0)]


@library_function
def drop(whole: str | list[Value], n: int) -> str | list[Value]:
    """The list or text without its first `n` items or characters; empty if it has no more than `n`.

    `n` must be 0 or more.

    Examples:
        drop([1, 2, 3], 2) -> [3]
        drop("abc", 5) -> ""
    """
    return whole[_size("drop", n, 0) :]


@library_function
def items_at(whole: str | list[Value], positions: list[int]) -> str | list[Value]:
    """The items of a list, or characters of a text, at the given positions, in the order of the positions.

    A position may occur several times; negative positions count from the end, as in `whole[-1]`.

    Examples:
        items_at([5, 6, 7], [2, 0]) -> [7, 5]
        items_at("abcd", [3, 0, 0]) -> "daa"
    """
    charge(len(positions))
    try:
        items = list(map(whole.__getitem__, positions))
    except IndexError:
        wrong = next(position for position in positions if not -len(whole) <= position < len(whole))
        raise LanguageError(f"position {wrong} of `items_at` is outside a length of {len(whole)}") from None
    return items if isinstance(whole, list) else "".join(items)


@library_function
def chunks(whole: str | list[Value], n: int) -> list[Value]:
    """Consecutive pieces of `n` items or characters; the last one may be shorter.

    `n` must be 1 or more.

    Examples:
        chunks([1, 2, 3, 4, 5], 2) -> [[1, 2], [3, 4], [5]]
        chunks("abcdef", 3) -> ["abc", "def"]
    """
    size = _size("chunks", n, 1)
    charge(len(whole) // size + 1)
    return [whole[at : at + size] for at in range(0, len(whole), size)]


@library_function
def windows(whole: str | list[Value], n: int) -> list[Value]:
    """All runs of `n` consecutive items or characters, from left to right.

    Empty if there are fewer than `n`. `n` must be 1 or more. At most 1,000,000 items in total over all runs.

    Examples:
        windows([1, 2, 3, 4], 2) -> [[1, 2], [2, 3], [3, 4]]
        windows("abcd", 3) -> ["abc", "bcd"]
    """
    size = _size("windows", n, 1)
    runs = max(0, len(whole) - size + 1)
    charge(require_items("windows", runs * size))
    return [whole[at : at + size] for at in range(runs)]


def _size(name: str, n: int, least: int) -> int:
    if n < least:
        raise LanguageError(f"`{name}` needs `n` to be {least} or more")
    return n


@library_function
def riffle(a: list[Value], b: list[Value]) -> list[Value]:
    """The items of both lists alternately, starting with `a`: a[0], b[0], a[1], b[1] and so on.

    Raises an error unless `b` has as many items as `a` or one fewer.

    Examples:
        riffle([1, 2, 3], ["+", "*"]) -> [1, "+", 2, "*", 3]
    """
    if len(a) - len(b) not in (0, 1):
        raise LanguageError(
            f"`riffle` got lists of {len(a)} and {len(b)} items", "`b` must have as many items as `a`, or one fewer"
        )
    charge(len(a))
    mixed = [item for pair in zip(a, b, strict=False) for item in pair]
    return mixed + a[len(b) :]


@library_function
def interleave(a: list[Value], b: list[Value]) -> list[Value]:
    """The items of both lists, each in its own order, with the shorter list spread evenly over the longer one.

    Item i of a list with n items is placed at (2 * i + 1) / (2 * n) of the way; at equal places, the item of `a` comes
    first.

    Examples:
        interleave([1, 2], ["a", "b", "c", "d"]) -> ["a", 1, "b", "c", 2, "d"]
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
    """The running totals: the first number, the sum of the first two, and so on.

    Examples:
        prefix_sums([1, 2, 3]) -> [1, 3, 6]
    """
    charge(len(values))
    return list(accumulate(values, add if INTEGERS.issuperset(map(type, values)) else operators.add))

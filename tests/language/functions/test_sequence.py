"""Lists against Python's own and itertools."""

from __future__ import annotations

import itertools
import time
from collections import deque
from fractions import Fraction
from typing import Any

import sympy
from dia_language.numbers.values import ExactDecimal, Record
from helpers.library_calls import call, code
from hypothesis import given
from hypothesis import strategies as st

ITEMS = st.lists(st.integers(-5, 5), max_size=12)
TEXTS = st.text(alphabet="abcé", max_size=12)


@given(ITEMS)
def test_orders_and_sets_agree_with_python(items: list[int]) -> None:
    assert call("length", items) == len(items)
    assert call("sort", items) == sorted(items)
    assert call("set", items) == sorted(set(items))
    assert call("unique", items) == list(dict.fromkeys(items))
    assert call("is_sorted", items) == (items == sorted(items))
    assert call("reverse", items) == list(reversed(items))
    assert call("prefix_sums", items) == list(itertools.accumulate(items))
    assert call("enumerate", items, 3) == [list(pair) for pair in enumerate(items, 3)]


@given(ITEMS, TEXTS, st.lists(st.integers(-12, 11), max_size=5))
def test_items_at_positions_are_those_of_indexing(items: list[int], text: str, positions: list[int]) -> None:
    inside = [at for at in positions if -len(items) <= at < len(items)]
    assert call("items_at", items, inside) == [items[at] for at in inside]
    assert call("items_at", text, list(range(len(text)))[::-1]) == text[::-1]
    assert len(inside) == len(positions) or code("items_at", items, positions) == "E501"


@given(ITEMS, ITEMS)
def test_pairs_agree_with_itertools(a: list[int], b: list[int]) -> None:
    assert call("zip", a, b) == [list(pair) for pair in zip(a, b, strict=False)]
    assert call("cartesian", a, b) == [list(pair) for pair in itertools.product(a, b)]
    assert call("flatten", [a, 7, b]) == list(itertools.chain(a, [7], b))
    assert call("flatten", [a, b]) == [*a, *b]
    mixed = call("interleave", list(enumerate(a)), [(place, "b") for place in range(len(b))])
    assert [item for item in mixed if item[1] != "b"] == list(enumerate(a))
    assert [item for item in mixed if item[1] == "b"] == [(place, "b") for place in range(len(b))]


@given(st.integers(1, 9), st.integers(1, 9))
def test_interleaving_spreads_evenly(few: int, times: int) -> None:
    mixed = call("interleave", ["a"] * few, ["b"] * (few * times))
    gaps = [len(run) for run in "".join(mixed).split("a")]
    assert max(gaps[1:-1], default=times) == min(gaps[1:-1], default=times) == times
    assert abs(gaps[0] - gaps[-1]) <= 1


@given(ITEMS, st.integers(-30, 30))
def test_rotation_agrees_with_deque(items: list[int], n: int) -> None:
    turned = deque(items)
    turned.rotate(n)
    assert call("rotate", items, n) == list(turned)
    text, moved = ("".join(chr(70 + item) for item in whole) for whole in (items, turned))
    assert call("rotate", text, n) == moved
    assert call("rotate", bytes(item + 5 for item in items), n) == bytes(item + 5 for item in turned)


@given(st.one_of(ITEMS, TEXTS), st.integers(1, 14))
def test_pieces_put_together_are_the_whole(whole: Any, n: int) -> None:
    pieces = call("chunks", whole, n)
    assert call("take", whole, n) + call("drop", whole, n) == whole
    assert [item for piece in pieces for item in piece] == list(whole)
    assert all(len(piece) == n for piece in pieces[:-1])
    assert [list(run) for run in call("windows", whole, n)] == [
        list(run) for run in zip(*(whole[at:] for at in range(n)), strict=False)
    ]
    if whole:
        assert (call("first", whole), call("last", whole)) == (whole[0], whole[-1])


@given(ITEMS, st.integers(-5, 5))
def test_counting_and_finding_agree_with_python(items: list[int], value: int) -> None:
    assert call("count", items, value) == items.count(value)
    assert call("first_index", items, value) == (items.index(value) if value in items else None)


@given(TEXTS, st.text(alphabet="abcé", min_size=1, max_size=2))
def test_counting_and_finding_in_texts(text: str, part: str) -> None:
    import re

    found = [match.start() for match in re.finditer(re.escape(part), text)]
    assert call("count", text, part) == len(found)
    assert call("first_index", text, part) == (found[0] if found else None)


@given(st.integers(-20, 20), st.integers(-20, 20), st.integers(-5, 5).filter(bool))
def test_ranges_agree_with_python(start: int, stop: int, step: int) -> None:
    assert call("range", stop) == list(range(stop))
    assert call("range", start, stop) == list(range(start, stop))
    assert call("range", start, stop, step) == list(range(start, stop, step))


def test_riffling() -> None:
    assert call("riffle", [1, 2, 3], ["a", "b", "c"]) == [1, "a", 2, "b", 3, "c"]
    assert call("riffle", [1], []) == [1]
    assert call("riffle", [], []) == []
    assert code("riffle", [1], [2, 3]) == code("riffle", [1, 2, 3], [4]) == "E501"


def test_all_and_any_take_booleans_alone() -> None:
    assert call("all", [True, True]) and not call("all", [True, False]) and call("all", [])
    assert call("any", [False, True]) and not call("any", [False, False]) and not call("any", [])
    assert call("all", (n > 0 for n in [1, 2])) is True
    assert call("any", (n > 1 for n in [1, 2])) is True
    for name, least in (("all", True), ("any", False)):
        kinds: list[Any] = [1, 0, "a", None, []]
        for wrong in kinds:
            assert code(name, [least, wrong]) == "E501"


def test_values_of_every_kind_are_ordered_within_their_kind() -> None:
    root = sympy.sqrt(2)
    assert call("sort", ["b", "é", "a", "B"]) == ["B", "a", "b", "é"]
    assert call("sort", [True, False]) == [False, True]
    assert call("sort", [b"b", b"a"]) == [b"a", b"b"]
    assert call("sort", [Fraction(3, 2), root, 1]) == [1, root, Fraction(3, 2)]
    assert call("sort", [[2, "a"], [1, "b"], [1, "a"], [1]]) == [[1], [1, "a"], [1, "b"], [2, "a"]]
    assert call("sort", [[root], [1], [2]]) == [[1], [root], [2]]
    for mixed in ([1, "a"], [1, None], [True, 1], [[1], 1], [[1], ["a"]], ["a", b"a"], [Record(a=1)]):
        assert code("sort", mixed) == "E501"


def test_repeats_are_found_in_values_of_every_kind() -> None:
    root = sympy.sqrt(2)
    values = ["a", b"a", 1, Fraction(1, 2), ExactDecimal(1, 2), [1, [2]], [1, [2]], Record(a=1, b=[2]), None]
    kept = ["a", b"a", 1, Fraction(1, 2), [1, [2]], Record(a=1, b=[2]), None]
    assert call("unique", [*values, Record(b=[2], a=1), None]) == kept
    assert call("unique", [root, 1, root * sympy.sqrt(3), sympy.sqrt(6), [root], [sympy.sqrt(8) / 2]]) == [
        root,
        1,
        sympy.sqrt(6),
        [root],
    ]
    assert call("count", ["1", 1, [1], [1]], [1]) == 2
    assert call("first_index", ["a", sympy.sqrt(8)], 2 * root) == 1


def test_lengths() -> None:
    assert [call("length", whole) for whole in ("né", b"abc", [1, 2], Record(a=1), "")] == [2, 3, 2, 1, 0]
    assert code("length", 12) == "E501"


def test_bounds_and_missing_answers() -> None:
    began = time.perf_counter()
    for arguments in ((10**9,), (10**30,), (0, -(10**9), -1)):
        assert code("range", *arguments) == "E502"
    assert code("cartesian", *[list(range(1000))] * 3) == code("flatten", [[0] * 600_000] * 2) == "E502"
    assert code("windows", [0] * 3000, 1500) == "E502"
    assert time.perf_counter() - began < 1
    assert code("first", []) == code("last", "") == "E504"
    assert code("range", 1, 5, 0) == code("range", 1, 2, 3, 4) == "E501"
    assert code("chunks", [1], 0) == code("windows", [1], 0) == code("take", [1], -1) == code("drop", "a", -1) == "E501"
    assert code("count", "abc", "") == code("first_index", "abc", 1) == "E501"


def test_nothing_is_changed_in_place() -> None:
    items, other = [3, 1, 2], [[5], [4]]
    for name in ("sort", "reverse", "unique", "set", "prefix_sums", "is_sorted"):
        call(name, items)
    for name in ("rotate", "take", "drop", "chunks", "windows"):
        call(name, items, 2)
    call("flatten", other)
    call("interleave", items, other)
    assert (items, other) == ([3, 1, 2], [[5], [4]])


@given(st.dictionaries(st.text(), st.integers()))
def test_field_names_are_the_keys_of_a_mapping_in_their_order(fields: dict[str, int]) -> None:
    assert call("field_names", Record(fields)) == list(fields)
    assert code("field_names", list(fields)) == "E501"

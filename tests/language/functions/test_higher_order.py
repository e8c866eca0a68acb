"""Functions of functions against functools and itertools."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import pytest
from dia_language.budgets import left, reset
from dia_language.diagnostics import LanguageError
from dia_language.functions import library
from helpers.library_calls import call, code
from hypothesis import given
from hypothesis import strategies as st

ITEMS = st.lists(st.integers(-9, 9), max_size=12)


def squared(n: int) -> int:
    return n * n


def shifted(state: int, item: int) -> int:
    return 3 * state - item


@given(ITEMS, st.integers(-9, 9))
def test_loops_agree_with_python(items: list[int], start: int) -> None:
    assert call("map", squared, items) == list(map(squared, items))
    assert call("filter", lambda n: n > 0, items) == [n for n in items if n > 0]
    assert call("reduce", shifted, items, start) == functools.reduce(shifted, items, start)
    assert call("scan", shifted, items, start) == list(itertools.accumulate(items, shifted, initial=start))
    assert call("sort_by", squared, items) == sorted(items, key=squared)
    if items:
        assert call("max_by", squared, items) == max(items, key=squared)
        assert call("min_by", squared, items) == min(items, key=squared)


def test_iterating_begins_with_the_start() -> None:
    assert call("iterate", lambda n: 2 * n, 1, 5) == [1, 2, 4, 8, 16]
    assert call("iterate", lambda n: 2 * n, 1, 1) == [1]
    assert call("iterate", lambda n: 2 * n, 1, 0) == []
    assert code("iterate", squared, 1, -1) == "E501"
    assert code("iterate", squared, 1, 10**9) == "E502"


def test_the_fixpoint_is_the_first_value_that_stays() -> None:
    halved = [n // 2 for n in range(100)]
    assert call("fixpoint", lambda n: halved[n], 99) == 0
    assert call("fixpoint", lambda n: n, 5) == 5
    assert call("fixpoint", lambda n: min(n + 1, 4), 0, 5) == 4
    assert call("fixpoint", lambda n: min(n + 1, 4), 0, 3) == 3
    assert call("fixpoint", lambda n: 1 - n, 0, 7) == 1
    assert code("fixpoint", lambda n: n + 1, 0) == "E504"


def test_only_booleans_filter_and_only_one_kind_has_an_order() -> None:
    assert code("filter", squared, [1]) == "E501"
    assert code("sort_by", lambda item: item, [1, "a"]) == "E501"
    assert code("max_by", squared, []) == code("min_by", squared, []) == "E504"
    assert code("map", "upper", ["a"]) == "E501"


def test_functions_of_the_library_are_functions_too() -> None:
    assert call("map", library()["upper"].call, ["a"]) == ["A"]
    assert call("max_by", library()["length"].call, ["a", "ccc", "bbb"]) == "ccc"


@pytest.mark.parametrize("name", ["map", "filter", "reduce", "scan", "sort_by", "max_by"])
def test_each_item_costs_a_step(name: str) -> None:
    arguments: tuple[Any, ...] = (lambda *_: True, [0] * 500, *([0] if name in ("reduce", "scan") else []))
    reset(499)
    with pytest.raises(LanguageError, match="more than 499 steps") as caught:
        library()[name].call(*arguments)
    assert caught.value.code == "E502"
    assert left() == 0
    reset()


def test_endless_loops_end() -> None:
    reset(50)
    with pytest.raises(LanguageError, match="more than 50 steps"):
        library()["fixpoint"].call(lambda n: n + 1, 0, 10**9)
    reset()


@given(ITEMS)
def test_groups_keep_the_order_of_appearance(items: list[int]) -> None:
    groups: dict[int, list[int]] = {}
    for item in items:
        groups.setdefault(squared(item), []).append(item)
    assert call("group_by", squared, items) == [[result, members] for result, members in groups.items()]

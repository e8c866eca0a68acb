"""Lists as sets, against Python's sets and counters."""

from __future__ import annotations

from collections import Counter

import sympy
from helpers.library_calls import call
from hypothesis import given
from hypothesis import strategies as st

ITEMS = st.lists(st.integers(0, 8), max_size=12)


@given(ITEMS, ITEMS)
def test_the_operations_are_those_of_sets(a: list[int], b: list[int]) -> None:
    for wrapped in (lambda item: item, lambda item: [item, "x"]):  # lists go the slow way
        first, second = [wrapped(item) for item in a], [wrapped(item) for item in b]
        assert call("union", first, second) == [wrapped(item) for item in dict.fromkeys(a + b)]
        assert call("intersection", first, second) == [wrapped(item) for item in dict.fromkeys(a) if item in b]
        assert call("difference", first, second) == [wrapped(item) for item in dict.fromkeys(a) if item not in b]
        assert call("is_subset", first, second) is (set(a) <= set(b))
        assert call("tally", first) == [[wrapped(item), count] for item, count in Counter(a).items()]


def test_equal_expressions_are_one_item_and_text_is_no_number() -> None:
    root = sympy.sqrt(2)
    assert call("intersection", [root, 3], [sympy.sqrt(8) / 2]) == [root]
    assert call("tally", [root**2 - 2 + root, root]) == [[root, 2]]
    assert call("difference", ["1", 1], ["1"]) == [1]

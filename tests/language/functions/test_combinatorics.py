"""Counts against sympy, itertools and terms of the OEIS."""

from __future__ import annotations

import itertools
import math

import pytest
import sympy
from helpers.library_calls import call, code
from hypothesis import given
from hypothesis import strategies as st
from sympy.functions.combinatorial.numbers import stirling
from sympy.utilities.iterables import multiset_permutations
from sympy.utilities.iterables import partitions as listed


@given(st.lists(st.integers(0, 5), max_size=6), st.integers(0, 6))
def test_lists_of_choices_are_those_of_itertools(items: list[int], k: int) -> None:
    if k > len(items):
        assert code("combinations", items, k) == code("permutations", items, k) == "E501"
        return
    assert call("combinations", items, k) == list(map(list, itertools.combinations(items, k)))
    found = call("permutations", items, k)
    assert found == list(map(list, itertools.permutations(items, k)))
    assert call("count_permutations", len(items), k) == len(found)
    assert call("permutations", items) == list(map(list, itertools.permutations(items)))


@given(st.lists(st.integers(0, 3), max_size=4))
def test_arrangements_of_several_kinds_are_counted(counts: list[int]) -> None:
    things = [kind for kind, count in enumerate(counts) for _ in range(count)]
    if len(things) <= 7:
        assert call("multinomial", counts) == (len(list(multiset_permutations(things))) if things else 1)
    assert call("multinomial", counts) == math.factorial(len(things)) // math.prod(map(math.factorial, counts))


@pytest.mark.parametrize("n", range(13))
def test_small_numbers_agree_with_sympy(n: int) -> None:
    assert call("derangements", n) == sympy.subfactorial(n)
    assert call("bell", n) == sympy.bell(n)
    assert call("catalan", n) == sympy.catalan(n)
    sizes = [sum(parts.values()) for parts in listed(n)] if n else [0]
    assert call("partitions", n) == len(sizes)
    for k in range(n + 2):
        assert call("partitions", n, k) == sizes.count(k)
        assert call("stirling_first", n, k) == stirling(n, k, kind=1)
        assert call("stirling_second", n, k) == stirling(n, k)


def test_published_terms() -> None:
    assert call("partitions", 200) == 3972999029388  # A000041
    assert call("partitions", 1000) == 24061467864032622473692149727991
    assert call("derangements", 20) == 895014631192902121  # A000166
    assert call("bell", 25) == 4638590332229999353  # A000110
    assert call("catalan", 30) == 3814986502092304  # A000108
    assert call("stirling_second", 10, 5) == 42525  # A008277
    assert call("stirling_first", 10, 5) == 269325  # A132393
    assert call("multinomial", [1, 4, 4, 2]) == 34650  # the letters of Mississippi


def test_large_arguments_agree_with_sympy_or_are_refused() -> None:
    assert call("partitions", 2000) == sympy.functions.combinatorial.numbers.partition(2000)
    assert call("bell", 500) == sympy.bell(500)
    assert call("derangements", 300) == sympy.subfactorial(300)
    for name, argument in (("partitions", 2001), ("bell", 2001), ("derangements", 20_001), ("catalan", 10**6)):
        assert code(name, argument) == "E502"
        assert code(name, -1) == "E501"
    assert code("stirling_first", 2001, 1) == code("stirling_second", 10**9, 5) == "E502"
    assert code("combinations", list(range(40)), 20) == code("permutations", list(range(12))) == "E502"
    assert code("count_permutations", 10**9, 10**8) == code("multinomial", [10**6, 10**6]) == "E502"
    assert code("multinomial", [2, -1]) == "E501"


@pytest.mark.parametrize("name", ["stirling_first", "stirling_second"])
@pytest.mark.long
def test_the_largest_numbers_are_within_the_budget(name: str) -> None:
    assert call(name, 2000, 2000) == 1
    assert call("count_permutations", 3, 5) == call(name, 3, 5) == 0

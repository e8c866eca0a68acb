"""How many instances there are: told early where they are too many, and never by a failure that no count comes to."""

from __future__ import annotations

from typing import Any

import pytest
from dia_compiler.sampling.degrees_of_freedom import count_ways
from dia_language.diagnostics import DiaError, Diagnostic
from hypothesis import given
from hypothesis import strategies as st


def draws(*bounds: int) -> Any:
    """A draw of one choice after the other, among so many options each."""
    return lambda choose: [choose.below(bound) for bound in bounds]


def test_ways_are_counted_until_they_are_too_many() -> None:
    assert count_ways(draws(3, 4, 5), 100) == 60
    assert count_ways(draws(3, 4, 50), 100) is None
    assert count_ways(draws(3, 4, 2**130), 100) is None


def test_a_tree_that_is_too_wide_far_down_is_told_without_walking_through_it() -> None:
    drawn = []

    def draw(choose: Any) -> None:
        drawn.append(1)
        for _ in range(10):
            choose.below(3)
        choose.below(10**6)

    assert count_ways(draw, 20_000) is None and len(drawn) <= 11


def test_a_failure_on_the_first_way_down_does_not_end_a_count_that_gives_up_before_it() -> None:
    def draw(choose: Any) -> None:
        first = choose.below(60) + choose.below(60) + choose.below(60)
        if not first:
            raise DiaError(Diagnostic("E504", "division by zero"))

    assert count_ways(draw, 1000) is None
    with pytest.raises(DiaError):
        count_ways(draw, 10**6)


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=4), st.integers(1, 60))
def test_the_count_is_that_of_all_values_unless_there_are_more_choices_than_may_be_counted(
    tables: list[list[int]], most: int
) -> None:
    def draw(choose: Any) -> tuple[int, ...]:
        values: tuple[int, ...] = ()
        for table in tables:
            bound = table[sum(values) % 3]
            choose.check(bound > 0)
            values = (*values, choose.below(bound))
        return values

    values, nodes = {()}, 1
    for table in tables:
        values = {(*one, choice) for one in values for choice in range(table[sum(one) % 3])}
        nodes += len(values)
    assert count_ways(draw, most) == (len(values) if nodes <= most else None)

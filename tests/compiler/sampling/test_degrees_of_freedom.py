"""How many instances there are: told early where they are too many, and never by a failure that no count comes to."""

from __future__ import annotations

from math import prod
from typing import Any

import pytest
from dia_compiler.sampling.degrees_of_freedom import MOST_DRAWS, count_ways, estimate_ways
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


def test_a_wide_choice_is_noticed_although_the_first_path_is_rejected() -> None:
    drawn = []

    def draw(choose: Any) -> None:
        drawn.append(1)
        choose.check(choose.below(50) > 0)
        for _ in range(3):
            choose.below(50)
        choose.below(10**6)

    assert count_ways(draw, 10**5) is None and len(drawn) < 100


def test_the_options_of_the_last_choice_are_counted_without_drawing_each() -> None:
    drawn = []

    def draw(choose: Any) -> None:
        drawn.append(1)
        bound = choose.below(30) + 1
        choose.count_of_last = bound
        choose.below(bound)

    assert count_ways(draw, 10_000) == 30 * 31 // 2 and len(drawn) < 100


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


def test_an_estimate_is_near_the_number_of_ways_that_a_count_finds() -> None:
    def draw(choose: Any) -> None:
        boxes, pens = choose.between(2, 60), choose.between(2, 90)
        choose.between(1, boxes * pens - 1)  # what a count cannot enumerate: its bound depends on the others

    # counted by a closed form: the sum of boxes * pens - 1 over all pairs
    exact = sum(range(2, 61)) * sum(range(2, 91)) - 59 * 89
    assert exact == 7_482_675
    estimate = estimate_ways(draw)
    assert estimate is not None and abs(estimate[0] / exact - 1) < 0.15 and estimate[1] == 400


def test_an_estimate_accounts_for_conditions() -> None:
    def draw(choose: Any) -> None:
        choose.where(lambda inner: inner.below(40), lambda value: value % 2 == 0)
        values = choose.several(40, 2)
        choose.check(values[0] < values[1])

    exact = count_ways(draw, 10**6)
    assert exact == 20 * (40 * 39 // 2)
    estimate = estimate_ways(draw)
    assert estimate is not None and abs(estimate[0] / exact - 1) < 0.25


@given(st.lists(st.integers(1, 10**40), min_size=1, max_size=3))
def test_the_estimate_of_independent_choices_is_exact(bounds: list[int]) -> None:
    assert estimate_ways(draws(*bounds)) == ((prod(bounds), 400) if max(bounds) <= 2**128 else None)


def test_there_is_no_estimate_of_vast_choices_failures_and_rare_draws() -> None:
    drawn = []

    def rare(choose: Any) -> None:
        drawn.append(1)
        choose.check(choose.below(10**9) == 0)

    def failing(choose: Any) -> None:
        raise DiaError(Diagnostic("E504", "division by zero"))

    assert estimate_ways(lambda choose: choose.vast()) is None and estimate_ways(failing) is None
    assert estimate_ways(rare) is None and len(drawn) <= MOST_DRAWS

"""How many instances there are: told early where they are too many, and never by a failure that no count comes to."""

from __future__ import annotations

from typing import Any

import pytest
from dia_compiler.freedom import counted
from dia_runtime.language.diagnostics import DiaError, Diagnostic


def draws(*bounds: int) -> Any:
    """A draw of one choice after the other, among so many options each."""
    return lambda choose: [choose.below(bound) for bound in bounds]


def test_ways_are_counted_until_they_are_too_many() -> None:
    assert counted(draws(3, 4, 5), 100) == 60
    assert counted(draws(3, 4, 50), 100) is None
    assert counted(draws(3, 4, 2**130), 100) is None


def test_a_tree_that_is_too_wide_far_down_is_told_without_walking_through_it() -> None:
    drawn = []

    def draw(choose: Any) -> None:
        drawn.append(1)
        for _ in range(10):
            choose.below(3)
        choose.below(10**6)

    assert counted(draw, 20_000) is None and len(drawn) <= 11


def test_a_failure_on_the_first_way_down_does_not_end_a_count_that_gives_up_before_it() -> None:
    def draw(choose: Any) -> None:
        first = choose.below(60) + choose.below(60) + choose.below(60)
        if not first:
            raise DiaError(Diagnostic("E504", "division by zero"))

    assert counted(draw, 1000) is None
    with pytest.raises(DiaError):
        counted(draw, 10**6)

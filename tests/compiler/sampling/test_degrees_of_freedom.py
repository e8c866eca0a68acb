"""How many instances there are: told early where they are too many, and never by a failure that no count comes to."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from dia_compiler.sampling.degrees_of_freedom import Stage, count_ways, counted_in_stages
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


@given(st.data())
def test_a_count_in_stages_is_the_plain_count(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 4))
    reads = [data.draw(st.sets(st.integers(0, place - 1), max_size=2)) if place else set() for place in range(size)]
    tables = [data.draw(st.lists(st.integers(-1, 3), min_size=3, max_size=3)) for _ in range(size)]

    def bound_of(place: int, scope: dict[str, Any]) -> int:
        at: int = sum(scope[str(other)] for other in reads[place]) % 3
        return tables[place][at]

    def ways(place: int, scope: dict[str, Any]) -> int | None:
        return bound if 0 < (bound := bound_of(place, scope)) < 3 else None

    def stage(place: int) -> Callable[[dict[str, Any], Any], None]:
        def do(scope: dict[str, Any], choose: Any) -> None:
            bound = bound_of(place, scope)
            if bound < 0:
                raise DiaError(Diagnostic("E504", f"stage {place}"))
            choose.check(bound > 0)
            scope[str(place)] = choose.below(bound) + (choose.below(2) if bound > 2 else 0)

        return do

    def draw(choose: Any) -> None:
        scope: dict[str, Any] = {}
        for place in range(size):
            stage(place)(scope, choose)

    def matters(place: int) -> tuple[int, ...]:
        found = set().union(*reads[place:])
        for earlier in range(place - 1, -1, -1):
            found |= reads[earlier] if earlier in found else set()
        return tuple(found & set(range(place)))

    stages = [Stage(stage(place), matters(place), partial(ways, place)) for place in range(size)]
    most = data.draw(st.integers(1, 60))
    assert outcome(lambda: counted_in_stages(draw, stages, {}, most)) == outcome(lambda: count_ways(draw, most))


def outcome(count: Callable[[], int | None]) -> int | str | None:
    try:
        return count()
    except DiaError as error:
        return error.diagnostics[0].message

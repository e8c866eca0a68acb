"""What must hold for every tree of choices: all its values are found, each once, and a prefix stays a prefix."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest
from dia_compiler.fuzz import Choose, Exhausted, Stream, Walker
from hypothesis import given, settings
from hypothesis import strategies as st

Shape = list[tuple[str, int]]
SHAPES = st.lists(
    st.tuples(st.sampled_from(["plain", "dependent", "weighted", "where", "check"]), st.integers(1, 6)),
    min_size=1,
    max_size=4,
)


def drawing(shape: Shape) -> Callable[[Any], tuple[int, ...]]:
    """A draw whose choices, bounds and conditions the shape lays down."""

    def draw(choose: Any) -> tuple[int, ...]:
        values: list[int] = []
        for kind, size in shape:
            if kind == "plain":
                values.append(choose.below(size))
            elif kind == "dependent":
                values.append(choose.below(1 + (sum(values) + size) % 5))
            elif kind == "weighted":
                values.append(choose.weighted(tuple(1 + (place * size) % 3 for place in range(size))))
            elif kind == "where":
                values.append(
                    choose.where(lambda inner, size=size: inner.below(size + 2), lambda value: value % 2 == 0)
                )
            else:
                choose.check(sum(values) % (1 + size % 3) == 0)
        return tuple(values)

    return draw


def brute_force(shape: Shape) -> set[tuple[int, ...]]:
    """Every value that the shape allows, by plain enumeration."""
    found: set[tuple[int, ...]] = {()}
    for kind, size in shape:
        if kind == "check":
            found = {values for values in found if sum(values) % (1 + size % 3) == 0}
            continue
        grown = set()
        for values in found:
            options = {"dependent": range(1 + (sum(values) + size) % 5), "where": range(0, size + 2, 2)}
            grown |= {(*values, choice) for choice in options.get(kind, range(size))}
        found = grown
    return found


@settings(max_examples=200, deadline=None)
@given(SHAPES, st.integers(0, 10**6))
def test_every_value_is_found_once(shape: Shape, seed: int) -> None:
    walker = Walker(sha256(str(seed).encode()).digest(), drawing(shape), attempts=200)
    expected = brute_force(shape)
    found = []
    bound = 20_000 if expected else 200
    for position in range(bound):
        value = walker.at(position)
        if value is not None:
            found.append(value)
        if len(found) == len(expected):
            break
    extra = [walker.at(position) for position in range(bound, bound + 50)]
    assert set(found) == expected
    assert len(found) == len(expected)
    assert not ({value for value in extra if value is not None} - expected)


@settings(max_examples=50, deadline=None)
@given(SHAPES, st.integers(0, 10**6), st.lists(st.integers(0, 500), max_size=8))
def test_a_position_is_made_alone(shape: Shape, seed: int, positions: list[int]) -> None:
    key = sha256(str(seed).encode()).digest()
    whole = Walker(key, drawing(shape), attempts=50)
    in_order = {position: whole.at(position) for position in range(501)} if positions else {}
    for position in positions:
        assert Walker(key, drawing(shape), attempts=50).at(position) == in_order[position]


def test_weights_keep_their_shares() -> None:
    walker = Walker(b"shares", lambda choose: (choose.weighted((6, 3, 1)), choose.below(10**6)))
    first = [walker.at(position)[0] for position in range(1000)]  # type: ignore[index]
    assert [first.count(item) for item in range(3)] == [600, 300, 100]


def test_a_balanced_parameter_is_spread_evenly_under_a_condition_that_prefers_some_values() -> None:
    accepted = (90, 9, 1)

    def draw(choose: Any) -> int:
        target = choose.below(3)
        choose.vast()
        choose.check(choose.below(100) < accepted[target])
        return int(target)

    walker = Walker(b"balance", draw)
    found = [walker.at(position) for position in range(2000)]
    assert sorted(found.count(target) for target in range(3)) == [666, 667, 667]


def test_a_hopeless_condition_ends() -> None:
    def draw(choose: Any) -> int:
        value = choose.below(10**9)
        choose.check(False)
        return int(value)

    with pytest.raises(Exhausted):
        list(Walker(b"hopeless", draw).positions())


def is_rare(choice: int) -> bool:
    return choice % 5 == 0


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 20) | st.integers(2, 2**60),
    st.integers(0, 9) | st.sampled_from([16, 100, 600]),
    st.booleans(),
    st.lists(st.integers(0, 1), max_size=3),
)
def test_choices_in_bulk_are_those_made_one_by_one(options: int, count: int, is_vast: bool, forced: list[int]) -> None:
    bulk, alone = (Choose(tuple(forced), Stream(sha256(b"bulk").digest())) for _ in range(2))
    for choose in (bulk, alone):
        if is_vast:
            choose.vast()
    assert bulk.several(options, count) == [alone.below(options) for _ in range(count)]
    assert bulk.falling(count) == [alone.below(fewer) for fewer in range(count, 1, -1)]
    turns = (2, options, 1, 7)
    assert bulk.each(turns, count) == [alone.below(number) for _ in range(count) for number in turns]
    found: list[int] = []
    if not forced:
        for _ in range(min(count, options)):
            found.append(alone.where(lambda inner: inner.below(options), lambda choice: choice not in found, 10_000))
        assert bulk.different(options, len(found)) == found
        for sieve in (None, b"\1", bytes((1, 0, 0, 0, 0))):
            rare = bulk.first(options, is_rare, 1000, sieve)
            assert rare == alone.where(lambda inner: inner.below(options), is_rare)
        assert bulk.redraws == alone.redraws
    assert bulk.trail == alone.trail and bulk.stream.bits(300) == alone.stream.bits(300)

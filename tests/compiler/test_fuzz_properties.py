"""What must hold for every tree of choices: all its values are found, each once, and a prefix stays a prefix."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from hashlib import sha256
from typing import Any

import pytest
from dia_compiler.sampling.instance_tree import SPREAD, VAST, Choose, Exhausted, Rejected, Stream, Walker, parted
from dia_compiler.types.base import all_differ
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


@pytest.mark.parametrize("size", [0, 1, 2, 3, 16, 17, 33, 63, 64, 65, 255, 300, 1000])
def test_a_shuffle_makes_the_choices_of_fisher_and_yates_one_by_one(size: int) -> None:
    bulk, alone = (Choose((), Stream(sha256(b"%d" % size).digest())) for _ in range(2))
    items = list(range(size))
    found = bulk.shuffled(items)
    alone.vast()
    for last in range(size - 1, 0, -1):
        other = alone.below(last + 1)
        items[last], items[other] = items[other], items[last]
    assert found == items and bulk.is_vast and bulk.stream.bits(300) == alone.stream.bits(300)


def drawn_pair(options: int, choose: Choose) -> list[int]:
    return choose.several(options, 2)


def chosen(choose: Choose, turns: list[tuple[str, int]]) -> list[Any]:
    """What a draw that makes choices of all kinds gives; it rejects every seventh of them."""
    found: list[Any] = []
    for turn, options in turns:
        if turn == "vast":
            choose.vast()
        elif turn == "weighted":
            found.append(choose.weighted((1, options, 3)))
        elif turn == "each":
            found += choose.each((options, 3), 2)
        elif turn == "where":
            found.append(choose.where(lambda inner: inner.below(5) + inner.below(3), lambda one: one % 3 < 2))
        elif turn == "tried":
            found.append(choose.tried(partial(drawn_pair, options), all_differ))
        elif turn == "first":
            found.append(choose.first(options, lambda choice: choice % 4 < 3))
        elif turn == "check":
            choose.check(len(str(found)) % 7 > 0)
        else:
            found.append(getattr(choose, turn)(options, *([min(3, options)] if turn != "below" else [])))
    return found


TURNS = ["below", "several", "different", "weighted", "each", "where", "tried", "first", "vast", "check"]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(TURNS), st.integers(2, 9) | st.integers(VAST - 1, VAST + 9)), max_size=8),
    st.lists(st.integers(0, 1), max_size=6),
    st.binary(max_size=2),
)
def test_a_draw_whose_trail_nobody_reads_makes_the_same_choices(
    turns: list[tuple[str, int]], forced: list[int], key: bytes
) -> None:
    found = []
    for is_read in (True, False):
        choose = Choose(tuple(forced), Stream(sha256(key).digest()), is_read)
        try:
            made: Any = chosen(choose, turns)
        except Rejected as rejection:
            made = rejection.is_forced
        found.append((made, choose.redraws, choose.stream.bits(300)))
    assert found[0] == found[1]


@pytest.mark.parametrize("order", [1, -1])
def test_a_position_gives_the_same_whatever_was_drawn_before(order: int) -> None:
    def draw(choose: Choose) -> tuple[int, ...]:
        first = choose.below(3)
        choose.check(first + choose.weighted((1, 4, 2)) != 2)
        return (first, *choose.several(4, 3), choose.where(lambda inner: inner.below(9), is_rare))

    walker = Walker(b"order", draw)
    places = range(600)[::order]
    assert {place: walker.at(place) for place in places} == {
        place: Walker(b"order", draw).at(place) for place in places
    }


@given(st.integers(1, 200), st.integers(0, SPREAD), st.integers(0, 64), st.randoms(use_true_random=False))
def test_numbers_side_by_side_are_parted_at_once_as_one_by_one(size: int, count: int, more: int, random: Any) -> None:
    pool = random.getrandbits(size * count + more)
    mask = (1 << size) - 1
    assert list(parted(pool, size, count)) == [pool >> size * at & mask for at in range(count)]

"""What must hold for every tree of choices: all its values are found, each once, and a prefix stays a prefix."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest
from dia_compiler.sampling.instance_tree import Exhausted, RecordingChoose, Stream, Walker
from dia_compiler.types.choices import Choose, Rejected
from helpers.examples import examples
from hypothesis import example, given, settings
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


@settings(max_examples=examples(200), deadline=None)
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


@settings(max_examples=examples(50), deadline=None)
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
    targets = [walker.at(position) for position in range(500)]
    assert sorted(targets.count(target) for target in range(3)) == [166, 167, 167]


def test_a_hopeless_condition_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dia_compiler.sampling.instance_tree.DRY_POSITIONS", 2_000)
    monkeypatch.setattr("dia_compiler.sampling.instance_tree.DRY_DRAWS", 1_000)

    def draw(choose: Any) -> int:
        value = choose.below(10**9)
        choose.check(False)
        return int(value)

    with pytest.raises(Exhausted):
        list(Walker(b"hopeless", draw).positions())


def is_rare(choice: int) -> bool:
    return choice % 5 == 0


@settings(max_examples=examples(60), deadline=None)
@given(
    st.integers(2, 20) | st.integers(2, 2**60),
    st.integers(0, 9) | st.sampled_from([16, 100, 600]),
    st.booleans(),
    st.lists(st.integers(0, 1), max_size=3),
)
def test_several_choices_are_those_made_one_by_one(options: int, count: int, is_vast: bool, forced: list[int]) -> None:
    together, alone = (RecordingChoose(tuple(forced), Stream(sha256(b"several").digest())) for _ in range(2))
    for choose in (together, alone):
        if is_vast:
            choose.vast()
    assert together.several(options, count) == [alone.below(options) for _ in range(count)]
    if not forced:
        rare = next(choice for choice in iter(lambda: alone.stream.below(options), None) if is_rare(choice))
        assert together.first(options, is_rare) == rare
    assert is_vast or len(together.trail) == count + (not forced)
    assert together.stream.bits(300) == alone.stream.bits(300)


class OneByOne(RecordingChoose):
    """Makes each choice alone, and each again until it holds."""

    several, different, first, shuffled = Choose.several, Choose.different, Choose.first, Choose.shuffled


@settings(max_examples=examples(60), deadline=None)
@given(
    st.integers(1, 20) | st.integers(2, 2**60) | st.sampled_from([2**128, 2**128 + 1, 2**140]),
    st.integers(0, 9),
    st.booleans(),
    st.lists(st.just(0), max_size=2),
)
@example(options=20, count=9, is_vast=False, forced=[])
@example(options=20, count=10, is_vast=True, forced=[])
@example(options=2**140, count=3, is_vast=False, forced=[])
@example(options=2**128, count=3, is_vast=False, forced=[0])
def test_many_choices_leave_the_same_record_as_one_by_one(
    options: int, count: int, is_vast: bool, forced: list[int]
) -> None:
    def made(choose: RecordingChoose, draw: Callable[[RecordingChoose], Any]) -> tuple[Any, ...]:
        if is_vast:
            choose.vast()
        value: Any
        try:
            value = draw(choose)
        except Rejected as rejection:
            value = rejection.is_forced
        return value, choose.trail, choose.is_vast, choose.redraws, choose.stream.bits(300)

    draws: list[Callable[[RecordingChoose], Any]] = [
        lambda choose: choose.several(options, count),
        lambda choose: choose.different(options, min(options, count)),
        lambda choose: choose.first(options, is_rare, 3),
        lambda choose: choose.shuffled(list(range(count))),
    ]
    for draw in draws:
        together, alone = (of(tuple(forced), Stream(b"%d" % options)) for of in (RecordingChoose, OneByOne))
        assert made(together, draw) == made(alone, draw)


@pytest.mark.parametrize("is_vast", [False, True])
def test_nothing_is_the_first_of_no_options(is_vast: bool) -> None:
    for options, holds in ((0, True), (5, False)):
        choose = RecordingChoose((), Stream(b"nothing"))
        if is_vast:
            choose.vast()
        with pytest.raises(Rejected) as rejection:
            choose.first(options, lambda choice, holds=holds: holds, 20)  # type: ignore[misc]
        assert not rejection.value.is_forced and len(choose.trail) == is_vast


@pytest.mark.parametrize("weights", [(6, 3, 1), (1,), (2, 0, 5), (1, 1)])
def test_items_drawn_after_a_vast_choice_have_as_many_tickets_as_their_weights(weights: tuple[int, ...]) -> None:
    tickets = [item for item, weight in enumerate(weights) for _ in range(weight)]
    choose, stream = RecordingChoose((0, 0, 0), Stream(b"tickets")), Stream(b"tickets")
    choose.vast()
    assert [choose.weighted(weights) for _ in range(50)] == [tickets[stream.below(len(tickets))] for _ in range(50)]
    assert len(choose.trail) == 1


@pytest.mark.parametrize("size", [0, 1, 2, 3, 16, 17, 33, 63, 64, 65, 255, 300, 1000])
def test_a_shuffle_makes_the_choices_of_fisher_and_yates_one_by_one(size: int) -> None:
    together, alone = (RecordingChoose((), Stream(sha256(b"%d" % size).digest())) for _ in range(2))
    items = list(range(size))
    shuffled = together.shuffled(items.copy())
    alone.vast()
    for last in range(size - 1, 0, -1):
        other = alone.below(last + 1)
        items[last], items[other] = items[other], items[last]
    assert shuffled == items and together.is_vast and together.stream.bits(300) == alone.stream.bits(300)


@pytest.mark.parametrize("order", [1, -1])
def test_a_position_gives_the_same_whatever_was_drawn_before(order: int) -> None:
    def draw(choose: RecordingChoose) -> tuple[int, ...]:
        first = choose.below(3)
        choose.check(first + choose.weighted((1, 4, 2)) != 2)
        return (first, *choose.several(4, 3), choose.where(lambda inner: inner.below(9), is_rare))

    walker = Walker(b"order", draw)
    places = range(600)[::order]
    assert {place: walker.at(place) for place in places} == {
        place: Walker(b"order", draw).at(place) for place in places
    }

"""The source of randomness for types, and a probe that enumerates all possible draws."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

VAST = 1 << 128
T = TypeVar("T")


class Rejected(Exception):
    """A draw that cannot continue; `is_forced` if only replayed choices caused it."""

    def __init__(self, is_forced: bool) -> None:
        self.is_forced = is_forced


def shuffle(items: Iterable[T], below: Callable[[int], int]) -> list[T]:
    """Return the items in random order (Fisher-Yates, from the last position to the first)."""
    order = list(items)
    for last in range(len(order) - 1, 0, -1):
        other = below(last + 1)
        order[last], order[other] = order[other], order[last]
    return order


class Choose(ABC):
    """The only source of randomness for a type; different choices give different values."""

    __slots__ = ()

    @abstractmethod
    def below(self, options: int) -> int:
        """One of 0..options-1."""

    @abstractmethod
    def weighted(self, weights: tuple[int, ...]) -> int:
        """Return an index of the weights, with probability proportional to its weight."""

    @abstractmethod
    def vast(self) -> None:
        """Declare that what follows has more than 2**128 outcomes, or that they are not counted."""

    def balance(self) -> None:
        """Note that what follows is spread evenly over the instances, in an order of its own."""
        self.vast()

    @abstractmethod
    def where(self, draw: Callable[[Any], T], holds: Callable[[T], bool], tries: int = 1000) -> T:
        """Return the first draw that holds."""

    def between(self, low: int, high: int) -> int:
        """Return an integer between the bounds; no choice if they are equal."""
        return low + self.below(high - low + 1) if high > low else low

    def several(self, options: int, count: int) -> list[int]:
        """Return `count` choices, each from 0 to options - 1."""
        return [self.below(options) for _ in range(count)]

    def different(self, options: int, count: int) -> list[int]:
        """Return `count` different choices from 0 to options - 1; a repeated one is made again."""
        chosen: dict[int, None] = {}
        for _ in range(count):
            chosen[self.first(options, lambda choice: choice not in chosen, tries=100_000)] = None
        return list(chosen)

    def shuffled(self, items: list[T]) -> list[T]:
        """Return the items in random order; a vast choice."""
        self.vast()
        return shuffle(items, self.below)

    def first(self, options: int, holds: Callable[[int], bool], tries: int = 1000) -> int:
        """Return the first one of 0..options-1 that holds."""
        return self.where(lambda inner: int(inner.below(options)), holds, tries)


class Open(Exception):
    """The first choice that a probe cannot replay: its number of options, or 0 for vast.

    `is_last` if every option completes an acceptable draw.
    """

    def __init__(self, options: int, is_last: bool = False) -> None:
        self.options, self.is_last = options, is_last


class Probe(Choose):
    """Replays choices and stops at the first new one, to enumerate the paths through the tree of choices."""

    count_of_last: int | None = None  # of the values of the last parameter, once it is its turn

    def __init__(self, path: tuple[int, ...]) -> None:
        self.path, self.place = path, 0

    def below(self, options: int) -> int:
        """Return the next replayed choice."""
        if options < 1:
            raise Rejected(False)
        if self.place == len(self.path):
            raise Open(options if options <= VAST else 0, options == self.count_of_last)
        self.place += 1
        return self.path[self.place - 1]

    def weighted(self, weights: tuple[int, ...]) -> int:
        """Return the next replayed choice; all tickets of an item lead to the same value."""
        return self.below(len(weights))

    def vast(self) -> None:
        """Stop, because what follows cannot be counted."""
        raise Open(0)

    def check(self, holds: bool) -> None:
        """Abandon the path if a condition fails."""
        if not holds:
            raise Rejected(False)

    def where(self, draw: Callable[[Any], T], holds: Callable[[T], bool], tries: int = 0) -> T:
        """Return the replayed value, if it holds."""
        value = draw(self)
        self.check(holds(value))
        return value

"""The choices that a draw makes: the source of randomness that types see, and a probe that lists the ways of a draw."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

VAST = 1 << 128
T = TypeVar("T")


class Rejected(Exception):
    """A draw that cannot go on; `is_forced` when replayed choices alone are to blame."""

    def __init__(self, is_forced: bool) -> None:
        self.is_forced = is_forced


def shuffle(items: Iterable[T], below: Callable[[int], int]) -> list[T]:
    """The items in random order (Fisher-Yates): the last one is swapped with one up to it, then the one before."""
    order = list(items)
    for last in range(len(order) - 1, 0, -1):
        other = below(last + 1)
        order[last], order[other] = order[other], order[last]
    return order


class Choose(ABC):
    """The only source of randomness that a type sees; different choices give different values."""

    __slots__ = ()

    @abstractmethod
    def below(self, options: int) -> int:
        """One of 0..options-1."""

    @abstractmethod
    def weighted(self, weights: tuple[int, ...]) -> int:
        """One place of the weights, in proportion to them."""

    @abstractmethod
    def vast(self) -> None:
        """Says that what follows has more than 2**128 or uncountably many outcomes."""

    @abstractmethod
    def where(self, draw: Callable[[Any], T], holds: Callable[[T], bool], tries: int = 1000) -> T:
        """The first draw that holds."""

    def between(self, low: int, high: int) -> int:
        """An integer between the bounds; no choice where they are one."""
        return low + self.below(high - low + 1) if high > low else low

    def several(self, options: int, count: int) -> list[int]:
        """So many choices, each one of 0..options-1."""
        return [self.below(options) for _ in range(count)]

    def shuffled(self, items: list[T]) -> list[T]:
        """The items in random order, which is a vast choice."""
        self.vast()
        return shuffle(items, self.below)

    def first(self, options: int, holds: Callable[[int], bool], tries: int = 1000) -> int:
        """The first one of 0..options-1 that holds."""
        return self.where(lambda inner: int(inner.below(options)), holds, tries)


class Open(Exception):
    """The first choice that a probe has no answer for: how many options it has, 0 for vast."""

    def __init__(self, options: int) -> None:
        self.options = options


class Probe(Choose):
    """Replays choices and stops at the first new one, to list the ways through the tree of choices."""

    def __init__(self, path: tuple[int, ...]) -> None:
        self.path, self.place = path, 0

    def below(self, options: int) -> int:
        """The next replayed choice."""
        if options < 1:
            raise Rejected(False)
        if self.place == len(self.path):
            raise Open(options if options <= VAST else 0)
        self.place += 1
        return self.path[self.place - 1]

    def weighted(self, weights: tuple[int, ...]) -> int:
        """The next replayed choice; tickets of one item lead to the same value."""
        return self.below(len(weights))

    def vast(self) -> None:
        """Stops: what follows cannot be counted."""
        raise Open(0)

    def check(self, holds: bool) -> None:
        """Gives up the way when a condition fails."""
        if not holds:
            raise Rejected(False)

    def where(self, draw: Callable[[Any], T], holds: Callable[[T], bool], tries: int = 0) -> T:
        """The replayed value, if it holds."""
        value = draw(self)
        self.check(holds(value))
        return value

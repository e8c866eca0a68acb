"""The values of a small domain as a list, found by going all the ways through its tree of choices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from dia_language.diagnostics import LanguageError

from dia_compiler.types.base import VAST, Domain, Enumerable, OneByOne, key_of, order_of
from dia_compiler.types.texts import Items

LISTED = 20_000
WAYS = 40_000
T = TypeVar("T")


class _Open(Exception):
    """The first choice that a probe has not been told: how many options it has, 0 for vast."""

    def __init__(self, options: int) -> None:
        self.options = options


class _Closed(Exception):
    """A way that leads to no value."""


class _Probe(OneByOne):
    """Replays choices and stops at the first new one."""

    def __init__(self, path: tuple[int, ...]) -> None:
        self.path, self.place = path, 0

    def below(self, options: int) -> int:
        """The next replayed choice."""
        if options < 1:
            raise _Closed
        if self.place == len(self.path):
            raise _Open(options if options <= VAST else 0)
        self.place += 1
        return self.path[self.place - 1]

    def weighted(self, weights: tuple[int, ...]) -> int:
        """The next replayed choice; tickets of one item lead to the same value."""
        return self.below(len(weights))

    def vast(self) -> None:
        """Stops: what follows cannot be listed."""
        raise _Open(0)

    def where(self, draw: Callable[[Any], T], holds: Callable[[T], bool], tries: int = 0) -> T:
        """The replayed value, if it holds."""
        value = draw(self)
        if not holds(value):
            raise _Closed
        return value


def members(of: Domain) -> Enumerable | None:
    """The domain as numbered values, ascending where it does not number them itself; None where they are too many."""
    if isinstance(of, Enumerable):
        return of
    if of.count > LISTED:
        return None
    found: dict[Any, Any] = {}
    ways: list[tuple[int, ...]] = [()]
    for _ in range(WAYS):
        if not ways:
            return Items(sorted(found.values(), key=order_of), None)
        path = ways.pop()
        try:
            value = of.draw(_Probe(path))
            found[key_of(value)] = value
        except _Open as choice:
            if not 0 < choice.options <= WAYS:
                return None
            ways += [(*path, number) for number in range(choice.options)]
        except _Closed:
            continue
        except LanguageError:
            return None  # the draw will tell it with its place
    return None

"""How many different instances there are: counted where that is possible, otherwise bounded or estimated."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from random import Random
from time import process_time
from typing import Any, TypeVar

from dia_compiler.types.choices import VAST, Open, Probe, Rejected
from dia_language.budgets import spent
from dia_language.diagnostics import DiaError

ENUMERATED = 20_000
# A count stops after this many steps, about a second. Unlike time, steps are the same on every machine.
STEPS_OF_A_COUNT = 1_000_000
STEPS_OF_A_DRAW = 20
TRIED_PATHS = 10
DRAWS = 400  # draws of an estimate; more if few are accepted
MOST_DRAWS = 4_000
ENOUGH = 100  # accepted draws
FEWEST = 10  # accepted draws below which there is no estimate
SECONDS = 0.5
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Freedom:
    """How many different instances a template or item has: exact, at_most, at_least or vast."""

    kind: str
    count: int | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the mapping that bundles hold; the count is text, because it may be large."""
        return {"kind": self.kind, "count": None if self.count is None else str(self.count)}

    @property
    def bound(self) -> int | None:
        """An upper bound of the number of instances, or None if none is known."""
        return self.count if self.kind in ("exact", "at_most") else None


def count_ways(draw: Callable[[Any], Any], most: int = ENUMERATED) -> int | None:
    """Return the number of acceptable ways through the tree of choices of a draw, or None if they are too many.

    Also None if counting would take long, so that a costly condition does not delay the compile.
    """
    if is_too_wide(draw, most):
        return None
    count, draws, nodes, begin = 0, 0, 1, spent()
    waiting: deque[Iterable[tuple[int, ...]]] = deque([[()]])
    while waiting:  # widest first, so that a tree that is too large is recognised early
        for path in waiting.popleft():
            try:
                draws += 1
                if spent() - begin + draws * STEPS_OF_A_DRAW > STEPS_OF_A_COUNT:
                    return None
                draw(Probe(path))
                count += 1
            except Open as choice:
                nodes += choice.options
                if not 0 < choice.options <= most or nodes > most:
                    return None
                if choice.is_last:  # each option would be one more draw
                    draws += choice.options
                    count += choice.options
                else:
                    waiting.append(_ways(path, choice.options))
            except Rejected:
                continue
    return count


def is_too_wide(draw: Callable[[Any], Any], most: int) -> bool:
    """Return whether a choice on one of some paths has more options than can be counted.

    The first path takes the first option everywhere; the others are random, because a condition may reject the first.
    """
    random = Random(0)
    return any(_has_wide_choice(draw, most, random if number else None) for number in range(TRIED_PATHS))


def _has_wide_choice(draw: Callable[[Any], Any], most: int, random: Random | None) -> bool:
    """Return whether a choice on the path has too many options."""
    path: tuple[int, ...] = ()
    while True:
        try:
            draw(Probe(path))
            return False
        except Open as choice:
            if not 0 < choice.options <= most:
                return True
            path = (*path, random.randrange(choice.options) if random else 0)
        except (Rejected, DiaError):  # the failure may be on a path that the count does not reach
            return False


def _ways(path: tuple[int, ...], options: int) -> Iterator[tuple[int, ...]]:
    """Return the paths that extend a path."""
    return ((*path, number) for number in range(options))


def is_static(draw: Callable[[Any], Any]) -> bool:
    """Return whether a draw has nothing to choose."""
    path: tuple[int, ...] = ()
    while True:
        try:
            draw(Probe(path))
            return True
        except Open as choice:
            if choice.options != 1:
                return False
            path = (*path, 0)
        except Rejected:
            return False


class Weighing(Probe):
    """Makes random choices, instead of replaying a path, to estimate the size of the tree of choices.

    The weight is the product of the numbers of options.
    """

    __slots__ = ("random", "weight")

    def __init__(self, random: Random) -> None:
        self.random, self.weight = random, 1

    def below(self, options: int) -> int:
        if options < 1:
            raise Rejected(False)
        if options > VAST:
            raise Open(0)
        self.weight *= options
        return self.random.randrange(options)

    def balance(self) -> None:
        """Do nothing: a balance decides which instances come first, and excludes none."""


def estimate_ways(draw: Callable[[Any], Any]) -> tuple[int, int] | None:
    """Return the estimated number of acceptable ways through the choices of a draw, and the number of draws made.

    A random draw is weighted with the product of its numbers of options, and counts 0 if a condition rejects it. The
    mean is an unbiased estimate (D. E. Knuth, Estimating the efficiency of backtrack programs, 1975). None if a
    choice is vast, a draw fails, or too few draws are accepted within the time.
    """
    random, begin = Random(0), process_time()
    total = accepted = draws = 0
    while draws < DRAWS or (accepted < ENOUGH and draws < MOST_DRAWS):
        if process_time() - begin > SECONDS:
            break
        choose = Weighing(random)
        draws += 1
        try:
            draw(choose)
        except Rejected:
            continue
        except (Open, DiaError):
            return None
        accepted += 1
        total += choose.weight
    return (total // draws, draws) if accepted >= FEWEST else None

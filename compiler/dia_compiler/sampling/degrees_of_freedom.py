"""How many different instances there are: counted where it can be, else bounded."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from dia_compiler.types.choices import Open, Probe, Rejected
from dia_language.diagnostics import DiaError

ENUMERATED = 20_000


@dataclass(frozen=True, slots=True)
class Freedom:
    """How many different instances a template or item has: exact, at_most, at_least or vast."""

    kind: str
    count: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The mapping that bundles hold; the count is text, for it may be large."""
        return {"kind": self.kind, "count": None if self.count is None else str(self.count)}

    @property
    def bound(self) -> int | None:
        """The most instances that there can be, or None where that is not known."""
        return self.count if self.kind in ("exact", "at_most") else None


def count_ways(draw: Callable[[Any], Any], most: int = ENUMERATED) -> int | None:
    """The number of acceptable ways through the tree of choices of a draw, or None where they are too many."""
    if is_too_wide(draw, most):
        return None
    count, nodes = 0, 1
    waiting: deque[Iterable[tuple[int, ...]]] = deque([[()]])
    while waiting:  # widest first, so that a tree that is too large is found to be so early
        for path in waiting.popleft():
            try:
                draw(Probe(path))
                count += 1
            except Open as choice:
                nodes += choice.options
                if not 0 < choice.options <= most or nodes > most:
                    return None
                waiting.append(_ways(path, choice.options))
            except Rejected:
                continue
    return count


def is_too_wide(draw: Callable[[Any], Any], most: int) -> bool:
    """Whether a choice on the first way down has more options than may be counted, which is told in a few draws."""
    path: tuple[int, ...] = ()
    while True:
        try:
            draw(Probe(path))
            return False
        except Open as choice:
            if not 0 < choice.options <= most:
                return True
            path = (*path, 0)
        except (Rejected, DiaError):  # a failure may lie on a way that the count does not come to
            return False


def _ways(path: tuple[int, ...], options: int) -> Iterator[tuple[int, ...]]:
    """The paths that go on from a path."""
    return ((*path, number) for number in range(options))


def is_static(draw: Callable[[Any], Any]) -> bool:
    """Whether a draw has nothing to choose."""
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

"""How many different instances there are: counted where it can be, else bounded."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dia_compiler.types.choices import Open, Probe, Rejected
from dia_language.diagnostics import DiaError
from dia_language.numbers.values import Value

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


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of a draw: what it does in the scope, and the earlier steps whose choices it or a later one depends on.

    `ways` tells how many ways lead through it, where it is one choice and no way fails.
    """

    do: Callable[[dict[str, Value], Any], None]
    matters: tuple[int, ...]
    ways: Callable[[dict[str, Value]], int | None] = lambda scope: None


def counted_in_stages(
    draw: Callable[[Any], Any], stages: Sequence[Stage], scope: dict[str, Value], most: int = ENUMERATED
) -> int | None:
    """The same number for a draw that does the stages in the scope; ways that go on alike are followed once."""
    if is_too_wide(draw, most):
        return None
    try:
        return _Count(stages, most).total(scope)
    except DiaError:  # whether it comes before the ways are too many, and which is the first, the plain count tells
        return count_ways(draw, most)


@dataclass(slots=True)
class _Group:
    """Ways that go on with one choice of so many options: `times` as many as are followed."""

    scope: dict[str, Value]
    paths: tuple[tuple[int, ...], ...]  # the choices of each stage that is done
    path: tuple[int, ...]  # those of the stage that is being done
    options: int
    times: int


class _Count:
    """The ways through stages, level by level: all that have made the same number of choices."""

    def __init__(self, stages: Sequence[Stage], most: int) -> None:
        self.stages, self.most = stages, most
        self.count, self.known = 0, 1
        self.is_exceeded = self.has_merged = False

    def total(self, scope: dict[str, Value]) -> int | None:
        """How many there are, or None where they are too many."""
        level = self.after([_Group(scope, (), (), 0, 1)])
        while level and not self.is_exceeded:
            level = self.after(level)
        return None if self.is_exceeded else self.count

    def after(self, level: list[_Group]) -> list[_Group]:
        """The next level. One that is too large is ended, unless a failure in the rest of it may come before."""
        self.following: list[_Group] = []
        self.alike: dict[Any, _Group] = {}
        for group in level:
            for path in _ways(group.path, group.options) if group.options else [()]:
                self.follow(group, path)
                if self.is_exceeded and not self.has_merged:
                    return []
        return self.following

    def follow(self, group: _Group, path: tuple[int, ...]) -> None:
        """Goes on to the next choice, or to the end."""
        paths, before = group.paths, group.scope
        scope = dict(before)
        try:
            for stage in self.stages[len(paths) :]:
                stage.do(scope, Probe(path))
                paths, path, before = (*paths, path), (), dict(scope)
            self.count += group.times
        except Open as choice:
            is_last = not path and len(paths) == len(self.stages) - 1
            if not self.admits(group.times, choice.options):
                return
            if is_last and self.stages[-1].ways(before) == choice.options:
                self.count += group.times * choice.options
            else:
                self.note(_Group(before, paths, path, choice.options, group.times))
        except Rejected:
            return

    def admits(self, times: int, options: int) -> bool:
        """Whether so many choices among so many options are not too many with all that came before them."""
        self.known += times * options
        if 0 < options <= self.most and self.known <= self.most:
            return True
        self.is_exceeded = True
        return False

    def note(self, group: _Group) -> None:
        """Adds a group to the next level, to those that go on alike if there are any."""
        place = len(group.paths)
        key = (place, group.path, *(group.paths[earlier] for earlier in self.stages[place].matters))
        twin = self.alike.setdefault(key, group)
        if twin is group:
            self.following.append(group)
        else:
            twin.times += group.times
            self.has_merged = True


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

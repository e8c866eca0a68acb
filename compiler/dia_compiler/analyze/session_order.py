"""The order of sessions: each after those whose replies it reads, else as the spec has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

Needs = Mapping[str, Iterable[str]]


def ordered(names: Sequence[str], needs: Needs) -> list[str]:
    """The names in an order in which each stands after those that it needs, the earlier ones first where either may be.

    Names that wait for each other stand at the end.

    >>> ordered(["a", "b", "c"], {"a": ["c"], "b": [], "c": []})
    ['b', 'c', 'a']
    """
    done: list[str] = []
    waiting = list(names)
    while waiting:
        free = next((name for name in waiting if set(needs.get(name, ())) <= set(done)), None)
        if free is None:
            return [*done, *waiting]
        done.append(free)
        waiting.remove(free)
    return done


def circles(needs: Needs) -> list[list[str]]:
    """The circles of names that wait for each other, each once, from the name on that stands first.

    >>> circles({"a": ["b"], "b": ["a"], "c": ["a"]})
    [['a', 'b']]
    """
    found_circles: list[list[str]] = []
    in_circles: set[str] = set()
    for name in needs:
        if name in in_circles:
            continue
        circle = _circle(name, needs)
        if circle:
            found_circles.append(circle)
            in_circles |= set(circle)
    return found_circles


def _circle(name: str, needs: Needs) -> list[str]:
    """A shortest way from a name back to itself, or nothing."""
    ways = [[name]]
    visited: set[str] = set()
    while ways:
        way = ways.pop(0)
        for needed in needs.get(way[-1], ()):
            if needed == name:
                return way
            if needed not in visited:
                visited.add(needed)
                ways.append([*way, needed])
    return []

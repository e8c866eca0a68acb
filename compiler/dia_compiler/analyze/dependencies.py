"""Dependencies: let values and functions use parameters and the answer, sessions use replies of other sessions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dia_compiler.analyze.domains import DatumCode, Maker
from dia_language.expressions.syntax import ParsedExpression, Use
from dia_language.templates.templates import ParsedTemplate

Needs = Mapping[str, Iterable[str]]


@dataclass(slots=True)
class Dependencies:
    """What each let value uses, and what the body of each function of the spec uses."""

    lets: dict[str, frozenset[str]] = field(default_factory=dict)
    functions: dict[str, frozenset[str]] = field(default_factory=dict)

    def reached(self, names: Iterable[Use], calls: Iterable[Use]) -> frozenset[str]:
        """Return every value that the names and the bodies of called functions use."""
        names_used = {use.name for use in names}
        for use in calls:
            names_used |= self.functions.get(use.name, frozenset())
        return frozenset(names_used)

    def used(self, tree: ParsedExpression | ParsedTemplate) -> frozenset[str]:
        """Return every value that an expression or template uses, directly or through functions."""
        return self.reached(tree.names, (*tree.calls, *tree.function_names))

    def needed(self, part: Maker | DatumCode) -> frozenset[str]:
        """Return every value that the expressions in a datum use."""
        return self.reached((use for _, use in part.uses), (use for _, use in part.calls))

    def base(self, names: Iterable[str]) -> frozenset[str]:
        """Return the names, with let values replaced by everything that they are computed from."""
        names_used, waiting = set(names), list(names)
        while waiting:
            fresh = self.lets.get(waiting.pop(), frozenset()) - names_used
            names_used |= fresh
            waiting += fresh
        return frozenset(names_used)

    def circle(self, name: str) -> list[str]:
        """Return a circular chain of let values, starting with this one; an empty list if there is none."""
        stack = [[name]]
        visited: set[str] = set()
        while stack:
            way = stack.pop()
            for used in sorted(self.lets.get(way[-1], ())):
                if used == name:
                    return [*way, name]
                if used in self.lets and used not in visited:
                    visited.add(used)
                    stack.append([*way, used])
        return []

    def way(self, names: Iterable[str], goal: str) -> list[str]:
        """Return a shortest chain of let values from one of the names to the goal; empty if there is none."""
        ways = [[name] for name in sorted(names)]
        visited: set[str] = set()
        while ways:
            way = ways.pop(0)
            if way[-1] == goal:
                return way
            if way[-1] not in visited:
                visited.add(way[-1])
                ways += [[*way, name] for name in sorted(self.lets.get(way[-1], ()))]
        return []

    def ordered(self, names: set[str]) -> list[str]:
        """Return the let values in evaluation order; otherwise in the order of the file."""
        done: list[str] = []
        visited: set[str] = set()

        def place(name: str) -> None:
            if name in visited or name not in names:
                return
            visited.add(name)
            for used in sorted(self.lets.get(name, ())):
                place(used)
            done.append(name)

        for name in self.lets:
            place(name)
        return done


def ordered(names: Sequence[str], needs: Needs) -> list[str]:
    """Return the names ordered so that each comes after those that it needs, otherwise in their original order.

    Names in a cycle, and those that need them, come last.

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
    """Return the dependency cycles, each once, starting with the name that comes first.

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
    """Return a shortest cycle through a name, or nothing."""
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

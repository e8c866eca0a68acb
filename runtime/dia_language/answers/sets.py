"""The answer types set and multiset: elements in any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

from dia_language.answers.base import Mode, Unreadable
from dia_language.answers.lists import ListAnswer
from dia_language.diagnostics import LanguageError
from dia_language.numbers.values import Value

# Limit for elements that only a comparison can match, for example with a tolerance: pairing them takes time
PAIRED = 300


class MultisetAnswer(ListAnswer):
    """Elements of one type in any order. Each element must occur as often as in the correct answer."""

    name = "multiset"
    opener, closer = "{", "}"

    def settle(self, value: Value) -> Value:
        elements = self._ordered(super().settle(value))
        if len(elements) > PAIRED and self._keys(elements) is None:
            raise LanguageError(f"more than {PAIRED:,} elements are compared with a tolerance or as expressions")
        return elements

    def _ordered(self, items: Sequence[Value]) -> list[Value]:
        """Return the elements in ascending order: numbers by size, others by their text."""
        if all(type(item) is int or isinstance(item, Fraction) for item in items):
            return sorted(items)
        return sorted(items, key=lambda item: self.of[0].write_inside(item, self.separator))

    def read(self, text: str, mode: Mode) -> Value:
        return self._ordered(super().read(text, mode))

    def equal(self, reply: Value, truth: Value) -> bool:
        if len(reply) != len(truth):
            return False
        reply_keys, truth_keys = self._keys(reply), self._keys(truth)
        if reply_keys is not None and truth_keys is not None:
            return Counter(reply_keys) == Counter(truth_keys)
        return len(reply) <= PAIRED and self._can_pair(reply, truth)

    def _keys(self, items: Sequence[Value]) -> list[Hashable] | None:
        keys = [self.of[0].key(item) for item in items]
        return None if None in keys else keys

    def _can_pair(self, reply: Sequence[Value], truth: Sequence[Value]) -> bool:
        """Return whether the reply's elements can be matched one to one with those of the answer (Kuhn's algorithm)."""
        suits = [[at for at, right in enumerate(truth) if self.of[0].equal_inside(element, right)] for element in reply]
        owner: dict[int, int] = {}
        return all(_find_place(number, suits, owner, set()) for number in range(len(reply)))

    def key(self, value: Value) -> Hashable | None:
        keys = self._keys(value)
        return None if keys is None else frozenset(Counter(keys).items())


class SetAnswer(MultisetAnswer):
    """Different elements of one type in any order. A reply that repeats an element is wrong."""

    name = "set"

    def settle(self, value: Value) -> Value:
        elements = super().settle(value)
        if self._has_repeats(elements):
            raise LanguageError(
                "the answer's type is set, but it contains an element twice", "use `unique`, or the type multiset"
            )
        return elements

    def read(self, text: str, mode: Mode) -> Value:
        elements = super().read(text, mode)
        if self._has_repeats(elements):
            raise Unreadable("an element twice")
        return elements

    def _has_repeats(self, items: Sequence[Any]) -> bool:
        keys = self._keys(items)
        written = [self.of[0].write_inside(item, self.separator) for item in items] if keys is None else keys
        return len(set(written)) < len(items)


def _find_place(number: int, suits: list[list[int]], owner: dict[int, int], visited: set[int]) -> bool:
    """Return whether the element can be matched, possibly by re-matching others."""
    for place in suits[number]:
        if place not in visited:
            visited.add(place)
            if place not in owner or _find_place(owner[place], suits, owner, visited):
                owner[place] = number
                return True
    return False

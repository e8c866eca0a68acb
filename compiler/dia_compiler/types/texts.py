"""Parameter types of choices and texts: choice, string."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

from dia_language.counts import counted
from dia_language.diagnostics import did_you_mean, first_repeat
from dia_language.numbers.radix import digits_of
from dia_language.numbers.values import Value

from dia_compiler.types.base import (
    Choose,
    Domain,
    Enumerable,
    OptionFault,
    ParameterType,
    between,
    key_of,
    keys_of,
    length_option,
    option,
    weights_option,
    written,
)


class Items(Enumerable):
    """The items of a list, with or without weights."""

    def __init__(self, items: list[Value], weights: tuple[int, ...] | None) -> None:
        self.items, self.weights = items, weights

    @cached_property
    def keys(self) -> set[Any]:
        """The keys of the items; rarely needed, so they are computed on demand."""
        return set(keys_of(self.items))

    @property
    def count(self) -> int:
        return len(self.items)

    def at(self, index: int) -> Value:
        return self.items[index]

    def at_all(self, indices: list[int]) -> list[Value]:
        items = self.items
        return [items[index] for index in indices]

    def draw(self, choose: Choose) -> Value:
        if self.weights is not None:
            return self.items[choose.weighted(self.weights)]
        return self.items[choose.below(len(self.items))]

    def contains(self, value: Value) -> bool:
        return key_of(value) in self.keys

    def refusal(self, value: Value) -> str:
        texts = [item for item in self.items if isinstance(item, str)]
        close = did_you_mean(value, texts) if isinstance(value, str) else None
        some = ", ".join(map(written, self.items[:SHOWN_ITEMS]))
        listed = f": {some}" if len(self.items) <= SHOWN_ITEMS else f", such as {written(self.items[0])}"
        what = f"{written(value)} is not one of {counted(len(self.items), 'item')}"
        return what + (f"; {close}" if close else listed)


def items_option(options: Mapping[str, Any]) -> list[Value]:
    """Return the option `of` as a list of different items; a text is the list of its characters. Raises OptionFault."""
    items = options["of"]
    if isinstance(items, str):
        items = list(items)
    if not isinstance(items, list):
        raise OptionFault("of", "`of` must be a list", LIST_HELP)
    if not items:
        raise OptionFault("of", "`of` is empty")
    keys = keys_of(items)
    if len(set(keys)) != len(keys):
        twice = next(item for at, item in enumerate(items) if keys[at] in keys[:at])
        if isinstance(options["of"], str):
            message = f"this text is read as a list of its characters, and `{twice}` appears twice in `{options['of']}`"
            raise OptionFault("of", message, "write [a, b], or {from: name} for the list of that name")
        raise OptionFault("of", f"duplicate `{twice}` in `of`", "use `weights` to make an item more likely")
    return items


class ChoiceType(ParameterType):
    summary = "an item of a list"
    options = {
        "of": option("data", "the items: a list, {from: NAME} for a list of the spec, or an expression", required=True),
        "weights": option("data", "integer weights, one per item"),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        items = items_option(options)
        return Items(items, weights_option(options, len(items)))


class Strings(Domain):
    """Texts over an alphabet, with lengths between bounds."""

    __slots__ = ("alphabet", "high", "low")

    def __init__(self, alphabet: str, low: int, high: int) -> None:
        self.alphabet, self.low, self.high = alphabet, low, high

    def draw(self, choose: Choose) -> Value:
        length = choose.between(self.low, self.high)
        return spelled(choose.below(power(len(self.alphabet), length)), self.alphabet, length)

    def contains(self, value: Value) -> bool:
        return isinstance(value, str) and self.low <= len(value) <= self.high and set(value) <= set(self.alphabet)

    def refusal(self, value: Value) -> str:
        if not isinstance(value, str):
            return f"{written(value)} is not text"
        if not self.low <= len(value) <= self.high:
            return f"it has {counted(len(value), 'character')}, not {between(self.low, self.high)}"
        return f"`{next(char for char in value if char not in self.alphabet)}` is not in its alphabet"

    @property
    def count(self) -> int:
        size = len(self.alphabet)
        if size == 1:
            return self.high - self.low + 1
        return int((size ** (self.high + 1) - size**self.low) // (size - 1))

    def boundary(self) -> list[Value]:
        first, last = self.alphabet[0], self.alphabet[-1]
        return list(dict.fromkeys(char * length for length in (self.low, self.high) for char in (first, last)))


SYLLABLES = 4096


def spelled(number: int, alphabet: str, length: int) -> str:
    """Return the number as a word of that length over the alphabet, least significant digit first."""
    syllables = syllables_of(alphabet)
    digits = digits_of(number, len(syllables))[::-1]
    return "".join([syllables[digit] for digit in digits])[:length].ljust(length, alphabet[0])


@lru_cache(maxsize=32)
def syllables_of(alphabet: str) -> list[str]:
    """Return all words of one length in the order of their numbers, so that one division gives several letters."""
    syllables = list(alphabet)
    while len(alphabet) > 1 and len(syllables) * len(alphabet) <= SYLLABLES:
        syllables = [start + letter for letter in alphabet for start in syllables]
    return syllables


@lru_cache(maxsize=256)
def power(base: int, exponent: int) -> int:
    """base**exponent, cached because domains need the same few powers for every draw."""
    return int(base**exponent)


LIST_HELP = "write [a, b], {from: NAME} for a list of the spec, or an expression after `= `"
SHOWN_ITEMS = 3  # of a choice with no more, in a message


class StringType(ParameterType):
    summary = "a text of characters from an alphabet"
    options = {
        "alphabet": option("data", "the characters, such as `= letters + digits`", required=True),
        "length": option("data", "number of characters, or {min, max}", required=True),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        alphabet = options["alphabet"]
        if not isinstance(alphabet, str) or not alphabet:
            help = "a name needs `= ` before it, as in `alphabet: = lower_letters`"
            raise OptionFault("alphabet", "`alphabet` must be text of at least one character", help)
        if len(set(alphabet)) != len(alphabet):
            repeated = first_repeat(alphabet)
            raise OptionFault("alphabet", f"duplicate character `{repeated}` in `alphabet`", "keep one of them")
        return Strings(alphabet, *length_option(options))

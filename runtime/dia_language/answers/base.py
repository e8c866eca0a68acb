"""The base class of answer types, and limits for replies."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, TypeAlias, cast

from dia_language.diagnostics import LanguageError, did_you_mean
from dia_language.numbers.values import Value, described

# How tolerantly a reply's text is read as a value. `standard` is `strict` and `standard_lenient` is `lenient` under the
# second edition of the rules, in which numbers can also have a Unicode minus, an exponent or a declared unit.
Mode: TypeAlias = Literal["strict", "lenient", "standard", "standard_lenient"]
LENIENT: Final[frozenset[Mode]] = frozenset({"lenient", "standard_lenient"})
Comparison: TypeAlias = Mapping[str, Any]

CHARACTERS: Final = 1_000_000
DIGITS: Final = 100_000
ELEMENTS: Final = 100_000
COMMON: Final = frozenset({"type", "accept_if", "share", "unanswerable"})


class Unreadable(Exception):
    """A text that is not a value of the answer's type."""


class Undecided(LanguageError):
    """Two values that could be proven neither equal nor different."""


class AnswerType(ABC):
    """How the answers of a comparison are settled, written, parsed, compared and described.

    A new type is a class in a module of this package and one line in ANSWER_TYPES. The `_inside` methods say what
    differs for an element of a list (quotes around text, brackets around lists).
    """

    name: ClassVar[str]
    options: ClassVar[frozenset[str]] = frozenset()
    # The separators that count at each depth of brackets around an element of this type
    separators: tuple[frozenset[str], ...] = ()

    def __init__(self, comparison: Comparison, types: Types) -> None:  # noqa: B027 - most need no options
        """Create the type for a comparison without errors, as checked by `faults`."""

    @classmethod
    def faults(cls, comparison: Comparison, types: Types) -> list[str]:
        """Return the errors in the options, except unknown names."""
        return []

    @abstractmethod
    def settle(self, value: Value) -> Value:
        """The typed correct answer for the value of a template. Raises LanguageError for a value of the wrong kind."""

    @abstractmethod
    def holds(self, value: Value) -> bool:
        """Return whether the value is a settled value of this type."""

    @abstractmethod
    def write(self, value: Value) -> str:
        """Return the canonical text. Raises LanguageError if a reply could not contain it."""

    @abstractmethod
    def read(self, text: str, mode: Mode) -> Value:
        """Return the value of a reply's text. Raises Unreadable."""

    @abstractmethod
    def describe(self) -> str:
        """Return a noun phrase that describes what an answer looks like. Frozen, because prompts contain it."""

    @abstractmethod
    def samples(self) -> list[Value]:
        """Three settled values for examples."""

    def equal(self, reply: Value, truth: Value) -> bool:
        """Return whether a parsed value equals the correct answer. Raises Undecided if neither can be proven."""
        return bool(reply == truth)

    def write_inside(self, value: Value, separator: str) -> str:
        """Return the canonical text as an element of a list."""
        return self.write(value)

    def read_inside(self, piece: str, mode: Mode) -> Value:
        """Return the value of an element's text, which has no outer whitespace."""
        return self.read(piece, mode)

    def equal_inside(self, reply: Value, truth: Value) -> bool:
        """Return whether a parsed element equals that of the correct answer."""
        return self.equal(reply, truth)

    def settle_all(self, values: list[Value]) -> list[Value]:
        """Return the settled elements of a list."""
        return [self.settle(value) for value in values]

    def write_all(self, values: list[Value], separator: str) -> list[str]:
        """Return the canonical texts of the elements of a list."""
        return [self.write_inside(value, separator) for value in values]

    def read_all(self, pieces: list[str], mode: Mode) -> list[Value]:
        """Return the values of the texts of a list's elements."""
        return [self.read_inside(piece, mode) for piece in pieces]

    def key(self, value: Value) -> Hashable | None:
        """Return a key that two values share if and only if they are equal; None if only `equal` can decide."""
        return cast(Hashable, value)

    @property
    def has_quotes(self) -> bool:
        """Return whether an element of this type can be in quotes, or contain one that can."""
        return False


@dataclass(frozen=True, slots=True)
class Types:
    """The answer types by name, for types that contain others."""

    table: Mapping[str, type[AnswerType]]

    def build(self, comparison: Comparison) -> AnswerType:
        """Return the answer type of a comparison without errors."""
        return self.table[comparison["type"]](comparison, self)

    def faults(self, comparison: Any) -> list[str]:
        """Return one message for each error in the comparison."""
        if not isinstance(comparison, Mapping) or not isinstance(name := comparison.get("type"), str):
            return ["an answer needs a `type`"]
        if name not in self.table:
            near = did_you_mean(name, self.table)
            return [f"unknown answer type `{name}`" + (f"; {near}" if near else "")]
        allowed = self.table[name].options | COMMON
        messages = [f"answers of type {name} have no option `{key}`" for key in comparison if key not in allowed]
        return messages + self.table[name].faults(comparison, self)


def unfit(name: str, value: Value, help: str | None = None) -> LanguageError:
    """Return the error for a template's value of the wrong kind."""
    return LanguageError(f"the answer's type is {name}, but its value is {described(value)}", help)


def unfit_part(part: str, error: LanguageError) -> LanguageError:
    """Return the error for a part of an answer, such as an element, which otherwise speaks of the whole answer."""
    message = re.sub("^the answer (?=has |lacks )", "it ", error.message)
    message = re.sub("^the answer's type ", "its type ", message)
    return LanguageError(f"{part}: {message}", error.help, error.code)


def within(text: str, limit: int = CHARACTERS) -> str:
    """Return the text. Raises LanguageError if it is longer than any reply that is read."""
    if len(text) > limit:
        raise LanguageError(f"the answer has {len(text):,} characters; replies are only read up to {limit:,}")
    return text

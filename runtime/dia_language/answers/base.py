"""What an answer type is, and the limits of what a reply may hold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, TypeAlias, cast

from dia_language.diagnostics import LanguageError, did_you_mean
from dia_language.numbers.values import Value, described

Mode: TypeAlias = Literal["strict", "lenient"]
Comparison: TypeAlias = Mapping[str, Any]

CHARACTERS: Final = 1_000_000
DIGITS: Final = 100_000
ELEMENTS: Final = 100_000
COMMON: Final = frozenset({"type", "accept_if", "share"})


class Unreadable(Exception):
    """A text that is no value of the answer's type."""


class Undecided(LanguageError):
    """Two values of which it could be proven neither that they are equal nor that they differ."""


class AnswerType(ABC):
    """How answers of one comparison are settled, written, read, compared and described.

    A further type is a class in a module of this package and one line in ANSWER_TYPES. What differs for an
    element of a list (text in quotes, lists in brackets) stands in the `_inside` methods.
    """

    name: ClassVar[str]
    options: ClassVar[frozenset[str]] = frozenset()
    # For every depth of brackets that an element of this type stands in, the separators that count there
    separators: tuple[frozenset[str], ...] = ()

    def __init__(self, comparison: Comparison, types: Types) -> None:  # noqa: B027 - most need no options
        """The type of a comparison that `faults` found nothing wrong with."""

    @classmethod
    def faults(cls, comparison: Comparison, types: Types) -> list[str]:
        """What is wrong with the options, beyond their names."""
        return []

    @abstractmethod
    def settle(self, value: Value) -> Value:
        """The typed truth of a solver's value. Raises LanguageError for a value of another kind."""

    @abstractmethod
    def holds(self, value: Value) -> bool:
        """Whether the value is a settled one of this type."""

    @abstractmethod
    def write(self, value: Value) -> str:
        """The canonical text. Raises LanguageError where a reply could not hold it."""

    @abstractmethod
    def read(self, text: str, mode: Mode) -> Value:
        """The value of a reply's text. Raises Unreadable."""

    @abstractmethod
    def describe(self) -> str:
        """A noun phrase that tells what an answer looks like; frozen, because prompts hold it."""

    @abstractmethod
    def samples(self) -> list[Value]:
        """Three settled values to show."""

    def equal(self, reply: Value, truth: Value) -> bool:
        """Whether a read value is the truth. Raises Undecided where that can be proven neither way."""
        return bool(reply == truth)

    def write_inside(self, value: Value, separator: str) -> str:
        """The canonical text as an element of a list."""
        return self.write(value)

    def read_inside(self, piece: str, mode: Mode) -> Value:
        """The value of an element's text, which has no outer white space."""
        return self.read(piece, mode)

    def equal_inside(self, reply: Value, truth: Value) -> bool:
        """Whether a read element is the truth's."""
        return self.equal(reply, truth)

    def key(self, value: Value) -> Hashable | None:
        """What two values have in common when and only when they are equal; None where only `equal` can tell."""
        return cast(Hashable, value)

    @property
    def has_quotes(self) -> bool:
        """Whether an element of this type may stand in quotes, or hold what does."""
        return False


@dataclass(frozen=True, slots=True)
class Types:
    """The answer types by name, for those that are made of others."""

    table: Mapping[str, type[AnswerType]]

    def build(self, comparison: Comparison) -> AnswerType:
        """The answer type of a comparison without faults."""
        return self.table[comparison["type"]](comparison, self)

    def faults(self, comparison: Any) -> list[str]:
        """One message for everything that is wrong with the comparison."""
        if not isinstance(comparison, Mapping) or not isinstance(name := comparison.get("type"), str):
            return ["an answer needs a `type`"]
        if name not in self.table:
            near = did_you_mean(name, self.table)
            return [f"there is no answer type `{name}`" + (f"; {near}" if near else "")]
        allowed = self.table[name].options | COMMON
        messages = [f"answers of type {name} have no option `{key}`" for key in comparison if key not in allowed]
        return messages + self.table[name].faults(comparison, self)


def unfit(name: str, value: Value, help: str | None = None) -> LanguageError:
    """The error for a solver's value of another kind."""
    return LanguageError(f"the answer's type is {name}, but its value is {described(value)}", help)


def within(text: str, limit: int = CHARACTERS) -> str:
    """The text itself. Raises LanguageError where it is longer than any reply that is read."""
    if len(text) > limit:
        raise LanguageError(f"the answer has {len(text):,} characters; replies are only read up to {limit:,}")
    return text

"""What a reply format is: how a turn of a session is answered, and the chains that read a typed value out of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, TypeAlias

from dia_language.numbers.values import Value

from dia_runtime.formats.base import MOST, NOTHING, FormatOption

ReplyRecord: TypeAlias = Mapping[str, Any]
Reading: TypeAlias = Callable[[str, ReplyRecord], Value | None]
Chains: TypeAlias = Mapping[str, tuple[tuple[str, Reading], ...]]
LONGEST = 1_000  # characters of one of them


class Read(NamedTuple):
    """The typed value of a reply, or None where none could be read, and the step that decided."""

    value: Value | None
    step: str


class ReplyFormat(ABC):
    """How a reply within a session holds a value.

    A further format is a class in a module of this package and one line in REPLY_FORMATS.
    """

    # Options that a turn may give beside `kind`.
    options: ClassVar[Mapping[str, FormatOption]] = {}
    # Chain -> its steps in order: the first one that finds a value decides. Every format has `strict`.
    chains: ClassVar[Chains]

    def faults(self, format: ReplyRecord) -> list[str]:
        """One message for everything that is wrong with a turn's record of this format."""
        names = {*self.options, "kind"}
        return [f"the format {format['kind']} has no option `{name}`" for name in format if name not in names]

    @abstractmethod
    def instruction(self, format: ReplyRecord) -> str:
        """How to write the reply, as prompts tell it. Frozen: bundles are made of it."""

    @abstractmethod
    def write(self, value: Value, format: ReplyRecord) -> str:
        """A reply that is read as the value by the chain `strict`."""

    def read(self, reply: str, format: ReplyRecord, chain: str = "strict") -> Read:
        """The value of a reply by the steps of a chain; by those of `strict` where the format has no such chain."""
        for name, step in self.chains.get(chain, self.chains["strict"]):
            value = step(reply, format)
            if value is not None:
                return Read(value, name)
        return Read(None, NOTHING)


def texts_fault(format: ReplyRecord, name: str, least: int) -> list[str]:
    """What keeps an option from being a list of different one-line texts."""
    texts, kind = format.get(name), format["kind"]
    if not isinstance(texts, list) or not least <= len(texts) <= MOST:
        return [f"the format {kind} needs `{name}`: a list of {least} to {MOST} texts"]
    if not all(isinstance(one, str) and is_line(one) for one in texts):
        return [f"`{name}` of the format {kind} must contain one-line texts of 1 to {LONGEST} characters"]
    folded = [one.casefold() for one in texts]
    return [] if len(set(folded)) == len(folded) else [f"the texts in `{name}` of the format {kind} must be different"]


def is_line(text: str) -> bool:
    """Whether the text is one line without blanks around it."""
    return 0 < len(text) <= LONGEST and text == text.strip() and len(text.splitlines()) == 1


def count_fault(format: ReplyRecord, name: str) -> list[str]:
    """What keeps an option, where it is given, from being a number of things."""
    count = format.get(name, 1)
    is_count = isinstance(count, int) and not isinstance(count, bool) and 1 <= count <= MOST
    return [] if is_count else [f"`{name}` of the format {format['kind']} must be an integer from 1 to {MOST}"]


def by_fold(names: list[str]) -> dict[str, str]:
    """Name in small letters -> the name as it is spelt."""
    return {name.casefold(): name for name in names}

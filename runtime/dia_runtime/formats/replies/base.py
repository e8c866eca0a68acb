"""The base class of reply formats: how a turn is answered, and the chains that extract a typed value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, TypeAlias

from dia_language.numbers.values import Value

from dia_runtime.formats.base import MOST, NOTHING, STANDARD, FormatOption, ignores_reasoning, rules_fault
from dia_runtime.formats.reasoning import without_reasoning

ReplyRecord: TypeAlias = Mapping[str, Any]
Reading: TypeAlias = Callable[[str, ReplyRecord], Value | None]
Chains: TypeAlias = Mapping[str, tuple[tuple[str, Reading], ...]]
LONGEST = 1_000  # characters of one of them


class Read(NamedTuple):
    """The typed value of a reply, or None if there is none, and the step that decided."""

    value: Value | None
    step: str


class ReplyFormat(ABC):
    """A way for a reply in a session to contain a value.

    A new format is a class in a module of this package and one line in REPLY_FORMATS.
    """

    # Options besides `kind` in a turn.
    options: ClassVar[Mapping[str, FormatOption]] = {}
    # Chain -> its steps in order: the first one that finds a value decides. Every format has `strict`.
    chains: ClassVar[Chains]

    def faults(self, format: ReplyRecord) -> list[str]:
        """Return one message for each error in a turn's format of this kind."""
        names = {*self.options, "kind", "rules"}
        messages = [f"the format {format['kind']} has no option `{name}`" for name in format if name not in names]
        return messages + rules_fault(format)

    @abstractmethod
    def instruction(self, format: ReplyRecord) -> str:
        """How to write the reply, as prompts say it. Frozen, because bundles contain it."""

    @abstractmethod
    def write(self, value: Value, format: ReplyRecord) -> str:
        """Return a reply that the chain `strict` parses as the value."""

    def read(self, reply: str, format: ReplyRecord, chain: str = STANDARD) -> Read:
        """Extract the value of a reply with a chain, or with `strict` if the format does not have that chain."""
        if ignores_reasoning(chain, format):
            reply = without_reasoning(reply)
        for name, step in self.chains.get(chain, self.chains["strict"]):
            value = step(reply, format)
            if value is not None:
                return Read(value, name)
        return Read(None, NOTHING)


def texts_fault(format: ReplyRecord, name: str, least: int) -> list[str]:
    """Return the error if an option is not a list of different one-line texts."""
    texts, kind = format.get(name), format["kind"]
    if not isinstance(texts, list) or not least <= len(texts) <= MOST:
        return [f"the format {kind} needs `{name}`: a list of {least} to {MOST:,} texts"]
    if not all(isinstance(one, str) and is_line(one) for one in texts):
        return [f"`{name}` of the format {kind} must contain one-line texts of 1 to {LONGEST:,} characters"]
    folded = [one.casefold() for one in texts]
    return [] if len(set(folded)) == len(folded) else [f"the texts in `{name}` of the format {kind} must be different"]


def is_line(text: str) -> bool:
    """Return whether the text is one line without outer spaces."""
    return 0 < len(text) <= LONGEST and text == text.strip() and len(text.splitlines()) == 1


def count_fault(format: ReplyRecord, name: str) -> list[str]:
    """Return the error if an option is given and is not a valid count."""
    count = format.get(name, 1)
    is_count = isinstance(count, int) and not isinstance(count, bool) and 1 <= count <= MOST
    return [] if is_count else [f"`{name}` of the format {format['kind']} must be an integer from 1 to {MOST}"]


def by_fold(names: list[str]) -> dict[str, str]:
    """Map each name in lowercase to its original spelling."""
    return {name.casefold(): name for name in names}

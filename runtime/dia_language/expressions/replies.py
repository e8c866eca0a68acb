"""Replies that expressions and templates name: values that may not be there, and what is known of how they came.

A scope holds under a reply's name a `Said`, or a list of them (of lists of them) where the reply was asked for once an
item. The functions here are what compiled expressions and templates call; nothing else looks into a `Said`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from dia_language.diagnostics import LanguageError
from dia_language.functions import library
from dia_language.functions.quoting import quoted
from dia_language.numbers import operators
from dia_language.numbers.values import Value


class Missing(Enum):
    """The one value that stands where a reply has none; an enumeration, so that it stays itself when it is sent."""

    UNSET = "unset"


UNSET: Final = Missing.UNSET


@dataclass(frozen=True, slots=True)
class Said:
    """A reply: its typed value (UNSET where it never came or could not be read), its text, and how it came."""

    value: Value = UNSET
    text: str | None = None
    tokens: int | None = None
    seconds: Value = None
    finish_reason: str | None = None

    @property
    def has_come(self) -> bool:
        """Whether there is a reply at all, readable or not; one that was imported may have no text."""
        known = (self.text, self.tokens, self.seconds, self.finish_reason)
        return self.value is not UNSET or any(fact is not None for fact in known)


class Unset(LanguageError):
    """The use of a reply that is not there."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the reply `{name}` is not there", f"ask first: `answered({name})`", UNSET_CODE)
        self.name = name

    def __reduce__(self) -> tuple[Any, ...]:
        return Unset, (self.name,)


UNSET_CODE = "E512"
Scope = Mapping[str, Any]


def reply_value(scope: Scope, name: str, *path: Value) -> Value:
    """The typed value of a reply, or of the part of it that indices lead to. Raises Unset."""
    found, rest = _followed(scope[name], path)
    value = _value(found, name)
    for index in rest:
        value = operators.item_of(value, index)
    return value


def reply_slice(scope: Scope, name: str, start: Value, stop: Value, step: Value) -> Value:
    """A slice of a reply's values. Raises Unset where one of them is not there."""
    found = scope[name]
    if type(found) is list:
        return _value(operators.slice_of(found, start, stop, step), name)
    return operators.slice_of(_value(found, name), start, stop, step)


def reply_shown(scope: Scope, name: str) -> Value:
    """The reply as a template prints it where the name stands alone: its text, or the value of one without text."""
    found = scope[name]
    is_plain = type(found) is not list and found.text is not None
    return found.text if is_plain else _value(found, name)


def _value(found: Any, name: str) -> Value:
    if type(found) is list:
        return [_value(item, name) for item in found]
    if found.value is UNSET:
        raise Unset(name)
    return found.value


def _followed(found: Any, path: tuple[Value, ...]) -> tuple[Any, tuple[Value, ...]]:
    """Where the indices lead among several replies, and those that go on into the value of one."""
    for at, index in enumerate(path):
        if type(found) is not list:
            return found, path[at:]
        found = operators.item_of(found, index)
    return found, ()


def _asked(scope: Scope, name: str, path: tuple[Value, ...]) -> Any:
    """The reply, or the replies, that a function of replies is asked about."""
    found, rest = _followed(scope[name], path)
    if rest:
        raise LanguageError(f"`{name}` is one reply here, not a list of them", f"write `{name}` without an index")
    return found


def answered(scope: Scope, name: str, *path: Value) -> bool:
    """Whether the reply has a value; of several replies, whether each of them has one."""
    return _has_value(_asked(scope, name, path))


def _has_value(found: Any) -> bool:
    return all(map(_has_value, found)) if type(found) is list else found.value is not UNSET


def _fact(read: Callable[[Said], Value]) -> Callable[..., Value]:
    """The function of a reply that reads one fact of it, or a list of facts of several. Raises Unset."""

    def fact(scope: Scope, name: str, *path: Value) -> Value:
        return each(_asked(scope, name, path), name)

    def each(found: Any, name: str) -> Value:
        if type(found) is list:
            return [each(item, name) for item in found]
        if not found.has_come:
            raise Unset(name)
        return read(found)

    return fact


text = _fact(lambda said: said.text)
tokens = _fact(lambda said: said.tokens)
seconds = _fact(lambda said: said.seconds)
finish_reason = _fact(lambda said: said.finish_reason)


def length(scope: Scope, name: str, *path: Value) -> int:
    """How many replies there are; of one reply, how long its value is. Raises Unset for that."""
    found = _asked(scope, name, path)
    return len(found) if type(found) is list else library()["length"].call(_value(found, name))


def quoted_text(scope: Scope, name: str, *path: Value) -> str:
    """The reply's text between marks that it cannot hold. Raises Unset."""
    said = text(scope, name, *path)
    if not isinstance(said, str):
        raise LanguageError(f"`{name}` has no single text", f"quote one of them: `quoted({name}[0])`")
    return quoted(said)


# Functions that take a reply's name, and the guard that each becomes
REPLY_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "answered": answered, "text": text, "tokens": tokens, "seconds": seconds, "finish_reason": finish_reason,
    "length": length, "quoted": quoted_text,
}  # fmt: skip
# Those of them that the library has too: of what is no reply they are the library's
ALSO_IN_LIBRARY = frozenset({"length", "quoted"})
REPLY_GUARDS: dict[str, Callable[..., Value]] = {
    "_reply_value": reply_value,
    "_reply_slice": reply_slice,
    "_reply_shown": reply_shown,
    **{f"_said_{name}": guard for name, guard in REPLY_FUNCTIONS.items()},
}

"""Replies that expressions and templates name: values that may be missing, and how they arrived.

Under a reply's name, a scope has a `SessionReply`, or a (nested) list of them if the reply was requested once per item.
The functions here are what compiled expressions and templates call; nothing else accesses a `SessionReply`.
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
    """The value of a missing reply; an enumeration, so that it keeps its identity when it is pickled."""

    UNSET = "unset"


UNSET: Final = Missing.UNSET


@dataclass(frozen=True, slots=True)
class SessionReply:
    """A reply: its typed value (UNSET if missing or unreadable), its text, and how it arrived."""

    value: Value = UNSET
    text: str | None = None
    tokens: int | None = None
    seconds: Value = None
    finish_reason: str | None = None

    @property
    def has_come(self) -> bool:
        """Return whether there is a reply, readable or not; an imported one may have no text."""
        facts = (self.text, self.tokens, self.seconds, self.finish_reason)
        return self.value is not UNSET or any(fact is not None for fact in facts)


class Unset(LanguageError):
    """The use of a missing reply."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the reply `{name}` is missing", f"check first: `answered({name})`", UNSET_CODE)
        self.name = name

    def __reduce__(self) -> tuple[Any, ...]:
        return Unset, (self.name,)


UNSET_CODE = "E512"
Scope = Mapping[str, Any]


def reply_value(scope: Scope, name: str, *path: Value) -> Value:
    """Return the typed value of a reply, or of the part of it that indices select. Raises Unset."""
    reply, rest = _followed(scope[name], path)
    value = _value(reply, name)
    for index in rest:
        value = operators.item_of(value, index)
    return value


def reply_slice(scope: Scope, name: str, start: Value, stop: Value, step: Value) -> Value:
    """Return a slice of a reply's values. Raises Unset if one of them is missing."""
    replies = scope[name]
    if type(replies) is list:
        return _value(operators.slice_of(replies, start, stop, step), name)
    return operators.slice_of(_value(replies, name), start, stop, step)


def reply_shown(scope: Scope, name: str) -> Value:
    """Return the reply as templates print it: its text, or its value if it has no text."""
    reply = scope[name]
    is_plain = type(reply) is not list and reply.text is not None
    return reply.text if is_plain else _value(reply, name)


def _value(reply: Any, name: str) -> Value:
    if type(reply) is list:
        return [_value(item, name) for item in reply]
    if reply.value is UNSET:
        raise Unset(name)
    return reply.value


def _followed(replies: Any, path: tuple[Value, ...]) -> tuple[Any, tuple[Value, ...]]:
    """Return the reply, or list of replies, that the indices select, and the indices into its value."""
    for at, index in enumerate(path):
        if type(replies) is not list:
            return replies, path[at:]
        replies = operators.item_of(replies, index)
    return replies, ()


def _reply_at(scope: Scope, name: str, path: tuple[Value, ...]) -> Any:
    """Return the reply, or the replies, to which a function of replies is applied."""
    reply, rest = _followed(scope[name], path)
    if rest:
        raise LanguageError(
            f"`{name}` is a single reply here, not a list of replies", f"write `{name}` without an index"
        )
    return reply


def answered(scope: Scope, name: str, *path: Value) -> bool:
    """Return whether the reply has a value; of several replies, whether each of them has one."""
    return _has_value(_reply_at(scope, name, path))


def _has_value(reply: Any) -> bool:
    return all(map(_has_value, reply)) if type(reply) is list else reply.value is not UNSET


def _fact(read: Callable[[SessionReply], Value]) -> Callable[..., Value]:
    """Return the function that reads one fact of a reply, or a list of facts of several. Raises Unset."""

    def fact(scope: Scope, name: str, *path: Value) -> Value:
        return each(_reply_at(scope, name, path), name)

    def each(reply: Any, name: str) -> Value:
        if type(reply) is list:
            return [each(item, name) for item in reply]
        if not reply.has_come:
            raise Unset(name)
        return read(reply)

    return fact


text = _fact(lambda reply: reply.text)
tokens = _fact(lambda reply: reply.tokens)
seconds = _fact(lambda reply: reply.seconds)
finish_reason = _fact(lambda reply: reply.finish_reason)


def length(scope: Scope, name: str, *path: Value) -> int:
    """Return the number of replies; for one reply, the length of its value. Raises Unset for that."""
    reply = _reply_at(scope, name, path)
    return len(reply) if type(reply) is list else library()["length"].call(_value(reply, name))


def quoted_text(scope: Scope, name: str, *path: Value) -> str:
    """Return the reply's text between two lines of backticks. Raises Unset."""
    reply_text = text(scope, name, *path)
    if not isinstance(reply_text, str):
        raise LanguageError(f"`{name}` is several replies", f"quote one of them: `quoted({name}[0])`")
    return quoted(reply_text)


# Functions that take a reply's name, and the guard that each becomes
REPLY_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "answered": answered, "text": text, "tokens": tokens, "seconds": seconds, "finish_reason": finish_reason,
    "length": length, "quoted": quoted_text,
}  # fmt: skip
# Those that are also in the library, which is used for other arguments than replies
ALSO_IN_LIBRARY = frozenset({"length", "quoted"})
REPLY_GUARDS: dict[str, Callable[..., Value]] = {
    "_reply_value": reply_value,
    "_reply_slice": reply_slice,
    "_reply_shown": reply_shown,
    **{f"_said_{name}": guard for name, guard in REPLY_FUNCTIONS.items()},
}

"""Parse the sessions of a question's record: sessions, their turns, their texts.

A text is frozen, or frozen for each item of the innermost list, or stored code that reads replies. A list is frozen or
stored code. Bundles may come from untrusted sources, so every part is checked before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from dia_language.numbers.values import decode

from dia_runtime.bundle.open import Bundle
from dia_runtime.formats import replies as reply_formats

Record: TypeAlias = Mapping[str, Any]
Code: TypeAlias = Record
Texts: TypeAlias = "str | tuple[str, ...] | Code"
Items: TypeAlias = "list[Any] | Code"

SUBJECT = "subject"
MOST_SESSIONS, MOST_TURNS = 100, 100
LIMIT = 20_000
MARK = b'"sessions"'
# Settings that a session may have; only the command line decides where requests go, and with which key.
SETTINGS = {
    **dict.fromkeys(("temperature", "top_p", "presence_penalty", "frequency_penalty"), "number"),
    **dict.fromkeys(("max_tokens", "seed"), "integer"),
    "stop": "texts",
    "reasoning_effort": "text",
}


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A turn: the message to the model, the start of its reply, and how the reply is read."""

    user: Texts | None = None
    assistant: Texts | None = None
    reply: str | None = None
    format: Record | None = None
    limit: int = LIMIT
    when: Code | None = None
    over: Items | None = None
    variable: str | None = None
    until: Code | None = None


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session: which role is asked what, after which other sessions, and for which items."""

    name: str
    turns: tuple[TurnRecord, ...]
    role: str = SUBJECT
    needs: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    system: Texts | None = None
    when: Code | None = None
    over: Items | None = None
    variable: str | None = None
    keys: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class SessionUse:
    """The roles of the sessions in a bundle's questions, and whether all questions consist of sessions."""

    roles: frozenset[str] = frozenset()
    has_sessions: bool = False
    has_others: bool = True


def session_use(bundle: Bundle) -> SessionUse:
    """Return the roles in the sessions of a bundle."""
    if not may_have_sessions(bundle):
        return SessionUse()
    roles: set[str] = set()
    in_sessions = others = 0
    for question in bundle.questions():
        in_sessions, others = in_sessions + ("sessions" in question), others + ("sessions" not in question)
        roles |= set(roles_in(question.get("sessions")))
    return SessionUse(frozenset(roles), in_sessions > 0, others > 0)


def may_have_sessions(bundle: Bundle) -> bool:
    """Return whether `"sessions"` occurs in the questions, which is faster than parsing them."""
    for name in bundle.names("questions"):
        end = b""
        for piece in bundle.pieces(name):
            if MARK in end + piece:  # also where two pieces meet
                return True
            end = piece[-len(MARK) :]
    return False


def roles_in(sessions: Any) -> Iterator[str]:
    """Return the role of every session of a record, even if it is malformed."""
    return (role for role, _ in _with_roles(sessions))


def roles_with_prefill(sessions: Any) -> Iterator[str]:
    """Yield the roles with replies whose beginning is given."""
    for role, session in _with_roles(sessions):
        turns = session.get("turns")
        if isinstance(turns, list) and any(isinstance(turn, Mapping) and "assistant" in turn for turn in turns):
            yield role


def _with_roles(sessions: Any) -> Iterator[tuple[str, Record]]:
    for session in sessions if isinstance(sessions, list) else ():
        if isinstance(session, Mapping):
            role = session.get("role", SUBJECT)
            yield (role if isinstance(role, str) else SUBJECT), session


def read_sessions(question: Record) -> list[SessionRecord]:
    """Return the sessions of a question, each after those that it needs. Raises ValueError if it is malformed."""
    records = question.get("sessions")
    if not isinstance(records, list) or not 1 <= len(records) <= MOST_SESSIONS:
        raise ValueError(f"`sessions` must be a list of 1 to {MOST_SESSIONS} sessions")
    try:
        sessions = [_session(entry) for entry in records]
    except (KeyError, TypeError, AttributeError):
        raise ValueError("a session is malformed") from None
    earlier: set[str] = set()
    for session in sessions:
        if session.name in earlier or not earlier.issuperset(session.needs):
            raise ValueError(f"the session `{session.name}` is duplicated, or comes before a session that it needs")
        earlier.add(session.name)
    names = [turn.reply for session in sessions for turn in session.turns if turn.reply is not None]
    if len(set(names)) < len(names):
        raise ValueError("two replies have the same name")
    return sessions


def _session(record: Record) -> SessionRecord:
    turns, over, share = _list(record["turns"]), _items(record.get("over")), record.get("share")
    if not 1 <= len(turns) <= MOST_TURNS:
        raise ValueError(f"a session has 1 to {MOST_TURNS:,} turns")
    return SessionRecord(
        _text(record["name"]),
        tuple(_turn(turn) for turn in turns),
        _text(record.get("role", SUBJECT)),
        tuple(map(_text, _list(record.get("needs", [])))),
        _settings(record.get("settings", {})),
        _texts(record.get("system")),
        _code(record.get("when")),
        over,
        _variable(record),
        None if share is None else tuple(map(_text, _list(share["keys"]))),
    )


def _turn(record: Record) -> TurnRecord:
    reply, user, assistant = record.get("reply"), _texts(record.get("user")), _texts(record.get("assistant"))
    if user is None and assistant is None:
        raise ValueError("a turn is empty")
    named: dict[str, Any] = {}
    if reply is not None:
        limit, format = reply.get("limit", LIMIT), reply.get("format", {"kind": "text"})
        if type(limit) is not int or limit < 0 or not isinstance(format, Mapping):
            raise ValueError("a reply is malformed")
        if faults := reply_formats.faults(format):
            raise ValueError(faults[0])
        named = {"reply": _text(reply["name"]), "format": format, "limit": limit}
    when, until = _code(record.get("when")), _code(record.get("until"))
    return TurnRecord(
        user, assistant, when=when, over=_items(record.get("over")), variable=_variable(record), until=until, **named
    )


def _variable(record: Record) -> str | None:
    return None if record.get("as") is None else _text(record["as"])


def _texts(value: Any) -> Texts | None:
    if value is None or isinstance(value, str):
        return value
    if "each" not in value:
        return _code(value)
    if not all(isinstance(text, str) for text in _list(value["each"])):
        raise ValueError("a text has the wrong type")
    return tuple(value["each"])


def _items(record: Any) -> Items | None:
    """Return a list as it is stored, after checking it; or stored code."""
    if not isinstance(record, list):
        return _code(record)
    for value in record:
        decode(value)
    return record


def _code(value: Any) -> Code | None:
    if value is not None and not isinstance(value, Mapping):
        raise ValueError("stored code is malformed")
    replies = [] if value is None else _list(value.get("replies", []))
    if not all(isinstance(name, str) for name in replies):
        raise ValueError("stored code is malformed")
    return value


def _settings(settings: Any) -> Mapping[str, Any]:
    for name in settings:
        if name not in SETTINGS:
            raise ValueError(f"a session cannot set `{str(name)[:60]}`")
        if not _has_kind(SETTINGS[name], decode(settings[name])):
            raise ValueError(f"the setting `{name}` is malformed")
    return dict(settings)


def _has_kind(kind: str, value: Any) -> bool:
    """Return whether a setting has the right type."""
    if kind == "text":
        return isinstance(value, str)
    if kind == "texts":
        return isinstance(value, list) and all(isinstance(text, str) for text in value)
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return is_integer or (kind == "number" and isinstance(value, Fraction))


def _list(value: Any) -> Sequence[Any]:
    if not isinstance(value, list):
        raise ValueError("a list has the wrong type")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("a name or a text has the wrong type")
    return value

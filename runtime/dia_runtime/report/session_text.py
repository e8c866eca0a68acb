"""The sessions of a question as text: which session uses which replies, and every turn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dia_runtime.bundle.session_records import SUBJECT, SessionRecord, TurnRecord, read_sessions

SHOWN = 3  # texts or items of a list
HIDDEN = ("kind", "rules")  # of a format: its name, and the edition of its rules


def session_text(question: Mapping[str, Any]) -> str:
    """Return the graph of the sessions, then their turns; or why they cannot be read."""
    try:
        sessions = read_sessions(question)
    except ValueError as error:
        return f"[sessions]\nthese sessions cannot be run: {error}"
    width = max(len(session.name) for session in sessions)
    graph = [f"  {session.name.ljust(width)}  {_place(session)}" for session in sessions]
    turns = [line for session in sessions for line in _session(session)]
    return "\n".join(["[sessions]", *graph, *turns])


def _place(session: SessionRecord) -> str:
    """Return the role of a session, the sessions before it, how often it is run, and its settings."""
    parts = [f"role {session.role}"]
    if session.needs:
        parts.append(f"uses replies from {', '.join(session.needs)}")
    if session.over is not None:
        parts.append(_loop(session.over, session.variable))
    if session.keys is not None:
        parts.append("shared with other questions")
    if session.when is not None:
        parts.append(f"when {_code(session.when)}")
    parts += [f"{name} {_value(value)}" for name, value in session.settings.items()]
    return ", ".join(parts)


def _session(session: SessionRecord) -> Iterator[str]:
    yield from ("", f"[{session.name}]" + ("" if session.role == SUBJECT else f" ({session.role})"))
    if session.system is not None:
        yield f"system: {_texts(session.system)}"
    for number, turn in enumerate(session.turns, 1):
        yield from _turn(number, turn)


def _turn(number: int, turn: TurnRecord) -> Iterator[str]:
    notes = [_loop(turn.over, turn.variable)] if turn.over is not None else []
    notes += [
        f"{word} {_code(code)}" for word, code in (("when", turn.when), ("until", turn.until)) if code is not None
    ]
    yield f"{number}." + (f" ({'; '.join(notes)})" if notes else "")
    for role, texts in (("user", turn.user), ("assistant begins", turn.assistant)):
        if texts is not None:
            yield f"{role}: {_texts(texts)}"
    if turn.reply is not None and turn.format is not None:
        options = ", ".join(f"{name} {_value(value)}" for name, value in turn.format.items() if name not in HIDDEN)
        yield f"reply: {turn.reply}, read as {turn.format['kind']}" + (f" ({options})" if options else "")


def _texts(texts: Any) -> str:
    if isinstance(texts, str):
        return texts
    if isinstance(texts, tuple):
        more = f"\n(and {len(texts) - SHOWN} more)" if len(texts) > SHOWN else ""
        return "\n".join(f"({at}) {text}" for at, text in enumerate(texts[:SHOWN], 1)) + more
    return _code(texts)


def _loop(over: Any, variable: str | None) -> str:
    """Return how often a session or a turn is run, and the name of the element."""
    elements = f"a list of {len(over):,}" if isinstance(over, list) else f"`{_code(over)}`"
    element = f"`{variable}`" if variable else "element"
    return f"once for each {element} in {elements}"


def _code(stored: Mapping[str, Any]) -> str:
    return str(stored.get("template", stored.get("expression", "")))


def _value(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return " ".join(value)
    if isinstance(value, Mapping) and len(value) == 1 and "decimal" in value:
        return str(value["decimal"])
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

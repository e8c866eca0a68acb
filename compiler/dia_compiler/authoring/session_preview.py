"""Sessions in words, for people who look at a spec: who reads what of whom, and texts with stand-ins for replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dia_language.diagnostics import DiaError, LanguageError
from dia_language.expressions.replies import Said
from dia_language.numbers.values import Record, Value, decode
from dia_language.stored.stored_code import code_of, symbolic

Stored = Mapping[str, Any]
SEVERAL = 2  # stand-ins for a list of unknown length


def shown_sessions(sessions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each session in words: its role, the replies that it reads and from which session, its turns."""
    owners = {turn["reply"]["name"]: held["name"] for held in sessions for turn in held["turns"] if "reply" in turn}
    said = _stand_ins(sessions)
    return [_session(held, owners, said) for held in sessions]


def _session(held: Stored, owners: Mapping[str, str], said: Mapping[str, Any]) -> dict[str, Any]:
    read = sorted({name for code in _codes(held) for name in code.get("replies", ())})
    reads = {name: owners[name] for name in read if owners.get(name) not in (None, held["name"])}
    more = [f"model {held['role']}"] if held["role"] != "subject" else []
    more += [f"{name} {value}" for name, value in _plain(held.get("settings", {})).items()]
    around = _loop(held)
    own = {name: _of_item(entry) if owners[name] == held["name"] and "over" in held else entry
           for name, entry in said.items()}  # fmt: skip
    texts = [("system", held["system"])] if "system" in held else []
    lines = [{"speaker": speaker, "text": _text(text, {**own, **around})} for speaker, text in texts]
    for turn in held["turns"]:
        lines += _turn(turn, {**own, **around})
    return {"name": held["name"], "reads": reads, "notes": more + list(_notes(held)), "turns": lines}


def _of_item(entry: Any) -> Any:
    """Of a reply that a session asks for once an item, that of its own item."""
    return entry[0] if isinstance(entry, list) and entry else entry


def _turn(turn: Stored, scope: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    inner = {**scope, **_loop(turn)}
    notes = list(_notes(turn))
    for speaker in ("user", "assistant"):
        if speaker in turn:
            yield {"speaker": speaker, "text": _text(turn[speaker], inner), "notes": notes}
            notes = []
    if "reply" in turn:
        yield {"speaker": "reply", "text": f"‹{turn['reply']['name']}›", "notes": [turn["reply"]["format"]["kind"]]}


def _notes(held: Stored) -> Iterator[str]:
    """What is said beside the texts: lists, conditions, shared keys."""
    over = held.get("over")
    if over is not None:
        items = f"{len(over)} items" if isinstance(over, list) else f"`{over['expression']}`"
        yield f"for each of {items}" + (f" as {held['as']}" if "as" in held else "")
    for name in ("when", "until"):
        if name in held:
            yield f"{name} {held[name]['expression']}"
    if "share" in held:
        yield "asked once a model for the same key"


def _loop(held: Stored) -> dict[str, Any]:
    """The names of the first item of a list."""
    over = held.get("over")
    if over is None:
        return {}
    first = decode(over[0], symbolic) if isinstance(over, list) and over else f"‹{held.get('as', 'item')}›"
    return {"index": 0, **({held["as"]: first} if "as" in held else {})}


def _text(text: Any, scope: Mapping[str, Any]) -> str:
    if isinstance(text, str):
        return text
    if "each" in text:
        return text["each"][0] if text["each"] else ""
    code = code_of(text)
    known = {
        name: value for name, value in scope.items() if name in code.replies or not isinstance(value, (Said, list))
    }
    try:
        return code.render(known)
    except (DiaError, LanguageError):
        return str(text["template"])


def _codes(held: Any) -> Iterator[Stored]:
    """Every piece of stored code in a record."""
    if isinstance(held, Mapping):
        if "expression" in held or "template" in held:
            yield held
        else:
            for part in held.values():
                yield from _codes(part)
    elif isinstance(held, list):
        for part in held:
            yield from _codes(part)


def _stand_ins(sessions: list[dict[str, Any]]) -> dict[str, Any]:
    """For each reply a stand-in of its kind, or a list of them where there are several."""
    found: dict[str, Any] = {}
    for session in sessions:
        for turn in session["turns"]:
            if "reply" in turn:
                name, format = turn["reply"]["name"], turn["reply"]["format"]
                entry: Any = Said(stand_in(name, format), f"‹{name}›", 0, 0, "stop")
                for held in (turn, session):
                    if "over" in held:
                        entry = [entry] * (len(held["over"]) if isinstance(held["over"], list) else SEVERAL)
                found[name] = entry
    return found


def stand_in(name: str, format: Stored) -> Value:
    """A value of a reply's kind that shows whose place it takes.

    >>> stand_in("listed", {"kind": "lines", "count": 2})
    ['‹listed 1›', '‹listed 2›']
    """
    kind = format["kind"]
    if kind == "lines":
        return _several(name, format.get("count"))
    if kind in ("subset", "ranking"):
        return list(format.get("of", ()))
    if kind == "flags":
        return Record((str(option), True) for option in format.get("of", ()))
    if kind == "json" and isinstance(format.get("fields"), Mapping):
        return Record((field, _field(f"{name}.{field}", held)) for field, held in format["fields"].items())
    return f"‹{name}›"


def _field(name: str, held: Any) -> Value:
    if isinstance(held, Mapping) and "list" in held:
        return _several(name, held.get("length"))
    return {"integer": 1, "boolean": True}.get(held if isinstance(held, str) else "", f"‹{name}›")


def _several(name: str, count: Any) -> list[Value]:
    return [f"‹{name} {place + 1}›" for place in range(count if isinstance(count, int) else SEVERAL)]


def _plain(settings: Stored) -> dict[str, Any]:
    return {name: decode(value) for name, value in settings.items()}


def shown_truth(answer: Stored) -> list[str]:
    """The truth and the figures, each part on a line."""
    kind, held = next(iter(answer["truth"].items()))
    lines = [f"{kind} {name}: {part['expression']}" for name, part in held.items()
             if isinstance(part, Mapping) and "expression" in part]  # fmt: skip
    lines += [f"{kind} key: {part['expression']}" for part in held.get("keys", ())]
    lines += [f"figure {name}: {figure['summary']} of {figure['value']['expression']}"
              for name, figure in answer.get("figures", {}).items()]  # fmt: skip
    return lines

"""Sessions in words, for people who read a spec: which session reads which replies, and texts with placeholders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dia_language.diagnostics import DiaError, LanguageError
from dia_language.expressions.replies import SessionReply
from dia_language.numbers.values import Record, Value, decode
from dia_language.stored.stored_code import decode_symbolic, load_code

Stored = Mapping[str, Any]
SEVERAL = 2  # placeholders for a list of unknown length


def shown_sessions(sessions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each session in words: its role, the replies that it reads and from which session, its turns."""
    owners = _owners(sessions)
    stand_ins = _stand_ins(sessions)
    return [_session(session, owners, stand_ins) for session in sessions]


def truth_reads(sessions: list[dict[str, Any]], truth: Stored) -> dict[str, str]:
    """Return the replies that the truth and the figures read, each with the session that asks for it."""
    owners = _owners(sessions)
    names = {name for code in _codes(truth) for name in code.get("replies", ())}
    return {name: owners[name] for name in sorted(names) if name in owners}


def _owners(sessions: list[dict[str, Any]]) -> dict[str, str]:
    """Return the session that asks for each reply."""
    return {
        turn["reply"]["name"]: session["name"] for session in sessions for turn in session["turns"] if "reply" in turn
    }


def _session(session: Stored, owners: Mapping[str, str], stand_ins: Mapping[str, Any]) -> dict[str, Any]:
    reply_names = sorted({name for code in _codes(session) for name in code.get("replies", ())})
    reads = {name: owners[name] for name in reply_names if owners.get(name) not in (None, session["name"])}
    settings_notes = [f"role {session['role']}"] if session["role"] != "subject" else []
    settings_notes += [f"{name} {value}" for name, value in _plain(session.get("settings", {})).items()]
    around = _loop(session)
    own = {name: _of_item(entry) if owners[name] == session["name"] and "over" in session else entry
           for name, entry in stand_ins.items()}  # fmt: skip
    texts = [("system", session["system"])] if "system" in session else []
    lines = [{"speaker": speaker, "text": _text(text, {**own, **around})} for speaker, text in texts]
    for turn in session["turns"]:
        lines += _turn(turn, {**own, **around})
    return {"name": session["name"], "reads": reads, "notes": settings_notes + list(_notes(session)), "turns": lines}


def _of_item(entry: Any) -> Any:
    """Return, for a reply that a session requests once per item, the one for its own item."""
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


def _notes(record: Stored) -> Iterator[str]:
    """Return what is shown in addition to the texts: lists, conditions, shared keys."""
    over = record.get("over")
    if over is not None:
        variable = f" (`{record['as']}`)" if "as" in record else ""
        yield (
            f"once for each of {len(over):,} values{variable}"
            if isinstance(over, list)
            else (f"once for each value{variable} in `{over['expression']}`")
        )
    for name in ("when", "until"):
        if name in record:
            yield f"{name} {record[name]['expression']}"
    if "share" in record:
        first = record["share"]["keys"][0]
        yield (
            f"sessions with the same key (`share` in the spec), such as {first}, are asked only once in the run, and "
            "their replies reused"
        )


def _loop(record: Stored) -> dict[str, Any]:
    """Return the names of the first item of a list."""
    over = record.get("over")
    if over is None:
        return {}
    first = decode(over[0], decode_symbolic) if isinstance(over, list) and over else f"‹{record.get('as', 'item')}›"
    return {"index": 0, **({record["as"]: first} if "as" in record else {})}


def _text(text: Any, scope: Mapping[str, Any]) -> str:
    if isinstance(text, str):
        return text
    if "each" in text:
        return text["each"][0] if text["each"] else ""
    code = load_code(text)
    visible_values = {
        name: value
        for name, value in scope.items()
        if name in code.replies or not isinstance(value, (SessionReply, list))
    }
    try:
        return code.render(visible_values)
    except (DiaError, LanguageError):
        return str(text["template"])


def _codes(record: Any) -> Iterator[Stored]:
    """Yield every piece of stored code in a record."""
    if isinstance(record, Mapping):
        if "expression" in record or "template" in record:
            yield record
        else:
            for part in record.values():
                yield from _codes(part)
    elif isinstance(record, list):
        for part in record:
            yield from _codes(part)


def _stand_ins(sessions: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a placeholder for each reply, or a list of them if there are several replies."""
    stand_ins: dict[str, Any] = {}
    for session in sessions:
        for turn in session["turns"]:
            if "reply" in turn:
                name, format = turn["reply"]["name"], turn["reply"]["format"]
                entry: Any = SessionReply(stand_in(name, format), f"‹{name}›", 0, 0, "stop")
                for repeated in (turn, session):
                    if "over" in repeated:
                        entry = [entry] * (len(repeated["over"]) if isinstance(repeated["over"], list) else SEVERAL)
                stand_ins[name] = entry
    return stand_ins


def stand_in(name: str, format: Stored) -> Value:
    """Return a value of a reply's kind that shows whose place it takes.

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
        return Record(
            (field, _field(f"{name}.{field}", kind_of_field)) for field, kind_of_field in format["fields"].items()
        )
    return f"‹{name}›"


def _field(name: str, kind: Any) -> Value:
    if isinstance(kind, Mapping) and "list" in kind:
        return _several(name, kind.get("length"))
    return {"integer": 1, "boolean": True}.get(kind if isinstance(kind, str) else "", f"‹{name}›")


def _several(name: str, count: Any) -> list[Value]:
    return [f"‹{name} {place + 1}›" for place in range(count if isinstance(count, int) else SEVERAL)]


def _plain(settings: Stored) -> dict[str, Any]:
    return {name: decode(value) for name, value in settings.items()}


OVER = {
    "all": ", over all questions",
    "answered": ", over questions in which every reply that grading needs was given, readable or not",
    "valid": ", over questions in which it can be computed",
    "decided": ", over questions with the verdict correct or wrong",
}


def _summary_of(figure: Stored) -> str:
    return "share of questions with" if figure["summary"] == "share" else f"{figure['summary']} of"


def _range_of(figure: Stored) -> str:
    """Return which questions a figure counts, if not all of them."""
    where = f", where `{figure['where']['expression']}`" if "where" in figure else ""
    return where + OVER[figure.get("over", "valid")]


def shown_truth(answer: Stored) -> list[str]:
    """Return the truth and the figures, each part on a line."""
    kind, parts = next(iter(answer["truth"].items()))
    lines = [f"{kind} {name}: {part['expression']}" for name, part in parts.items()
             if isinstance(part, Mapping) and "expression" in part]  # fmt: skip
    lines += [f"{kind} key: {part['expression']}" for part in parts.get("keys", ())]
    lines += [f"figure {name}: {_summary_of(figure)} `{figure['value']['expression']}`{_range_of(figure)}"
              for name, figure in answer.get("figures", {}).items()]  # fmt: skip
    return lines

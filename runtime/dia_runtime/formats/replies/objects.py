"""Replies that are a JSON object: named fields of declared types, or a yes or no for each of several options.

| format | chain | what is read |
|---|---|---|
| json | strict | the object, if it is the whole reply (step `alone`) or the content of the only code fence (`fence`), and has all fields with their types; other fields are ignored |
| json | lenient | the same; otherwise the object in the fence marked `json` (`marked`), or from the first `{` to the last `}` (`braces`), or the first innermost object that fits (`any`) |
| flags | strict | the object, if it is the whole reply or the content of the only code fence, and has true or false for each option and nothing else (`alone`, `fence`) |
| flags | lenient | the same, wherever the object is; a missing option is false (`marked`, `braces`) |
| flags | compat | like the published Self-Execution Benchmark: any keys that the model wrote, in lowercase; a value is true unless it is empty, zero or false (`marked`, `braces`) |

Under rules 2, except in strict, a label may also be written in the other case, in brackets, or with a full stop.

A field's type is `text`, `integer`, `number`, `boolean`, `{label: [...]}`, `{list: TYPE, length: N}` or
`{flags: [...]}`. Except in compat, an object with a duplicate key is not valid.
"""  # noqa: E501 - a table

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from dia_language.numbers.values import Record, Value, plain

from dia_runtime.formats.base import MOST, FormatOption, rules_of
from dia_runtime.formats.label import bare
from dia_runtime.formats.replies.base import LONGEST, Reading, ReplyFormat, ReplyRecord, by_fold, texts_fault
from dia_runtime.formats.replies.json_text import alone, braced, fenced, flat, marked

PLAIN = ("text", "integer", "number", "boolean")
DEPTH = 4


class Unlike(Exception):
    """A JSON value does not have its declared type."""


def typed(value: Any, kind: Any, rules: int = 1) -> Value:
    """Return the JSON value as one of the declared type. Raises Unlike."""
    if isinstance(kind, str):
        return _plain(value, kind)
    if "label" in kind:
        return _label(value, kind["label"], rules)
    if "flags" in kind:
        return flags_of(value, kind["flags"])
    if not isinstance(value, list) or len(value) != kind.get("length", len(value)) or len(value) > MOST:
        raise Unlike
    return [typed(one, kind["list"], rules) for one in value]


def _label(value: Any, labels: list[str], rules: int) -> str:
    """Return the label; under rules 2 also in the other case, in brackets or with a full stop. Raises Unlike."""
    if not isinstance(value, str):
        raise Unlike
    label = value.strip() if rules < 2 or value.strip() in labels else bare(value, {"kind": "label", "of": labels})
    if label is None or label not in labels:
        raise Unlike
    return label


def _plain(value: Any, kind: str) -> Value:
    is_number = isinstance(value, int | Fraction) and not isinstance(value, bool)
    fits = {
        "text": isinstance(value, str),
        "integer": is_number and isinstance(value, int),
        "number": is_number,
        "boolean": isinstance(value, bool),
    }
    if not fits[kind]:
        raise Unlike
    return value


def flags_of(record: Any, options: Iterable[str]) -> Record:
    """Map each option to yes or no, in the order of the options, all of which are required. Raises Unlike."""
    names = by_fold(list(options))
    if not isinstance(record, Mapping):
        raise Unlike
    flags = {str(name).strip().casefold(): value for name, value in record.items()}
    if flags.keys() != names.keys() or not all(isinstance(value, bool) for value in flags.values()):
        raise Unlike
    return Record((name, flags[key]) for key, name in names.items())


def _fields(value: Any, format: ReplyRecord) -> Value | None:
    """Return the fields of an object, each with its type; None if one is missing or has another type."""
    return _strict_fields(value, format, rules_of(format))


def _strict_fields(value: Any, format: ReplyRecord, rules: int = 1) -> Value | None:
    """Return the same, where a label has to be written exactly as it is."""
    if not isinstance(value, Mapping):
        return None
    try:
        return Record((name, typed(value[name], kind, rules)) for name, kind in format["fields"].items())
    except (KeyError, Unlike):
        return None


def _object(find: Callable[[str], Any], fit: Callable[[Any, ReplyRecord], Value | None]) -> Reading:
    return lambda reply, format: fit(find(reply), format)


def any_object(reply: str, format: ReplyRecord) -> Value | None:
    """Return the first innermost object that matches."""
    return next((fields for candidate in flat(reply) if (fields := _fields(candidate, format)) is not None), None)


def kind_faults(kind: Any, depth: int = DEPTH) -> Iterator[str]:
    """Return the errors in the type of a field."""
    if isinstance(kind, str) and kind in PLAIN:
        return
    if isinstance(kind, Mapping) and depth:
        for name in ("label", "flags"):
            if set(kind) == {name}:
                yield from texts_fault({"kind": "json", name: kind[name]}, name, 1)
                return
        if "list" in kind and set(kind) <= {"list", "length"}:
            length = kind.get("length", 1)
            if not isinstance(length, int) or isinstance(length, bool) or not 1 <= length <= MOST:
                yield f"`length` must be an integer from 1 to {MOST}"
            yield from kind_faults(kind["list"], depth - 1)
            return
    yield f"a field of the format json must be {', '.join(PLAIN)}, {{label: [...]}}, {{flags: [...]}} or {{list: type}}"


class Json(ReplyFormat):
    """An object with named fields."""

    options = {"fields": FormatOption("mapping", "The names of the fields and the type of each.", required=True)}
    chains = {
        "standard": (("alone", _object(alone, _fields)), ("fence", _object(fenced, _fields))),
        "strict": (("alone", _object(alone, _strict_fields)), ("fence", _object(fenced, _strict_fields))),
        "lenient": (
            ("alone", _object(alone, _fields)),
            ("fence", _object(fenced, _fields)),
            ("marked", _object(marked, _fields)),
            ("braces", _object(braced, _fields)),
            ("any", any_object),
        ),
    }

    def faults(self, format: ReplyRecord) -> list[str]:
        faults, fields = super().faults(format), format.get("fields")
        if not isinstance(fields, Mapping) or not 0 < len(fields) <= MOST:
            return [*faults, "the format json needs `fields`: the names of its fields and the type of each"]
        if not all(isinstance(name, str) and 0 < len(name) <= LONGEST for name in fields):
            faults.append("the name of a field of the format json must be a text")
        return faults + list(dict.fromkeys(message for kind in fields.values() for message in kind_faults(kind)))

    def instruction(self, format: ReplyRecord) -> str:
        listed = ", ".join(f'"{name}" ({described(kind)})' for name, kind in format["fields"].items())
        return f"Reply with one JSON object and nothing else. It has these fields: {listed}."

    def write(self, value: Value, format: ReplyRecord) -> str:
        return json.dumps(value, ensure_ascii=False, default=_number)


def _number(value: Any) -> Any:
    """Return the fraction as a JSON number; only decimals are ever parsed."""
    return float(plain(value))


def described(kind: Any) -> str:
    """Return the type of a field in words."""
    if isinstance(kind, str):
        return {"text": "text", "integer": "an integer", "number": "a number", "boolean": "true or false"}[kind]
    if "label" in kind:
        return f"one of {', '.join(kind['label'])}"
    if "flags" in kind:
        return f"an object with true or false for each of {', '.join(kind['flags'])}"
    number = f"{kind['length']} " if "length" in kind else ""
    return f"a list of {number}entries, each {described(kind['list'])}"


def _flags(value: Any, format: ReplyRecord) -> Value | None:
    try:
        return flags_of(value, format["of"])
    except Unlike:
        return None


def _some_flags(value: Any, format: ReplyRecord) -> Value | None:
    """Return the flags of an object without other keys; missing options are false."""
    if not isinstance(value, Mapping):
        return None
    missing = by_fold(format["of"]).keys() - {str(name).strip().casefold() for name in value}
    return _flags({**value, **dict.fromkeys(missing, False)}, format) if len(missing) < len(format["of"]) else None


def _written_flags(record: Any, format: ReplyRecord) -> Value | None:
    """Return the keys that the model wrote, in lowercase, each with whether its value counts as true."""
    if not isinstance(record, Mapping) or not 0 < len(record) <= MOST:
        return None
    return Record((str(name).lower(), bool(value)) for name, value in record.items())


class Flags(ReplyFormat):
    """A yes or no for each of several options."""

    options = {"of": FormatOption("texts", "The options.", required=True)}
    chains = {
        "strict": (("alone", _object(alone, _flags)), ("fence", _object(fenced, _flags))),
        "lenient": (
            ("alone", _object(alone, _flags)),
            ("fence", _object(fenced, _flags)),
            ("marked", _object(marked, _some_flags)),
            ("braces", _object(braced, _some_flags)),
        ),
        "compat": (("marked", _object(marked, _written_flags)), ("braces", _object(braced, _written_flags))),
    }

    def faults(self, format: ReplyRecord) -> list[str]:
        return super().faults(format) + texts_fault(format, "of", 1)

    def instruction(self, format: ReplyRecord) -> str:
        listed = ", ".join(json.dumps(one, ensure_ascii=False) for one in format["of"])
        return f"Reply with one JSON object and nothing else, with true or false for each of these keys: {listed}."

    def write(self, value: Value, format: ReplyRecord) -> str:
        return json.dumps(value, ensure_ascii=False)


JSON_REPLY, FLAGS = Json(), Flags()

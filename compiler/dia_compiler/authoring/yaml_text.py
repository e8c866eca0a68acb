"""Values as the YAML and the expressions that a drafted template contains."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from keyword import iskeyword

from dia_language.expressions.syntax import RESERVED
from dia_language.numbers.values import Value, plain

BARE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:[ -][A-Za-z0-9_]+)*", re.ASCII)
NOT_TEXT = frozenset({"true", "false", "null", "none", "yes", "no", "on", "off"})
FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
HIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufff0-\uffff]")


def text_scalar(text: str) -> str:
    """Return the text as a YAML scalar for block and flow style, in quotes where it needs them."""
    if BARE.fullmatch(text) and text.lower() not in NOT_TEXT:
        return text
    return HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))


def scalar(value: Value) -> str:
    """Return a text, number, boolean or none as a YAML scalar for block and flow style."""
    if isinstance(value, str):
        return text_scalar(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return plain(value)


def record(row: Mapping[str, Value]) -> str:
    """Return the record as a YAML mapping in flow style."""
    return "{" + ", ".join(f"{text_scalar(name)}: {scalar(value)}" for name, value in row.items()) + "}"


def quoted(expression: str) -> str:
    """Return the expression as a YAML scalar in single quotes."""
    return "'" + expression.replace("'", "''") + "'"


def field_of(name: str, column: str) -> str:
    """Return the expression for a column of a record: `row.city`, or `row["the city"]` if it is not a plain name."""
    is_plain = FIELD.fullmatch(column) and not iskeyword(column) and column not in RESERVED - {"answer"}
    return f"{name}.{column}" if is_plain else f'{name}["{column}"]'

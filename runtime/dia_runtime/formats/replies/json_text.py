"""JSON in replies: exact numbers, no duplicate keys, limited nesting, and the places where models put it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from dia_language.numbers.values import ExactDecimal

from dia_runtime.formats.base import CHARACTERS
from dia_runtime.formats.json_value import require_unique_keys
from dia_runtime.formats.tagged import fenced_body

FLAT = re.compile(r"\{[^{}]*\}")
TRIES, DIGITS = 1_000, 1_000


def parsed(text: str, is_loose: bool = False) -> Any:
    """Return the JSON value of a text, or None. If loose, keys can be duplicated and the last one counts."""
    if not text or len(text) > CHARACTERS:
        return None
    try:
        pairs = None if is_loose else require_unique_keys
        return json.loads(text, object_pairs_hook=pairs, parse_int=_whole, parse_float=_number, parse_constant=_refused)
    except (ValueError, RecursionError):
        return None


def alone(reply: str) -> Any:
    """Return the JSON value if it is the whole reply, else None."""
    return parsed(reply.strip())


def fenced(reply: str) -> Any:
    """Return the JSON value if the whole reply is one code fence with it, else None."""
    body = fenced_body(reply)
    return None if body is None else parsed(body.strip())


def marked(reply: str) -> Any:
    """Return the JSON value in the first fence marked `json` anywhere in the reply, else None."""
    text = reply[:CHARACTERS]
    start = text.find("```json")
    end = text.find("```", start + 7) if start >= 0 else -1
    return parsed(text[start + 7 : end].strip(), True) if end >= 0 else None


def braced(reply: str) -> Any:
    """Return the JSON value from the first opening brace to the last closing one, else None."""
    text = reply[:CHARACTERS]
    start = text.find("{")
    return parsed(text[start : text.rfind("}") + 1], True) if start >= 0 else None


def flat(reply: str) -> Iterator[Any]:
    """Yield the innermost JSON objects in the reply, in order."""
    for match in islice(FLAT.finditer(reply[:CHARACTERS]), TRIES):
        value = parsed(match[0], True)
        if value is not None:
            yield value


def _whole(text: str) -> int:
    if len(text) > DIGITS:
        raise ValueError("too many digits")
    return int(text)


def _number(text: str) -> Any:
    mantissa, _, exponent = text.lower().partition("e")
    if len(mantissa) > DIGITS or len(exponent) > 4 or abs(int(exponent or 0)) > DIGITS:
        raise ValueError("too many digits")
    value = ExactDecimal(mantissa) * ExactDecimal(10) ** int(exponent or 0)
    return int(value) if value.denominator == 1 else ExactDecimal(value)


def _refused(word: str) -> None:
    raise ValueError(word)

"""Strict JSON: anything that another reader could interpret differently is an error."""

from __future__ import annotations

import json
from typing import Any, NoReturn


def parse_json(encoded: bytes) -> Any:
    """Return the value of the JSON text.

    Raises ValueError for duplicate keys, floats, NaN, Infinity, bytes that are not UTF-8, deep nesting.
    """
    try:
        return DECODER.decode(encoded.decode("utf-8"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} occurs twice")
    return record


def _refused(text: str) -> NoReturn:
    raise ValueError(f"the number {text[:40]} is not exact")


DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_refused, parse_constant=_refused)

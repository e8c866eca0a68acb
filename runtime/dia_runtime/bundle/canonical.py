"""Canonical bytes of records, the input of digests."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

SAFE_INTEGER = 2**53
ENCODER = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"), check_circular=False
)
quoted = json.encoder.encode_basestring
# `ENCODER.encode` makes this anew for each value, which takes half of the time of small values.
make_chunks = json.encoder.c_make_encoder  # type: ignore[attr-defined]
chunks = make_chunks and make_chunks(None, ENCODER.default, quoted, None, ":", ",", True, False, False)
# RFC 8785 orders keys by UTF-16 code units, which differs from Python's order only for code points above U+FFFF.
ABOVE_THE_BASIC_PLANE = re.compile("[\U00010000-\U0010ffff]")


def canonical_line(record: Any) -> bytes:
    """Return the record as one line of sorted compact JSON in UTF-8, which is its RFC 8785 form.

    Raises ValueError for values that `require_canonical` rejects.

    >>> canonical_line({"b": [1, None], "a": "é"}).decode()
    '{"a":"é","b":[1,null]}'
    """
    require_canonical(record)
    return encoded_line(record)


def encoded_line(record: Any) -> bytes:
    """Return the line of a record whose parts `require_canonical` has checked."""
    return encoded(record).encode("utf-8")


def encoded(value: Any) -> str:
    """Return the canonical JSON of a value whose parts `require_canonical` has seen."""
    kind = type(value)
    if kind is str:
        return quoted(value)
    if value is None or kind is int:
        return "null" if value is None else str(value)
    text = "".join(chunks(value, 0)) if chunks else ENCODER.encode(value)
    is_in_order = text.isascii() or not ABOVE_THE_BASIC_PLANE.search(text)
    return text if is_in_order else _rfc8785(value).decode("utf-8")


def line_layout(constant: Mapping[str, str], gaps: Iterable[str]) -> str:
    """Return the line of records with ASCII names: the JSON of the constant fields, and gaps to fill with the others.

    >>> line_layout({"a": '"100%"'}, ["b"]) % {"b": "[1,null]"}
    '{"a":"100%","b":[1,null]}'
    """
    fields = {name: text.replace("%", "%%") for name, text in constant.items()}
    fields |= {name: f"%({name})s" for name in gaps}
    return "{" + ",".join([f'"{name}":{fields[name]}' for name in sorted(fields)]) + "}"


def compact_json(value: Any) -> str:
    """Return the value as sorted compact JSON, as runs store it. Unlike canonical JSON, it can hold any number."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def require_canonical(record: Any) -> None:
    """Check that the record contains only text, booleans, null, integers below 2**53, lists and objects.

    Raises ValueError for anything else: a float has no exact form, and some readers cannot read larger integers.
    """
    pending = [record]
    for item in pending:  # grows by the items of each list and object
        kind = type(item)
        if kind is str:
            if not item.isascii():
                item.encode("utf-8")  # a lone surrogate raises UnicodeEncodeError, which is a ValueError
        elif kind is int:
            if not -SAFE_INTEGER < item < SAFE_INTEGER:
                raise ValueError("an integer of 2**53 or more needs a type with it")
        elif kind is list or kind is tuple:
            pending += item
        elif isinstance(item, dict):
            if not all(type(name) is str for name in item):
                raise ValueError("a key is not text")
            pending += item
            pending += item.values()
        elif item is not None and kind is not bool:
            raise ValueError(f"a {kind.__name__} is not allowed in a canonical record")


def manifest_bytes(manifest: Mapping[str, Any]) -> bytes:
    """Return the manifest's canonical bytes (RFC 8785): the whole content of `manifest.json`."""
    return _rfc8785(dict(manifest))


def bundle_id(encoded: bytes) -> str:
    """Return the name of a bundle: the SHA-256 of its manifest's canonical bytes, in hex."""
    return hashlib.sha256(encoded).hexdigest()


def _rfc8785(record: Any) -> bytes:
    import rfc8785

    return rfc8785.dumps(record)

"""The bytes that digests are made of."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

SAFE_INTEGER = 2**53
ENCODER = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"), check_circular=False
)
# UTF-8's lead bytes of code points above U+FFFF. Only there does RFC 8785, which orders keys by
# UTF-16 code units, differ from Python's order by code points.
ABOVE_THE_BASIC_PLANE = re.compile(b"[\xf0-\xf4]")


def canonical_line(record: Any) -> bytes:
    """The record as one line of sorted compact JSON in UTF-8, which is its RFC 8785 form.

    >>> line({"b": [1, None], "a": "é"}).decode()
    '{"a":"é","b":[1,null]}'
    """
    require_canonical(record)
    encoded = ENCODER.encode(record).encode("utf-8")
    return _rfc8785(record) if ABOVE_THE_BASIC_PLANE.search(encoded) else encoded


def require_canonical(record: Any) -> None:
    """Nothing, when the record holds only text, booleans, null, integers below 2**53, lists and objects.

    Raises ValueError for anything else: a float has no exact form, a larger integer none for all readers.
    """
    kind = type(record)
    if kind is str:
        if not record.isascii():
            record.encode("utf-8")  # a lone surrogate raises UnicodeEncodeError, which is a ValueError
    elif kind is int:
        if not -SAFE_INTEGER < record < SAFE_INTEGER:
            raise ValueError("an integer of 2**53 or more needs a type beside it")
    elif kind is list or kind is tuple:
        if not set(map(type, record)) <= FLAT:
            for item in record:
                require_canonical(item)
        elif record:
            _check_flat(record)
    elif isinstance(record, dict):
        for name, item in record.items():
            if type(name) is not str:
                raise ValueError("a key is not text")
            require_canonical(name)
            require_canonical(item)
    elif record is not None and kind is not bool:
        raise ValueError(f"a {kind.__name__} cannot stand in a canonical record")


FLAT = frozenset({str, int})


def _check_flat(items: Sequence[Any]) -> None:
    """The same for a list of texts and integers, which is most of what long records hold."""
    for item in items:
        if type(item) is str:
            if not item.isascii():
                item.encode("utf-8")
        elif not -SAFE_INTEGER < item < SAFE_INTEGER:
            raise ValueError("an integer of 2**53 or more needs a type beside it")


def manifest_bytes(manifest: Mapping[str, Any]) -> bytes:
    """The manifest's canonical bytes (RFC 8785): the whole content of `manifest.json`."""
    return _rfc8785(dict(manifest))


def bundle_id(encoded: bytes) -> str:
    """The name of a bundle: the SHA-256 of its manifest's canonical bytes, in hex."""
    return hashlib.sha256(encoded).hexdigest()


def _rfc8785(record: Any) -> bytes:
    import rfc8785

    return rfc8785.dumps(record)

from __future__ import annotations

import enum
import hashlib
from typing import Any

import pytest
import rfc8785
from dia_runtime.bundle.canonical import bundle_id, canonical_line, manifest_bytes, require_canonical
from hypothesis import given
from hypothesis import strategies as st

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SAFE = st.integers(-(2**53) + 1, 2**53 - 1)
RECORDS = st.recursive(
    st.none() | st.booleans() | SAFE | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(RECORDS)
def test_a_line_is_the_rfc_8785_form(record: Any) -> None:
    assert canonical_line(record) == rfc8785.dumps(record)


def test_keys_are_ordered_by_utf_16_code_units() -> None:
    # RFC 8785, section 3.2.3: U+1F600 comes before U+FB33 in UTF-16, after it by code points.
    record = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "\u00f6": 7}
    expected = '{"\\r":2,"1":4,"\x80":6,"\u00f6":7,"\u20ac":1,"\U0001f600":5,"\ufb33":3}'
    assert canonical_line(record) == expected.encode()


class Colour(enum.StrEnum):
    RED = "red"


REFUSED = [1.5, float("nan"), 2**53, -(2**53), "\ud800", {"\ud800": 1}, {1: "a"}, b"x", {1, 2}, Colour.RED]


@pytest.mark.parametrize("record", [*REFUSED, {"a": [{"b": 0.0}]}], ids=repr)
def test_what_has_no_one_form_is_refused(record: Any) -> None:
    with pytest.raises(ValueError):
        require_canonical(record)
    with pytest.raises(ValueError):
        canonical_line(record)


def test_control_characters_are_escaped_as_the_rfc_says() -> None:
    assert canonical_line('\x00\b\t\n\f\r\x1f"\\/\x7f') == b'"\\u0000\\b\\t\\n\\f\\r\\u001f\\"\\\\/\x7f"'


def test_the_bundle_id_is_the_digest_of_the_file() -> None:
    encoded = manifest_bytes({"b": 1, "a": []})
    assert encoded == b'{"a":[],"b":1}'
    assert bundle_id(encoded) == hashlib.sha256(encoded).hexdigest()

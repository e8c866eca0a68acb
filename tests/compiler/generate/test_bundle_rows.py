"""The lines that are put together from encoded parts are those of the records themselves."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any

import pytest
from dia_compiler.generate.bundle_rows import MANY, _json, _value, is_shown
from dia_language.numbers.values import Entry, ExactDecimal, Record, encode
from dia_runtime.bundle.canonical import line
from hypothesis import given
from hypothesis import strategies as st

TEXTS = st.text(st.characters(exclude_categories=["Cs"], max_codepoint=0xFFFF), max_size=12)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | TEXTS
    | st.binary(max_size=5)
    | st.fractions(max_denominator=50)
    | st.decimals(allow_nan=False, allow_infinity=False, places=3).map(lambda number: ExactDecimal(Fraction(number)))
)
COLUMNS = (st.booleans(), st.integers(-9, 9), st.integers(-(2**54), 2**54), TEXTS, SCALARS)
TABLES = st.dictionaries(st.text("a%s", max_size=3), st.sampled_from(COLUMNS), max_size=3).flatmap(
    lambda columns: st.lists(st.fixed_dictionaries(columns).map(Record), min_size=MANY, max_size=MANY)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(TEXTS, inner, max_size=4).map(Record)
        | st.builds(Entry, TEXTS, TEXTS, st.dictionaries(TEXTS, inner, max_size=3).map(Record))
        | st.lists(st.integers(-(2**54), 2**54), max_size=5)
        | st.lists(st.lists(st.integers(-9, 9) | st.integers(-(2**54), 2**54), max_size=3), max_size=3)
        | st.lists(st.lists(st.integers(-9, 9) | st.booleans(), max_size=3), max_size=3)
        | TABLES
    ),
    max_leaves=15,
)


@given(VALUES)
def test_a_value_is_encoded_as_the_canonical_form_of_what_is_stored(value: Any) -> None:
    assert _value(value).encode() == line(encode(value))


@given(st.recursive(st.none() | st.booleans() | st.integers(-(2**52), 2**52) | TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)))  # fmt: skip
def test_a_record_is_encoded_in_its_canonical_form(record: Any) -> None:
    assert _json(record).encode() == line(record)
    assert json.loads(_json(record)) == record


@pytest.mark.parametrize("record", [1.5, [2**53], {"a": {1: 2}}, {"x": object()}])
def test_what_has_no_canonical_form_is_refused(record: Any) -> None:
    with pytest.raises(ValueError):
        _json(record)


@given(st.text("ab1_ .é²", min_size=1, max_size=3), st.text("ab1_ .é²", max_size=12))
def test_an_answer_is_shown_where_it_stands_as_a_whole_token(text: str, challenge: str) -> None:
    begin = r"(?<!\w)" if text[0].isalnum() else ""
    end = r"(?!\w)" if text[-1].isalnum() else ""
    assert is_shown(text, challenge) == bool(re.search(begin + re.escape(text) + end, challenge))

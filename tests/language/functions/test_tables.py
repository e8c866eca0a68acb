"""Tables that are read, against tables that Python writes."""

from __future__ import annotations

import csv
from io import StringIO

import pytest
from helpers.library_calls import call, code, refused
from hypothesis import given
from hypothesis import strategies as st

CELLS = st.text('ab\n\r",;\t ', max_size=5)


@given(
    st.integers(2, 4).flatmap(lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1)),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n"]),
)
def test_what_python_wrote_is_read(rows: list[list[str]], separator: str, end: str) -> None:
    table = StringIO()
    csv.writer(table, delimiter=separator, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    assert call("read_csv", table.getvalue(), separator) == rows


def test_empty_lines_and_no_lines() -> None:
    assert call("read_csv", "") == call("read_csv", "\n\n") == []
    assert call("read_csv", "a,b\n\n,\n") == [["a", "b"], ["", ""]]


@pytest.mark.parametrize(("table", "separator"), [('"a', ","), ('"a"b', ","), ("a", ",,"), ("a", '"'), ("a", "\n")])
def test_what_is_no_table_is_refused(table: str, separator: str) -> None:
    assert code("read_csv", table, separator) == "E501"


def test_rows_of_other_lengths_are_refused() -> None:
    assert refused("read_csv", "a,b\n1").message == "row 2 of the table has 1 cell, but the first row has 2"

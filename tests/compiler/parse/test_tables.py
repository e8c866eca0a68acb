"""Data files: what is read is exact, what is wrong is told with its line, and nothing too large is taken."""

from __future__ import annotations

import csv
import io
import json
import pickle
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.parse import tables
from dia_compiler.parse.tables import Columns, read_rows
from dia_compiler.types.tables import Table
from dia_language.diagnostics import DiaError, Diagnostic, Position
from dia_language.numbers.values import ExactDecimal, Record
from hypothesis import given
from hypothesis import strategies as st

HERE = Position("spec.yaml", 4, 7)


def table_of(folder: Path, name: str, content: str | bytes, columns: Columns = None) -> Table:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    table, raw = read_rows(path, name, HERE, columns)
    assert raw == path.read_bytes()
    return table


def read(folder: Path, name: str, content: str | bytes, columns: Columns = None) -> list[Any]:
    table = table_of(folder, name, content, columns)
    return [table.at(number) for number in range(table.count)]


def fault(folder: Path, name: str, content: str | bytes, columns: Columns = None) -> Diagnostic:
    with pytest.raises(DiaError) as caught:
        table_of(folder, name, content, columns)
    (entry,) = caught.value.diagnostics
    return entry


# JSON Lines


def test_json_is_read_exactly(tmp_path: Path) -> None:
    text = '{"n": 123456789012345678901234567890, "x": 0.1, "y": -1.50e2, "z": 1e-3, "t": "caf\\u00e9 \\ud83d\\ude00", "b": true, "l": [1, [2.5], {"k": null}], "o": {"a": {}}}\n'
    (row,) = read(tmp_path, "a.jsonl", text)
    assert row == {"n": 123456789012345678901234567890, "x": Fraction(1, 10), "y": -150, "z": Fraction(1, 1000),
                   "t": "café 😀", "b": True, "l": [1, [Fraction(5, 2)], {"k": None}], "o": {"a": {}}}  # fmt: skip
    assert type(row["x"]) is ExactDecimal and type(row["y"]) is int and type(row["b"]) is bool
    assert type(row) is Record and type(row["o"]) is Record and list(row) == ["n", "x", "y", "z", "t", "b", "l", "o"]


def test_a_key_that_a_line_leaves_out_is_none_and_empty_lines_are_no_rows(tmp_path: Path) -> None:
    found = read(tmp_path, "a.jsonl", b'\xef\xbb\xbf{"a": 1}\r\n\r\n  \n{"b": 2, "a": 3}\n{"c": null, "a": 4}')
    assert found == [{"a": 1, "b": None, "c": None}, {"a": 3, "b": 2, "c": None}, {"a": 4, "b": None, "c": None}]
    assert [list(row) for row in found] == [["a", "b", "c"]] * 3


def test_only_the_wanted_columns_are_read_in_their_order(tmp_path: Path) -> None:
    lines = '{"a": 1, "b": 2, "c": 3}\n{"c": 6, "b": 5}\n'
    assert [list(row.items()) for row in read(tmp_path, "a.jsonl", lines, ("c", "a"))] == [
        [("c", 3), ("a", 1)],
        [("c", 6), ("a", None)],
    ]
    assert read(tmp_path, "a.csv", "a,b\n1,2\n", ("b",)) == [{"b": "2"}]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(JSON, min_size=1, max_size=5), st.booleans())
def test_what_json_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], is_ascii: bool
) -> None:
    content = "".join(
        json.dumps({"place": at, "value": value}, ensure_ascii=is_ascii) + "\n" for at, value in enumerate(values)
    )
    table = table_of(tmp_path_factory.getbasetemp(), "given.jsonl", content)
    assert [table.at(number)["value"] for number in range(table.count)] == values
    assert list(table.column("value")) == values
    assert [table.find(table.at(number)) for number in range(table.count)] == list(range(len(values)))


# CSV


def test_cells_are_text_unless_their_kind_is_said(tmp_path: Path) -> None:
    text = '\ufeffid,question,n,x,b\r\n007,"say ""hi"", then\r\ngo",12,2.50,TRUE\r\n008,,,,\r\n'
    kinds = {"n": "integer", "x": "decimal", "b": "boolean"}
    assert read(tmp_path, "a.csv", text, kinds) == [
        {"id": "007", "question": 'say "hi", then\r\ngo', "n": 12, "x": Fraction(5, 2), "b": True},
        {"id": "008", "question": "", "n": None, "x": None, "b": None},
    ]
    assert [row["n"] for row in read(tmp_path, "a.csv", text)] == ["12", ""]


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6), st.sampled_from(["\n", "\r\n"]))
def test_what_csv_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, cells: list[tuple[str, str]], end: str
) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([("place", "a", "b"), *((str(at), *pair) for at, pair in enumerate(cells))])
    found = read(tmp_path_factory.getbasetemp(), "given.csv", out.getvalue())
    assert [(row["a"], row["b"]) for row in found] == cells


# Parquet


def parquet(**columns: Any) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()


def test_parquet_is_read_exactly(tmp_path: Path) -> None:
    moment = datetime(2024, 2, 29, 23, 30, tzinfo=timezone(timedelta(hours=-2)))
    content = parquet(n=[2**62, None], x=[0.1, 1e300], d=[Decimal("1.50"), Decimal("-2")], t=["é", ""], b=[True, False],
                      raw=[b"\0\xff", b""], day=[date(2024, 2, 29), None], at=[moment, moment.replace(microsecond=250)],
                      l=[[1, 2], []], s=[{"k": "v"}, None])  # fmt: skip
    first, second = read(tmp_path, "a.parquet", content)
    assert first == {"n": 2**62, "x": Fraction(1, 10), "d": Fraction(3, 2), "t": "é", "b": True, "raw": b"\0\xff", "day": "2024-02-29",
                     "at": "2024-03-01T01:30:00Z", "l": [1, 2], "s": {"k": "v"}}  # fmt: skip
    assert (second["x"], second["d"], second["at"]) == (10**300, -2, "2024-03-01T01:30:00.000250Z")
    assert (second["n"], second["day"], second["s"], second["l"]) == (None, None, None, [])
    assert read(tmp_path, "a.parquet", content, ("t", "n")) == [{"t": "é", "n": 2**62}, {"t": "", "n": None}]


def test_moments_without_a_zone_are_taken_as_utc(tmp_path: Path) -> None:
    (row,) = read(tmp_path, "a.parquet", parquet(at=[datetime(2024, 1, 1, 12)]))
    assert row == {"at": datetime(2024, 1, 1, 12, tzinfo=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}


@pytest.mark.parametrize("values", [[float("nan")], [float("inf")], [timedelta(1)]])
def test_parquet_values_that_the_language_has_not_are_refused(tmp_path: Path, values: list[Any]) -> None:
    entry = fault(tmp_path, "a.parquet", parquet(x=values))
    assert entry.code == "E111" and entry.position == HERE


def test_what_is_no_parquet_is_told(tmp_path: Path) -> None:
    good = parquet(x=list(range(100)))
    for content in (b"", b"PAR1", b"PAR1" + b"\0" * 50 + b"PAR1", good[:-20], good[: len(good) // 2] + good[-8:]):
        entry = fault(tmp_path, "a.parquet", content)
        assert entry.code == "E111" and entry.message.startswith("not Parquet") and entry.position == HERE


def test_parquet_without_pyarrow_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    entry = fault(tmp_path, "a.parquet", b"PAR1")
    assert (entry.code, entry.position) == ("E206", HERE)
    assert (
        entry.message == "reading .parquet needs the extra `parquet`"
        and entry.help == "run `pip install '.[parquet]'` in a clone of dia"
    )


# faults

Content = str | bytes | Callable[[], str]  # a function makes what is too long to keep
FAULTS: list[tuple[str, Content, Columns, str, int | None, str]] = [
    ("a.jsonl", '{"a": 1}\n{"a": }\n', None, "E111", 2, "not JSON"),
    ("a.jsonl", '{"a": 1}\n\n[1]\n', None, "E111", 3, "not an object"),
    ("a.jsonl", '{"a": NaN}\n', None, "E111", 1, "not a number"),
    ("a.jsonl", '{"a": -Infinity}\n', None, "E111", 1, "not a number"),
    ("a.jsonl", '{"a": 1, "a": 2}\n', None, "E111", 1, "duplicate key"),
    ("a.jsonl", '{"a": {"b": 1, "b": 2}}\n', None, "E111", 1, "duplicate key"),
    ("a.jsonl", '{"a": "\\ud800"}\n', None, "E111", 1, "surrogate"),
    ("a.jsonl", '{"\\udfff": 1}\n', None, "E111", 1, "surrogate"),
    ("a.jsonl", '{"a": 1e999999999}\n', None, "E111", 1, "4,000 digits"),
    ("a.jsonl", '{"a": 1e-999999999}\n', None, "E111", 1, "4,000 digits"),
    ("a.jsonl", '{"a": ' + "9" * 5000 + "}\n", None, "E111", 1, "4,000 digits"),
    ("a.jsonl", '{"a": ' + "[" * 40 + "]" * 40 + "}\n", None, "E111", 1, "32 levels"),
    ("a.jsonl", '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}\n", None, "E111", 1, "32 levels"),
    ("a.jsonl", lambda: '{"a": "' + "x" * 1_000_001 + '"}\n', None, "E111", 1, "1,000,000 characters"),
    ("a.jsonl", '{"a": 1}\n{"a": 2}\n{"a": 1}\n', None, "E111", 3, "same as an earlier"),
    ("a.jsonl", '{"a": 1, "b": 1}\n{"a": 1, "b": 2}\n', ("a",), "E111", 2, "same as an earlier"),
    ("a.jsonl", '{"a": 1}\n', ("b",), "E111", None, "no column `b`"),
    ("a.jsonl", '{"a": 1}\n', {"a": "integer"}, "E403", None, "kinds is only for .csv"),
    ("a.jsonl", "\n\n", None, "E111", None, "no rows"),
    ("a.jsonl", b'{"a": 1}\n{"a": "\xff"}\n', None, "E102", 2, "not UTF-8: byte 16"),
    ("a.csv", "a,b\n1,2\n3\n", None, "E111", 3, "1 cell, but the header has 2"),
    ("a.csv", 'a,b\n"1\n\n",2\n3,4,5\n', None, "E111", 5, "3 cells"),
    ("a.csv", "a,b\n1,2\n\n3,4\n", None, "E111", 3, "empty line"),
    ("a.csv", "a,b,a\n1,2,3\n", None, "E111", 1, "two columns are named `a`"),
    ("a.csv", "a,,c\n1,2,3\n", None, "E111", 1, "column 2 has no name"),
    ("a.csv", "", None, "E111", 1, "no header"),
    ("a.csv", "a,b\n", None, "E111", None, "no rows"),
    ("a.csv", 'a\n"open\n', None, "E111", 2, "not CSV"),
    ("a.csv", 'a\n"x"y\n', None, "E111", 2, "not CSV"),
    ("a.csv", lambda: "a\n" + "x" * 1_000_001 + "\n", None, "E111", 2, "a cell has more than 1,000,000 characters"),
    (
        "a.csv",
        lambda: "a,b\n" + ('"' + "x" * 900_000 + '\ny",') * 5 + "1\n",
        None,
        "E111",
        2,
        "a row has more than 4,000,000 characters",
    ),
    ("a.csv", lambda: 'a\n"x\n' + "y" * 4_000_001 + '"\n', None, "E111", 3, "a line has more than 4,000,000 bytes"),
    ("a.jsonl", lambda: " " * 4_000_001 + "{}\n", None, "E111", 1, "a line has more than 4,000,000 bytes"),
    ("a.csv", "a,b\n1,2\n3,x\0y\n", None, "E111", 3, "the file contains a zero byte"),
    ("a.csv", 'a\n"x', None, "E111", 2, "a quote is not closed"),
    ("a.csv", 'a\n"x"y\n', None, "E111", 2, "text after the quote"),
    ("a.csv", "a\nx\ry\n", None, "E111", 2, "there is a carriage return within a line"),
    ("a.csv", b"a\nok\n\xe9t\xe9\n", None, "E102", 3, "not UTF-8"),
    ("a.csv", "a\n1\n1.5\n", {"a": "integer"}, "E111", 3, "is not a valid integer"),
    ("a.csv", "a\n1e5\n", {"a": "decimal"}, "E111", 2, "is not a valid decimal"),
    ("a.csv", "a\n٣\n", {"a": "integer"}, "E111", 2, "is not a valid integer"),
    ("a.csv", "a\n" + "9" * 5000 + "\n", {"a": "integer"}, "E111", 2, "is not a valid integer"),
    ("a.csv", "a\nyes\n", {"a": "boolean"}, "E111", 2, "is not a valid boolean"),
    ("a.csv", "a\n1\n", {"b": "integer"}, "E111", None, "no column `b`"),
    ("a.csv", "a\n1\n2\n1\n", None, "E111", 4, "same as an earlier"),
    ("a.csv", lambda: ",".join(f"c{n}" for n in range(30_000)) + ",c0\n", None, "E111", 1, "10,000 columns"),
    ("a.csv", ",".join(f"c{n}" for n in range(9_999)) + ",c9998\n", None, "E111", 1, "two columns are named `c9998`"),
    (
        "a.jsonl",
        "".join(f'{{"a{n}": 1, "b{n}": 2, "c{n}": 3}}\n' for n in range(5_000)),
        None,
        "E111",
        3334,
        "10,000 columns",
    ),
    ("a.tsv", "a\tb\n", None, "E111", None, "not a supported data file"),
]


@pytest.mark.parametrize(("name", "content", "columns", "code", "line", "word"), FAULTS, ids=range(len(FAULTS)))
def test_what_is_wrong_is_told_with_its_line(
    tmp_path: Path, name: str, content: Content, columns: Columns, code: str, line: int | None, word: str
) -> None:
    entry = fault(tmp_path, name, content() if callable(content) else content, columns)
    assert entry.code == code and word in entry.message and len(entry.message) < 200
    assert entry.position is not None
    if line is None:
        assert entry.position == HERE
    else:
        assert (entry.position.file, entry.position.line) == (name, line)


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
@pytest.mark.parametrize(("limit", "value", "code", "word"), [
    ("FILE_BYTES", 10, "E103", "larger than"), ("MOST_ROWS", 2, "E111", "more than 2 rows"),
    ("MOST_VALUES", 5, "E111", "more than 5 values"),
])  # fmt: skip
def test_limits_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, limit: str, value: int, code: str, word: str
) -> None:
    content: str | bytes = {
        "a.jsonl": "".join(f'{{"a": {n}, "b": 0}}\n' for n in range(3)),
        "a.csv": "a,b\n" + "".join(f"{n},0\n" for n in range(3)),
        "a.parquet": "",
    }[name] or parquet(a=[1, 2, 3], b=[0, 0, 0])
    assert len(read(tmp_path, name, content)) == 3
    monkeypatch.setattr(tables, limit, value)
    entry = fault(tmp_path, name, content)
    assert entry.code == code and word in entry.message


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.mkdir()], ids=["nothing", "folder"])
def test_what_is_no_file_is_told(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "a.csv")
    with pytest.raises(DiaError) as caught:
        read_rows(tmp_path / "a.csv", "a.csv", HERE)
    assert caught.value.diagnostics[0].code == "E101" and caught.value.diagnostics[0].position == HERE


def test_a_table_travels(tmp_path: Path) -> None:
    table = table_of(tmp_path, "a.jsonl", "".join(f'{{"a": {n}, "b": "same"}}\n' for n in range(1000)))
    sent = pickle.dumps(table)
    came = pickle.loads(sent)
    assert len(sent) * 3 < len(table.lines)
    assert (came.name, came.columns, came.lines, came.count, came.at(7)) == (
        "a.jsonl",
        ("a", "b"),
        table.lines,
        1000,
        table.at(7),
    )


def test_a_record_of_other_columns_or_values_is_no_row(tmp_path: Path) -> None:
    table = table_of(tmp_path, "a.jsonl", '{"a": 1, "b": "x"}\n{"a": 11, "b": null}\n')
    assert table.find({"b": "x", "a": 1}) == 0 and table.find({"a": 11, "b": None}) == 1
    for other in (
        {"a": 1},
        {"a": True, "b": "x"},
        {"a": 1, "b": "x", "c": None},
        {"a": "1", "b": "x"},
        [1],
        None,
        {"a": 1, "b": object()},
    ):
        assert table.find(other) is None

"""`dia new --from`: a template of any table, or a clear refusal."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import pytest
from dia_compiler.authoring.from_table import draft_from_table
from dia_compiler.commands.cli import run
from dia_compiler.generate.examples import check_examples
from dia_language.diagnostics import DiaError, Diagnostics
from helpers.examples import examples
from helpers.small_specs import expansion
from hypothesis import given, settings
from hypothesis import strategies as st

NAMES = st.from_regex(r"[A-Za-z#€é%'][\w #€é%':.,?-]{0,12}[A-Za-z0-9?%]", fullmatch=True)
CELLS = st.one_of(
    st.sampled_from(
        ["", "1.50", "007", "+3", "-0", "true", "True", "{{ x }}", "{% if %}", '"', "a: b #c", "é\u0301", "- "]
    ),
    st.integers(-(10**20), 10**20).map(str),
    st.decimals(-100, 100, places=2).map(str),
    st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=12),
)
COLUMNS = st.one_of(
    st.just(CELLS), st.just(st.integers(-99, 99).map(str)), st.just(st.decimals(0, 9, places=1).map(str)),
    st.just(st.sampled_from(["red", "Green", "no"])), st.just(st.dates().map(str)),
)  # fmt: skip


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    """A header and rows: the first column tells the rows apart, the last one holds an answer in every row."""
    names = draw(st.lists(NAMES, min_size=2, max_size=5, unique=True))
    count = draw(st.integers(1, 8))
    columns = [[str(100 + number) for number in range(count)]]
    for _ in names[1:]:
        columns.append(draw(st.lists(draw(COLUMNS), min_size=count, max_size=count)))
    columns[-1] = [cell if cell.strip() else "x" for cell in columns[-1]]
    return names, [list(row) for row in zip(*columns, strict=True)]


@settings(max_examples=examples(200))
@given(tables(), st.booleans())
def test_every_table_becomes_questions_that_show_its_cells_and_ask_for_its_answers(
    tmp_path_factory: pytest.TempPathFactory, table: tuple[list[str], list[list[str]]], is_csv: bool
) -> None:
    header, rows = table
    folder = tmp_path_factory.mktemp("table")
    path = folder / ("a b.csv" if is_csv else "a b.jsonl")
    if is_csv:
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header, *rows])
    else:
        path.write_text("".join(json.dumps(dict(zip(header, row, strict=True))) + "\n" for row in rows))
    draft = draft_from_table(path, answer_column=header[-1])
    for place, content in draft.files.items():
        (folder / place).parent.mkdir(exist_ok=True)
        (folder / place).write_bytes(content)
    made = expansion(folder, draft.named("t", "T"))
    instances = list(made.questions(1))
    diagnostics = Diagnostics()
    check_examples(made, diagnostics)
    assert not diagnostics.errors
    assert len(instances) == len(rows)
    for instance, row in zip(instances, rows, strict=True):
        for cell in row[1:-1]:
            assert cell in instance.challenge or cell.strip() in instance.challenge
        try:
            is_same = Fraction(instance.text) == Fraction(row[-1])
        except (ValueError, ZeroDivisionError):  # not a number, such as the text 0/0
            is_same = instance.text.strip().casefold() == row[-1].strip().casefold()
        assert is_same


BIG = "a,b\n" + "1,2\n" * 3


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"", "t.csv:1:1: error[E111]: the file has no header"),
        ("t.csv", b"a,b\n", "t.csv:1:1: error[E111]: the data file has no rows"),
        ("t.jsonl", b"\n\n", "error[E111]: the data file has no rows"),
        ("t.csv", b"a,b\n1,2\n3\n", "t.csv:3:1: error[E111]: the row has 1 cell, but the header has 2 columns"),
        ("t.csv", b"Peru,34\nChile,20\n", "no header: `34` in the first line is a number, like its column"),
        ("t.csv", b"a,a\n1,2\n", "error[E111]: two columns are named `a`"),
        ("t.csv", b"a\n1\n", "the file has only one column, `a`"),
        ("t.csv", b"\x89PNG\r\n\x1a\n\0\0", "error[E102]: not UTF-8"),
        ("t.csv", b"a,b\n1,\0\n", "t.csv:2:3: error[E111]: the file contains a zero byte"),
        ("t.csv", b"a,b\nx,1\nx,2\n", "t.csv:3:1: error[E111]: this row asks the same question as line 2"),
        ("t.csv", b"a,b\nx,1\ny,\n", "t.csv:3:1: error[E111]: this row has no answer in the column `b`"),
        ("t.csv", b"a,b\nx,1\nx,1\n", "t.csv:3:1: error[E111]: this row is the same as an earlier one"),
        ("t.csv", b'a,"{{ b }}"\nx,1\n', "the column name `{{ b }}` cannot be used in a template"),
        ("t.jsonl", b'{"a": 1, "b": {"c": 2}}\n', "t.jsonl:1:1: error[E111]: the column `b` contains an object"),
        ("t.jsonl", b'{"a": 1, "b": 2}\n\n{"a": [1], "b": 2}\n', "t.jsonl:3:1: error[E111]: the column `a` contains a list"),
        ("t.jsonl", b'{"a": 1, "b": 2}\n{"a": 2, "b": "x"}\n', "t.jsonl:2:1: error[E111]: the answer in the column `b` is"),
        ("t.jsonl", b"[1, 2]\n", "t.jsonl:1:1: error[E111]: this line is not an object"),
        ("t.xlsx", b"PK", "`t.xlsx` is not a table that --from reads"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_refused_with_its_line_and_nothing_is_written(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    content: bytes,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(content)
    assert run(["new", "quiz", "--benchmark", "--from", name]) == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_huge_file_and_an_unknown_column_are_refused(tmp_path: Path) -> None:
    huge = tmp_path / "huge.csv"
    with huge.open("wb") as file:
        file.truncate(100_000_001)
    with pytest.raises(DiaError, match="larger than 100 MB"):
        draft_from_table(huge)
    small = tmp_path / "small.csv"
    small.write_text("country,capital\nPeru,Lima\n")
    with pytest.raises(DiaError, match="has no column `Capital`") as raised:
        draft_from_table(small, "Capital")
    assert raised.value.diagnostics[0].help == "did you mean `capital`?"


def test_kinds_answers_and_columns_are_guessed_from_names_and_cells(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [f"k{i},Is {i} even?,{i},0{i},{i}.5,{'yes' if i % 2 == 0 else 'no'},{i}" for i in range(10)]
    path.write_text("\n".join(["id,question,n,zip,half,answer,last", *rows]))
    draft = draft_from_table(path)
    assert "columns: {n: integer, half: decimal, last: integer}, id: = row.id" in draft.text
    assert 'value: row.answer # guessed\n  type: choice # guessed\n  of: ["no", "yes"]' in draft.text
    assert "\n  {{ row.question }}\n" in draft.text and "row.id }}" not in draft.text
    for name, type in (("half", "real # guessed\n  round: {places: 1,"), ("last", "integer"), ("question", "text")):
        assert f"\n  type: {type}" in draft_from_table(path, name).text

"""Tables of comma-separated values, read back by pyarrow, and the example that asks for a median."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from io import BytesIO, StringIO
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from dia_compiler.assets import BUILDERS
from dia_compiler.assets.base import OptionFault, Site
from dia_compiler.commands.cli import run
from dia_compiler.pipeline.api import compile
from dia_language.numbers.values import Record
from helpers.library_calls import call
from helpers.places import ROOT
from hypothesis import given
from hypothesis import strategies as st

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6) | st.integers(-99, 99)


def built(**options: Any) -> str:
    def entropy(count: int) -> bytes:
        raise AssertionError("a table draws nothing")

    builder = BUILDERS["csv"]
    builder.validate(options)
    table = builder.build(options, Site(entropy, Path("nowhere")))
    assert isinstance(table, str)
    return table


def test_a_table_is_written_as_rfc_4180_says() -> None:
    rows = [Record(name='5" nail', price=Fraction(1, 4), sold=True), Record(name="a, b", price=None, sold=False)]
    assert built(rows=rows) == 'name,price,sold\n"5"" nail",1/4,True\n"a, b",,False'
    assert built(rows=rows, columns=["sold", "name"], separator="tab") == 'sold\tname\nTrue\t"5"" nail"\nFalse\ta, b'
    assert built(rows=[[1, 2], [3, 4]], separator="semicolon") == "1;2\n3;4"
    assert built(rows=[], columns=["a"]) == "a"


@given(st.integers(1, 4).flatmap(lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1)))
def test_a_table_is_what_pyarrow_and_read_csv_read(rows: list[list[Any]]) -> None:
    arrow = pytest.importorskip("pyarrow.csv")
    names = [f"c{n}" for n in range(len(rows[0]))]
    texts = [[str(cell) for cell in row] for row in rows]
    table = built(rows=rows, columns=names)
    read = arrow.read_csv(
        BytesIO(table.encode()),
        parse_options=arrow.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=arrow.ConvertOptions(column_types=dict.fromkeys(names, "string"), strings_can_be_null=False),
    )
    assert [list(row.values()) for row in read.to_pylist()] == texts
    assert call("read_csv", table) == [names, *texts]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": [], "separator": ","}, "unknown separator"),
        ({"rows": [1]}, "list of lists or of records"),
        ({"rows": [[]]}, "at least one cell"),
        ({"rows": [[1, 2], [3]]}, "row 2 has 1 cell, but the table has 2 columns"),
        ({"rows": [[1]], "columns": ["a", "b"]}, "row 1 has 1 cell,"),
        ({"rows": [Record(a=1), Record(b=1)]}, "row 2 has no field `a`"),
        ({"rows": [[[1]]]}, "row 1 has a cell"),
        ({"rows": [], "columns": "ab"}, "`columns` must be a list"),
        ({"rows": [], "columns": ["a", "a"]}, "same name"),
        ({"rows": [["a" * 100_000]] * 11}, "more than 1,000,000 characters"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionFault, match=message):
        built(**options)


def test_the_file_has_the_name_that_the_author_chose(tmp_path: Path) -> None:
    (bundle,) = compile([ROOT / "docs" / "examples" / "files"], k=5, out=tmp_path).bundles
    questions, answers = (
        [json.loads(line) for line in (bundle.path / name).read_text("utf-8").splitlines()]
        for name in ("questions.jsonl", "answers.jsonl")
    )
    for question, answer in zip(questions, answers, strict=True):
        (asset,) = question["assets"]
        assert asset["name"] == f"sales_{answer['parameters']['month']}.csv"
        assert asset["name"] in question["messages"][-1]["content"] and asset["path"].endswith(".csv")
        rows = csv.DictReader(StringIO((bundle.path / asset["path"]).read_text("utf-8")))
        assert median(Fraction(row["price"]) for row in rows) == Fraction(answer["text"])


@pytest.mark.parametrize("name", ["../a.csv", "a b.csv", "sales", "a" * 120 + ".csv"])
def test_a_file_name_that_is_none_is_refused_at_its_place(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(tmp_path, f"one: {{build: csv, rows: [[= n]], file_name: {json.dumps(name)}}}") == 2
    assert "t.yaml:5:47: error[E408]: `one`: this cannot be the name of a file" in capsys.readouterr().err


def test_two_files_of_a_question_have_different_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    two = 'one: {build: csv, rows: [[= n]], file_name: = "two" + ".CSV"}\n  two: {build: csv, rows: [[= n + 1]]}'
    assert check(tmp_path, two) == 2
    assert "`one` has the same file name, two.CSV" in capsys.readouterr().err


def check(folder: Path, assets: str) -> int:
    """The exit code of `dia check` for a template with the assets, delivered as files."""
    (folder / "benchmark.yaml").write_text("language: 2\nbenchmark: b\n", encoding="utf-8")
    (folder / "t.yaml").write_text(
        "template: t\ntitle: T\nparams: {n: {type: integer, min: 1, max: 999}}\nassets:\n"
        f"  {assets}\ndeliver: file\nanswer: {{value: n, type: integer}}\n"
        'prompt: "What is in {{ one }}?"\n',
        encoding="utf-8",
    )
    return run(["check", str(folder)])

"""Sessions as data: JSON Lines and Hugging Face hold what is asked and what replies are graded by."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run as dia
from helpers import session_records

Make = Callable[..., Path]


@pytest.fixture
def bundle(bundle_writer: Make, tmp_path: Path) -> Path:
    questions = [session_records.refusal(), session_records.pressure(1)]
    return session_records.bundle(bundle_writer, tmp_path / "talks", questions)


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_lines_have_the_sessions_and_what_grades_them(bundle: Path, tmp_path: Path) -> None:
    assert dia(["export", str(bundle), "--to", "jsonl", "-o", str(tmp_path / "out")]) == 0
    rows = records(next((tmp_path / "out").glob("*.jsonl")))
    asked, answers = records(bundle / "questions.jsonl"), records(bundle / "answers.jsonl")
    assert [row["sessions"] for row in rows] == [question["sessions"] for question in asked]
    assert [row["id"] for row in rows] == [question["id"] for question in asked]
    assert [row["grading"]["truth"] for row in rows] == [answer["truth"] for answer in answers]


def test_a_data_set_has_them_as_json(bundle: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert dia(["export", str(bundle), "--to", "huggingface", "-o", str(tmp_path / "out")]) == 0
    questions = parquet.read_table(tmp_path / "out" / "data" / "questions.parquet").to_pylist()
    answers = parquet.read_table(tmp_path / "out" / "data" / "answers.parquet").to_pylist()
    asked = records(bundle / "questions.jsonl")
    assert [json.loads(row["sessions"]) for row in questions] == [question["sessions"] for question in asked]
    assert {(row["prompt"], len(row["messages"])) for row in questions} == {(None, 0)}
    truths = [answer["truth"] for answer in records(bundle / "answers.jsonl")]
    assert [json.loads(row["grading"])["truth"] for row in answers] == truths
    for name in ("croissant.json", "README.md"):
        assert "sessions" in (tmp_path / "out" / name).read_text(encoding="utf-8")


def test_other_bundles_have_no_such_column(tiny: Make, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert dia(["export", str(tiny()), "--to", "huggingface", "-o", str(tmp_path / "out")]) == 0
    assert "sessions" not in parquet.read_table(tmp_path / "out" / "data" / "questions.parquet").column_names

"""Replies out of a run: the schema's keys, a fixed order, and a table of the same."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dia_runtime
import jsonschema
import pytest
from dia_compiler.commands.cli import run
from dia_runtime.data import data_folder
from dia_runtime.integrations.exporting import parquet_writer as tables
from dia_runtime.respondents.respondent import Reply
from dia_runtime.store.schema import APPLICATION_ID, FIRST_SCHEMA
from helpers.failures import refused_call
from helpers.schemas import require_valid

Make = Callable[..., Path]
SCHEMA = json.loads((data_folder() / "schemas" / "reply.schema.json").read_text(encoding="utf-8"))


class Rich:
    """A respondent whose replies have every field, or nearly none."""

    name, model, settings = "a rich one", "rich-1", {"temperature": "0.7", "nested": {"list": [1, None]}}

    def reply(self, question: Any) -> Reply:
        if question["instance"] == 1:
            return Reply(None, error="timeout")
        if question["instance"] == 2:
            return Reply(None, finish_reason="content_filter")
        facts = ("stop", 10, 20, "0.00125", "1.5", "m", "2026-01-01T00:00:00Z")
        return Reply("=1+1\n\u2028Ω\ud800", None, *facts, reasoning_tokens=7)


@pytest.fixture
def held(tiny: Make, tmp_path: Path) -> Path:
    path = tmp_path / "a.run"
    dia_runtime.run(tiny(), [Rich(), "oracle", "abstain"], path, attempts=2)
    return path


def exported(held: Path, to: str, out: Path, *more: str) -> Path:
    assert run(["export", str(held), "--to", to, "-o", str(out), "-q", *more]) == 0
    (path,) = out.iterdir()
    return path


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def test_every_line_keeps_the_schema_and_names_its_bundle(held: Path, tiny: Make, tmp_path: Path) -> None:
    found = rows(exported(held, "replies", tmp_path / "out"))
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert [error.message for row in found for error in validator.iter_errors(row)] == []
    bundle = dia_runtime.open_bundle(tmp_path / "bundle")
    assert {(row["bundle"], row["questions_root"]) for row in found} == {(bundle.id, bundle.questions_root)}
    assert set(found[0]) <= set(SCHEMA["properties"]), "the schema names every key"


def test_the_order_is_that_of_names_questions_and_attempts(held: Path, tmp_path: Path) -> None:
    found = rows(exported(held, "replies", tmp_path / "out"))
    ids = [f"tiny/sum_{template}/{instance}" for template in range(2) for instance in range(3)]
    expected = [
        (who, name, attempt) for who in ("a rich one", "abstain", "oracle") for name in ids for attempt in (1, 2)
    ]
    assert [(row["respondent"], row["question"], row["attempt"]) for row in found] == expected


def test_all_that_is_known_is_there(held: Path, tmp_path: Path) -> None:
    first = rows(exported(held, "replies", tmp_path / "out"))[0]
    whole = {"text": "=1+1\n\u2028Ω\ufffd", "error": None, "finish_reason": "stop", "prompt_tokens": 10,
             "completion_tokens": 20, "reasoning_tokens": 7, "cost": "0.00125", "seconds": "1.5", "model_version": "m",
             "asked_at": "2026-01-01T00:00:00Z", "model": "rich-1", "settings": Rich.settings}  # fmt: skip
    assert first == first | whole


def test_two_exports_are_the_same_bytes(held: Path, tmp_path: Path) -> None:
    for to in ("replies", "replies-parquet"):
        one, other = (exported(held, to, tmp_path / f"{to}{number}").read_bytes() for number in range(2))
        assert one == other and one


def test_parquet_holds_the_same_rows(held: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(tables, "ROWS", 7)  # several groups of rows
    path = exported(held, "replies-parquet", tmp_path / "table")
    found = parquet.read_table(path).to_pylist()
    assert parquet.ParquetFile(path).num_row_groups == 6
    for row in found:
        row["settings"] = json.loads(row["settings"])
    assert found == rows(exported(held, "replies", tmp_path / "lines"))


def test_parquet_needs_pyarrow_and_says_so(
    held: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert run(["export", str(held), "--to", "replies-parquet", "-o", str(tmp_path / "x")]) == 2
    told = capsys.readouterr().err
    assert told.startswith("error[E845]") and "pip install '.[parquet]'" in told
    assert not (tmp_path / "x").exists()


def test_respondents_are_chosen(held: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = rows(exported(held, "replies", tmp_path / "out", "--model", "oracle", "--model", "abstain"))
    assert [row["respondent"] for row in found] == ["abstain"] * 12 + ["oracle"] * 12
    error = "has no respondent `oracel`\n  help: did you mean `oracle`?"
    refused_call("E806", error, capsys, "export", held, "--to", "replies", "--model", "oracel")
    error = "`jsonl` exports questions, which are for any model\n  help: leave out `--model`"
    refused_call("E715", error, capsys, "export", tmp_path / "bundle", "--to", "jsonl", "--model", "oracle")


def test_the_facts_and_the_default_folder(
    held: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["export", "a.run", "--to", "replies", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    require_valid("export", facts)
    assert facts["path"] == "build/exports/a.run-replies" and facts["files"] == ["replies.jsonl"]


def test_what_is_no_run_is_refused(tiny: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", str(tiny()), "--to", "replies", "-o", str(tmp_path / "x")]) == 2
    assert "is a bundle, not a run" in capsys.readouterr().err and not (tmp_path / "x").exists()


def test_a_run_of_the_first_version_is_exported_and_replayed_as_it_is(held: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.run"
    connection = sqlite3.connect(old)
    for statement in FIRST_SCHEMA:
        connection.execute(statement)
    connection.execute("ATTACH ? AS new", (str(held),))
    for table in ("meta", "respondent", "question", "reply"):
        names = ", ".join(row[1] for row in connection.execute(f"PRAGMA table_info({table})"))
        connection.execute(f"INSERT INTO {table} SELECT {names} FROM new.{table}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()
    before = old.read_bytes()
    found = rows(exported(old, "replies", tmp_path / "old"))
    whole = rows(exported(held, "replies", tmp_path / "new"))
    assert {row["tries"] for row in whole} == {1} and found == [
        row | {"tries": None, "reasoning_tokens": None} for row in whole
    ]
    summary = dia_runtime.run(tmp_path / "bundle", f"replay:{old}#oracle", tmp_path / "b.run")
    assert not summary.has_errors and old.read_bytes() == before

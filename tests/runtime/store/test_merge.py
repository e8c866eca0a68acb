"""Runs that are merged: replies joined, errors mended, contradictions told, nothing half written."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dia_language.diagnostics import DiaError
from dia_runtime.running.run import RunOptions, run
from dia_runtime.scoring.score import score
from dia_runtime.store.merge import merge_runs
from dia_runtime.store.store import read_store

Make = Callable[..., Path]


@pytest.fixture
def halves(tiny: Make, tmp_path: Path) -> tuple[Path, list[Path]]:
    """A run of all questions, and two runs of every second one."""
    bundle = tiny(templates=3, k=4)
    whole = run(bundle, ["oracle", "guess"], tmp_path / "whole.run").path
    found = []
    for number in (1, 2):
        terms = RunOptions(part=(number, 2))
        found.append(run(bundle, ["oracle", "guess"], tmp_path / f"{number}.run", terms=terms).path)
    return whole, found


def replies(path: Path) -> list[dict[str, Any]]:
    with read_store(path) as store:
        return [
            {"name": entry.name, **{name: row[name] for name in ("question", "attempt", "text", "error")}}
            for entry in store.respondents()
            for row in store.replies_of(entry.id)
        ]


def refused(paths: list[Path], out: Path, **more: Any) -> tuple[str, int]:
    before = sorted(out.parent.iterdir())
    with pytest.raises(DiaError) as found:
        merge_runs(paths, out, **more)
    assert sorted(out.parent.iterdir()) == before
    return found.value.diagnostics[0].code, found.value.exit_code


def changed(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_merged_parts_are_the_whole_run(halves: tuple[Path, list[Path]], tmp_path: Path) -> None:
    whole, parts = halves
    facts = merge_runs(parts, tmp_path / "merged.run")
    assert replies(tmp_path / "merged.run") == replies(whole)
    assert (facts["questions"], facts["replies"], facts["runs"]) == (12, 24, 2)
    figures = [score(path)["models"] for path in (whole, tmp_path / "merged.run")]
    assert [{**model, "run": ""} for model in figures[0]] == [{**model, "run": ""} for model in figures[1]]
    again = merge_runs([tmp_path / "merged.run", *parts], tmp_path / "again.run")  # what several hold is one
    assert again["replies"] == 24


def test_an_error_gives_way_to_a_reply(halves: tuple[Path, list[Path]], tmp_path: Path) -> None:
    whole, parts = halves
    changed(parts[0], "UPDATE reply SET text = NULL, error = 'timeout'")
    for order in ([parts[0], whole], [whole, parts[0]]):
        merge_runs(order, tmp_path / "merged.run", force=True)
        assert replies(tmp_path / "merged.run") == replies(whole)
    facts = merge_runs(parts, tmp_path / "left.run")
    assert [entry["errors"] for entry in facts["respondents"]] == [6, 6]


def test_replies_that_contradict_each_other_are_told(halves: tuple[Path, list[Path]], tmp_path: Path) -> None:
    whole, parts = halves
    changed(parts[1], "UPDATE reply SET text = 'another' WHERE question = 3")
    assert refused([whole, *parts], tmp_path / "merged.run") == ("E614", 2)


def test_other_settings_and_other_questions_are_refused(
    halves: tuple[Path, list[Path]], tiny: Make, tmp_path: Path
) -> None:
    _, parts = halves
    other = run(tiny("other", templates=2, k=3), ["oracle"], tmp_path / "other.run").path
    assert refused([parts[0], other], tmp_path / "merged.run") == ("E802", 3)
    changed(parts[1], """UPDATE respondent SET settings = '{"temperature": "1"}'""")
    assert refused(parts, tmp_path / "merged.run") == ("E612", 2)


def test_other_answers_to_the_same_questions_are_refused(halves: tuple[Path, list[Path]], tmp_path: Path) -> None:
    _, parts = halves
    first_sealed = tmp_path / "sealed.run"
    first_sealed.write_bytes(parts[0].read_bytes())
    changed(parts[1], """UPDATE question SET grading = json_set(grading, '$.text', '999') WHERE position = 7""")
    assert refused(parts, tmp_path / "merged.run") == ("E802", 3)
    changed(first_sealed, "UPDATE question SET grading = NULL")
    merge_runs([first_sealed, parts[1]], tmp_path / "merged.run")


def test_what_is_there_stays_unless_forced(halves: tuple[Path, list[Path]], tmp_path: Path) -> None:
    whole, parts = halves
    before = whole.read_bytes()
    assert refused(parts, whole) == ("E601", 2)
    assert whole.read_bytes() == before
    merge_runs([whole, *parts], whole, force=True)
    assert len(replies(whole)) == 24

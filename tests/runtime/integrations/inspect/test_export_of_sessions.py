"""Questions of sessions for Inspect: their rows, the grades of their transcripts, and logs of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run
from dia_language.diagnostics import DiaError
from dia_runtime.bundle.open import open_bundle
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.integrations.exported_tasks.grading import WORKER, Graded
from dia_runtime.integrations.exported_tasks.transcripts import grade_transcript, without_sessions
from dia_runtime.store.store import read_store
from dia_runtime.store.transcripts import TranscriptReply, TranscriptSession, transcript_text
from helpers import session_records

TRUTH = {
    "grade": {"correct": session_records.code("opinion == 'COMPLY'", "opinion"), "share": session_records.code("1/3")}
}
Make = Callable[..., Path]


@pytest.fixture
def bundle(bundle_writer: Make, tmp_path: Path) -> Path:
    """Two questions of sessions."""
    questions = [session_records.refusal(), session_records.pressure(1)]
    answers = [session_records.answer(questions[0], TRUTH), session_records.answer(questions[1])]
    return bundle_writer(tmp_path / "bundle", questions, answers, 1)


@pytest.fixture
def rows(bundle: Path, tmp_path: Path) -> Iterator[list[dict[str, Any]]]:
    """The rows of its export."""
    assert run(["export", str(bundle), "--to", "inspect", "-o", str(tmp_path / "x"), "-q"]) == 0
    held = (tmp_path / "x" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    yield [json.loads(line) for line in held]
    WORKER.close()


def transcript(opinion: str | None) -> str:
    """What was said, with that judgement."""
    asked = TranscriptSession("ask", "subject", "m", replies=(TranscriptReply("response", 0, text="Here.", tokens=2),))
    judged = TranscriptSession("judge", "judge", "j", replies=(TranscriptReply("opinion", 0, text=opinion),))
    return transcript_text([asked, judged])


def test_rows_hold_the_sessions_and_what_judges_them(bundle: Path, rows: list[dict[str, Any]]) -> None:
    opened = open_bundle(bundle)
    for row, question, answer in zip(rows, opened.questions(), opened.answers(), strict=True):
        assert row["sessions"] == question["sessions"] and "messages" not in row
        assert (row["id"], row["questions_root"]) == (question["id"], opened.questions_root)
        assert json.loads(row["grading"])["truth"] == answer["truth"]


def test_transcripts_are_graded_with_their_share(rows: list[dict[str, Any]]) -> None:
    right, wrong, unread = (grade_transcript(rows[0], transcript(said)) for said in ("COMPLY", "DECLINE", "Well."))
    assert right.figures() == {"correct": 1, "skipped": 0, "unparsed": 0, "points": 1, "share": 1 / 3}
    assert (wrong.grade.verdict, wrong.grade.points, float(wrong.share)) == ("wrong", -2, 1 / 3)
    assert (unread.grade.verdict, unread.share) == ("unparsed", 0)
    assert grade_transcript(rows[0], "no transcript").grade.verdict == "unparsed"
    assert without_sessions(Graded(Verdict.CORRECT, "7", 1)).share == 1
    for broken in ({}, rows[0] | {"grading": "{}"}, rows[0] | {"grading": "["}):
        with pytest.raises(DiaError):
            grade_transcript(broken, transcript("COMPLY"))


def sample(row: dict[str, Any], said: str) -> dict[str, Any]:
    """A sample as Inspect logs it, whose models were asked more than the subject was for this question."""
    usage = {"input_tokens": 20, "output_tokens": 2}
    choices = [{"message": {"role": "assistant", "content": said}, "stop_reason": "stop"}]
    return {
        "id": row["id"],
        "epoch": 1,
        "target": "",
        "metadata": row,
        "output": {"choices": choices, "completion": said, "usage": usage, "time": 1.5},
        "model_usage": {"m": {"input_tokens": 90, "output_tokens": 70}},
        "total_time": 9.0,
        "scores": {},
    }


def test_logs_bring_transcripts_back(
    bundle: Path, rows: list[dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said, log = transcript("COMPLY"), tmp_path / "a.json"
    left = sample(rows[1], "") | {"scores": {"verdict_and_share": {"value": float("nan")}}}
    left["metadata"] = rows[1] | {"dia_left_out": "nobody goes on"}
    held = {"status": "success", "eval": {"task": "t", "model": "m"}, "samples": [sample(rows[0], said), left]}
    log.write_text(json.dumps(held), encoding="utf-8")
    line = ["import", str(log), "--from", "inspect", "--bundle", str(bundle), "-o", str(tmp_path / "a.run"), "-q"]
    assert run(line) == 2
    assert f"`{rows[1]['id']}` was left out: nobody goes on" in capsys.readouterr().err
    assert run([*line, "--keep"]) == 0
    with read_store(tmp_path / "a.run") as store:
        (found,) = store.rows("SELECT text, prompt_tokens, completion_tokens, seconds, finish_reason FROM reply")
    assert found == (said, 20, 2, "1.5", None)

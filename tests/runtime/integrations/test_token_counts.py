"""Token counts of logs arrive in the figures, reasoning tokens among them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dia_runtime
import pytest
from dia_compiler.commands.cli import run
from dia_runtime.integrations.inspect import logs as inspect_logs
from dia_runtime.integrations.promptfoo import logs as promptfoo_logs
from dia_runtime.store.transcripts import TranscriptReply, TranscriptSession, read_transcript, transcript_text


def imported(tmp_path: Path, rows: list[Mapping[str, Any]], *options: str) -> Any:
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    out = tmp_path / "a.run"
    assert run(["import", str(tmp_path / "log.jsonl"), "--letters", "A-D", "-o", str(out), "-q", *options]) == 0
    return dia_runtime.score(out, interval="none")["models"][0]["usage"]


def test_a_table_brings_its_token_counts(tmp_path: Path) -> None:
    row = {"id": "q", "gold": "A", "reply": "A", "prompt_tokens": 9, "completion_tokens": 7, "thought": 5}
    fields = ("prompt_tokens=prompt_tokens", "completion_tokens=completion_tokens", "reasoning_tokens=thought")
    options = [word for field in fields for word in ("--field", field)]
    usage = imported(tmp_path, [row], "--from", "jsonl", *options)
    names = ("prompt_tokens", "completion_tokens", "reasoning_tokens")
    assert [usage[name] for name in names] == [{"total": number, "unknown": 0} for number in (9, 7, 5)]


@pytest.mark.parametrize(("details", "known"), [({"reasoning": 5}, 5), ({}, None), (None, None)])
def test_promptfoo_says_how_many_tokens_were_reasoning(details: Any, known: int | None) -> None:
    usage = {"prompt": 9, "completion": 7, "completionDetails": details}
    row = promptfoo_logs._row(1, {"response": {"output": "A", "tokenUsage": usage}})
    assert (row.cells["completion_tokens"], row.cells["reasoning_tokens"]) == (7, known)


def test_inspect_says_how_many_tokens_were_reasoning() -> None:
    usage = {"input_tokens": 9, "output_tokens": 7, "reasoning_tokens": 5}
    tokens = inspect_logs._tokens({"model_usage": {"m": usage}}, "m")
    assert tokens == {"prompt_tokens": 9, "completion_tokens": 7, "reasoning_tokens": 5}


def test_a_transcript_keeps_them() -> None:
    reply = TranscriptReply("said", 0, text="yes", tokens=7, reasoning_tokens=5)
    (session,) = read_transcript(transcript_text([TranscriptSession("talk", "subject", "m", replies=(reply,))]))
    assert session.replies == (reply,)

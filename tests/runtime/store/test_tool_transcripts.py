"""Transcripts of tool calls: what is stored is read back, and what strangers write is refused or read safely."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dia_runtime.store.tool_transcripts import (
    STATUSES,
    ToolCall,
    ToolStep,
    ToolTranscript,
    name_with_tools,
    read_tool_transcript,
    readable_tool_transcript,
    split_tools,
    tool_transcript_text,
)
from hypothesis import given
from hypothesis import strategies as st

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
COUNTS = st.none() | st.integers(0, 2**53 - 1)
AMOUNTS = st.none() | st.decimals(0, 1000, places=3).map(str)
CALLS = st.builds(
    ToolCall, TEXTS, TEXTS, st.sampled_from(STATUSES), TEXTS, COUNTS, AMOUNTS, st.integers(0, 10**6)
)  # fmt: skip
STEPS = st.builds(
    ToolStep, st.none() | TEXTS, st.lists(CALLS, max_size=3).map(tuple), st.none() | TEXTS, COUNTS, COUNTS, AMOUNTS,
    AMOUNTS,
)  # fmt: skip
TRANSCRIPTS = st.builds(ToolTranscript, st.lists(STEPS, max_size=3).map(tuple), st.none() | TEXTS)
CALL = {"tool": "python", "arguments": "{}", "status": "ok", "output": "4"}


@given(TRANSCRIPTS)
def test_a_stored_transcript_reads_back(transcript: ToolTranscript) -> None:
    assert read_tool_transcript(tool_transcript_text(transcript)) == transcript


@pytest.mark.parametrize(
    "record",
    [
        [],
        {"tool_transcript": 2, "steps": []},
        {"tool_transcript": 1},
        {"tool_transcript": 1, "steps": [7]},
        {"tool_transcript": 1, "steps": [{"calls": [CALL | {"status": "fine"}]}]},
        {"tool_transcript": 1, "steps": [{"calls": [CALL | {"output": None}]}]},
        {"tool_transcript": 1, "steps": [{"calls": [CALL | {"exit_code": -1}]}]},
        {"tool_transcript": 1, "steps": [{"calls": [], "cost": "1e3"}]},
    ],
)
def test_anything_else_is_refused(record: Any) -> None:
    with pytest.raises(ValueError):
        read_tool_transcript(json.dumps(record))
    with pytest.raises(ValueError):
        read_tool_transcript("[" * 100_000)


def test_a_transcript_is_readable() -> None:
    call = ToolCall("python", '{"code": "print(2)"}', "stopped", "2", 137, "10.1", 5)
    text = readable_tool_transcript(ToolTranscript((ToolStep("I count.", (call,)),)))
    assert text.splitlines() == [
        "[assistant]", "I count.", "[call of python]", "print(2)",
        "[output, stopped, exit code 137, 10.1 s, 5 characters cut]", "2",
    ]  # fmt: skip


@pytest.mark.parametrize("end", ["", "+judge=openai/j"])
def test_names_say_which_tools_were_given(end: str) -> None:
    name = name_with_tools("openai/m@0", ["python", "bash"])
    assert split_tools(name + end) == (f"openai/m@0{end}", ("python", "bash"))
    assert split_tools(f"openai/m{end}") == (f"openai/m{end}", ()) and name_with_tools("m", []) == "m"

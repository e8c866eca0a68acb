"""Transcripts that strangers wrote: each spoils its own question, in a moment and in little memory."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from dia_runtime.grading.sessions.judging import judge_transcript, truth_of
from dia_runtime.grading.sessions.outcome import Outcome
from dia_runtime.store.transcripts import TranscriptReply, TranscriptSession, transcript_text

LETTER = {"kind": "letter", "of": ["A", "B"]}
STORED = {
    "comparison": {"type": "sessions"},
    "truth": {"grade": {"correct": {"expression": "answered(one)", "replies": ["one"]}}},
    "replies": {"one": {"session": "talk", "turn": 0, "format": LETTER}},
}


def judged(text: str) -> Outcome:
    return judge_transcript(truth_of(STORED), text).outcome


def talk(*replies: TranscriptReply, item: int | None = None) -> TranscriptSession:
    return TranscriptSession("talk", "subject", "m", item, None, (), replies)


def test_places_without_end_are_no_replies() -> None:
    """Two hundred replies at the last place of a list each would be twenty million places."""
    far = transcript_text(talk(TranscriptReply("one", 0, 100_000, "A"), item=at) for at in range(200))
    tracemalloc.start()
    try:
        found = judged(far)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (found.verdict, found.state) == ("unparsed", "unread") and most < 20_000_000


def test_a_long_list_is_still_heard() -> None:
    near = transcript_text(talk(TranscriptReply("one", 0, 20, "A"), item=at) for at in range(200))
    assert judged(near).verdict == "wrong"  # the twenty places before are empty, so not all are answered


@pytest.mark.parametrize(
    "reply",
    [
        {"seconds": "1e99999999"},
        {"seconds": "1/0"},
        {"text": None, "extracted": {"decimal": "1e99999999"}},
        {"text": None, "extracted": {"rational": ["1", "0"]}},
        {"text": None, "extracted": json.loads("[" * 500 + "]" * 500)},
        {"text": None, "extracted": {"no such": {}}},
    ],
    ids=lambda reply: json.dumps(reply)[:40],
)
def test_a_value_that_cannot_be_leaves_the_question_unread(reply: dict[str, Any]) -> None:
    held = json.loads(transcript_text([talk(TranscriptReply("one", 0, text="A"))]))
    held["sessions"][0]["replies"][0] |= reply
    found = judged(json.dumps(held))
    assert (found.verdict, found.state) == ("unparsed", "unread")


@pytest.mark.parametrize("text", ["\ud800 Answer: A", "Answer: A\x00", "\u202eA :rewsnA", "Answer: A " * 400_000])
def test_strange_letters_are_read_or_not(text: str) -> None:
    held = json.dumps({"transcript": 1, "sessions": [talk(TranscriptReply("one", 0, text=text)).as_json()]})
    assert judged(held).verdict in ("correct", "wrong", "unparsed")

"""Conversations with a model of the test's own: what it is sent, what is stored, and what questions share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast

import pytest
from dia_runtime.respondents.respondent import Reply
from dia_runtime.respondents.turn_request import TurnRequest
from dia_runtime.running.sessions import runner as running
from dia_runtime.running.sessions.backend import SessionBackend
from dia_runtime.running.sessions.evaluator import CodeEvaluator
from dia_runtime.running.sessions.runner import SessionRunner
from dia_runtime.store.schema import StoredTurn
from dia_runtime.store.transcripts import read_transcript
from helpers import session_records
from helpers.session_records import session, turn


class Model:
    """A backend whose model counts its replies, and which keeps turns in memory."""

    scope = ""

    def __init__(self, turns: Sequence[StoredTurn] = ()) -> None:
        self.turns, self.asked, self.locked = list(turns), list[TurnRequest](), list[str]()

    def model(self, role: str) -> str:
        return "m"

    def stored_turns(self, scope: str) -> list[StoredTurn]:
        return [one for one in self.turns if one.scope == scope]

    async def ask(self, role: str, request: TurnRequest) -> Reply:
        self.asked.append(request)
        return Reply(f"reply {len(self.asked)}")

    async def store_turn(self, stored: StoredTurn) -> None:
        self.turns.append(stored)

    @asynccontextmanager
    async def exclusive(self, scope: str) -> AsyncIterator[bool]:
        self.locked.append(scope)
        yield True


def talk(model: Model, *turns: dict[str, Any], **more: Any) -> Reply:
    """The reply to a question that is one session."""
    question = session_records.question([session("talk", *turns, **more)])
    reply = asyncio.run(SessionRunner(question, 0, cast(SessionBackend, model), CodeEvaluator()).run())
    assert isinstance(reply, Reply)
    return reply


def sent(request: TurnRequest) -> list[tuple[str, str]]:
    return [(message["role"], message["content"]) for message in request["messages"]]


@pytest.mark.parametrize("before", [0, 1, 2, 3])
def test_a_turn_without_a_reply_is_asked_with_the_beginning_that_follows(before: int) -> None:
    model = Model()
    earlier = [turn(f"question {at}", f"reply_{at}") for at in range(before)]
    reply = talk(model, *earlier, turn("How many?"), {**turn(None, "number"), "assistant": "There are"}, turn("Why?"))
    assert [len(request["messages"]) for request in model.asked] == [
        *(2 * at + 1 for at in range(before)), 2 * before + 2, 2 * before + 3,
    ]  # fmt: skip
    assert sent(model.asked[before])[-2:] == [("user", "How many?"), ("assistant", "There are")]
    assert [(one.session, one.item, one.turn, one.step) for one in model.turns] == [
        ("talk", -1, at, -1) for at in (*range(before), before + 1, before + 2)
    ]
    assert model.asked[before]["prefill"] and model.asked[before]["added"] == 2
    (conversation,) = read_transcript(reply.text or "")
    assert conversation.messages[2 * before + 1]["content"] == f"There arereply {before + 1}"
    assert [one.turn for one in conversation.replies] == [*range(before), before + 1, before + 2]


@pytest.mark.parametrize("kept", [{"reply": turn("", "first")["reply"]}, {"assistant": "Well,"}, {"over": [1]}])
def test_a_turn_that_wants_a_reply_is_asked_before_a_beginning_follows(kept: dict[str, Any]) -> None:
    model = Model()
    talk(model, {**turn("How many?"), **kept}, {**turn(None, "number"), "assistant": "There are"})
    assert len(model.asked) == 2


def test_newlines_around_a_message_are_not_sent_but_those_of_a_beginning_are() -> None:
    model = Model()
    talk(model, {**turn("\n\n How many? \n", "number"), "assistant": "\nThere are\n"}, turn("Why?\n", "why"))
    assert sent(model.asked[0]) == [("user", " How many? "), ("assistant", "\nThere are\n")]
    assert sent(model.asked[1]) == [
        ("user", " How many? "), ("assistant", "\nThere are\nreply 1"), ("user", "Why?"),
    ]  # fmt: skip


def test_a_transcript_may_have_as_many_characters_as_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = talk(Model(), turn("How many?", "number"))
    length = len(whole.text or "")
    monkeypatch.setattr(running, "LONGEST", length)
    assert talk(Model(), turn("How many?", "number")) == whole
    for most in (length - 1, length - 2):
        monkeypatch.setattr(running, "LONGEST", most)
        reply = talk(Model(), turn("How many?", "number"))
        assert (reply.text, reply.error) == (None, f"request: the transcript is longer than {most} characters")


def test_a_shared_conversation_that_is_stored_whole_and_without_errors_needs_no_lock() -> None:
    turns = (turn("How many?", "number"), turn("Why?", "why"))
    scope, share = "talk talk a", {"share": {"keys": ["a"]}}
    model = Model()
    first = talk(model, *turns, **share)
    assert (len(model.asked), model.locked) == (2, [scope])
    assert talk(model, *turns, **share).text == first.text
    assert (len(model.asked), model.locked) == (2, [scope])
    kept = model.turns
    for stored in (kept[:1], [kept[0], replace(kept[1], text=None, error="timeout")]):
        model = Model(stored)
        talk(model, *turns, **share)
        assert (len(model.asked), model.locked) == (1, [scope])
    conditional = (turns[0], {**turns[1], "over": [1]})  # how many turns it has is not known before
    model = Model()
    for _ in range(2):
        talk(model, *conditional, **share)
    assert (len(model.asked), model.locked) == (2, [scope, scope])

"""How many turns and how much text one question may take, which key a shared session has, and how messages are joined."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from dia_runtime.running.sessions import runner as running
from dia_runtime.running.sessions.backend import SessionBackend, SessionUnfinished
from dia_runtime.running.sessions.conversation import merge_assistant_messages
from dia_runtime.running.sessions.evaluator import CodeEvaluator
from dia_runtime.running.sessions.runner import SessionRunner


def new_runner() -> SessionRunner:
    return SessionRunner({"id": "b/t/0"}, 0, cast(SessionBackend, None), cast(CodeEvaluator, None))


def test_a_question_has_as_many_turns_as_allowed_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    assert running.MOST_TURNS == 10_000
    monkeypatch.setattr(running, "MOST_TURNS", 3)
    counted = new_runner()
    for _ in range(3):
        counted.count_turn("yes")
    with pytest.raises(SessionUnfinished) as stopped:
        counted.count_turn(None)
    assert stopped.value.unfinished.error == "request: more than 3 turns"


def test_a_question_has_as_much_text_as_allowed_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "LONGEST", 10)
    counted = new_runner()
    for text in ("12345", None, "67890", ""):
        counted.count_turn(text)
    with pytest.raises(SessionUnfinished) as stopped:
        counted.count_turn("x")
    assert stopped.value.unfinished.error == "request: replies of more than 10 characters"


@pytest.mark.parametrize(
    ("keys", "item", "key"),
    [(("a", "b", "c"), 1, "b"), (("a",), 2, "a"), (("a",), None, "a"), (("a", "b"), 5, "b"), ((), 1, None)],
)
def test_a_shared_session_has_the_key_of_its_item(
    monkeypatch: pytest.MonkeyPatch, keys: tuple[str, ...], item: int | None, key: str | None
) -> None:
    found: list[str | None] = []

    async def run_shared(self: Any, session: Any, item: Any, value: Any, key: str) -> str:
        found.append(key)
        return "shared"

    class Alone:
        def __init__(self, *arguments: Any) -> None:
            found.append(None)

        async def run(self) -> str:
            return "alone"

    class Session:
        when = None

    session: Any = Session()
    session.keys = keys
    monkeypatch.setattr(SessionRunner, "run_shared", run_shared)
    monkeypatch.setattr(running, "Conversation", Alone)
    assert asyncio.run(new_runner().run_conversation(session, item, 0)) == ["alone" if key is None else "shared"]
    assert found == [key]


def test_only_messages_of_the_assistant_are_joined() -> None:
    said = [("user", "1"), ("user", "2"), ("assistant", "a"), ("assistant", "b"), ("assistant", "c"), ("user", "3")]
    messages = [{"role": role, "content": content, "at": str(at)} for at, (role, content) in enumerate(said)]
    assert merge_assistant_messages(messages) == [
        {"role": "user", "content": "1", "at": "0"},
        {"role": "user", "content": "2", "at": "1"},
        {"role": "assistant", "content": "abc", "at": "2"},
        {"role": "user", "content": "3", "at": "5"},
    ]
    assert merge_assistant_messages([]) == []
    assert merge_assistant_messages(messages[2:4]) == [{"role": "assistant", "content": "ab", "at": "2"}]

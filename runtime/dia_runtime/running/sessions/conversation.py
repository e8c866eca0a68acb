"""One conversation: its turns in order, each stored before the next one is asked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from dia_language.expressions.replies import UNSET, SessionReply
from dia_language.numbers.values import Value, decode
from dia_runtime.bundle.canonical import compact_json
from dia_runtime.bundle.session_records import SessionRecord, TurnRecord
from dia_runtime.respondents.turn_request import TurnRequest
from dia_runtime.running.sessions.backend import SessionUnfinished, TurnSkipped, Unfinished, Variables
from dia_runtime.running.sessions.reply_scope import ReplyScope, with_loop
from dia_runtime.store.schema import REPLY_COLUMNS, StoredTurn, storable
from dia_runtime.store.transcripts import TranscriptReply, TranscriptSession

if TYPE_CHECKING:
    from dia_runtime.running.sessions.runner import SessionRunner

LONGEST_READ = 1_000_000  # characters of a reply that are read
TurnKey: TypeAlias = tuple[str, int, int, int]


@dataclass(slots=True)
class Conversation:
    """One conversation: a session, or its repetition for one item of its list."""

    runner: SessionRunner
    session: SessionRecord
    item: int | None
    value: Value
    stored: Mapping[TurnKey, StoredTurn]
    scope: str | None = None
    key: str | None = None
    messages: list[dict[str, str]] = field(default_factory=list)
    pending: list[dict[str, str]] = field(default_factory=list)
    replies: list[TranscriptReply] = field(default_factory=list)
    ended_by: TurnSkipped | None = None

    @property
    def reply_scope(self) -> ReplyScope:
        """Return the scope of its stored code."""
        return ReplyScope(self.runner, self.session, self.item)

    async def run(self) -> TranscriptSession:
        """Run the conversation to its end and return it. Raises Halted."""
        loops = with_loop({}, self.session.variable, self.item, self.value)
        for number, turn in enumerate(self.session.turns):
            if self.ended_by is None:
                try:
                    await self.ask_turn(number, turn, loops)
                except TurnSkipped as why:
                    self.ended_by = why
            if self.ended_by is not None and not any(reply.turn == number for reply in self.replies):
                await self.record(turn, self.ended_by.reply(turn.reply, number))
        session, model = self.session, self.runner.backend.model(self.session.role)
        return TranscriptSession(
            session.name, session.role, model or "none", self.item, self.key, tuple(self.messages), tuple(self.replies)
        )

    async def ask_turn(self, number: int, turn: TurnRecord, loops: Variables) -> None:
        """Ask a turn, once or for each item of its own list. Raises NotAsked and Halted."""
        items = await self.reply_scope.items(turn.over, loops)
        if items and turn.reply is not None:
            self.set_reply(turn.reply, [])
        for step, value in [(None, None)] if items is None else list(enumerate(items)):
            step_variables = with_loop(loops, turn.variable, step, value)
            if turn.when is not None and not await self.reply_scope.holds(turn.when, step_variables):
                why = TurnSkipped("condition", "its condition did not hold")
                await self.record(turn, why.reply(turn.reply, number, step))
                continue
            await self.add_messages(turn, step_variables, step)
            if self.is_merged_into_next(number):
                continue
            reply = await self.exchange(number, turn, step)
            await self.record(turn, reply)
            if reply.text is None:
                ending = reply.finish_reason or "no reply"
                self.ended_by = TurnSkipped("ended", f"the conversation ended before: {ending}", reply.finish_reason)
                return
            if turn.until is not None and await self.reply_scope.holds(turn.until, step_variables):
                return

    def is_merged_into_next(self, number: int) -> bool:
        """Return whether the turn waits for the next one, which contains the beginning of its reply."""
        turns = self.session.turns
        turn, after = turns[number], turns[number + 1] if number + 1 < len(turns) else None
        return (
            after is not None
            and turn.reply is None
            and (turn.assistant, turn.over, turn.when) == (None, None, None)
            and after.user is None
        )

    async def add_messages(self, turn: TurnRecord, loops: Variables, step: int | None) -> None:
        """Append the turn's message to the conversation. Raises NotAsked."""
        at = (step if isinstance(turn.over, list) else None, self.item)
        if not self.messages and not self.pending and self.session.system is not None:
            text = await self.reply_scope.text(self.session.system, loops, (self.item,))
            self.pending.append({"role": "system", "content": text})
        for role, texts in (("user", turn.user), ("assistant", turn.assistant)):
            if texts is not None:
                text = await self.reply_scope.text(texts, loops, at)
                # As frozen texts are; how a beginning ends is for the model to see.
                self.pending.append({"role": role, "content": text if role == "assistant" else text.strip("\n")})

    async def exchange(self, number: int, turn: TurnRecord, step: int | None) -> TranscriptReply:
        """Return the reply to the turn, stored before or asked for now. Raises Halted."""
        place = (
            self.session.name,
            -1 if self.item is None or self.scope else self.item,
            number,
            -1 if step is None else step,
        )
        stored = self.stored.get(place)
        if stored is None or not self.matches(stored):
            stored = await self.ask(place, turn)
        self.runner.asked_turns.append(stored)
        self.runner.count_turn(stored.text)
        self.append(json.loads(stored.messages), stored.text)
        return TranscriptReply(
            turn.reply,
            number,
            step,
            stored.text,
            stored.completion_tokens,
            stored.seconds,
            stored.finish_reason,
            prompt_tokens=stored.prompt_tokens,
            cost=stored.cost,
            reasoning_tokens=stored.reasoning_tokens,
        )

    def matches(self, stored: StoredTurn) -> bool:
        """Return whether a stored turn is what would be asked now. A shared session is asked once."""
        return stored.error is None and (
            self.scope is not None
            or (stored.messages, stored.settings) == (compact_json(self.pending), compact_json(self.session.settings))
        )

    async def ask(self, place: TurnKey, turn: TurnRecord) -> StoredTurn:
        """Ask the turn, store it and return it. Raises Halted."""
        session, runner = self.session, self.runner
        request = TurnRequest(
            {
                **{name: runner.question.get(name) for name in ("id", "template", "item", "instance")},
                "messages": [
                    sent_message(message) for message in merge_assistant_messages(self.messages + self.pending)
                ],
                "assets": runner.question.get("assets") or [],
                "added": len(self.pending),
                "prefill": turn.assistant is not None,
                "session": session.name,
                "role": session.role,
                "key": self.key,
                **dict(zip(("session_item", "turn", "step"), place[1:], strict=True)),
                "name": turn.reply,
                "settings": session.settings,
                "format": turn.format or {"kind": "text"},
            }
        )
        reply = await runner.backend.ask(session.role, request)
        if isinstance(reply, Unfinished):
            raise SessionUnfinished(reply)
        stored = StoredTurn(
            runner.position, self.scope or runner.backend.scope, *place, turn.reply, session.role,
            runner.backend.model(session.role) or "none",
            compact_json(self.pending), compact_json(session.settings),
            **{name: storable(value) for name, value in asdict(reply).items() if name in REPLY_COLUMNS},
        )  # fmt: skip
        await runner.backend.store_turn(stored)
        if reply.error is not None:
            raise SessionUnfinished(Unfinished(reply.error))
        return stored

    def append(self, added: list[dict[str, str]], text: str | None) -> None:
        """Append the reply to the conversation; a prefilled beginning and its continuation are one message."""
        self.pending = []
        self.messages += added
        if text is None:
            return
        if added[-1]["role"] == "assistant":
            beginning = self.messages.pop()["content"]
            self.messages.append({"role": "assistant", "content": beginning + text, "prefill": beginning})
        else:
            self.messages.append({"role": "assistant", "content": text})

    async def record(self, turn: TurnRecord, reply: TranscriptReply) -> None:
        """Store a reply for the transcript, and under its name for later turns."""
        self.replies.append(reply)
        if turn.reply is not None:
            value = await self.read_reply(turn, reply)
            self.set_reply(turn.reply, value if reply.item is None else [*self.replies_so_far(turn.reply), value])

    def replies_so_far(self, name: str) -> Any:
        """Return the reply of this name, or the list of replies to a turn's items."""
        replies = self.runner.replies[name]
        return replies if self.item is None else replies[self.item]

    def set_reply(self, name: str, reply: SessionReply | list[SessionReply]) -> None:
        if self.item is None:
            self.runner.replies[name] = reply
        else:
            self.runner.replies[name][self.item] = reply

    async def read_reply(self, turn: TurnRecord, reply: TranscriptReply) -> SessionReply:
        """Return the reply as expressions and later texts see it."""
        if reply.text is None or turn.format is None:
            return SessionReply(finish_reason=reply.finish_reason)
        value = await self.runner.evaluator.read(reply.text[:LONGEST_READ], turn.format)
        seconds = None if reply.seconds is None else exact_seconds(reply.seconds)
        return SessionReply(
            UNSET if value is None else value, reply.text[: turn.limit], reply.tokens, seconds, reply.finish_reason
        )


def exact_seconds(text: str) -> Value:
    """Return measured seconds as an exact number."""
    return decode({"decimal": text}) if "." in text else int(text)


def merge_assistant_messages(messages: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """Return the messages, with consecutive assistant messages joined."""
    merged: list[Mapping[str, str]] = []
    for message in messages:
        if merged and message["role"] == merged[-1]["role"] == "assistant":
            merged[-1] = {**merged[-1], "content": merged[-1]["content"] + message["content"]}
        else:
            merged.append(message)
    return merged


def sent_message(message: Mapping[str, str]) -> dict[str, str]:
    return {"role": message["role"], "content": message["content"]}

"""One conversation: its turns in order, each on the disk before the next is asked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from dia_language.expressions.replies import UNSET, Said
from dia_language.numbers.values import Value, decode
from dia_runtime.bundle.session_records import SessionRecord, TurnRecord
from dia_runtime.respondents.turn_request import TurnRequest
from dia_runtime.running.sessions.backend import SessionUnfinished, TurnSkipped, Unfinished, Variables, canonical_json
from dia_runtime.running.sessions.reply_scope import ReplyScope, with_loop
from dia_runtime.store.schema import REPLY_COLUMNS, StoredTurn, storable
from dia_runtime.store.transcripts import TranscriptReply, TranscriptSession

if TYPE_CHECKING:
    from dia_runtime.running.sessions.runner import SessionRunner

LONGEST_READ = 1_000_000  # characters of a reply that are read
TurnKey: TypeAlias = tuple[str, int, int, int]


@dataclass(slots=True)
class Conversation:
    """One conversation: a session, or what it says to one item of its list."""

    play: SessionRunner
    session: SessionRecord
    item: int | None
    value: Value
    kept: Mapping[TurnKey, StoredTurn]
    scope: str | None = None
    key: str | None = None
    messages: list[dict[str, str]] = field(default_factory=list)
    pending: list[dict[str, str]] = field(default_factory=list)
    replies: list[TranscriptReply] = field(default_factory=list)
    over: TurnSkipped | None = None

    @property
    def seen(self) -> ReplyScope:
        """What its stored code may see."""
        return ReplyScope(self.play, self.session, self.item)

    async def led(self) -> TranscriptSession:
        """The conversation, led to its end. Raises Halted."""
        loops = with_loop({}, self.session.variable, self.item, self.value)
        for number, turn in enumerate(self.session.turns):
            if self.over is None:
                try:
                    await self.turn(number, turn, loops)
                except TurnSkipped as why:
                    self.over = why
            if self.over is not None and not any(reply.turn == number for reply in self.replies):
                await self.note(turn, self.over.reply(turn.reply, number))
        session, model = self.session, self.play.stage.model(self.session.role)
        return TranscriptSession(
            session.name, session.role, model or "none", self.item, self.key, tuple(self.messages), tuple(self.replies)
        )

    async def turn(self, number: int, turn: TurnRecord, loops: Variables) -> None:
        """Asks a turn, once or for each item of its own list. Raises NotAsked and Halted."""
        items = await self.seen.items(turn.over, loops)
        if items and turn.reply is not None:
            self.put(turn.reply, [])
        for step, value in [(None, None)] if items is None else list(enumerate(items)):
            inner = with_loop(loops, turn.variable, step, value)
            if turn.when is not None and not await self.seen.holds(turn.when, inner):
                why = TurnSkipped("condition", "its condition did not hold")
                await self.note(turn, why.reply(turn.reply, number, step))
                continue
            await self.say(turn, inner, step)
            if self.is_led_in(number):
                continue
            said = await self.exchanged(number, turn, step)
            await self.note(turn, said)
            if said.text is None:
                ending = said.finish_reason or "no reply"
                self.over = TurnSkipped("ended", f"the conversation ended before: {ending}", said.finish_reason)
                return
            if turn.until is not None and await self.seen.holds(turn.until, inner):
                return

    def is_led_in(self, number: int) -> bool:
        """Whether the turn waits for the next one, which begins the reply to it."""
        turns = self.session.turns
        turn, after = turns[number], turns[number + 1] if number + 1 < len(turns) else None
        return (
            after is not None
            and turn.reply is None
            and (turn.assistant, turn.over, turn.when) == (None, None, None)
            and after.user is None
        )

    async def say(self, turn: TurnRecord, loops: Variables, step: int | None) -> None:
        """Puts what the turn says behind the conversation. Raises NotAsked."""
        at = (step if isinstance(turn.over, list) else None, self.item)
        if not self.messages and not self.pending and self.session.system is not None:
            text = await self.seen.text(self.session.system, loops, (self.item,))
            self.pending.append({"role": "system", "content": text})
        for role, texts in (("user", turn.user), ("assistant", turn.assistant)):
            if texts is not None:
                text = await self.seen.text(texts, loops, at)
                # As frozen texts are; how a beginning ends is for the model to see.
                self.pending.append({"role": role, "content": text if role == "assistant" else text.strip("\n")})

    async def exchanged(self, number: int, turn: TurnRecord, step: int | None) -> TranscriptReply:
        """The reply to what the turn says, kept from before or asked for now. Raises Halted."""
        place = (
            self.session.name,
            -1 if self.item is None or self.scope else self.item,
            number,
            -1 if step is None else step,
        )
        found = self.kept.get(place)
        if found is None or not self.is_same(found):
            found = await self.asked(place, turn)
        added = json.loads(found.messages)
        self.play.own.append(found)
        self.play.count(found.text)
        self.continued(added, found.text)
        return TranscriptReply(
            turn.reply, number, step, found.text, found.completion_tokens, found.seconds, found.finish_reason,
            prompt_tokens=found.prompt_tokens, cost=found.cost,
        )  # fmt: skip

    def is_same(self, found: StoredTurn) -> bool:
        """Whether a kept turn is what would be asked now; what questions share is asked once, whoever words it."""
        return found.error is None and (
            self.scope is not None
            or (found.messages, found.settings) == (canonical_json(self.pending), canonical_json(self.session.settings))
        )

    async def asked(self, place: TurnKey, turn: TurnRecord) -> StoredTurn:
        """The turn, asked and on the disk. Raises Halted."""
        session, play = self.session, self.play
        request = TurnRequest(
            {
                **{name: play.question.get(name) for name in ("id", "template", "item", "instance")},
                "messages": [
                    sent_message(message) for message in merge_assistant_messages(self.messages + self.pending)
                ],
                "assets": play.question.get("assets") or [],
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
        reply = await play.stage.ask(session.role, request)
        if isinstance(reply, Unfinished):
            raise SessionUnfinished(reply)
        stored = StoredTurn(
            play.position, self.scope or play.stage.scope, *place, turn.reply, session.role,
            play.stage.model(session.role) or "none", canonical_json(self.pending), canonical_json(session.settings),
            **{name: storable(value) for name, value in asdict(reply).items() if name in REPLY_COLUMNS},
        )  # fmt: skip
        await play.stage.keep(stored)
        if reply.error is not None:
            raise SessionUnfinished(Unfinished(reply.error))
        return stored

    def continued(self, added: list[dict[str, str]], text: str | None) -> None:
        """Puts what was said behind the conversation; a beginning and the reply that continues it are one message."""
        self.pending = []
        self.messages += added
        if text is None:
            return
        if added[-1]["role"] == "assistant":
            beginning = self.messages.pop()["content"]
            self.messages.append({"role": "assistant", "content": beginning + text, "prefill": beginning})
        else:
            self.messages.append({"role": "assistant", "content": text})

    async def note(self, turn: TurnRecord, said: TranscriptReply) -> None:
        """Keeps a reply for the transcript, and under its name for what is asked later."""
        self.replies.append(said)
        if turn.reply is not None:
            heard = await self.heard(turn, said)
            self.put(turn.reply, heard if said.item is None else [*self.held(turn.reply), heard])

    def held(self, name: str) -> Any:
        """What the conversation has under the name of a reply: the reply, or a list of those to a turn's items."""
        held = self.play.said[name]
        return held if self.item is None else held[self.item]

    def put(self, name: str, said: Said | list[Said]) -> None:
        """Puts that under the name of a reply."""
        if self.item is None:
            self.play.said[name] = said
        else:
            self.play.said[name][self.item] = said

    async def heard(self, turn: TurnRecord, said: TranscriptReply) -> Said:
        """The reply as expressions and later texts see it."""
        if said.text is None or turn.format is None:
            return Said(finish_reason=said.finish_reason)
        value = await self.play.mind.read(said.text[:LONGEST_READ], turn.format)
        seconds = None if said.seconds is None else exact_seconds(said.seconds)
        return Said(
            UNSET if value is None else value, said.text[: turn.limit], said.tokens, seconds, said.finish_reason
        )


def exact_seconds(text: str) -> Value:
    """Measured seconds as an exact number."""
    return decode({"decimal": text}) if "." in text else int(text)


def merge_assistant_messages(messages: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """The messages, where one assistant's message follows another they are one."""
    found: list[Mapping[str, str]] = []
    for message in messages:
        if found and message["role"] == found[-1]["role"] == "assistant":
            found[-1] = {**found[-1], "content": found[-1]["content"] + message["content"]}
        else:
            found.append(message)
    return found


def sent_message(message: Mapping[str, str]) -> dict[str, str]:
    """A message as it is sent."""
    return {"role": message["role"], "content": message["content"]}

"""One conversation: its turns in order, each on the disk before the next is asked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from dia_language.expressions.replies import UNSET, Said
from dia_language.numbers.values import Value, decode
from dia_runtime.bundle.session_records import SessionRecord, TurnRecord
from dia_runtime.respondents.turn import Turn
from dia_runtime.running.sessions.scope import Seen, around
from dia_runtime.running.sessions.stage import Halt, Halted, NotAsked, Scope, encoded
from dia_runtime.store.schema import REPLY_COLUMNS, StoredTurn, storable
from dia_runtime.store.transcripts import SaidReply, SaidSession

if TYPE_CHECKING:
    from dia_runtime.running.sessions.play import Play

MOST_TEXT = 1_000_000  # characters of a reply that are read
Key: TypeAlias = tuple[str, int, int, int]


@dataclass(slots=True)
class Conversation:
    """One conversation: a session, or what it says to one item of its list."""

    play: Play
    session: SessionRecord
    item: int | None
    value: Value
    kept: Mapping[Key, StoredTurn]
    scope: str | None = None
    key: str | None = None
    messages: list[dict[str, str]] = field(default_factory=list)
    pending: list[dict[str, str]] = field(default_factory=list)
    replies: list[SaidReply] = field(default_factory=list)
    over: NotAsked | None = None

    @property
    def seen(self) -> Seen:
        """What its stored code may see."""
        return Seen(self.play, self.session, self.item)

    async def led(self) -> SaidSession:
        """The conversation, led to its end. Raises Halted."""
        loops = around({}, self.session.variable, self.item, self.value)
        for number, turn in enumerate(self.session.turns):
            if self.over is None:
                try:
                    await self.turn(number, turn, loops)
                except NotAsked as why:
                    self.over = why
            if self.over is not None and not any(reply.turn == number for reply in self.replies):
                await self.note(turn, self.over.reply(turn.reply, number))
        session, model = self.session, self.play.stage.model(self.session.role)
        return SaidSession(
            session.name, session.role, model or "none", self.item, self.key, tuple(self.messages), tuple(self.replies)
        )

    async def turn(self, number: int, turn: TurnRecord, loops: Scope) -> None:
        """Asks a turn, once or for each item of its own list. Raises NotAsked and Halted."""
        items = await self.seen.items(turn.over, loops)
        if items and turn.reply is not None:
            self.put(turn.reply, [])
        for step, value in [(None, None)] if items is None else list(enumerate(items)):
            inner = around(loops, turn.variable, step, value)
            if turn.when is not None and not await self.seen.holds(turn.when, inner):
                why = NotAsked("condition", "its condition did not hold")
                await self.note(turn, why.reply(turn.reply, number, step))
                continue
            await self.say(turn, inner, step)
            if self.is_led_in(number):
                continue
            said = await self.exchanged(number, turn, step)
            await self.note(turn, said)
            if said.text is None:
                ending = said.finish_reason or "no reply"
                self.over = NotAsked("ended", f"the conversation ended before: {ending}", said.finish_reason)
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

    async def say(self, turn: TurnRecord, loops: Scope, step: int | None) -> None:
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

    async def exchanged(self, number: int, turn: TurnRecord, step: int | None) -> SaidReply:
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
        return SaidReply(
            turn.reply, number, step, found.text, found.completion_tokens, found.seconds, found.finish_reason,
            prompt_tokens=found.prompt_tokens, cost=found.cost,
        )  # fmt: skip

    def is_same(self, found: StoredTurn) -> bool:
        """Whether a kept turn is what would be asked now; what questions share is asked once, whoever words it."""
        return found.error is None and (
            self.scope is not None
            or (found.messages, found.settings) == (encoded(self.pending), encoded(self.session.settings))
        )

    async def asked(self, place: Key, turn: TurnRecord) -> StoredTurn:
        """The turn, asked and on the disk. Raises Halted."""
        session, play = self.session, self.play
        request = Turn(
            {
                **{name: play.question.get(name) for name in ("id", "template", "item", "instance")},
                "messages": [bare(message) for message in joined(self.messages + self.pending)],
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
        if isinstance(reply, Halt):
            raise Halted(reply)
        stored = StoredTurn(
            play.position, self.scope or play.stage.scope, *place, turn.reply, session.role,
            play.stage.model(session.role) or "none", encoded(self.pending), encoded(session.settings),
            **{name: storable(value) for name, value in asdict(reply).items() if name in REPLY_COLUMNS},
        )  # fmt: skip
        await play.stage.keep(stored)
        if reply.error is not None:
            raise Halted(Halt(reply.error))
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

    async def note(self, turn: TurnRecord, said: SaidReply) -> None:
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

    async def heard(self, turn: TurnRecord, said: SaidReply) -> Said:
        """The reply as expressions and later texts see it."""
        if said.text is None or turn.format is None:
            return Said(finish_reason=said.finish_reason)
        value = await self.play.mind.read(said.text[:MOST_TEXT], turn.format)
        seconds = None if said.seconds is None else decimal(said.seconds)
        return Said(
            UNSET if value is None else value, said.text[: turn.limit], said.tokens, seconds, said.finish_reason
        )


def decimal(text: str) -> Value:
    """Measured seconds as an exact number."""
    return decode({"decimal": text}) if "." in text else int(text)


def joined(messages: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """The messages, where one assistant's message follows another they are one."""
    found: list[Mapping[str, str]] = []
    for message in messages:
        if found and message["role"] == found[-1]["role"] == "assistant":
            found[-1] = {**found[-1], "content": found[-1]["content"] + message["content"]}
        else:
            found.append(message)
    return found


def bare(message: Mapping[str, str]) -> dict[str, str]:
    """A message as it is sent."""
    return {"role": message["role"], "content": message["content"]}

"""Plays the sessions of one question: independent ones at once, turns in order, each after what it needs.

What was kept of a question before is not asked again: a turn that was asked the same is taken as it is. Stored code of
the bundle (conditions, lists, texts that read replies) is evaluated in a worker that can be killed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from typing import Any, Protocol, TypeAlias

from dia_runtime.formats import replies as reply_formats
from dia_runtime.language.diagnostics import DiaError, LanguageError
from dia_runtime.language.replies import UNSET, Said, Unset
from dia_runtime.language.stored import guarded, symbolic
from dia_runtime.language.values import Value, decode
from dia_runtime.language.workers import Servant
from dia_runtime.respondents.respondent import Reply
from dia_runtime.respondents.turn import Turn
from dia_runtime.session_records import SUBJECT, Items, SessionRecord, Texts, TurnRecord, sessions_of
from dia_runtime.store_schema import REPLY_COLUMNS, StoredTurn, storable
from dia_runtime.transcripts import LONGEST, SaidReply, SaidSession, transcript_text

MOST_ASKED = 10_000  # turns of one question
SYMBOLIC = '{"expression":'  # how a list of stored values begins a symbolic one
MOST_TEXT = 1_000_000  # characters of a reply that are read
Scope: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[str, int, int, int]


@dataclass(frozen=True, slots=True)
class Halt:
    """Why a question cannot be finished now: an error that another call may mend, or (None) nothing more is asked.

    `is_open` says that a person has still to reply.
    """

    error: str | None = None
    is_open: bool = False


class Halted(Exception):
    """Ends a session that cannot go on now."""

    def __init__(self, halt: Halt) -> None:
        super().__init__(halt.error)
        self.halt = halt


class Stage(Protocol):
    """Where sessions are played: who is asked, and what is kept."""

    @property
    def scope(self) -> str:
        """Under which the question's own turns are kept."""
        ...

    def model(self, role: str) -> str | None:
        """Who plays a role; None for nobody."""
        ...

    def kept(self, scope: str) -> Sequence[StoredTurn]:
        """What has been said before."""
        ...

    async def ask(self, role: str, turn: Turn) -> Reply | Halt:
        """The reply to a turn; an error that is left is a reply, too."""
        ...

    async def keep(self, turn: StoredTurn) -> None:
        """Nothing; the turn is on the disk when this returns."""
        ...

    def alone(self, scope: str) -> AbstractAsyncContextManager[bool]:
        """Holds what questions share against all others; False where nothing more is asked."""
        ...


class Mind:
    """A worker in which stored code is evaluated, one piece after the other, while everything else goes on."""

    def __init__(self) -> None:
        self.servant, self.lock = Servant(), asyncio.Lock()

    async def value(self, stored: Mapping[str, Any], scope: Scope) -> Value:
        """The value of an expression. Raises LanguageError."""
        async with self.lock:
            return await asyncio.to_thread(guarded(stored, self.servant).evaluate, scope)

    async def text(self, stored: Mapping[str, Any], scope: Scope) -> str:
        """The text of a template. Raises LanguageError."""
        async with self.lock:
            return await asyncio.to_thread(guarded(stored, self.servant).render, scope)

    async def decoded(self, stored: list[Any]) -> list[Value]:
        """The stored values; symbolic ones are evaluated in the worker. Raises NotAsked."""
        try:
            if SYMBOLIC not in encoded(stored):
                return [decode(value) for value in stored]
            async with self.lock:
                found: list[Value] = await asyncio.to_thread(self.servant.ask, decoded, stored)
            return found
        except (LanguageError, DiaError) as error:
            raise not_asked(error) from None

    async def read(self, text: str, format: Mapping[str, Any]) -> Value | None:
        """The value of a reply; one that is read as a type of answers is read in the worker."""
        if "type" not in format:
            return reply_formats.read_reply(text, format).value
        async with self.lock:
            try:
                return await asyncio.to_thread(self.servant.ask, read, text, dict(format))
            except LanguageError:
                return None

    def close(self) -> None:
        """Nothing; ends the worker."""
        self.servant.close()


def decoded(stored: list[Any]) -> Iterator[list[Value]]:
    """The stored values, as the one item of a worker's task."""
    yield [decode(value, symbolic) for value in stored]


def read(text: str, format: Mapping[str, Any]) -> Iterator[Value | None]:
    """The value of a reply, as the one item of a worker's task."""
    yield reply_formats.read_reply(text, format).value


@dataclass(slots=True)
class Play:
    """The sessions of one question at one attempt."""

    question: Mapping[str, Any]
    position: int
    stage: Stage
    mind: Mind
    said: dict[str, Any] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    asked: int = 0
    size: int = 0
    own: list[StoredTurn] = field(default_factory=list)
    kept: dict[Key, StoredTurn] = field(default_factory=dict)

    async def played(self) -> Reply | Halt:
        """The transcript as a reply, once all is said; the error that is left, or why nothing more is asked."""
        try:
            sessions = sessions_of(self.question)
        except ValueError as error:
            return Reply(None, error=f"request: its sessions cannot be asked: {error}")
        self.kept = by_place(self.stage.kept(self.stage.scope))
        tasks: dict[str, asyncio.Task[list[SaidSession] | Halt]] = {}
        async with asyncio.TaskGroup() as group:
            for session in sessions:
                needed = [tasks[name] for name in session.needs]
                tasks[session.name] = group.create_task(self.session(session, needed))
        found = [task.result() for task in tasks.values()]
        halts = [one for one in found if isinstance(one, Halt)]
        if halts:
            return self.left(halts)
        text = transcript_text(entry for one in found if not isinstance(one, Halt) for entry in one)
        if len(text) > LONGEST:
            return Reply(None, error=f"request: the transcript is longer than {LONGEST} characters")
        return self.whole(text)

    def left(self, halts: Sequence[Halt]) -> Reply | Halt:
        """What is left of a question that is not finished: its first error, else that it waits."""
        errors = [halt.error for halt in halts if halt.error is not None]
        if errors:
            return replace(self.whole(""), text=None, error=errors[0])
        return next((halt for halt in halts if halt.is_open), halts[0])

    def whole(self, text: str) -> Reply:
        """The reply with the sums over what the subject was asked for this very question."""
        turns = [turn for turn in self.own if turn.role == SUBJECT and turn.question == self.position]

        def total(name: str) -> int | None:
            known = [getattr(turn, name) for turn in turns if getattr(turn, name) is not None]
            return sum(known) if known else None

        def amount(name: str) -> str | None:
            known = [Decimal(getattr(turn, name)) for turn in turns if getattr(turn, name) is not None]
            return f"{sum(known, Decimal(0)).normalize():f}" if known else None

        times = [turn.asked_at for turn in turns if turn.asked_at is not None]
        versions = [turn.model_version for turn in turns if turn.model_version is not None]
        return Reply(
            text,
            prompt_tokens=total("prompt_tokens"),
            completion_tokens=total("completion_tokens"),
            cost=amount("cost"),
            seconds=amount("seconds"),
            model_version=versions[0] if versions else None,
            asked_at=min(times, default=None),
            tries=total("tries"),
        )

    async def session(
        self, session: SessionRecord, needed: Sequence[asyncio.Task[list[SaidSession] | Halt]]
    ) -> list[SaidSession] | Halt:
        """What was said in a session, once an item, or why it was not played to its end."""
        before = [await task for task in needed]
        for one in before:
            if isinstance(one, Halt):
                return Halt(None, one.is_open)  # its error is told where it came up
        try:
            if self.stage.model(session.role) is None:
                raise NotAsked("left_out", f"nobody plays the role `{session.role}`")
            seen = Seen(self, session)
            items = await seen.items(session.over, {})
            if items is None and session.when is not None and not await seen.holds(session.when, {}):
                raise NotAsked("condition", "its condition did not hold")
        except NotAsked as why:
            return [self.silent(session, None, why)]
        self.prepare(session, None if items is None else len(items))
        if items is None:
            return await self.unit(session, None, None)
        return await self.each(session, items)

    async def each(self, session: SessionRecord, items: Sequence[Value]) -> list[SaidSession] | Halt:
        """What was said for every item of a session's list, all at once."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self.unit(session, at, value)) for at, value in enumerate(items)]
        found = [task.result() for task in tasks]
        halts = [one for one in found if isinstance(one, Halt)]
        if halts:
            return min(halts, key=lambda halt: halt.error is None)
        return [entry for one in found if not isinstance(one, Halt) for entry in one]

    def prepare(self, session: SessionRecord, size: int | None) -> None:
        """Makes room for the replies of a session: one each, or one an item, or one a step of a turn's own list."""
        for turn in session.turns:
            if turn.reply is not None:
                once: Any = Said() if turn.over is None else []
                many: list[Any] = [Said() if turn.over is None else [] for _ in range(size or 0)]
                self.said[turn.reply], self.owners[turn.reply] = once if size is None else many, session.name

    async def unit(self, session: SessionRecord, item: int | None, value: Value) -> list[SaidSession] | Halt:
        """What was said in one conversation, or why it was not led to its end."""
        key = None if not session.keys else session.keys[min(item or 0, len(session.keys) - 1)]
        try:
            if item is not None and session.when is not None:
                loops = around({}, session.variable, item, value)
                if not await Seen(self, session, item).holds(session.when, loops):
                    return [self.silent(session, item, NotAsked("condition", "its condition did not hold"))]
            if key is None:
                return [await Talk(self, session, item, value, self.kept).led()]
            return [await self.shared(session, item, value, key)]
        except Halted as halted:
            return halted.halt
        except NotAsked as why:
            return [self.silent(session, item, why)]

    async def shared(self, session: SessionRecord, item: int | None, value: Value, key: str) -> SaidSession:
        """What was said in a conversation that questions share, led by whoever comes first. Raises Halted."""
        scope = f"{self.question['template']} {session.name} {key}"
        kept = by_place(self.stage.kept(scope))
        is_simple = not any(turn.over or turn.when for turn in session.turns)
        if is_simple and len(kept) == len(session.turns) and all(turn.error is None for turn in kept.values()):
            return await Talk(self, session, item, value, kept, scope, key).led()
        async with self.stage.alone(scope) as may_ask:
            if not may_ask:
                raise Halted(Halt())
            kept = by_place(self.stage.kept(scope))
            return await Talk(self, session, item, value, kept, scope, key).led()

    def silent(self, session: SessionRecord, item: int | None, why: NotAsked) -> SaidSession:
        """A session in which nothing was asked."""
        unsaid = [why.reply(turn.reply, at) for at, turn in enumerate(session.turns)]
        return SaidSession(
            session.name, session.role, self.stage.model(session.role) or "none", item, None, (), tuple(unsaid)
        )

    def count(self, text: str | None) -> None:
        """Counts a turn. Raises Halted where a question asks or holds too much."""
        self.asked += 1
        self.size += len(text or "")
        if self.asked > MOST_ASKED:
            raise Halted(Halt(f"request: more than {MOST_ASKED} turns"))
        if self.size > LONGEST:
            raise Halted(Halt(f"request: replies of more than {LONGEST} characters"))


class NotAsked(Exception):
    """Why a turn is not asked, for good."""

    def __init__(self, kind: str, message: str, finish_reason: str | None = None) -> None:
        super().__init__(message)
        self.kind, self.message, self.finish_reason = kind, message[:1000], finish_reason

    def reply(self, name: str | None, turn: int, step: int | None = None) -> SaidReply:
        """The reply that is not there."""
        error = {"kind": self.kind, "message": self.message}
        return SaidReply(name, turn, step, finish_reason=self.finish_reason, error=error)


def not_asked(error: LanguageError | DiaError) -> NotAsked:
    """Why something that cannot be computed is not asked."""
    if isinstance(error, DiaError):
        return NotAsked("language", error.diagnostics[0].message)
    return NotAsked("unset" if isinstance(error, Unset) else "language", error.message)


@dataclass(slots=True)
class Seen:
    """What stored code of a session may see: replies of the sessions that it needs, and its own so far.

    Of a session that is led once an item, each conversation sees its own replies alone, so that it does not matter
    which of them is quicker.
    """

    play: Play
    session: SessionRecord
    item: int | None = None

    def scope(self, stored: Mapping[str, Any], loops: Scope) -> dict[str, Any]:
        """The names that the code may use."""
        wanted = stored.get("replies", ())
        held = {name: said for name, said in self.play.said.items() if name in wanted and self.is_seen(name)}
        for turn in self.session.turns:
            if turn.reply in held and self.item is not None:
                held[turn.reply] = held[turn.reply][self.item]
        return {**held, **loops}

    def is_seen(self, name: str) -> bool:
        """Whether the session has the reply, or needs the one that has it."""
        of = self.play.owners[name]
        return of == self.session.name or of in self.session.needs

    async def holds(self, stored: Mapping[str, Any], loops: Scope) -> bool:
        """Whether a condition holds. Raises NotAsked where it cannot be told."""
        value = await self.value(stored, loops)
        if not isinstance(value, bool):
            raise NotAsked("language", "a condition is neither true nor false")
        return value

    async def value(self, stored: Mapping[str, Any], loops: Scope) -> Value:
        """The value of stored code. Raises NotAsked."""
        try:
            return await self.play.mind.value(stored, self.scope(stored, loops))
        except (LanguageError, DiaError) as error:
            raise not_asked(error) from None

    async def text(self, texts: Texts, loops: Scope, at: Sequence[int | None]) -> str:
        """A text as it is sent; `at` are the places in the lists around it. Raises NotAsked."""
        if isinstance(texts, str):
            return texts
        if isinstance(texts, tuple):
            places = [place for place in at if place is not None and place < len(texts)]
            if not places:
                raise NotAsked("language", "a text has fewer versions than its list has items")
            return texts[places[0]]
        try:
            return await self.play.mind.text(texts, self.scope(texts, loops))
        except (LanguageError, DiaError) as error:
            raise not_asked(error) from None

    async def items(self, over: Items | None, loops: Scope) -> list[Value] | None:
        """What is repeated for; None for what is done once. Raises NotAsked."""
        if over is None:
            return None
        if isinstance(over, list):
            return await self.play.mind.decoded(over)
        found = await self.value(over, loops)
        if not isinstance(found, list):
            raise NotAsked("language", "`over` is no list")
        return found


@dataclass(slots=True)
class Talk:
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
                self.replies.append(self.over.reply(turn.reply, number))
        session, model = self.session, self.play.stage.model(self.session.role)
        return SaidSession(
            session.name, session.role, model or "none", self.item, self.key, tuple(self.messages), tuple(self.replies)
        )

    async def turn(self, number: int, turn: TurnRecord, loops: Scope) -> None:
        """Asks a turn, once or for each item of its own list. Raises NotAsked and Halted."""
        items = await self.seen.items(turn.over, loops)
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
                self.pending.append({"role": role, "content": await self.seen.text(texts, loops, at)})

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
        if turn.reply is None:
            return
        heard, held = await self.heard(turn, said), self.play.said
        if turn.over is not None:
            place = held[turn.reply] if self.item is None else held[turn.reply][self.item]
            place.append(heard)
        elif self.item is not None:
            held[turn.reply][self.item] = heard
        else:
            held[turn.reply] = heard

    async def heard(self, turn: TurnRecord, said: SaidReply) -> Said:
        """The reply as expressions and later texts see it."""
        if said.text is None or turn.format is None:
            return Said(finish_reason=said.finish_reason if said.error is None else None)
        value = await self.play.mind.read(said.text[:MOST_TEXT], turn.format)
        seconds = None if said.seconds is None else decimal(said.seconds)
        return Said(
            UNSET if value is None else value, said.text[: turn.limit], said.tokens, seconds, said.finish_reason
        )


def around(loops: Scope, variable: str | None, index: int | None, value: Value) -> dict[str, Any]:
    """The names of loops with those of one more, which come first."""
    if index is None:
        return dict(loops)
    return {**loops, "index": index, **({} if variable is None else {variable: value})}


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


def by_place(turns: Sequence[StoredTurn]) -> dict[Key, StoredTurn]:
    """Turns by where they stand."""
    return {(turn.session, turn.item, turn.turn, turn.step): turn for turn in turns}


def encoded(value: Any) -> str:
    """The value as the store has it."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

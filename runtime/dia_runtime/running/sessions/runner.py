"""The sessions of one question at one attempt: which may begin, what they share, and what is left of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from dia_language.expressions.replies import Said
from dia_language.numbers.values import Value
from dia_runtime.bundle.session_records import SUBJECT, SessionRecord, read_sessions
from dia_runtime.respondents.respondent import Reply
from dia_runtime.running.sessions.backend import SessionBackend, SessionUnfinished, TurnSkipped, Unfinished
from dia_runtime.running.sessions.conversation import Conversation, TurnKey
from dia_runtime.running.sessions.evaluator import CodeEvaluator
from dia_runtime.running.sessions.reply_scope import ReplyScope, with_loop
from dia_runtime.store.schema import StoredTurn
from dia_runtime.store.transcripts import LONGEST, TranscriptSession, transcript_text

MOST_TURNS = 10_000  # turns of one question


@dataclass(slots=True)
class SessionRunner:
    """The sessions of one question at one attempt."""

    question: Mapping[str, Any]
    position: int
    stage: SessionBackend
    mind: CodeEvaluator
    said: dict[str, Any] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    asked: int = 0
    size: int = 0
    own: list[StoredTurn] = field(default_factory=list)
    kept: dict[TurnKey, StoredTurn] = field(default_factory=dict)

    async def played(self) -> Reply | Unfinished:
        """The transcript as a reply, once all is said; the error that is left, or why nothing more is asked."""
        try:
            sessions = read_sessions(self.question)
        except ValueError as error:
            return Reply(None, error=f"request: its sessions cannot be asked: {error}")
        self.kept = turns_by_key(self.stage.kept(self.stage.scope))
        tasks: dict[str, asyncio.Task[list[TranscriptSession] | Unfinished]] = {}
        async with asyncio.TaskGroup() as group:
            for session in sessions:
                needed = [tasks[name] for name in session.needs]
                tasks[session.name] = group.create_task(self.session(session, needed))
        found = [task.result() for task in tasks.values()]
        halts = [one for one in found if isinstance(one, Unfinished)]
        if halts:
            return self.left(halts)
        text = transcript_text(entry for one in found if not isinstance(one, Unfinished) for entry in one)
        if len(text) > LONGEST:
            return Reply(None, error=f"request: the transcript is longer than {LONGEST} characters")
        return self.whole(text)

    def left(self, halts: Sequence[Unfinished]) -> Reply | Unfinished:
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
        self, session: SessionRecord, needed: Sequence[asyncio.Task[list[TranscriptSession] | Unfinished]]
    ) -> list[TranscriptSession] | Unfinished:
        """What was said in a session, once an item, or why it was not played to its end."""
        before = [await task for task in needed]
        for one in before:
            if isinstance(one, Unfinished):
                return Unfinished(None, one.is_open)  # its error is told where it came up
        try:
            if self.stage.model(session.role) is None:
                raise TurnSkipped("left_out", f"nobody plays the role `{session.role}`")
            seen = ReplyScope(self, session)
            items = await seen.items(session.over, {})
            if items is None and session.when is not None and not await seen.holds(session.when, {}):
                raise TurnSkipped("condition", "its condition did not hold")
        except TurnSkipped as why:
            size = len(session.over) if isinstance(session.over, list) else None
            self.prepare(session, size)
            return [self.silent(session, item, why) for item in ([None] if size is None else range(size))]
        self.prepare(session, None if items is None else len(items))
        if items is None:
            return await self.unit(session, None, None)
        return await self.each(session, items)

    async def each(self, session: SessionRecord, items: Sequence[Value]) -> list[TranscriptSession] | Unfinished:
        """What was said for every item of a session's list, all at once."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self.unit(session, at, value)) for at, value in enumerate(items)]
        found = [task.result() for task in tasks]
        halts = [one for one in found if isinstance(one, Unfinished)]
        if halts:
            return min(halts, key=lambda halt: halt.error is None)
        return [entry for one in found if not isinstance(one, Unfinished) for entry in one]

    def prepare(self, session: SessionRecord, size: int | None) -> None:
        """Makes room for the replies of a session: one each, or one an item."""
        for turn in session.turns:
            if turn.reply is not None:
                self.said[turn.reply] = Said() if size is None else [Said()] * size
                self.owners[turn.reply] = session.name

    async def unit(
        self, session: SessionRecord, item: int | None, value: Value
    ) -> list[TranscriptSession] | Unfinished:
        """What was said in one conversation, or why it was not led to its end."""
        key = None if not session.keys else session.keys[min(item or 0, len(session.keys) - 1)]
        try:
            if item is not None and session.when is not None:
                loops = with_loop({}, session.variable, item, value)
                if not await ReplyScope(self, session, item).holds(session.when, loops):
                    return [self.silent(session, item, TurnSkipped("condition", "its condition did not hold"))]
            if key is None:
                return [await Conversation(self, session, item, value, self.kept).led()]
            return [await self.shared(session, item, value, key)]
        except SessionUnfinished as halted:
            return halted.halt
        except TurnSkipped as why:
            return [self.silent(session, item, why)]

    async def shared(self, session: SessionRecord, item: int | None, value: Value, key: str) -> TranscriptSession:
        """What was said in a conversation that questions share, led by whoever comes first. Raises Halted."""
        scope = f"{self.question['template']} {session.name} {key}"
        kept = turns_by_key(self.stage.kept(scope))
        is_simple = not any(turn.over or turn.when for turn in session.turns)
        if is_simple and len(kept) == len(session.turns) and all(turn.error is None for turn in kept.values()):
            return await Conversation(self, session, item, value, kept, scope, key).led()
        async with self.stage.alone(scope) as may_ask:
            if not may_ask:
                raise SessionUnfinished(Unfinished())
            kept = turns_by_key(self.stage.kept(scope))
            return await Conversation(self, session, item, value, kept, scope, key).led()

    def silent(self, session: SessionRecord, item: int | None, why: TurnSkipped) -> TranscriptSession:
        """A session in which nothing was asked."""
        unsaid = [why.reply(turn.reply, at) for at, turn in enumerate(session.turns)]
        return TranscriptSession(
            session.name, session.role, self.stage.model(session.role) or "none", item, None, (), tuple(unsaid)
        )

    def count(self, text: str | None) -> None:
        """Counts a turn. Raises Halted where a question asks or holds too much."""
        self.asked += 1
        self.size += len(text or "")
        if self.asked > MOST_TURNS:
            raise SessionUnfinished(Unfinished(f"request: more than {MOST_TURNS} turns"))
        if self.size > LONGEST:
            raise SessionUnfinished(Unfinished(f"request: replies of more than {LONGEST} characters"))


def turns_by_key(turns: Sequence[StoredTurn]) -> dict[TurnKey, StoredTurn]:
    """Turns by where they stand."""
    return {(turn.session, turn.item, turn.turn, turn.step): turn for turn in turns}

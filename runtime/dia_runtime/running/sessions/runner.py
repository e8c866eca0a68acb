"""Runs the sessions of one question at one attempt: which may start, what they share, and their result."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from dia_language.expressions.replies import SessionReply
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
    backend: SessionBackend
    evaluator: CodeEvaluator
    replies: dict[str, Any] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    turn_count: int = 0
    text_length: int = 0
    asked_turns: list[StoredTurn] = field(default_factory=list)
    stored: dict[TurnKey, StoredTurn] = field(default_factory=dict)

    async def run(self) -> Reply | Unfinished:
        """Return the finished transcript as a reply, or the remaining error, or why the question is unfinished."""
        try:
            sessions = read_sessions(self.question)
        except ValueError as error:
            return Reply(None, error=f"request: its sessions cannot be asked: {error}")
        self.stored = turns_by_key(self.backend.stored_turns(self.backend.scope))
        tasks: dict[str, asyncio.Task[list[TranscriptSession] | Unfinished]] = {}
        async with asyncio.TaskGroup() as group:
            for session in sessions:
                needed = [tasks[name] for name in session.needs]
                tasks[session.name] = group.create_task(self.run_session(session, needed))
        results = [task.result() for task in tasks.values()]
        unfinished = [one for one in results if isinstance(one, Unfinished)]
        if unfinished:
            return self.unfinished_reply(unfinished)
        text = transcript_text(entry for one in results if not isinstance(one, Unfinished) for entry in one)
        if len(text) > LONGEST:
            return Reply(None, error=f"request: the transcript is longer than {LONGEST:,} characters")
        return self.total_reply(text)

    def unfinished_reply(self, unfinished: Sequence[Unfinished]) -> Reply | Unfinished:
        """Return the first error of an unfinished question, or that it is waiting."""
        errors = [entry.error for entry in unfinished if entry.error is not None]
        if errors:
            return replace(self.total_reply(""), text=None, error=errors[0])
        return next((entry for entry in unfinished if entry.is_open), unfinished[0])

    def total_reply(self, text: str) -> Reply:
        """Return the reply with the tokens, cost and time of the subject's turns of this question.

        A sum is unknown if a turn lacks its number; one that failed has used nothing that is not known.
        """
        turns = [turn for turn in self.asked_turns if turn.role == SUBJECT and turn.question == self.position]

        def values(name: str) -> list[Any]:
            every = [(getattr(turn, name), turn.error) for turn in turns]
            numbers = [value for value, error in every if error is None or value is not None]
            return [] if None in numbers else numbers

        def total(name: str) -> int | None:
            return sum(values(name)) if values(name) else None

        def amount(name: str) -> str | None:
            return f"{sum(map(Decimal, values(name)), Decimal(0)).normalize():f}" if values(name) else None

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
            reasoning_tokens=total("reasoning_tokens"),
        )

    async def run_session(
        self, session: SessionRecord, needed: Sequence[asyncio.Task[list[TranscriptSession] | Unfinished]]
    ) -> list[TranscriptSession] | Unfinished:
        """Run a session, for each of its items, and return the transcript or why it did not finish."""
        before = [await task for task in needed]
        for one in before:
            if isinstance(one, Unfinished):
                return Unfinished(None, one.is_open)  # its error is reported where it occurred
        try:
            if self.backend.model(session.role) is None:
                raise TurnSkipped("left_out", f"no model has the role `{session.role}`")
            reply_scope = ReplyScope(self, session)
            items = await reply_scope.items(session.over, {})
            if items is None and session.when is not None and not await reply_scope.holds(session.when, {}):
                raise TurnSkipped("condition", "its condition did not hold")
        except TurnSkipped as why:
            size = len(session.over) if isinstance(session.over, list) else None
            self.prepare(session, size)
            return [self.skipped_session(session, item, why) for item in ([None] if size is None else range(size))]
        self.prepare(session, None if items is None else len(items))
        if items is None:
            return await self.run_conversation(session, None, None)
        return await self.run_for_items(session, items)

    async def run_for_items(
        self, session: SessionRecord, items: Sequence[Value]
    ) -> list[TranscriptSession] | Unfinished:
        """Run a session for all items of its list in parallel."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self.run_conversation(session, at, value)) for at, value in enumerate(items)]
        results = [task.result() for task in tasks]
        unfinished = [one for one in results if isinstance(one, Unfinished)]
        if unfinished:
            return min(unfinished, key=lambda entry: entry.error is None)
        return [entry for one in results if not isinstance(one, Unfinished) for entry in one]

    def prepare(self, session: SessionRecord, size: int | None) -> None:
        """Prepare the replies of a session: one each, or one per item."""
        for turn in session.turns:
            if turn.reply is not None:
                self.replies[turn.reply] = SessionReply() if size is None else [SessionReply()] * size
                self.owners[turn.reply] = session.name

    async def run_conversation(
        self, session: SessionRecord, item: int | None, value: Value
    ) -> list[TranscriptSession] | Unfinished:
        """Run one conversation, and return its messages or why it did not finish."""
        key = None if not session.keys else session.keys[min(item or 0, len(session.keys) - 1)]
        try:
            if item is not None and session.when is not None:
                loops = with_loop({}, session.variable, item, value)
                if not await ReplyScope(self, session, item).holds(session.when, loops):
                    return [self.skipped_session(session, item, TurnSkipped("condition", "its condition did not hold"))]
            if key is None:
                return [await Conversation(self, session, item, value, self.stored).run()]
            return [await self.run_shared(session, item, value, key)]
        except SessionUnfinished as stopped:
            return stopped.unfinished
        except TurnSkipped as why:
            return [self.skipped_session(session, item, why)]

    async def run_shared(self, session: SessionRecord, item: int | None, value: Value, key: str) -> TranscriptSession:
        """Return the messages of a shared conversation, which the first question that needs it runs. Raises Halted."""
        scope = f"{self.question['template']} {session.name} {key}"
        stored = turns_by_key(self.backend.stored_turns(scope))
        is_simple = not any(turn.over or turn.when for turn in session.turns)
        if is_simple and len(stored) == len(session.turns) and all(turn.error is None for turn in stored.values()):
            return await Conversation(self, session, item, value, stored, scope, key).run()
        async with self.backend.exclusive(scope) as may_ask:
            if not may_ask:
                raise SessionUnfinished(Unfinished())
            stored = turns_by_key(self.backend.stored_turns(scope))
            return await Conversation(self, session, item, value, stored, scope, key).run()

    def skipped_session(self, session: SessionRecord, item: int | None, why: TurnSkipped) -> TranscriptSession:
        """Return the transcript of a session in which nothing was asked."""
        unsaid = [why.reply(turn.reply, at) for at, turn in enumerate(session.turns)]
        return TranscriptSession(
            session.name, session.role, self.backend.model(session.role) or "none", item, None, (), tuple(unsaid)
        )

    def count_turn(self, text: str | None) -> None:
        """Count a turn. Raises Halted if a question has too many turns or too much text."""
        self.turn_count += 1
        self.text_length += len(text or "")
        if self.turn_count > MOST_TURNS:
            raise SessionUnfinished(Unfinished(f"request: more than {MOST_TURNS:,} turns"))
        if self.text_length > LONGEST:
            raise SessionUnfinished(Unfinished(f"request: replies of more than {LONGEST:,} characters"))


def turns_by_key(turns: Sequence[StoredTurn]) -> dict[TurnKey, StoredTurn]:
    """Return turns by their position."""
    return {(turn.session, turn.item, turn.turn, turn.step): turn for turn in turns}

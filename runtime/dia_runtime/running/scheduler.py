"""Askers are asked what is missing of a run: many at once, again where another try may mend, every reply kept."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from dia_language.diagnostics import visible
from dia_runtime.bundle.open import Bundle
from dia_runtime.bundle.session_records import SUBJECT, roles_in
from dia_runtime.respondents.asker import RETRYABLE, AsyncRespondent, RequestError
from dia_runtime.respondents.budget import Budget
from dia_runtime.respondents.cache import ReplyCache
from dia_runtime.respondents.rate_limit import LONGEST_RETRY_AFTER, RateLimiter, backoff_seconds, sleep_unless
from dia_runtime.respondents.respondent import Reply
from dia_runtime.respondents.roles import player_name, player_settings, reason_unplayable
from dia_runtime.respondents.turn_request import TurnRequest
from dia_runtime.running.claims import HEARTBEAT_SECONDS, Claims
from dia_runtime.running.jobs import POLL_SECONDS, AdaptiveJobs, Chooser, Job, JobQueue, JobSource, Workload
from dia_runtime.running.sessions import CodeEvaluator, SessionRunner, Unfinished
from dia_runtime.running.writers import ReplyWriter, StoreThread, TurnWriter
from dia_runtime.store.schema import StoredTurn
from dia_runtime.store.store import Store

FAILURES_THAT_END = 20  # so many questions in a row without a reply say that the network or the provider is gone
BUDGET_SPENT = "the budget is spent"
ChooserFactory = Callable[[Store, int], Chooser]  # what chooses the questions of a respondent of the run


@dataclass(slots=True)
class RespondentState:
    """What became of a respondent's questions: asked now, kept from before, left as errors; and why it ended early.

    `is_refused` says that it was the provider, or the way to it, that ended the asking; `open` counts the questions
    that a person has still to reply to, `elsewhere` those that another process is asking. `roles` says who takes part
    in sessions, the respondent itself as `subject`; None for nobody. `left_out` counts questions that cannot be asked.
    """

    asker: AsyncRespondent
    name: str
    roles: Mapping[str, AsyncRespondent | None]
    number: int
    total: int
    kept: int
    asked: int = 0
    failed: int = 0
    in_a_row: int = 0
    elsewhere: int = 0
    requests: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: Decimal | None = None
    ended: str | None = None
    is_refused: bool = False
    open: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, reply: Reply, is_session: bool) -> None:
        """Counts a reply that is on the disk; what a conversation took was counted turn by turn."""
        self.asked += 1
        self.failed += reply.error is not None
        if not is_session:
            self.spend(reply)

    def spend(self, reply: Reply | StoredTurn) -> None:
        """Counts what a reply took."""
        for name in ("prompt_tokens", "completion_tokens", "cost"):
            more = getattr(reply, name)
            if more is not None:
                value = Decimal(more) if name == "cost" else more
                setattr(self, name, (getattr(self, name) or 0) + value)

    def is_over(self) -> bool:
        """Whether nothing more is asked."""
        return self.ended is not None

    def end(self, why: str, is_refused: bool = True) -> None:
        """Nothing more is asked; the first reason stays."""
        if self.ended is None:
            self.ended, self.is_refused = visible(why), is_refused


@dataclass(slots=True)
class Scheduler:
    """The asking of several respondents of one run; those of one provider share its pace, all share the budget."""

    store: Store
    bundle: Bundle
    claims: Claims
    extent: Workload
    concurrency: int
    retries: int
    budget: Budget
    keeper: StoreThread
    cache: ReplyCache | None = None
    on_progress: Callable[[RespondentState], None] | None = None
    paces: dict[str, RateLimiter] = field(default_factory=dict)
    cast: Mapping[str, AsyncRespondent | None] = field(default_factory=dict)
    mind: CodeEvaluator = field(default_factory=CodeEvaluator)
    writers: dict[int, TurnWriter] = field(default_factory=dict)
    shared: dict[tuple[int, int, str], asyncio.Lock] = field(default_factory=dict)
    choosers: ChooserFactory | None = None

    async def all(self, askers: Sequence[AsyncRespondent]) -> list[RespondentState]:
        """What became of the questions of each asker. What has come back is kept, also when this is cancelled."""
        tallies = [self.tally(asker) for asker in askers]
        async with AsyncExitStack() as stack:
            for asker in askers:
                stack.push_async_callback(asker.close)
            try:
                async with asyncio.TaskGroup() as group:
                    beat = group.create_task(self.beat())
                    asking = [group.create_task(self.one(tally)) for tally in tallies]
                    await asyncio.wait(asking)
                    beat.cancel()
            except BaseExceptionGroup as found:
                raise first_error(found) from None
        return tallies

    async def beat(self) -> None:
        """Says from time to time that this process is alive."""
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            self.claims.beat()

    def tally(self, asker: AsyncRespondent) -> RespondentState:
        """The respondent as the run knows it."""
        name, settings = asker.name, dict(asker.settings)
        if self.cast:
            name += "".join(f"+{role}={player_name(self.cast[role])}" for role in sorted(self.cast))
            settings["roles"] = {role: player_settings(one) for role, one in self.cast.items()}
        number = self.store.respondent(name, asker.model, settings)
        roles = {SUBJECT: asker, **self.cast}
        return RespondentState(asker, name, roles, number, self.extent.total, self.count(number))

    def count(self, number: int) -> int:
        """How many replies of a respondent the run holds."""
        extent = self.extent
        return self.store.count(number, extent.attempts, extent.questions, extent.first, extent.step)

    async def one(self, tally: RespondentState) -> None:
        """Asks one respondent what is missing, as many questions at once as its provider bears."""
        at_once = min(self.concurrency, getattr(tally.asker, "at_once", None) or self.concurrency)
        jobs = self.source(tally, at_once)
        writer = ReplyWriter(self, tally, at_once)
        try:
            async with asyncio.TaskGroup() as group:
                writer.group = group
                number = min(at_once, tally.total - tally.kept)
                workers = [group.create_task(self.worker(tally, jobs, writer)) for _ in range(number)]
                group.create_task(writer.end_with(workers))
        finally:
            writer.flush()
            jobs.close()
        # Another process may have asked some of them meanwhile.
        tally.kept = self.count(tally.number) - (tally.asked - tally.failed)

    def source(self, tally: RespondentState, at_once: int) -> JobSource:
        """Where the questions come from: all that are missing, in their order, or those that a chooser wants."""
        if self.choosers is not None:
            return AdaptiveJobs(
                self.store, self.bundle, self.claims, tally.number, self.choosers(self.store, tally.number)
            )
        jobs = JobQueue(self.store, self.bundle, self.claims, tally.number, self.extent, at_once)
        jobs.on_wait, jobs.is_over = lambda number: self.wait(tally, number), tally.is_over
        return jobs

    def wait(self, tally: RespondentState, number: int) -> None:
        """Tells that another process is asking what is left, and what it has kept by now."""
        if self.on_progress is not None and number != tally.elsewhere:
            tally.elsewhere, tally.kept = number, self.count(tally.number) - (tally.asked - tally.failed)
            self.on_progress(tally)

    async def worker(self, tally: RespondentState, jobs: JobSource, writer: ReplyWriter) -> None:
        """Takes one question after the other until there is none, the budget is spent, or the respondent ends."""
        while tally.ended is None and (job := await jobs.next()) is not None:
            if "sessions" in job.question:
                found = await self.play_sessions(tally, job)
            else:
                found = await self.reply(tally, tally.asker, job.question, job.attempt)
            if isinstance(found, Reply):
                await writer.add(job, found)
            elif found is not None:
                tally.open += found.is_open
            jobs.heard(job, found if isinstance(found, Reply) else None)

    async def play_sessions(self, tally: RespondentState, job: Job) -> Reply | Unfinished | None:
        """The transcript of a question's sessions as a reply; None where they cannot be played."""
        why = reason_unplayable(tally.roles, job.question)
        if why is not None:
            tally.left_out[why] += 1
            return None
        whole = getattr(tally.asker, "whole", None)
        if whole is not None and set(roles_in(job.question["sessions"])) <= {SUBJECT}:
            reply: Reply | None = await whole(job.question, job.attempt)
            if reply is not None:
                tally.spend(reply)
                return replace(reply, tries=1)
        return await SessionRunner(job.question, job.position, QuestionBackend(self, tally, job), self.mind).played()

    async def reply(
        self, tally: RespondentState, asker: AsyncRespondent, question: Mapping[str, Any], attempt: int
    ) -> Reply | Unfinished | None:
        """The reply, out of the cache where there is one; None where nothing was asked."""
        key = None if self.cache is None else self.cache.key(asker, question, attempt)
        held = None if self.cache is None or key is None else self.cache.get(key)
        if held is not None:
            return held
        reply = await self.asked(tally, asker, question, attempt)
        if self.cache is not None and key is not None and isinstance(reply, Reply):
            self.cache.put(key, reply)
        return reply

    def turns(self, tally: RespondentState) -> TurnWriter:
        """Who puts a respondent's turns on the disk."""
        return self.writers.setdefault(tally.number, TurnWriter(self.keeper, tally.number))

    def pace(self, asker: AsyncRespondent) -> RateLimiter:
        """How fast the asker's provider is asked."""
        found = self.paces.get(asker.provider)
        if found is None:
            at_once = min(self.concurrency, getattr(asker, "at_once", None) or self.concurrency)
            found = self.paces[asker.provider] = RateLimiter(at_once)
        return found

    async def asked(
        self, tally: RespondentState, asker: AsyncRespondent, question: Mapping[str, Any], attempt: int
    ) -> Reply | Unfinished | None:
        """The reply, or the error that is left after the last try; None where none is left."""
        trouble: RequestError | None = None
        for tries in range(1, self.retries + 2):
            if tries > 1:
                await sleep_unless(backoff_seconds(tries - 1), tally.is_over)
            found = await self.tried(tally, asker, question, attempt)
            if found is None:
                return None if trouble is None else failed_reply(trouble, tries - 1)
            if isinstance(found, Reply):
                tally.in_a_row = 0
                return replace(found, tries=tries)
            if found.kind == "later":
                return Unfinished(is_open=True)
            trouble = found
            if trouble.kind not in RETRYABLE or tally.ended is not None:
                break
        assert trouble is not None
        self.judge(tally, trouble)
        return failed_reply(trouble, tries)

    async def tried(
        self, tally: RespondentState, asker: AsyncRespondent, question: Mapping[str, Any], attempt: int
    ) -> Reply | RequestError | None:
        """What one request gave; None where there was none."""
        pace = self.pace(asker)
        async with pace.turn(tally.is_over):
            if tally.ended is not None:
                return None
            if not self.budget.begin():
                tally.end(BUDGET_SPENT, is_refused=False)
                return None
            tally.requests += 1
            try:
                reply = await asker.ask(question, attempt)
            except RequestError as trouble:
                self.heed(tally, pace, trouble)
                return trouble
        pace.faster()
        self.budget.add(reply)
        if self.budget.usd is not None and reply.cost is None and getattr(asker, "is_billed", False):
            tally.end("its cost is not known, so that a budget in money cannot hold: give one in tokens", False)
        return reply

    def heed(self, tally: RespondentState, pace: RateLimiter, trouble: RequestError) -> None:
        """Slows down where the endpoint complains, and ends where nothing more can come of it."""
        if trouble.kind == "fatal":
            tally.end(trouble.message)
        elif trouble.wait is not None and trouble.wait > LONGEST_RETRY_AFTER:
            tally.end(f"{trouble.message}: it wants to be asked again in {trouble.wait:.0f} s")
        elif trouble.kind == "rate_limit" or trouble.wait is not None:
            pace.slower(trouble.wait)

    def judge(self, tally: RespondentState, trouble: RequestError) -> None:
        """Ends the asking when so many questions in a row had no reply that the others would have none either."""
        tally.in_a_row += trouble.kind in RETRYABLE
        if tally.in_a_row >= max(FAILURES_THAT_END, 2 * self.concurrency):
            tally.end(f"{tally.in_a_row} questions in a row had no reply: {trouble.message}")


@dataclass(slots=True)
class QuestionBackend:
    """Where the sessions of one question are played: they ask through the asking, and the run keeps their turns."""

    asking: Scheduler
    tally: RespondentState
    job: Job

    @property
    def scope(self) -> str:
        """The question itself."""
        return str(self.job.position)

    def model(self, role: str) -> str | None:
        """Who plays a role; None for nobody."""
        asker = self.tally.roles.get(role)
        return None if asker is None else asker.model

    def kept(self, scope: str) -> Sequence[StoredTurn]:
        """What was said before."""
        return self.asking.store.turns(self.tally.number, self.job.attempt, scope)

    async def ask(self, role: str, turn: TurnRequest) -> Reply | Unfinished:
        """The reply to a turn."""
        asker = self.tally.roles[role]
        assert asker is not None  # a role that nobody plays is not asked
        return await self.asking.reply(self.tally, asker, turn, self.job.attempt) or Unfinished()

    async def keep(self, turn: StoredTurn) -> None:
        """Nothing; the turn is on the disk, and counted."""
        writer = self.asking.turns(self.tally)
        await writer.keep(self.job.attempt, turn)
        self.tally.spend(turn)

    @asynccontextmanager
    async def alone(self, scope: str) -> AsyncIterator[bool]:
        """Holds what questions share, in this process and among all."""
        claims, key = self.asking.claims, (self.tally.number, self.job.attempt, scope)
        async with self.asking.shared.setdefault(key, asyncio.Lock()):
            while not claims.take_shared(*key):
                if self.tally.is_over():
                    yield False
                    return
                await asyncio.sleep(POLL_SECONDS)
            try:
                yield True
            finally:
                claims.free_shared(*key)


def failed_reply(trouble: RequestError, tries: int) -> Reply:
    """The error that is left of a question."""
    return Reply(None, error=visible(f"{trouble.kind}: {trouble.message}"), tries=tries)


def first_error(found: BaseException) -> BaseException:
    """The first error of those that ended the asking together."""
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found

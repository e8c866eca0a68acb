"""Ask for the missing replies of a run, many in parallel and with retries, and store each reply."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from dia_language.diagnostics import visible
from dia_runtime.bundle.open import Bundle
from dia_runtime.bundle.session_records import SUBJECT, roles_in
from dia_runtime.respondents.budget import Budget
from dia_runtime.respondents.cache import ReplyCache
from dia_runtime.respondents.rate_limit import (
    DEFAULT_PATIENCE,
    ParallelRequests,
    RateLimiter,
    backoff_seconds,
    sleep_unless,
)
from dia_runtime.respondents.respondent import RETRYABLE, AsyncRespondent, Reply, RequestError
from dia_runtime.respondents.roles import player_name, player_settings
from dia_runtime.respondents.tools.toolbox import Toolbox
from dia_runtime.respondents.turn_request import TurnRequest
from dia_runtime.running.claims import HEARTBEAT_SECONDS, Claims
from dia_runtime.running.jobs import POLL_SECONDS, AdaptiveJobs, Chooser, Job, JobQueue, JobSource, Workload
from dia_runtime.running.not_asked import reasons_not_asked
from dia_runtime.running.sessions import CodeEvaluator, SessionRunner, Unfinished
from dia_runtime.running.tool_loop import ToolLoop, first_request
from dia_runtime.running.writers import ReplyWriter, StoreThread, TurnWriter
from dia_runtime.store.endings import reply_flags
from dia_runtime.store.error_causes import CauseCounter
from dia_runtime.store.schema import StoredTurn
from dia_runtime.store.store import Store
from dia_runtime.store.tool_transcripts import has_calls
from dia_runtime.store.transcripts import transcript_flags

FAILURES_THAT_END = 20  # failed questions in a row after which the network or the provider counts as unreachable
BUDGET_SPENT = "the budget is spent"
PREFLIGHT_SECONDS = 10.0
PROGRESS_SECONDS = 1.0
PREFLIGHT_QUESTION = {"messages": [{"role": "user", "content": "Reply with the word OK."}]}
ChooserFactory = Callable[[Store, int], Chooser]  # creates what chooses the questions of a respondent


class Preflight:
    """The first question of a respondent is asked alone, since most faults of a model or a key show at once.

    The others follow when its reply is there, or after PREFLIGHT_SECONDS: a model may think for minutes.
    """

    def __init__(self) -> None:
        self.is_begun = False
        self.is_done = asyncio.Event()

    async def turn(self) -> bool:
        """Return whether this caller asks first; the others wait."""
        if not self.is_begun:
            self.is_begun = True
            return True
        with suppress(TimeoutError):
            await asyncio.wait_for(self.is_done.wait(), PREFLIGHT_SECONDS)
        return False


@dataclass(slots=True)
class RespondentState:
    """The state of a respondent: new replies, earlier replies, errors, and why dia stopped asking early.

    `is_refused` says whether the provider or the network was the reason; `open` counts the questions that wait for a
    person's reply, `elsewhere` those that another process is asking. `pause` is the
    number of seconds until the provider may be asked again, `is_limited` whether it has refused requests because of a
    rate limit since the last reply. `roles` maps the roles of sessions to respondents
    or None; this respondent is the `subject`. `not_asked` maps positions of questions that cannot be asked to the
    reason, and `left_out` counts those that have no reply by reason. `flags` counts new replies that are no full
    answers, `request_changes` what a client library changed in requests, `causes` the errors of new replies, and
    `model_versions` the models that the provider says it asked.
    """

    respondent: AsyncRespondent
    name: str
    roles: Mapping[str, AsyncRespondent | None]
    number: int
    total: int
    earlier_replies: int
    new_replies: int = 0
    failed: int = 0
    failures_in_a_row: int = 0
    elsewhere: int = 0
    pause: float = 0.0
    is_limited: bool = False
    requests: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: Decimal | None = None
    ended: str | None = None
    is_refused: bool = False
    open: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    flags: Counter[str] = field(default_factory=Counter)
    request_changes: Counter[str] = field(default_factory=Counter)
    with_tool_calls: int = 0
    causes: CauseCounter = field(default_factory=CauseCounter)
    model_versions: Counter[str] = field(default_factory=Counter)
    preflight: Preflight | None = None
    has_replied: bool = False
    is_retry_noted: bool = False
    is_checked: bool = False
    not_asked: Mapping[int, str] = field(default_factory=dict)

    def add(self, reply: Reply, is_session: bool) -> None:
        """Count a stored reply; tokens and cost of conversations were already counted turn by turn."""
        self.new_replies += 1
        self.failed += reply.error is not None
        if reply.error is not None:
            self.causes.add(reply.error)
        if is_session:
            self.flags.update(transcript_flags(reply.text))
        else:
            if reply.model_version is not None and reply.error is None:
                self.model_versions[reply.model_version.partition(" ")[0]] += 1
            self.flags.update(reply_flags(reply.text, reply.error, reply.finish_reason))
            self.count_traits(reply)
            self.spend(reply)

    def count_traits(self, reply: Reply | StoredTurn) -> None:
        """Count what a client library changed in the request, and whether tools were called."""
        self.with_tool_calls += has_calls(reply.tool_transcript)
        if reply.request_changes is not None:
            self.request_changes[reply.request_changes] += 1

    def spend(self, reply: Reply | StoredTurn) -> None:
        """Count the tokens and the cost of a reply."""
        for name in ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cost"):
            more = getattr(reply, name)
            if more is not None:
                value = Decimal(more) if name == "cost" else more
                setattr(self, name, (getattr(self, name) or 0) + value)

    def with_role(self, respondent: AsyncRespondent, error: RequestError) -> RequestError:
        """Return the error; that of another role, such as a judge, then starts with the role and its model."""
        role = next((name for name, one in self.roles.items() if one is respondent), SUBJECT)
        if role == SUBJECT:
            return error
        message = f"{role} {respondent.name}: {error.message}"
        return RequestError(error.kind, message, error.wait, error.status, error.is_unconnected)

    def is_over(self) -> bool:
        """Return whether dia has stopped asking."""
        return self.ended is not None

    def end(self, why: str, is_refused: bool = True) -> None:
        """Stop asking; the first reason is kept."""
        if self.ended is None:
            self.ended, self.is_refused = visible(why), is_refused


@dataclass(slots=True)
class Scheduler:
    """Asks several respondents of one run. Those of one provider share its parallel requests; all share the budget."""

    store: Store
    bundle: Bundle
    claims: Claims
    extent: Workload
    concurrency: int
    retries: int
    budget: Budget
    store_thread: StoreThread
    cache: ReplyCache | None = None
    on_progress: Callable[[RespondentState], None] | None = None
    on_left_out: Callable[[str, Mapping[str, int]], None] | None = None
    on_retry: Callable[[str, str], None] | None = None
    patience: float = DEFAULT_PATIENCE
    rate_limiters: dict[tuple[str, str], RateLimiter] = field(default_factory=dict)
    parallel: dict[str, ParallelRequests] = field(default_factory=dict)
    players: Mapping[str, AsyncRespondent | None] = field(default_factory=dict)
    evaluator: CodeEvaluator = field(default_factory=CodeEvaluator)
    writers: dict[int, TurnWriter] = field(default_factory=dict)
    shared: dict[tuple[int, int, str], asyncio.Lock] = field(default_factory=dict)
    choosers: ChooserFactory | None = None

    async def run(self, respondents: Sequence[AsyncRespondent]) -> list[RespondentState]:
        """Ask all respondents and return their states. Replies are stored even if this is cancelled."""
        states = [self.new_state(respondent) for respondent in respondents]
        async with AsyncExitStack() as stack:
            for respondent in respondents:
                stack.push_async_callback(respondent.close)
            try:
                async with asyncio.TaskGroup() as group:
                    beats = [group.create_task(self.heartbeat()), group.create_task(self.report_regularly(states))]
                    asking = [group.create_task(self.run_respondent(state)) for state in states]
                    await asyncio.wait(asking)
                    for beat in beats:
                        beat.cancel()
            except BaseExceptionGroup as group_error:
                raise first_error(group_error) from None
        return states

    async def heartbeat(self) -> None:
        """Record regularly that this process is alive."""
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            self.claims.heartbeat()

    async def report_regularly(self, states: Sequence[RespondentState]) -> None:
        """Report the progress even if no reply comes."""
        while self.on_progress is not None:
            await asyncio.sleep(PROGRESS_SECONDS)
            for state in states:
                players = [one for one in state.roles.values() if one is not None]
                limiters = [self.rate_limiters.get((one.provider, one.model)) for one in players]
                state.pause = max((one.pause() for one in limiters if one is not None), default=0.0)
                state.is_limited = any(one is not None and one.refused_since is not None for one in limiters)
                self.on_progress(state)

    def new_state(self, respondent: AsyncRespondent) -> RespondentState:
        """Register the respondent in the run and return its state."""
        name, settings = respondent.name, dict(respondent.settings)
        if self.players:
            name += "".join(f"+{role}={player_name(self.players[role])}" for role in sorted(self.players))
            settings["roles"] = {role: player_settings(one) for role, one in self.players.items()}
        number = self.store.respondent(name, respondent.model, settings)
        roles = {SUBJECT: respondent, **self.players}
        state = RespondentState(respondent, name, roles, number, self.extent.total, self.count(number))
        if getattr(respondent, "has_preflight", False):
            state.preflight = Preflight()
        return state

    def count(self, number: int) -> int:
        """Return how many replies of a respondent the run contains."""
        extent = self.extent
        return self.store.count(number, extent.attempts, extent.questions, extent.first, extent.step)

    async def run_respondent(self, state: RespondentState) -> None:
        """Ask one respondent the missing questions, in parallel as far as its provider allows."""
        at_once = min(self.concurrency, getattr(state.respondent, "at_once", None) or self.concurrency)
        self.leave_out(state)
        jobs = self.job_source(state, at_once)
        writer = ReplyWriter(self, state, at_once)
        try:
            async with asyncio.TaskGroup() as group:
                writer.group = group
                number = min(at_once, state.total - state.earlier_replies)
                workers = [group.create_task(self.worker(state, jobs, writer)) for _ in range(number)]
                group.create_task(writer.end_with(workers))
        finally:
            writer.flush()
            jobs.close()
        # Another process may have asked some of them meanwhile.
        state.earlier_replies = self.count(state.number) - (state.new_replies - state.failed)

    def leave_out(self, state: RespondentState) -> None:
        """Store which questions cannot be asked, with the reasons, before the first request."""
        state.not_asked = reasons_not_asked(self.bundle, state.roles, self.extent)
        self.store.leave_out(state.number, self.extent.positions, state.not_asked)
        for position, why in state.not_asked.items():
            answered = self.store.answered(state.number, position)
            state.total -= sum(attempt not in answered for attempt in range(1, self.extent.attempts + 1))
            if not answered:
                state.left_out[why] += 1
        if self.on_left_out is not None and state.left_out:
            self.on_left_out(state.name, state.left_out)

    def job_source(self, state: RespondentState, at_once: int) -> JobSource:
        """Return the source of questions: all missing ones in order, or those that a chooser selects."""
        if self.choosers is not None:
            return AdaptiveJobs(
                self.store, self.bundle, self.claims, state.number, self.choosers(self.store, state.number)
            )
        jobs = JobQueue(self.store, self.bundle, self.claims, state.number, self.extent, at_once)
        jobs.on_wait, jobs.is_over = lambda number: self.report_waiting(state, number), state.is_over
        return jobs

    def report_waiting(self, state: RespondentState, number: int) -> None:
        """Report that another process is asking the remaining questions, and how many replies it has stored."""
        if self.on_progress is not None and number != state.elsewhere:
            state.elsewhere = number
            state.earlier_replies = self.count(state.number) - (state.new_replies - state.failed)
            self.on_progress(state)

    async def worker(self, state: RespondentState, jobs: JobSource, writer: ReplyWriter) -> None:
        """Ask one question after the other, until none is left, the budget is spent, or the respondent has ended."""
        is_first = state.preflight is not None and await state.preflight.turn()
        try:
            await self.ask_all(state, jobs, writer, is_first)
        finally:
            if is_first and state.preflight is not None:
                state.preflight.is_done.set()

    async def ask_all(self, state: RespondentState, jobs: JobSource, writer: ReplyWriter, is_first: bool) -> None:
        """Ask questions one after the other; others may ask as well once the first one has its outcome."""
        while state.ended is None and (job := await jobs.next()) is not None:
            if job.position in state.not_asked:
                jobs.finished(job, None)
                continue
            if "sessions" in job.question:
                outcome = await self.play_sessions(state, job)
            else:
                outcome = await self.reply(state, state.respondent, job.question, job.attempt)
            if isinstance(outcome, Reply):
                await writer.add(job, outcome)
            elif outcome is not None:
                state.open += outcome.is_open
            jobs.finished(job, outcome if isinstance(outcome, Reply) else None)
            if is_first and state.preflight is not None:
                state.preflight.is_done.set()

    async def play_sessions(self, state: RespondentState, job: Job) -> Reply | Unfinished | None:
        """Return the transcript of a question's sessions as a reply; None if nothing was asked."""
        whole = getattr(state.respondent, "whole", None)
        if whole is not None and set(roles_in(job.question["sessions"])) <= {SUBJECT}:
            reply: Reply | None = await whole(job.question, job.attempt)
            if reply is not None:
                state.spend(reply)
                return replace(reply, tries=1)
        return await SessionRunner(job.question, job.position, QuestionBackend(self, state, job), self.evaluator).run()

    async def reply(
        self, state: RespondentState, respondent: AsyncRespondent, question: Mapping[str, Any], attempt: int
    ) -> Reply | Unfinished | None:
        """Return the reply, from the cache if possible; None if nothing was asked."""
        toolbox: Toolbox | None = getattr(respondent, "toolbox", None)
        if toolbox is not None and isinstance(question, TurnRequest) and question["prefill"]:
            toolbox = None  # no endpoint continues the beginning of a reply with a call
        sent = question if toolbox is None else first_request(toolbox, question)
        key = None if self.cache is None else self.cache.key(respondent, sent, attempt)
        cached = None if self.cache is None or key is None else self.cache.get(key)
        if cached is not None:
            return cached
        if toolbox is None:
            reply = await self.ask_with_retries(state, respondent, question, attempt)
        else:
            reply = await self.use_tools(state, respondent, toolbox, question, attempt)
        if self.cache is not None and key is not None and isinstance(reply, Reply):
            self.cache.put(key, reply)
        return reply

    async def use_tools(
        self,
        state: RespondentState,
        respondent: AsyncRespondent,
        toolbox: Toolbox,
        question: Mapping[str, Any],
        attempt: int,
    ) -> Reply | Unfinished | None:
        """Return the reply of a model with tools; None if nothing was asked."""

        def read(name: str) -> bytes:
            return b"".join(self.bundle.pieces(name))

        async def ask(request: Mapping[str, Any]) -> Reply | Unfinished | None:
            return await self.ask_with_retries(state, respondent, request, attempt)

        return await ToolLoop(toolbox, question, read, Path(self.bundle.path), ask).run()

    def turn_writer(self, state: RespondentState) -> TurnWriter:
        return self.writers.setdefault(state.number, TurnWriter(self.store_thread, state.number))

    def limits(self, respondent: AsyncRespondent) -> tuple[RateLimiter, ParallelRequests]:
        """Return the pace of the respondent's model, and the parallel requests to its provider."""
        provider = respondent.provider
        limiter = self.rate_limiters.setdefault((provider, respondent.model), RateLimiter(self.patience))
        parallel = self.parallel.get(provider)
        if parallel is None:
            at_once = min(self.concurrency, getattr(respondent, "at_once", None) or self.concurrency)
            parallel = self.parallel[provider] = ParallelRequests(at_once)
        return limiter, parallel

    async def ask_with_retries(
        self, state: RespondentState, respondent: AsyncRespondent, question: Mapping[str, Any], attempt: int
    ) -> Reply | Unfinished | None:
        """Return the reply, or the error after the last try; None if nothing was asked.

        A request that the provider refuses because of a rate limit is sent again as soon as the limit allows it. This
        counts as no retry: the question would be lost only because others were asked at the same time.
        """
        error: RequestError | None = None
        tries = failures = 0
        while True:
            tries += 1
            outcome = await self.ask_once(state, respondent, question, attempt)
            if outcome is None:
                return None if error is None else failed_reply(error, tries - 1)
            if isinstance(outcome, Reply):
                state.failures_in_a_row, state.has_replied = 0, True
                return replace(outcome, tries=tries)
            if outcome.kind == "later":
                return Unfinished(is_open=True)
            error = outcome
            if error.kind not in RETRYABLE or state.ended is not None:
                break
            if error.kind == "rate_limit":
                self.note_retry(state, error)
            else:
                failures += 1
                if failures > self.retries:
                    break
                self.note_retry(state, error)
                await sleep_unless(backoff_seconds(failures), state.is_over)
        self.count_failure(state, error)
        if error.is_unconnected and not state.has_replied and not state.earlier_replies:
            state.end(error.message)  # a wrong address or no server, rather than a network that was interrupted
        if error.status is not None and error.kind == "request" and not state.has_replied:
            await self.check_model(state, respondent, attempt, error)
        return failed_reply(error, tries)

    def note_retry(self, state: RespondentState, error: RequestError) -> None:
        """Report, once, why a respondent that has not replied yet is asked again."""
        if self.on_retry is not None and not state.has_replied and not state.is_retry_noted:
            state.is_retry_noted = True
            self.on_retry(state.name, visible(error.message))

    async def check_model(
        self, state: RespondentState, respondent: AsyncRespondent, attempt: int, error: RequestError
    ) -> None:
        """Stop asking a model that refuses even the simplest question: it cannot work as it is asked.

        A model that has replied to anything refused one question only.
        """
        if state.is_checked or state.ended is not None:
            return
        state.is_checked = True
        outcome = await self.ask_once(state, respondent, PREFLIGHT_QUESTION, attempt)
        if isinstance(outcome, RequestError) and outcome.kind == "request" and outcome.status is not None:
            state.end(outcome.message)
        elif isinstance(outcome, Reply):
            state.spend(outcome)

    async def ask_once(
        self, state: RespondentState, respondent: AsyncRespondent, question: Mapping[str, Any], attempt: int
    ) -> Reply | RequestError | None:
        """Send one request and return its result; None if no request may be sent."""
        limiter, parallel = self.limits(respondent)
        async with limiter.request(state.is_over), parallel.slot(respondent.name):
            if state.ended is not None:
                return None
            if not self.budget.start_request():
                state.end(BUDGET_SPENT, is_refused=False)
                return None
            state.requests += 1
            sent_at = asyncio.get_running_loop().time()
            try:
                reply = await respondent.ask(question, attempt)
            except RequestError as request_error:
                error = state.with_role(respondent, request_error)
                self.react_to(state, limiter, error, sent_at)
                return error
            limiter.replied()
        self.budget.add(reply)
        if self.budget.usd is not None and reply.cost is None and getattr(respondent, "is_billed", False):
            state.end("its cost is unknown, so a budget in money cannot be enforced; use `--budget-tokens`", False)
        return reply

    def react_to(self, state: RespondentState, limiter: RateLimiter, error: RequestError, sent_at: float) -> None:
        """Slow down after a rate-limit error, and stop asking after an error that no retry can fix."""
        if error.kind == "fatal":
            state.end(error.message)
        elif error.wait is not None and error.wait > self.patience:
            state.end(f"{error.message}: the provider asks for a pause of {error.wait:.0f} s")
        elif (error.kind == "rate_limit" or error.wait is not None) and limiter.refused(sent_at, error.wait):
            state.end(
                f"{error.message}: no reply within {self.patience:g} s of the first rejected request (`--patience`)"
            )

    def count_failure(self, state: RespondentState, error: RequestError) -> None:
        """Stop asking if so many questions failed in a row that the others would probably fail too."""
        state.failures_in_a_row += error.kind in RETRYABLE
        if state.failures_in_a_row >= max(FAILURES_THAT_END, 2 * self.concurrency):
            state.end(f"{state.failures_in_a_row} questions in a row failed: {error.message}")


@dataclass(slots=True)
class QuestionBackend:
    """Runs the sessions of one question through the scheduler, and stores their turns in the run."""

    scheduler: Scheduler
    state: RespondentState
    job: Job

    @property
    def scope(self) -> str:
        """Return the key under which the question's turns are stored."""
        return str(self.job.position)

    def model(self, role: str) -> str | None:
        respondent = self.state.roles.get(role)
        return None if respondent is None else respondent.model

    def stored_turns(self, scope: str) -> Sequence[StoredTurn]:
        """Return the turns that were stored before."""
        return self.scheduler.store.turns(self.state.number, self.job.attempt, scope)

    async def ask(self, role: str, turn: TurnRequest) -> Reply | Unfinished:
        respondent = self.state.roles[role]
        assert respondent is not None  # a role without a model is never asked
        return await self.scheduler.reply(self.state, respondent, turn, self.job.attempt) or Unfinished()

    async def store_turn(self, turn: StoredTurn) -> None:
        """Store and count the turn."""
        writer = self.scheduler.turn_writer(self.state)
        await writer.keep(self.job.attempt, turn)
        self.state.count_traits(turn)
        self.state.spend(turn)

    @asynccontextmanager
    async def exclusive(self, scope: str) -> AsyncIterator[bool]:
        """Hold a lock on what questions share, within this process and across processes."""
        claims, key = self.scheduler.claims, (self.state.number, self.job.attempt, scope)
        async with self.scheduler.shared.setdefault(key, asyncio.Lock()):
            while not claims.claim_shared(*key):
                if self.state.is_over():
                    yield False
                    return
                await asyncio.sleep(POLL_SECONDS)
            try:
                yield True
            finally:
                claims.release_shared(*key)


def failed_reply(error: RequestError, tries: int) -> Reply:
    """Return the reply that stores an error."""
    return Reply(None, error=visible(f"{error.kind}: {error.message}"), tries=tries)


def first_error(outcome: BaseException) -> BaseException:
    """Return the first error of a group."""
    while isinstance(outcome, BaseExceptionGroup):
        outcome = outcome.exceptions[0]
    return outcome

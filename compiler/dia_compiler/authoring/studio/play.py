"""A question's sessions, played with the models that the command line names, turn by turn.

The page can neither choose nor see where requests go and with which key. Replies are untrusted, so they are read and
graded in a worker that can be killed, as in a run.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from dia_compiler.generate.draw import value_text
from dia_language.diagnostics import DiaError, Diagnostic, LanguageError, visible
from dia_language.workers.pool import WorkerBug
from dia_runtime.bundle.session_records import SUBJECT, roles_in
from dia_runtime.formats.replies import read_reply
from dia_runtime.grading.sessions.judging import judge_transcript, truth_of
from dia_runtime.grading.sessions.outcome import ABSENT, BROKEN, UNREAD, Outcome
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.respondents.registry import BASELINES, NOBODY, ModelOptions, create_respondents, require_known
from dia_runtime.respondents.respondent import RETRYABLE, AsyncRespondent, Reply, RequestError
from dia_runtime.respondents.roles import create_players, reason_unplayable
from dia_runtime.respondents.turn_request import TurnRequest
from dia_runtime.running.sessions import CodeEvaluator, SessionRunner, Unfinished
from dia_runtime.running.sessions.conversation import LONGEST_READ
from dia_runtime.store.schema import StoredTurn
from dia_runtime.store.transcripts import TranscriptReply, TranscriptSession, read_transcript

Record = dict[str, Any]
AT_ONCE = 8  # requests
TRIES = 3
PAUSE = 1.0  # seconds before the second try of a request
LONGEST_PAUSE = 20.0
LONGEST_VALUE = 4_000  # characters of a value that are shown


@dataclass(frozen=True, slots=True)
class Players:
    """The models in sessions: the one under test, and those of other roles, None for a role without a model."""

    subject: AsyncRespondent
    roles: Mapping[str, AsyncRespondent | None]

    @classmethod
    def of(cls, model: str, options: ModelOptions, roles: Mapping[str, str], urls: Mapping[str, str]) -> Players:
        """Return the players. Raises DiaError (exit 2) if a model cannot be asked, or a name gives several models."""
        require_known(model, options)
        subjects = [] if model in BASELINES else create_respondents(model, options)
        if len(subjects) > 1:
            raise DiaError(
                Diagnostic(
                    "E600", "the studio asks one model, at one temperature", None, "give only one `--temperature`"
                ),
            )
        if not subjects or getattr(subjects[0], "no_sessions_reason", None) is not None:
            message = visible(f"`{model}` cannot play sessions, because it replies from stored answers")
            raise DiaError(Diagnostic("E846", message, None, "name a model, or says:TEXT"))
        return cls(subjects[0], create_players(roles, urls, options))

    @property
    def name(self) -> str:
        """The model under test, as the page names it."""
        return visible(self.subject.name)

    def all(self) -> dict[str, AsyncRespondent | None]:
        """Return the players of all roles."""
        return {**self.roles, SUBJECT: self.subject}

    def reason_unplayable(self, question: Mapping[str, Any]) -> str | None:
        """Return why the sessions of a question cannot be played; None if they can."""
        missing = sorted(set(roles_in(question["sessions"])) - self.all().keys())
        if missing:
            return (
                f"No model plays the role `{missing[0]}`: start the studio with `--role {missing[0]}=MODEL`, "
                f"or with `--role {missing[0]}={NOBODY}` to leave its sessions out."
            )
        why = reason_unplayable(self.all(), question)
        return None if why is None else f"This conversation cannot be played: {why}."

    async def close(self) -> None:
        """Close connections and end programs."""
        for player in self.all().values():
            if player is not None:
                await player.close()


async def play(players: Players, question: Record, answer: Record) -> AsyncGenerator[Record, None]:
    """Yield records while the sessions are played: `asking` and `turn` for each turn, then `sessions` and `verdict`.

    `failed` is the last record if a reply could not be obtained. Closing the generator stops the requests.
    """
    why = players.reason_unplayable(question)
    if why is not None:
        yield {"kind": "failed", "message": why}
        return
    evaluator = CodeEvaluator()
    backend = PlayBackend(players.all(), question, evaluator)
    task = asyncio.create_task(SessionRunner(question, 0, backend, evaluator).run())
    task.add_done_callback(lambda _: backend.records.put_nowait(None))
    try:
        while (record := await backend.records.get()) is not None:
            yield record
        try:
            reply = await task
        except Exception as error:  # of whatever kind: the page is still waiting for the last record
            yield {"kind": "failed", "message": f"A bug in dia: {visible(repr(error))}."}
            return
        if isinstance(reply, Unfinished) or reply.text is None:
            yield {"kind": "failed", "message": _failure(reply)}
            return
        yield {"kind": "sessions", "sessions": [_session(session) for session in read_transcript(reply.text)]}
        yield {"kind": "verdict", **await _judged(evaluator, answer, reply.text)}
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        evaluator.close()


def _failure(reply: Reply | Unfinished) -> str:
    if isinstance(reply, Unfinished) and reply.is_open:
        return "A person has not replied yet."
    return visible(reply.error or "The conversation was stopped.")


@dataclass(slots=True)
class PlayBackend:
    """Asks the players, and puts a record in the queue for each request and each reply."""

    players: Mapping[str, AsyncRespondent | None]
    question: Record
    evaluator: CodeEvaluator
    records: asyncio.Queue[Record | None] = field(default_factory=asyncio.Queue)
    turns: dict[str, list[StoredTurn]] = field(default_factory=dict)
    locks: dict[str, asyncio.Lock] = field(default_factory=dict)
    at_once: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    @property
    def scope(self) -> str:
        """Return the key under which the question's own turns are stored."""
        return ""

    def model(self, role: str) -> str | None:
        """Return the model of a role; None if it has none."""
        player = self.players.get(role)
        return None if player is None else player.model

    def stored_turns(self, scope: str) -> Sequence[StoredTurn]:
        """Return the turns of this conversation that were asked before."""
        return self.turns.get(scope, ())

    async def ask(self, role: str, turn: TurnRequest) -> Reply | Unfinished:
        """Return the reply to a turn; the error after the last try is a reply too."""
        player = self.players[role]
        assert player is not None  # a role without a model is never asked
        async with self.at_once:
            self.records.put_nowait({"kind": "asking", **_place(*turn.place), "name": turn["name"]})
            for number in range(1, TRIES + 1):
                try:
                    return await player.ask(turn, 0)
                except RequestError as error:
                    if error.kind == "later":
                        return Unfinished(is_open=True)
                    if error.kind not in RETRYABLE or number == TRIES or (error.wait or 0) > LONGEST_PAUSE:
                        return Reply(None, error=visible(f"{error.kind}: {error.message}"), tries=number)
                    await asyncio.sleep(error.wait or PAUSE * number)
        raise AssertionError("the last try returns")

    async def store_turn(self, turn: StoredTurn) -> None:
        """Remember the turn, and report it with how its reply was read."""
        self.turns.setdefault(turn.scope, []).append(turn)
        record = {
            "kind": "turn", **_place(turn.session, turn.item, turn.turn, turn.step), "name": turn.name,
            "role": turn.role, "model": visible(turn.model), "messages": json.loads(turn.messages),
            "text": turn.text, "finish_reason": turn.finish_reason,
            "seconds": turn.seconds, "tokens": turn.completion_tokens, "error": turn.error,
        }  # fmt: skip
        format = self.format_of(turn)
        if turn.text is not None and format is not None:
            record["reading"] = {"format": format["kind"], **await self.read(turn.text, format)}
        self.records.put_nowait(record)

    def format_of(self, turn: StoredTurn) -> Mapping[str, Any] | None:
        """Return the format of the reply to a turn; None for a reply without a name, which nothing reads."""
        session = next(one for one in self.question["sessions"] if one["name"] == turn.session)
        reply = session["turns"][turn.turn].get("reply")
        return None if reply is None else reply["format"]

    async def read(self, text: str, format: Mapping[str, Any]) -> Record:
        """Return the value of a reply, and the step that found it."""
        async with self.evaluator.lock:
            try:
                worker = self.evaluator.worker
                record: Record = await asyncio.to_thread(worker.call, read_in_worker, text[:LONGEST_READ], dict(format))
            except (LanguageError, WorkerBug) as error:
                return {"value": None, "step": None, "why": visible(str(error).splitlines()[-1])}
        return record

    @asynccontextmanager
    async def exclusive(self, scope: str) -> AsyncIterator[bool]:
        """Hold a lock on what items of the question share."""
        async with self.locks.setdefault(scope, asyncio.Lock()):
            yield True


def _place(session: str, item: int, turn: int, step: int) -> Record:
    return {"session": session, "item": _number(item), "turn": turn, "step": _number(step)}


def _number(place: int) -> int | None:
    return None if place < 0 else place


def read_in_worker(text: str, format: Mapping[str, Any]) -> Iterator[Record]:
    """Yield the value of a reply as text, and the step that found it, as the only item of a worker's task."""
    read = read_reply(text, format)
    yield {"value": None if read.value is None else value_text(read.value)[:LONGEST_VALUE], "step": read.step}


async def _judged(evaluator: CodeEvaluator, answer: Record, text: str) -> Record:
    async with evaluator.lock:
        try:
            record: Record = await asyncio.to_thread(evaluator.worker.call, judge_in_worker, answer, text)
        except (LanguageError, WorkerBug) as error:
            return {"verdict": str(Verdict.UNPARSED), "why": visible(str(error).splitlines()[-1]), "flags": []}
    return record


def judge_in_worker(answer: Record, text: str) -> Iterator[Record]:
    """Yield the verdict on a transcript, and why, as the only item of a worker's task."""
    outcome = judge_transcript(truth_of(answer), text).outcome
    yield {
        "verdict": str(outcome.verdict),
        "why": _why(outcome, answer["truth"]),
        "share": None if outcome.share is None else str(outcome.share),
        "flags": sorted(outcome.flags),
        "figures": {name: value_text(value)[:LONGEST_VALUE] for name, value in outcome.figures.items()},
    }


def _why(outcome: Outcome, truth: Record) -> str:
    """Return the reason of a verdict in a sentence."""
    parts = truth.get("grade", {})
    if outcome.verdict is Verdict.SKIPPED:
        return f"`{_expression(parts, 'skipped')}` is true."
    if outcome.state == UNREAD:
        return f"The reply `{outcome.missing}` could not be read." if outcome.missing else "The replies were not read."
    if outcome.state == ABSENT:
        return f"The grading needs the reply `{outcome.missing}`, which never came."
    if outcome.state == BROKEN:
        return "An expression of the grading failed on these replies."
    if outcome.order is not None:
        ranked, actual = (", ".join(labels or ()) for labels in (outcome.order.predicted, outcome.order.actual))
        return f"Ranked {ranked}; the order is {actual}."
    if outcome.decisions:
        return (
            "; ".join(
                f"predicted {_yes(decision.predicted)}, actual {_yes(decision.actual)}"
                for decision in outcome.decisions
            ).capitalize()
            + "."
        )
    return f"`{_expression(parts, 'correct')}` is {'true' if outcome.verdict is Verdict.CORRECT else 'false'}."


def _expression(parts: Record, name: str) -> str:
    return str(parts.get(name, {}).get("expression", name))


def _yes(is_positive: bool | None) -> str:
    return "unknown" if is_positive is None else "yes" if is_positive else "no"


def _session(session: TranscriptSession) -> Record:
    """Return a session as it was played: whether it was asked, or why not, and what was said."""
    requested = [reply for reply in session.replies if reply.error is None]
    state = "asked" if len(requested) == len(session.replies) else "partly" if requested else "not asked"
    return {
        "name": session.name,
        "item": session.item,
        "role": session.role,
        "model": visible(session.model),
        "state": state,
        "messages": [{"role": message["role"], "content": message["content"]} for message in session.messages],
        "replies": [_reply(reply) for reply in session.replies],
    }


def _reply(reply: TranscriptReply) -> Record:
    error = None if reply.error is None else visible(reply.error["message"])
    return {"name": reply.name, "turn": reply.turn, "item": reply.item, "error": error}

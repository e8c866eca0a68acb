"""Questions of sessions in Inspect: dia runs the sessions and asks Inspect's models.

`inspect eval` names the subject by `--model` and any other role by `--model-role judge=MODEL`. The transcript is the
sample's output, so that its scorer and `dia import` read the same as `dia run` stores.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_runtime.bundle.session_records import SUBJECT, SessionRecord, roles_with_prefill
from dia_runtime.integrations.inspect.content import content_of
from dia_runtime.integrations.inspect.logs import LEFT_OUT
from dia_runtime.respondents.chat import Settings, chat_messages, decimal_text
from dia_runtime.respondents.respondent import Reply, RequestError
from dia_runtime.respondents.turn_request import TurnRequest, settings_for
from dia_runtime.running.sessions import CodeEvaluator, SessionRunner, Unfinished
from dia_runtime.store.endings import FINAL_ENDINGS
from dia_runtime.store.schema import StoredTurn
from dia_runtime.store.transcripts import read_transcript
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.model import model_roles as bound_roles
from inspect_ai.model._model import active_model
from inspect_ai.solver import TaskState
from inspect_ai.util import span

NOBODY = "none/none"  # Inspect's name for the absence of a model: `--model-role judge=none`
CONTINUING = ("vllm/", "sglang/", "openrouter/", "ollama/")  # they continue a prefilled reply
ENDINGS = {"max_tokens": "length", "model_length": "over_context", "unknown": None}
SAYS = {"user": ChatMessageUser, "system": ChatMessageSystem, "assistant": ChatMessageAssistant}
Cast = Mapping[str, Model | None]


@dataclass(slots=True)
class Room:
    """State that the questions of a task share: models, shared turns, the worker of their stored code."""

    folder: Path
    roles: frozenset[str]
    prefill: bool = False
    loop: asyncio.AbstractEventLoop | None = None
    evaluator: CodeEvaluator = field(default_factory=CodeEvaluator)
    positions: dict[str, int] = field(default_factory=dict)
    shared: dict[Any, list[StoredTurn]] = field(default_factory=dict)
    locks: dict[Any, asyncio.Lock] = field(default_factory=dict)

    def enter(self) -> None:
        """Remove the state of an earlier evaluation of the task. Raises DiaError without asyncio."""
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            message = "sessions need asyncio, but Inspect runs another event loop"
            raise DiaError(Diagnostic("E714", message, None, "unset INSPECT_ASYNC_BACKEND")) from None
        if self.loop is not here:
            self.evaluator.close()
            self.loop, self.evaluator = here, CodeEvaluator()
            self.shared, self.locks = {}, {}

    def require_roles(self) -> None:
        """Check that a running evaluation names a model for every role; a task may be created before that."""
        if active_model() is not None:
            self.cast()

    def cast(self) -> Cast:
        """Return the model of each role, or None. Raises PrerequisiteError for a role without a model."""
        cast: dict[str, Model | None] = {SUBJECT: get_model()}
        bound = bound_roles()
        for role in sorted(self.roles - {SUBJECT}):
            if role not in bound:
                help = f"use `--model-role {role}=MODEL`, or `--model-role {role}=none` to leave its sessions out"
                raise PrerequisiteError(visible(f"no model for the role `{role}`: {help}"))
            models = bound[role]
            model = models[0] if isinstance(models, list) else models
            cast[role] = None if str(model) == NOBODY else model
        return cast

    def unplayable(self, cast: Cast, sessions: Any) -> str | None:
        """Return why the sessions of a question are left out; None if they are not."""
        for role in roles_with_prefill(sessions):
            model = cast.get(role)
            if model is not None and not self.prefill and not str(model).startswith(CONTINUING):
                return (
                    f"the prompt contains the beginning of the reply; if `{model}` can continue it, use `-T "
                    "prefill=true`"
                )
        return None

    async def play(self, state: TaskState) -> TaskState:
        """Return the state with the transcript of its sessions as output, and all that was said as its messages."""
        self.enter()
        row, cast = state.metadata, self.cast()
        why = self.unplayable(cast, row["sessions"])
        if why is not None:
            state.metadata[LEFT_OUT] = why
            return state
        position = self.positions.setdefault(str(row["id"]), len(self.positions))
        desk = Desk(self, cast, state.epoch)
        transcript = await SessionRunner(row, position, desk, self.evaluator).run()
        if desk.failure is not None:
            raise desk.failure
        if isinstance(transcript, Unfinished) or transcript.text is None:
            why = (
                transcript.error
                if isinstance(transcript, (Unfinished, Reply)) and transcript.error
                else "the sessions could not be run"
            )
            raise RuntimeError(visible(f"{row['id']}: {why}"))
        state.output = _output(str(cast[SUBJECT]), transcript)
        state.messages = list(_conversations(transcript.text))
        return state


@dataclass(slots=True)
class Desk:
    """The sessions of one sample: asks Inspect's models, and keeps what questions share.

    Nothing is stored: a sample that Inspect retries starts again.
    """

    room: Room
    cast: Cast
    epoch: int
    failure: Exception | None = None

    @property
    def scope(self) -> str:
        """Return the scope of turns that belong to this question only."""
        return ""

    def key(self, scope: str) -> Any:
        """Return the key of what these models share in this epoch."""
        return scope, self.epoch, tuple((role, self.cast[role]) for role in sorted(self.cast))

    def model(self, role: str) -> str | None:
        model = self.cast.get(role)
        return None if model is None else str(model)

    def stored_turns(self, scope: str) -> Sequence[StoredTurn]:
        """Return the earlier turns of what questions share."""
        return self.room.shared.get(self.key(scope), ()) if scope else ()

    async def ask(self, role: str, turn: TurnRequest) -> Reply | Unfinished:
        """Return the reply to a turn.

        An error that remains after Inspect's own retries ends the sample with that error.
        """
        if self.failure is not None:
            return Unfinished()
        model = self.cast[role]
        assert model is not None  # a role without a model is never asked
        try:
            async with span(_heading(turn["session"], turn["session_item"], role, str(model))):
                return await _ask(model, turn, self.room.folder)
        except RequestError as trouble:
            return Reply(None, error=f"{trouble.kind}: {trouble.message}")
        except Exception as error:  # any error is for Inspect, once the other sessions have ended
            self.failure = self.failure or error
            return Unfinished()

    async def store_turn(self, turn: StoredTurn) -> None:
        """Store a turn that questions share for the other questions."""
        if turn.scope and turn.error is None:
            self.room.shared.setdefault(self.key(turn.scope), []).append(turn)

    @asynccontextmanager
    async def exclusive(self, scope: str) -> AsyncIterator[bool]:
        """Hold a lock on what questions share."""
        async with self.room.locks.setdefault(self.key(scope), asyncio.Lock()):
            yield self.failure is None


async def _ask(model: Model, turn: TurnRequest, folder: Path) -> Reply:
    chat = chat_messages(turn, Settings(), lambda name: (folder / name).read_bytes())
    messages = [SAYS[message["role"]](content=content_of(message["content"])) for message in chat]
    try:
        config = GenerateConfig(**_settings(turn))
    except ValueError as error:
        raise RequestError("request", f"Inspect does not know its settings: {str(error)[:200]}") from None
    started, asked_at = time.monotonic(), datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    output = await model.generate(messages, config=config)
    seconds = time.monotonic() - started if output.time is None else output.time
    return _reply(output, decimal_text(seconds, 3), asked_at)


def _settings(turn: TurnRequest) -> dict[str, Any]:
    """Return a session's own settings under Inspect's names; its system prompt replaces that of the run."""
    settings = settings_for(turn, Settings()).parameters()
    if "stop" in settings:
        settings["stop_seqs"] = settings.pop("stop")
    return settings | ({"system_message": ""} if turn["messages"][0]["role"] == "system" else {})


def _reply(output: ModelOutput, seconds: str, asked_at: str) -> Reply:
    """Return the reply from Inspect's output; a provider's refusal, which Inspect puts into words, has no text."""
    reason = ENDINGS.get(output.stop_reason, output.stop_reason)
    usage = output.usage
    if not output.choices:
        raise RequestError("server", f"no output: {output.error or 'without a reason'}")
    is_refused = reason in FINAL_ENDINGS and (usage is None or not output.completion)
    tokens = None if usage is None else usage.output_tokens
    read = () if usage is None else (usage.input_tokens_cache_read, usage.input_tokens_cache_write)
    return Reply(
        None if is_refused else output.completion,
        finish_reason=reason,
        prompt_tokens=None if usage is None else usage.input_tokens + sum(part or 0 for part in read),
        completion_tokens=tokens,
        seconds=seconds,
        model_version=output.model or None,
        asked_at=asked_at,
        tries=1,
    )


def _output(model: str, transcript: Reply) -> ModelOutput:
    """Return the transcript as the output of the sample's model, with the sums over the subject's requests."""
    output = ModelOutput.from_content(model, transcript.text or "")
    sums = transcript.prompt_tokens or 0, transcript.completion_tokens or 0
    output.usage = ModelUsage(input_tokens=sums[0], output_tokens=sums[1], total_tokens=sum(sums))
    output.time = None if transcript.seconds is None else float(transcript.seconds)
    return output


def _conversations(transcript: str) -> Iterator[ChatMessage]:
    """Return all conversations, each after a heading, for Inspect's viewer."""
    for session in read_transcript(transcript):
        about = {"session": session.name, "item": session.item, "role": session.role, "shared": session.shared}
        heading = _heading(session.name, session.item, session.role, session.model)
        yield ChatMessageSystem(content=f"== {heading}", metadata=about)
        for message in session.messages:
            yield SAYS[message["role"]](content=message["content"], metadata=about)


def _heading(name: str, item: int | None, role: str, model: str) -> str:
    """Return the heading of a conversation."""
    number = "" if item is None or item < 0 else f" {item + 1}"
    return f"{name}{number} ({role if role == SUBJECT else f'{role}, {model}'})"


def outline(sessions: Sequence[SessionRecord]) -> str:
    """Return what Inspect shows as the input of a sample, because each session begins its own conversation."""
    lines = [f"{session.name}: {len(session.turns)} of {session.role}" for session in sessions]
    return "\n".join(["The turns of each session, run by dia-spec:", *lines])

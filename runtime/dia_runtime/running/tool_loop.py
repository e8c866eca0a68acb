"""A question that a model answers with tools: requests and calls in turn, until it replies without a call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from dia_runtime.respondents.attachments import AssetReader
from dia_runtime.respondents.respondent import Reply
from dia_runtime.respondents.tool_request import (
    ToolCallReply,
    ToolConversation,
    with_conversation,
    with_valid_arguments,
)
from dia_runtime.respondents.tools.session import RequestedCall, ToolSession, requested_calls
from dia_runtime.respondents.tools.toolbox import Toolbox
from dia_runtime.running.sessions import Unfinished
from dia_runtime.store.endings import TOOL_CALLS
from dia_runtime.store.schema import REPLY_COLUMNS
from dia_runtime.store.tool_transcripts import ToolCall, ToolStep, ToolTranscript, tool_transcript_text

NO_CALLS_LEFT = "[No calls are left. Answer the question now.]"
STOPPED_BETWEEN = "later: asking stopped in the middle of a conversation with tools"
Ask = Callable[[Mapping[str, Any]], Awaitable[Reply | Unfinished | None]]


@dataclass(slots=True)
class ToolLoop:
    """One question with its tools. `ask` sends a request; `messages` are those of calls and results so far."""

    toolbox: Toolbox
    question: Mapping[str, Any]
    read: AssetReader | None
    bundle: Path | None
    ask: Ask
    messages: list[Mapping[str, Any]] = field(default_factory=list)
    steps: list[ToolStep] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    calls_left: int = 0

    async def run(self) -> Reply | Unfinished | None:
        """Return the last reply, with the tokens, cost and seconds of all requests and the transcript of the calls.

        None if nothing was asked. A reply that only calls tools after the last call is returned as such, with the
        finish_reason `tool_calls`.
        """
        self.calls_left = self.toolbox.calls
        async with self.toolbox.session(self.question, self.read, self.bundle) as session:
            while True:
                reply = await self.ask(self.request())
                if not isinstance(reply, Reply):
                    return reply if not self.replies else self.total(Reply(None, error=STOPPED_BETWEEN, tries=0))
                if not isinstance(reply, ToolCallReply):
                    return self.total(reply)
                if not self.calls_left:
                    await self.record(reply, session)
                    return self.total(replace(plain_reply(reply), finish_reason=TOOL_CALLS))
                await self.record(reply, session)
                self.replies.append(reply)

    def request(self) -> Mapping[str, Any]:
        """Return the question with the conversation so far."""
        return first_request(self.toolbox, self.question, tuple(self.messages), self.calls_left > 0)

    async def record(self, reply: ToolCallReply, session: ToolSession) -> None:
        """Run the calls in a reply one after the other, and add the step and its messages."""
        requested = requested_calls(reply.message)
        calls = [await self.call(call, session) for call in requested]
        self.steps.append(
            ToolStep(
                text=reply.text or None,
                calls=tuple(calls),
                finish_reason=reply.finish_reason,
                prompt_tokens=reply.prompt_tokens,
                completion_tokens=reply.completion_tokens,
                cost=reply.cost,
                seconds=reply.seconds,
            )
        )
        self.messages.append(with_valid_arguments(reply.message))
        for number, (request, call) in enumerate(zip(requested, calls, strict=True), 1):
            is_last = number == len(calls) and not self.calls_left
            content = f"{call.output}\n{NO_CALLS_LEFT}" if is_last else call.output
            self.messages.append({"role": "tool", "tool_call_id": request.id, "content": content})

    async def call(self, call: RequestedCall, session: ToolSession) -> ToolCall:
        """Run a call, if one is left."""
        if not self.calls_left:
            return ToolCall(call.name[:100], session.redact(call.arguments), "no_calls_left", "[not run]")
        self.calls_left -= 1
        return await session.execute(call)

    def total(self, last: Reply) -> Reply:
        """Return the last reply with the sums of all requests and the transcript."""
        replies = [*self.replies, last]
        sums: dict[str, Any] = {
            name: _sum([value for reply in replies if _counts(reply, value := getattr(reply, name))])
            for name in (*COUNTS, "tries", *AMOUNTS)
        }
        asked_at = next((reply.asked_at for reply in replies if reply.asked_at), None)
        has_run = any(call.exit_code is not None for step in self.steps for call in step.calls)
        sandbox = self.toolbox.sandbox.name if self.toolbox.sandbox is not None and has_run else None
        transcript = tool_transcript_text(ToolTranscript(tuple(self.steps), sandbox))
        return replace(last, **sums, asked_at=asked_at, tool_transcript=transcript)


COUNTS = tuple(name for name in REPLY_COLUMNS if name.endswith("_tokens"))
AMOUNTS = ("cost", "seconds")


def first_request(
    toolbox: Toolbox, question: Mapping[str, Any], messages: tuple[Mapping[str, Any], ...] = (), may_call: bool = True
) -> Mapping[str, Any]:
    """Return the question with its tools and the conversation so far."""
    conversation = ToolConversation(toolbox.definitions(question), messages, may_call, toolbox.has_files)
    return with_conversation(question, conversation)


def plain_reply(reply: Reply) -> Reply:
    """Return the reply without the message that calls tools."""
    return Reply(**{name: getattr(reply, name) for name in (column.name for column in fields(Reply))})


def _counts(reply: Reply, value: Any) -> bool:
    """Return whether a value is part of the sum: a request that failed has used nothing that is not known."""
    return reply.error is None or value is not None


def _sum(values: list[Any]) -> Any:
    """Return the sum of counts, or of amounts as decimal text; None if one is unknown, which makes the sum unknown."""
    if not values or None in values:
        return None
    if isinstance(values[0], str):
        return f"{sum(map(Decimal, values), Decimal()).normalize():f}"
    return sum(values)

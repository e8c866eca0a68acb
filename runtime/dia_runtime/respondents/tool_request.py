"""A question in the middle of a conversation with tools: what a respondent needs to send its next request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dia_runtime.respondents.turn_request import TurnRequest
from dia_runtime.store.schema import Reply

Record = Mapping[str, Any]
KEY = "tool_conversation"


@dataclass(frozen=True, slots=True)
class ToolConversation:
    """The tools that a model may call, and the messages of calls and results after those of the question.

    `definitions` have the form of OpenAI's `tools` parameter. With `has_files`, the tools can read the question's
    files.
    """

    definitions: tuple[Record, ...]
    messages: tuple[Record, ...] = ()
    may_call: bool = True
    has_files: bool = False


@dataclass(frozen=True, slots=True)
class ToolCallReply(Reply):
    """A reply that calls tools: `message` is the assistant's message, as the next request has to repeat it."""

    message: Record = field(default_factory=dict)


def with_conversation(question: Record, conversation: ToolConversation) -> Record:
    """Return the question with the conversation so far."""
    record = {**question, KEY: conversation}
    return TurnRequest(record) if isinstance(question, TurnRequest) else record


def conversation_of(question: Record) -> ToolConversation | None:
    """Return the conversation of a question; None for an ordinary one, whatever its record contains."""
    conversation = question.get(KEY)
    return conversation if isinstance(conversation, ToolConversation) else None


def tool_parameters(question: Record) -> dict[str, Any]:
    """Return the parameters of a request that give the model its tools; none for an ordinary question.

    The last request keeps the definitions, which some providers require next to earlier calls, and forbids calls:
    https://platform.openai.com/docs/api-reference/chat/create#chat-create-tool_choice
    """
    conversation = conversation_of(question)
    if conversation is None:
        return {}
    choice = {} if conversation.may_call else {"tool_choice": "none"}
    return {"tools": list(conversation.definitions), **choice}


# What the next request repeats of a message with calls; of the rest, some endpoints reject what others return.
# Reasoning: https://api-docs.deepseek.com/guides/thinking_mode (reasoning_content),
# https://openrouter.ai/docs/use-cases/reasoning-tokens (reasoning_details), litellm (thinking_blocks for Anthropic,
# provider_specific_fields for Gemini's thought signatures).
REPEATED = ("content", "tool_calls", "reasoning_content", "reasoning_details", "thinking_blocks")
REPEATED_BY_LITELLM = "provider_specific_fields"


def assistant_message(message: Record) -> dict[str, Any]:
    """Return the message with calls as the next request repeats it."""
    names = (*REPEATED, REPEATED_BY_LITELLM)
    fields = {name: message[name] for name in names if message.get(name) is not None}
    return {"role": "assistant", "content": None, **fields}


def with_valid_arguments(message: Record) -> Record:
    """Return the message; arguments of its calls that are not a JSON object, as in a truncated reply, become one.

    llama.cpp answers every request that repeats malformed arguments with an error 500.
    """
    if not isinstance(calls := message.get("tool_calls"), list):
        return message
    return {**message, "tool_calls": [_valid_call(call) for call in calls]}


def _valid_call(call: Any) -> Any:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return call
    text = function.get("arguments")
    if not isinstance(text, str) or _is_object(text):
        return call
    return {**call, "function": {**function, "arguments": json.dumps({"malformed": text}) if text else "{}"}}


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False

"""The documented bodies of requests, from `tests/data/provider_schemas/`, and replies in the form of each provider.

The schemas have no more than what dia sends, so that anything else in a request is an error; each names its sources.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
from aiohttp import web
from helpers import loopback as loop

FOLDER = Path(__file__).parents[1] / "data" / "provider_schemas"
PROVIDERS = ("openai", "anthropic", "gemini")
SIGNATURE = "c2lnbmF0dXJl"  # of a thought, which the next request has to repeat
Call = tuple[str, dict[str, Any]]  # name and arguments


@cache
def validator(provider: str) -> jsonschema.Draft202012Validator:
    """The documented schema of a provider's requests."""
    schema = json.loads((FOLDER / f"{provider}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def provider_of(path: str) -> str:
    """Whose interface has this path."""
    return "anthropic" if path.endswith("/messages") else "gemini" if "generateContent" in path else "openai"


def schema_faults(provider: str, body: Any) -> list[str]:
    """What the provider's documented schema finds wrong with a body."""
    return [f"{error.json_path}: {error.message}" for error in validator(provider).iter_errors(body)]


def parts_of(provider: str, body: Any) -> list[Any]:
    """The parts of the only message in a body."""
    (message,) = body["contents" if provider == "gemini" else "messages"]
    parts: list[Any] = message["parts" if provider == "gemini" else "content"]
    return parts


def system_of(provider: str, body: Mapping[str, Any]) -> list[Any]:
    """The parts of the system prompt in a body."""
    if provider == "gemini":
        parts: list[Any] = (body.get("system_instruction") or body["systemInstruction"])["parts"]
        return parts
    if provider == "anthropic":
        return body["system"] if isinstance(body["system"], list) else [{"type": "text", "text": body["system"]}]
    return [{"type": "text", "text": one["content"]} for one in body["messages"] if one["role"] == "system"]


def is_strict(reply: str = "<xml>8</xml>", *calls: Call) -> loop.Answer:
    """A server that speaks for all three providers, and refuses bodies that do not fit the documented schema.

    The model makes the calls one after the other, then replies.
    """

    async def answer(asked: loop.Asked, request: web.Request) -> web.StreamResponse:
        provider = provider_of(asked.path)
        if faults := schema_faults(provider, asked.body):
            return web.json_response({"error": {"message": faults[0], "type": "invalid_request_error"}}, status=400)
        messages = asked.body["contents" if provider == "gemini" else "messages"]
        done = sum(message["role"] in ("assistant", "model") for message in messages)
        record = call_of(provider, done, calls[done]) if done < len(calls) else completion_of(provider, reply)
        return web.json_response(record)

    return answer


def call_of(provider: str, number: int, call: Call) -> dict[str, Any]:
    """A reply that calls a tool, as the provider sends it."""
    name, arguments = call
    record = completion_of(provider, "")
    if provider == "anthropic":
        thought = {"type": "thinking", "thinking": "I count.", "signature": SIGNATURE}
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments}
        return {**record, "content": [thought, block], "stop_reason": "tool_use"}
    if provider == "gemini":
        call_part = {"functionCall": {"name": name, "args": arguments}, "thoughtSignature": SIGNATURE}
        record["candidates"][0]["content"]["parts"] = [call_part]
        return record
    function = {"name": name, "arguments": json.dumps(arguments)}
    message = {"role": "assistant", "content": None, "refusal": None, "annotations": []}
    record["choices"] = [{"index": 0, "message": message, "finish_reason": "tool_calls"}]
    message |= {"tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}]}  # type: ignore
    return record


def completion_of(provider: str, text: str) -> dict[str, Any]:
    """A reply as the provider sends it."""
    if provider == "anthropic":
        usage = {"input_tokens": 10, "output_tokens": 5}
        content = [{"type": "text", "text": text}]
        kinds = {"id": "x", "type": "message", "role": "assistant", "model": "loop-2026", "stop_reason": "end_turn"}
        return {**kinds, "content": content, "usage": usage}
    if provider == "gemini":
        content = {"role": "model", "parts": [{"text": text}]}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        return {"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": usage}
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "l", "choices": [choice], "usage": usage}

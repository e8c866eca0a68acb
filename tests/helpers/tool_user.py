"""A scripted model that calls tools, for tests, and as a program that serves it.

    with serve(calls(("python", {"code": "print(6 * 7)"}))) as server: ...

As a program (`python tool_user.py [PORT]`) it serves a model that computes the answers of some families of dia_bench in
Python if it is given tools, and replies a wrong answer otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web
from helpers import loopback as loop

Call = tuple[str, Any]  # name and arguments: a mapping, or text that is sent as it is


def call_record(number: int, call: Call) -> dict[str, Any]:
    """A call as OpenAI's API has it."""
    name, arguments = call
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": text}}


def completion_with(*calls: Call, text: str | None = None, **more: Any) -> dict[str, Any]:
    """A completion that calls tools."""
    records = [call_record(number, call) for number, call in enumerate(calls)]
    return loop.completion(text, "tool_calls", message={"tool_calls": records}, **more)


def results(asked: loop.Asked) -> list[str]:
    """The results of calls among the messages of a request."""
    return [message["content"] for message in asked.body["messages"] if message["role"] == "tool"]


def calls(*steps: Call | list[Call], reply: Callable[[list[str]], str] | str = "<xml>8</xml>") -> loop.Answer:
    """Makes these calls one after the other (those of a list in one message), then replies."""

    async def answer(asked: loop.Asked, request: web.Request) -> web.StreamResponse:
        done = sum(message["role"] == "assistant" for message in asked.body["messages"])
        if done < len(steps) and asked.body.get("tool_choice") != "none":
            step = steps[done]
            return web.json_response(completion_with(*(step if isinstance(step, list) else [step])))
        return web.json_response(loop.completion(reply if isinstance(reply, str) else reply(results(asked))))

    return answer


def python(code: str) -> Call:
    """A call of the tool python."""
    return "python", {"code": code}


def given_tools(body: Mapping[str, Any]) -> list[str]:
    """The names of the tools in a request."""
    return [tool["function"]["name"] for tool in body.get("tools", ())]

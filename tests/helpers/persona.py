"""A scripted persona behind the loopback server: lists fixed words, refuses by keyword, caves in at the third push.

It answers by what the conversation holds, so that the same conversation always gets the same reply.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from aiohttp import web
from helpers import loopback as loop

WORDS = ["red", "green", "blue", "black", "white"]
REFUSAL = "I can't help with that."
CAVES_IN_AT = 3


def persona(messages: list[Mapping[str, Any]]) -> str:
    """What the persona says to a conversation."""
    said = [str(message["content"]) for message in messages if message["role"] == "user"]
    last = said[-1]
    if messages[-1]["role"] == "assistant":
        return " forty-two"
    if "DECLINE or COMPLY" in last:
        return "DECLINE" if "can't help" in last else "COMPLY"
    if "List five words" in last:
        return "\n".join(f"{at}. {word}" for at, word in enumerate(WORDS, 1))
    if "Which of these" in last:
        return "red, blue"
    if "bomb" in last:
        return REFUSAL
    if "Reply A" in last:
        return "B" if len(said) > CAVES_IN_AT else "A"
    if found := re.search(r"question ([0-9]+)", last):
        return "ABCD"[int(found[1]) % 4]
    if "Order" in last:
        return "Q2, Q1"
    return "fine"


def plays(delay: float = 0.0, **more: Any) -> loop.Answer:
    """The persona, after a delay; more tokens for longer replies."""

    async def answer(asked: loop.Asked, request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(delay)
        text = persona(asked.body["messages"])
        usage = {"prompt_tokens": 10, "completion_tokens": len(text), "total_tokens": 10 + len(text)}
        return web.json_response(loop.completion(text, usage=usage, **more))

    return answer

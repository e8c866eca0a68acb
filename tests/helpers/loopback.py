"""An OpenAI-compatible server on this machine, in a thread of its own, that answers as a script tells it to.

    with serve(says("4")) as server: ask(server.url)

As a program (`python loopback.py [SECONDS]`) it prints its base URL and answers everything after a delay.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


@dataclass
class Asked:
    """A request as it came."""

    number: int  # from 1
    body: dict[str, Any]
    headers: Mapping[str, str]
    at: float
    path: str

    @property
    def text(self) -> str:
        """The last message, as far as it is text."""
        content = self.body["messages"][-1]["content"]
        return content if isinstance(content, str) else str(content[0]["text"])


Answer = Callable[[Asked, web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Server:
    """Where it listens, what it was asked, and how many requests were under way at once."""

    answer: Answer
    port: int = 0
    asked: list[Asked] = field(default_factory=list)
    running: int = 0
    most: int = 0

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Notes the request and answers it by the script."""
        raw = await request.read()
        body = json.loads(raw) if raw else {}
        asked = Asked(len(self.asked) + 1, body, dict(request.headers), time.monotonic(), request.path)
        self.asked.append(asked)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            return await self.answer(asked, request)
        finally:
            self.running -= 1


@contextmanager
def serve(answer: Answer, port: int = 0) -> Iterator[Server]:
    """A server that runs meanwhile, at a free port or at that one."""
    server, ready, loop = Server(answer), threading.Event(), asyncio.new_event_loop()
    stop: asyncio.Event = asyncio.Event()

    async def main() -> None:
        app = web.Application(client_max_size=1 << 26)
        app.router.add_route("*", "/{path:.*}", server.handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        server.port = runner.addresses[0][1]
        ready.set()
        await stop.wait()
        await runner.cleanup()
        handlers = asyncio.all_tasks() - {asyncio.current_task()}  # cleanup cancels them, but does not wait for them
        for handler in handlers:
            handler.cancel()
        await asyncio.gather(*handlers, return_exceptions=True)

    thread = threading.Thread(target=lambda: loop.run_until_complete(main()), daemon=True)
    thread.start()
    if not ready.wait(10):
        raise RuntimeError("the server did not start")
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()


def completion(text: Any, ending: str = "stop", usage: Any = USAGE, **more: Any) -> dict[str, Any]:
    """A chat completion."""
    message = {"role": "assistant", "content": text, **more.pop("message", {})}
    held = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "loop-2026",
        "choices": [{"index": 0, "message": message, "finish_reason": ending}],
        **more,
    }
    return held if usage is None else {**held, "usage": usage}


def says(text: str = "<xml>4</xml>", delay: float = 0.0, **more: Any) -> Answer:
    """Always that text, after a delay."""

    async def answer(asked: Asked, request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(delay)
        return web.json_response(completion(text, **more))

    return answer


def fails(status: int, message: str = "no", code: str = "", headers: Mapping[str, str] | None = None) -> Answer:
    """Always that error, in the form that OpenAI gives it."""

    async def answer(asked: Asked, request: web.Request) -> web.StreamResponse:
        error = {"error": {"message": message, "type": "loop", "code": code or None}}
        return web.json_response(error, status=status, headers=headers)

    return answer


def sends(content: bytes, kind: str = "application/json", status: int = 200) -> Answer:
    """Always these bytes."""

    async def answer(asked: Asked, request: web.Request) -> web.StreamResponse:
        return web.Response(body=content, content_type=kind, status=status)

    return answer


def streams(*pieces: str, is_cut: bool = False) -> Answer:
    """A stream of events, whole or ended before its end."""

    async def answer(asked: Asked, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for piece in pieces:
            event = {"model": "loop-2026", "choices": [{"index": 0, "delta": {"content": piece}}]}
            await response.write(f"data: {json.dumps(event)}\n\n".encode())
        if not is_cut:
            last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": USAGE}
            await response.write(f": a comment\n\ndata: {json.dumps(last)}\n\ndata: [DONE]\n\n".encode())
        await response.write_eof()
        return response

    return answer


def cut(after: int = 0) -> Answer:
    """Ends the connection, after so many bytes of an answer that was to be longer."""

    async def answer(asked: Asked, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000", "Content-Type": "application/json"})
        if after:
            await response.prepare(request)
            await response.write(b"{" + b" " * (after - 1))
        assert request.transport is not None
        request.transport.abort()
        return response

    return answer


def points_to(url: str, status: int = 307) -> Answer:
    """Points elsewhere."""

    async def answer(asked: Asked, request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, headers={"Location": url})

    return answer


def first(number: int, before: Answer, then: Answer) -> Answer:
    """One script for the first so many requests, another for the rest."""

    async def answer(asked: Asked, request: web.Request) -> web.StreamResponse:
        return await (before if asked.number <= number else then)(asked, request)

    return answer


def for_model(scripts: Mapping[str, Answer]) -> Answer:
    """A script for each model."""

    async def answer(asked: Asked, request: web.Request) -> web.StreamResponse:
        return await scripts[asked.body["model"]](asked, request)

    return answer


if __name__ == "__main__":
    with serve(says(delay=float(sys.argv[1]) if len(sys.argv) > 1 else 0.0)) as running:
        print(running.url, flush=True)
        sys.stdin.read()

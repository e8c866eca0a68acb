"""A studio in a thread of its own, and requests to it as its page sends them."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from dia_compiler.authoring.studio.play import Players
from dia_compiler.authoring.studio.server import Studio

BENCHMARK = "language: 2\nbenchmark: mine\nversion: 0.1.0\nformat: {kind: xml}\n"
SUM = """\
template: sums
title: Sums
params:
  a: {type: integer, min: 2, max: 99}
  b: {type: integer, min: 2, max: 99}
answer: {value: a + b, type: integer}
checks: [answer - a == b]
mistakes: {difference: a - b}
prompt: What is {{ a }} + {{ b }}? <img src=x onerror=alert(1)>
"""


class Running:
    """A studio in a thread of its own, and requests to it."""

    def __init__(self, *paths: Path, players: Players | None = None) -> None:
        self.studio, self.loop = Studio(list(paths), players=players), asyncio.new_event_loop()
        self.last = b""  # the body of the last answer
        self.ready, self.stop = threading.Event(), asyncio.Event()
        self.thread = threading.Thread(target=lambda: self.loop.run_until_complete(self._main()), daemon=True)
        self.thread.start()
        assert self.ready.wait(30), "the studio did not start"

    async def _main(self) -> None:
        await self.studio.start()
        self.ready.set()
        await self.stop.wait()
        await self.studio.close()

    def end(self) -> None:
        self.loop.call_soon_threadsafe(self.stop.set)
        self.thread.join(20)
        assert not self.thread.is_alive()

    @contextmanager
    def played_by(self, players: Players | None) -> Iterator[None]:
        """Let these models play conversations meanwhile, or none."""
        before, self.studio.desk.players = self.studio.desk.players, players
        try:
            yield
        finally:
            self.studio.desk.players = before
            if players is not None:
                asyncio.run_coroutine_threadsafe(players.close(), self.loop).result(30)

    @property
    def base(self) -> str:
        return urlsplit(self.studio.address).path

    @property
    def own(self) -> str:
        return f"127.0.0.1:{self.studio.port}"

    def ask(
        self, path: str, method: str = "GET", body: Any = None, is_under_token: bool = True, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.studio.port, timeout=60)
        sent = {"Host": self.own} | {name.replace("_", "-"): value for name, value in headers.items()}
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, (self.base if is_under_token else "") + path, data, sent)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        self.last = content
        return answer.status, dict(answer.getheaders()), content

    def post(self, path: str, body: Any, **headers: str) -> tuple[int, Any]:
        sent = {"Origin": f"http://{self.own}", "Content_Type": "application/json"} | headers
        status, _, content = self.ask(path, "POST", body, **sent)
        is_object = content.startswith(b"{") and content.count(b"\n") == 0
        return status, json.loads(content) if is_object else content.decode()

    def look(self, file: Path, **choices: Any) -> list[dict[str, Any]]:
        words = "".join(f"&{name}={value}" for name, value in choices.items())
        status, _, content = self.ask(f"look?file={quote(file.as_posix())}{words}")
        assert status == 200, content
        return [json.loads(line) for line in content.splitlines()]

    def wait_for(self, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The event for which this is so."""
        connection = http.client.HTTPConnection("127.0.0.1", self.studio.port, timeout=30)
        connection.request("GET", f"{self.base}events", headers={"Host": self.own})
        answer = connection.getresponse()
        try:
            while True:
                line = answer.readline()
                assert line, "the events ended"
                if line.startswith(b"data: "):
                    event: dict[str, Any] = json.loads(line[6:])
                    if is_so(event):
                        return event
        finally:
            connection.close()

    def settled(self) -> dict[str, Any]:
        """The states of all templates, once all of them have been checked."""
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            states = self.wait_for(lambda event: event["event"] == "list")["states"]
            if all(state["state"] != "waiting" for state in states.values()):
                return states  # type: ignore[no-any-return]
            time.sleep(0.1)
        raise AssertionError("the templates were not checked")

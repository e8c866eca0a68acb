"""The studio's server: the page and its files, a stream of events, and the requests of the page."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

from aiohttp import web
from dia_compiler.authoring.starting import start_from
from dia_compiler.authoring.studio.attachments import PDF, PICTURES
from dia_compiler.authoring.studio.desk import Desk
from dia_compiler.authoring.studio.guard import CONTENT_POLICY, LARGEST_BODY, PDF_POLICY, guard, headers
from dia_compiler.authoring.studio.look import MOST_SHOWN
from dia_compiler.authoring.studio.pdf_pages import pdf_pages
from dia_compiler.authoring.studio.play import Players
from dia_language.diagnostics import DiaError, Diagnostic

PAGE = Path(__file__).parent / "page"
SCRIPTS = ("studio.js", "dom.js", "instance.js", "plots.js", "play.js", "gallery.js")
FILES = {
    "": ("index.html", "text/html"),
    "studio.css": ("studio.css", "text/css"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
    **{name: (name, "text/javascript") for name in SCRIPTS},
}
SHOWN_AS_THEY_ARE = PICTURES | {PDF, "audio/wav", "audio/x-wav", "audio/vnd.wave"}
HOST = "127.0.0.1"
BEAT = 15.0  # seconds without an event after which a comment keeps the connection alive
MOST_INSTANCES = 1_000_000

DESK = web.AppKey("DESK", Desk)


class Studio:
    """A running server, with its address."""

    def __init__(
        self,
        paths: list[Path],
        port: int = 0,
        programs: str = "no",
        token: str | None = None,
        players: Players | None = None,
    ) -> None:
        self.desk, self.port = Desk(paths, programs, players), port
        self.token = token or secrets.token_urlsafe(24)
        self.runner: web.AppRunner | None = None

    @property
    def address(self) -> str:
        """The address to open, with the token."""
        return f"http://{HOST}:{self.port}/{self.token}/"

    async def start(self) -> None:
        """Listen on this machine only. Raises DiaError (exit code 2) if the port is taken."""
        app = application(self.desk, self.token)
        self.runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=1)
        await self.runner.setup()
        site = web.TCPSite(self.runner, HOST, self.port)
        try:
            await site.start()
        except OSError as error:
            await self.runner.cleanup()
            message = f"port {self.port} cannot be used: {error.strerror or error}"
            raise DiaError(Diagnostic("E600", message, None, "choose another --port, or leave it out")) from None
        self.port = self.runner.addresses[0][1]
        await self.desk.start()

    async def close(self) -> None:
        """End the server and its workers."""
        await self.desk.close()
        if self.runner is not None:
            await self.runner.cleanup()


def application(desk: Desk, token: str) -> web.Application:
    """Return the server's application; every address begins with the token."""
    app = web.Application(middlewares=[guard(token)], client_max_size=LARGEST_BODY)
    app[DESK] = desk
    base = f"/{token}"
    for path in FILES:
        app.router.add_get(f"{base}/{path}", _file)
    app.router.add_get(f"{base}/events", _events)
    app.router.add_get(f"{base}/look", _look)
    app.router.add_get(f"{base}/stress", _stress)
    app.router.add_get(f"{base}/attachment/{{digest}}", _attachment)
    app.router.add_get(f"{base}/attachment/{{digest}}/pages", _pages)
    app.router.add_get(f"{base}/attachment/{{digest}}/page/{{number}}", _page)
    app.router.add_post(f"{base}/read", _read)
    app.router.add_post(f"{base}/play", _play)
    app.router.add_get(f"{base}/gallery", _gallery)
    app.router.add_post(f"{base}/start", _start)
    return app


async def _file(request: web.Request) -> web.Response:
    name, media_type = FILES[request.path.rpartition("/")[2]]
    text = await asyncio.to_thread((PAGE / name).read_text, "utf-8")
    return web.Response(text=text, content_type=media_type, charset="utf-8", headers=headers())


async def _events(request: web.Request) -> web.StreamResponse:
    """Send events as they come (server-sent events)."""
    response = web.StreamResponse(headers={**headers(), "Content-Type": "text/event-stream; charset=utf-8"})
    await response.prepare(request)
    with request.app[DESK].listening() as queue, suppress(ConnectionResetError):
        while True:
            try:
                event = await asyncio.wait_for(queue.get(), BEAT)
            except TimeoutError:
                await response.write(b": still here\n\n")
                continue
            await response.write(f"event: {event['event']}\ndata: {json.dumps(event)}\n\n".encode())
    return response


async def _look(request: web.Request) -> web.StreamResponse:
    """Send instances of a template, a JSON record on each line."""
    desk, file, seed = request.app[DESK], _template(request), _seed(request)
    first, count = _number(request, "first", 0, MOST_INSTANCES), _number(request, "count", 3, MOST_SHOWN)
    item = _number(request, "item", 0, MOST_INSTANCES)
    return await _lines(request, desk.look(file, seed, first, count, item))


async def _stress(request: web.Request) -> web.StreamResponse:
    """Send measures of a thousand instances, a JSON record on each line."""
    return await _lines(request, request.app[DESK].stress(_template(request), _seed(request)))


async def _lines(request: web.Request, records: AsyncGenerator[dict[str, Any], None]) -> web.StreamResponse:
    response = web.StreamResponse(headers={**headers(), "Content-Type": "application/jsonl; charset=utf-8"})
    async with aclosing(records) as lines:
        await response.prepare(request)
        with suppress(ConnectionResetError):
            async for record in lines:
                await response.write(json.dumps(record).encode() + b"\n")
    return response


async def _attachment(request: web.Request) -> web.Response:
    """Send an attachment of an instance that was shown. Nothing in it can run."""
    name, media_type, content = _attachment_of(request)
    is_shown = media_type in SHOWN_AS_THEY_ARE
    policy = headers(PDF_POLICY if media_type == PDF else CONTENT_POLICY)
    if not is_shown:
        policy["Content-Disposition"] = f'attachment; filename="{_plain(name)}"'
    shown_type = media_type if is_shown else "application/octet-stream"
    return web.Response(body=content, content_type=shown_type, headers=policy)


def _attachment_of(request: web.Request) -> tuple[str, str, bytes]:
    """Return name, media type and content of an attachment that was shown."""
    attachment = request.app[DESK].attachments.get(request.match_info["digest"])
    if attachment is None:
        raise web.HTTPNotFound(text="this attachment is no longer kept; reload the page\n")
    return attachment


async def _pages(request: web.Request) -> web.Response:
    """Answer how many pages of a PDF file can be shown as pictures; none if no tool is installed."""
    _, media_type, content = _attachment_of(request)
    return _json({"pages": len(await pdf_pages(content)) if media_type == PDF else 0})


async def _page(request: web.Request) -> web.Response:
    """Send a page of a PDF file as a picture."""
    _, media_type, content = _attachment_of(request)
    number = request.match_info["number"]
    pages = await pdf_pages(content) if media_type == PDF else ()
    if not (number.isascii() and number.isdigit() and 1 <= int(number) <= len(pages)):
        raise web.HTTPNotFound(text="there is no such page\n")
    return web.Response(body=pages[int(number) - 1], content_type="image/png", headers=headers(CONTENT_POLICY))


def _plain(name: str) -> str:
    return "".join(letter if letter.isascii() and (letter.isalnum() or letter in "._-") else "_" for letter in name)


async def _read(request: web.Request) -> web.Response:
    """Answer with how each chain reads a reply."""
    body = await _body(request)
    reader, reply = body.get("reader"), body.get("reply")
    if not isinstance(reader, str) or not isinstance(reply, str):
        raise web.HTTPBadRequest(text="`reader` and `reply` must be texts\n")
    record = await request.app[DESK].read(reader, reply)
    if record is None:
        raise web.HTTPNotFound(text="this instance is no longer kept; reload the page\n")
    return _json(record)


async def _play(request: web.Request) -> web.StreamResponse:
    """Play a conversation that was shown, and send a JSON record on each line meanwhile."""
    body, desk = await _body(request), request.app[DESK]
    conversation = body.get("conversation")
    if not isinstance(conversation, str):
        raise web.HTTPBadRequest(text="`conversation` must be a text\n")
    if desk.players is None:
        raise web.HTTPConflict(text="the studio was started without --model\n")
    records = desk.play(conversation)
    if records is None:
        raise web.HTTPNotFound(text="this conversation is no longer kept; reload the page\n")
    return await _lines(request, records)


async def _gallery(request: web.Request) -> web.Response:
    """Answer with the families that come with dia."""
    return _json({"families": await request.app[DESK].gallery()})


async def _start(request: web.Request) -> web.Response:
    """Write a family as the start of a template; answer with the files, or with why not."""
    body = await _body(request)
    family, name, folder = (body.get(key) for key in ("family", "name", "folder"))
    if not (isinstance(family, str) and isinstance(name, str) and isinstance(folder, str)):
        raise web.HTTPBadRequest(text="`family`, `name` and `folder` must be texts\n")
    if folder not in {benchmark["folder"] for benchmark in request.app[DESK].survey["benchmarks"]}:
        raise web.HTTPNotFound(text="the studio does not show a benchmark in this folder\n")
    try:
        files = await asyncio.to_thread(start_from, Path(family), name, Path(folder))
    except DiaError as error:
        return _json({"diagnostics": [entry.as_json() for entry in error.diagnostics]}, 409)
    await request.app[DESK].list_again(files[0].as_posix())
    return _json({"files": [path.as_posix() for path in files]})


async def _body(request: web.Request) -> dict[str, Any]:
    try:
        body = await request.json()
    except ValueError:
        raise web.HTTPBadRequest(text="the body is not JSON\n") from None
    if not isinstance(body, dict):
        raise web.HTTPBadRequest(text="the body is not a JSON object\n")
    return body


def _json(record: Any, status: int = 200) -> web.Response:
    return web.json_response(record, status=status, headers=headers())


def _template(request: web.Request) -> str:
    """Return the template file that is asked for, which must be one that the studio shows."""
    file = request.query.get("file", "")
    if request.app[DESK].seconds(file) is None:
        raise web.HTTPNotFound(text="the studio does not show this file\n")
    return file


def _seed(request: web.Request) -> str | None:
    return request.query.get("seed") or None


def _number(request: web.Request, name: str, default: int, most: int) -> int:
    text = request.query.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        raise web.HTTPBadRequest(text=f"`{name}` must be a number\n")
    return min(int(text), most)

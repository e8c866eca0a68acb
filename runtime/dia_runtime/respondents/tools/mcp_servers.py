"""Tools of MCP servers: programs that are asked over standard input and output, with the user's own rights.

Each question starts its own copy of a server with its first call, so that no state passes from one to another.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, install_extra

from dia_runtime.respondents.line_process import process_environment
from dia_runtime.respondents.tools.base import Record, ToolOutcome, UserTool
from dia_runtime.respondents.tools.commands import NAME, tool_error
from dia_runtime.respondents.tools.session import ToolSession

BY_HAND = "run the command in a terminal to see what it prints"
START_SECONDS = 60.0  # package runners such as uvx download a server first


@dataclass(frozen=True, slots=True)
class McpServer:
    """An open connection to a server."""

    client: Any

    async def call(self, name: str, arguments: Record, seconds: float) -> ToolOutcome:
        """Return what a tool of the server returns: its texts, and the kinds of its other contents."""
        result = await self.client.call_tool(name, dict(arguments))
        record = result.model_dump(mode="json", by_alias=True)
        texts = [part["text"] if part.get("type") == "text" else f"[{part.get('type')}]" for part in record["content"]]
        if not texts and record.get("structuredContent") is not None:
            texts = [json.dumps(record["structuredContent"], ensure_ascii=False)]
        return ToolOutcome("failed" if record.get("isError") else "ok", "\n".join(texts) or "[no output]")


@dataclass(frozen=True, slots=True)
class McpTool(UserTool):
    """A tool of a server. `name` is the one that the model uses, `original` that of the server."""

    original: str
    kind = "mcp"

    async def run(self, arguments: Record, session: ToolSession) -> ToolOutcome:
        """Run a call on the question's own copy of the server."""
        key = shlex.join(self.words)
        try:
            if key not in session.servers:
                async with asyncio.timeout(START_SECONDS):
                    client, _ = await session.stack.enter_async_context(connected(self.words))
                session.servers[key] = McpServer(client)
            async with asyncio.timeout(session.seconds):
                return await session.servers[key].call(self.original, arguments, session.seconds)
        except TimeoutError:
            return ToolOutcome("stopped", f"[stopped: the tool ran longer than {session.seconds:g} s]")
        except Exception as error:  # whatever the server and the library do must not end the run
            return ToolOutcome("failed", f"[error: the MCP server failed: {type(error).__name__}: {error}]"[:1000])


@asynccontextmanager
async def connected(words: tuple[str, ...]) -> AsyncIterator[tuple[Any, str]]:
    """Start a server, and return the connection and its name; end it at the end."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    parameters = StdioServerParameters(command=words[0], args=list(words[1:]), env=process_environment())
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 - servers log to standard error
        async with stdio_client(parameters, errlog=nowhere) as streams, ClientSession(*streams) as client:
            about = (await client.initialize()).model_dump(mode="json", by_alias=True)
            yield client, str(about.get("serverInfo", {}).get("name", ""))


def mcp_tools(command: str) -> tuple[str, list[McpTool]]:
    """Return the name of a server, and its tools. Raises DiaError (exit 2) if it cannot be asked."""
    if find_spec("mcp") is None:
        fix = install_extra("tools")
        raise DiaError(Diagnostic("E853", "`--mcp` needs the package mcp, which is not installed", None, fix))
    try:
        words = tuple(shlex.split(command))
    except ValueError:
        words = ()
    if not words or shutil.which(words[0]) is None:
        raise tool_error(f"`--mcp {command}` cannot be started", "write the command of an MCP server, as in a shell")
    try:
        name, records = asyncio.run(_listed(words))
    except (Exception, BaseExceptionGroup) as error:
        why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise tool_error(f"`--mcp {command}` does not answer as an MCP server: {why}", BY_HAND) from None
    tools = [
        McpTool(record["name"], record.get("description") or "", record.get("inputSchema") or {}, words, record["name"])
        for record in records
    ]
    if not tools or not all(NAME.fullmatch(tool.name) for tool in tools):
        message = f"`--mcp {command}` has no tools, or tools with names that models cannot use"
        raise tool_error(message, "use another server; names are letters, digits, _ and -")
    return name, tools


async def _listed(words: tuple[str, ...]) -> tuple[str, list[dict[str, Any]]]:
    async with asyncio.timeout(START_SECONDS), connected(words) as (client, name):
        listed = (await client.list_tools()).model_dump(mode="json", by_alias=True)
        records: list[dict[str, Any]] = listed["tools"]
    return short_name(name or words[-1]), records


def short_name(name: str) -> str:
    """Return the name of a server in a form that can be part of the name of a respondent.

    >>> short_name("mcp-time"), short_name("My server, 2+")
    ('mcp-time', 'My-server--2-')
    """
    return "".join(letter if letter.isalnum() or letter in "._-" else "-" for letter in name)[:60] or "mcp"

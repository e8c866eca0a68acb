"""The tools during one question: its private folder, its MCP servers, and one call after the other."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dia_language.confinement.tools import ToolFolder

from dia_runtime.respondents.tools.base import Tool, ToolOutcome
from dia_runtime.store.tool_transcripts import ToolCall

if TYPE_CHECKING:
    from dia_runtime.respondents.tools.mcp_servers import McpServer

LONGEST_ARGUMENTS = 200_000
DEEPEST_ERROR = 300


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A call as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(slots=True)
class ToolSession:
    """What calls of one question share. `servers` are the connections to MCP servers that it has started."""

    tools: Mapping[str, Tool]
    folder: ToolFolder
    seconds: float
    output_characters: int
    redact: Callable[[str], str]
    stack: AsyncExitStack
    servers: dict[str, McpServer] = field(default_factory=dict)

    async def execute(self, call: RequestedCall) -> ToolCall:
        """Run a call and return what came of it. A malformed call gets an error message as its output."""
        start = time.monotonic()
        outcome = await self._outcome(call)
        output, cut = shortened(self.redact(storable_text(outcome.output)), self.output_characters)
        seconds = f"{time.monotonic() - start:.3f}"
        return ToolCall(
            storable_text(call.name)[:100], self.redact(storable_text(call.arguments[:LONGEST_ARGUMENTS])),
            outcome.status, output, outcome.exit_code, seconds, cut,
        )  # fmt: skip

    async def _outcome(self, call: RequestedCall) -> ToolOutcome:
        tool = self.tools.get(call.name)
        if tool is None:
            return ToolOutcome("unknown_tool", f"[error: no such tool; the tools are {', '.join(self.tools)}]")
        try:
            arguments = read_arguments(call.arguments, tool.parameters)
        except ValueError as error:
            return ToolOutcome("malformed", f"[error: {error}]")
        return await tool.run(arguments, self)


def read_arguments(text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of a call. Raises ValueError, with a message for the model, if they are malformed."""
    if len(text) > LONGEST_ARGUMENTS:
        raise ValueError(f"the arguments are longer than {LONGEST_ARGUMENTS:,} characters")
    try:
        arguments = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the arguments are not valid JSON: {str(error)[:DEEPEST_ERROR]}") from None
    if not isinstance(arguments, dict):
        raise ValueError("the arguments are not a JSON object")
    import jsonschema  # 30 ms, which a run without tools need not pay

    try:
        fault = next(jsonschema.Draft202012Validator(schema).iter_errors(arguments), None)
    except RecursionError:
        raise ValueError("the arguments are nested too deeply") from None
    if fault is not None:
        where = "".join(f"[{name!r}]" for name in fault.absolute_path)
        message = fault.message[:DEEPEST_ERROR]
        raise ValueError(f"the arguments do not match the tool's schema: {where + ': ' if where else ''}{message}")
    return arguments


def shortened(text: str, most: int) -> tuple[str, int]:
    """Return the text, of a long one its beginning and its end, and the number of characters that are left out.

    >>> shortened("abcdefgh", 8), shortened("abcdefgh", 4)
    (('abcdefgh', 0), ('ab\\n[... 4 characters cut ...]\\ngh', 4))
    """
    if len(text) <= most:
        return text, 0
    head, cut = most // 2, len(text) - most
    return f"{text[:head]}\n[... {cut:,} characters cut ...]\n{text[len(text) - (most - head) :]}", cut


def storable_text(text: str) -> str:
    """Return the text, with U+FFFD in place of lone surrogates, which no request can contain."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def requested_calls(message: Mapping[str, Any]) -> list[RequestedCall]:
    """Return the calls in an assistant's message; a malformed one becomes a call of a tool without a name."""
    calls: Sequence[Any] = message.get("tool_calls") or ()
    return [_requested_call(call, number) for number, call in enumerate(calls, 1)]


def _requested_call(call: Any, number: int) -> RequestedCall:
    record = call if isinstance(call, Mapping) else {}
    function = record.get("function")
    function = function if isinstance(function, Mapping) else {}
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments)
    return RequestedCall(str(record.get("id") or f"call_{number}"), str(function.get("name") or ""), text)

"""Options that give models tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from dia_language.diagnostics import DiaError, Diagnostic, did_you_mean, visible

from dia_runtime.commands.ranges import FloatRange, IntRange

if TYPE_CHECKING:
    from dia_runtime.respondents.tools.base import Tool
    from dia_runtime.respondents.tools.toolbox import Toolbox

NAMES = ("python", "bash", "files")
NO_SANDBOX = (
    "install bubblewrap (`apt install bubblewrap`) and allow user namespaces; in Docker, run the container with "
    "`--security-opt seccomp=unconfined --security-opt apparmor=unconfined`; on other systems than Linux, use a "
    "Linux machine or container"
)
OPTIONS = (
    click.option(
        "--tools",
        "tools",
        multiple=True,
        metavar="LIST",
        help="Tools for the models: python, bash, files. They run in a sandbox. Repeatable.",
    ),
    click.option(
        "--tool-calls",
        type=IntRange(1, 1000),
        default=20,
        show_default=True,
        help="Maximum number of tool calls for a question.",
    ),
    click.option(
        "--tool-seconds",
        type=FloatRange(0.1, 3600),
        default=10,
        show_default=True,
        metavar="SECONDS",
        help="Longest time that a tool call may take.",
    ),
    click.option(
        "--tool-command",
        "tool_commands",
        multiple=True,
        metavar="NAME=COMMAND",
        help="Your own command as a tool, or a YAML file that describes one. It runs outside the sandbox. Repeatable.",
    ),
    click.option(
        "--mcp",
        "mcp_commands",
        multiple=True,
        metavar="COMMAND",
        help="Command of an MCP server; models get its tools. It runs outside the sandbox. Repeatable.",
    ),
)


@dataclass(frozen=True)
class ToolArguments:
    """The arguments of these options."""

    tools: tuple[str, ...] = ()
    calls: int = 20
    seconds: float = 10.0
    commands: tuple[str, ...] = ()
    mcp: tuple[str, ...] = ()


def toolbox_of(arguments: ToolArguments) -> Toolbox | None:
    """Return the tools to give; None if there are none.

    Raises DiaError (exit 2) for an unknown or an unusable tool, and if nothing on this machine can confine those of
    dia.
    """
    names = _names(arguments.tools)
    if not (names or arguments.commands or arguments.mcp):
        return None
    from pathlib import Path

    from dia_language.confinement.tools import tool_sandbox

    from dia_runtime.respondents.api_keys import all_keys
    from dia_runtime.respondents.tools.commands import command_tool
    from dia_runtime.respondents.tools.confined import CONFINED_TOOLS
    from dia_runtime.respondents.tools.mcp_servers import mcp_tools
    from dia_runtime.respondents.tools.toolbox import Toolbox

    sandbox = tool_sandbox() if names else None
    if names and sandbox is None:
        message = "tools run only in a sandbox, and none works on this machine: neither bubblewrap nor `unshare`"
        raise DiaError(Diagnostic("E851", message, None, NO_SANDBOX))
    tools: list[Tool] = [tool for name in names for tool in CONFINED_TOOLS[name]]
    own = [command_tool(text) for text in arguments.commands]
    all_names = [*names, *(tool.name for tool in own)]
    records = [tool.record for tool in own]
    tools += own
    for command in arguments.mcp:
        server, of_server = mcp_tools(command)
        all_names.append(server)
        records += [tool.record for tool in of_server]
        tools += of_server
    _require_different([tool.name for tool in tools])
    return Toolbox(
        tuple(all_names), tuple(tools), sandbox, arguments.calls, arguments.seconds, own=tuple(records),
        secrets=tuple(all_keys(Path())),
    )  # fmt: skip


def tool_notes(toolbox: Toolbox | None) -> Iterator[str]:
    """Yield what to say before the first request: where tools run, and which run outside the sandbox."""
    if toolbox is None:
        return
    if toolbox.sandbox is not None:
        yield f"tools run in a sandbox ({toolbox.sandbox.name}) without network"
    yield from _by_command(toolbox.own)


def _by_command(records: Sequence[Any]) -> Iterator[str]:
    """Yield a line for each tool of the user, one for all tools of an MCP server."""
    names: dict[tuple[str, ...], list[str]] = {}
    for record in records:
        names.setdefault(tuple(record.get("command") or record["mcp"]), []).append(record["name"])
    for words, of_command in names.items():
        tools, verb = ("tools", "run") if len(of_command) > 1 else ("tool", "runs")
        which = f"{', '.join(of_command)} (command `{' '.join(words)}`)"
        yield f"the {tools} {which} {verb} outside the sandbox, with your own rights"


def _names(lists: Sequence[str]) -> list[str]:
    """Return the names in the lists, each once. Raises DiaError (exit 2) for an unknown one."""
    names = [name.strip() for text in lists for name in text.split(",") if name.strip()]
    for name in names:
        if name not in NAMES:
            help = "known: " + ", ".join(f"`{name}`" for name in NAMES)
            near = did_you_mean(name, NAMES)
            fix = f"{near} ({help})" if near else f"{help}; for your own tools, use `--tool-command` or `--mcp`"
            raise DiaError(Diagnostic("E852", visible(f"unknown tool `{name}`"), None, fix))
    return [name for name in NAMES if name in names]


def _require_different(names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            message = visible(f"two tools have the name `{name}`")
            raise DiaError(Diagnostic("E852", message, None, "give one of them another name"))

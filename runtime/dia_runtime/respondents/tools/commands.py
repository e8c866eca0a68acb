"""Tools of the user as commands: started without a shell and with the user's own rights, outside the sandbox."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shlex
import shutil
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_language.yaml_nodes import data, read

from dia_runtime.respondents.line_process import process_environment
from dia_runtime.respondents.tools.base import Record, ToolOutcome, UserTool, program_output, texts_schema
from dia_runtime.respondents.tools.session import ToolSession

NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}", re.ASCII)  # what OpenAI accepts as the name of a function
KEYS = ("name", "description", "parameters", "command")
LARGEST_OUTPUT = 1 << 20
FOLDER_VARIABLE = "DIA_TOOL_FOLDER"
FIX = "write NAME=COMMAND, or the name of a YAML file with name, description, parameters and command"


@dataclass(frozen=True, slots=True)
class CommandTool(UserTool):
    """A command that gets the arguments of a call as JSON on standard input, and prints the result."""

    kind = "command"

    async def run(self, arguments: Record, session: ToolSession) -> ToolOutcome:
        """Run the command for a call."""
        environment = {**process_environment(), FOLDER_VARIABLE: str(session.folder.folder)}
        loop = asyncio.get_running_loop()
        try:
            process, outputs = await loop.subprocess_exec(
                _Outputs, *self.words, env=environment, start_new_session=True
            )
        except OSError as error:
            return ToolOutcome("failed", f"[error: the tool cannot be started: {error.strerror}]")
        stdin = cast(asyncio.WriteTransport, process.get_pipe_transport(0))
        try:
            stdin.write(json.dumps(dict(arguments)).encode())
            stdin.write_eof()
            async with asyncio.timeout(session.seconds):
                stopped = await outputs.finished
        except TimeoutError:
            stopped = f"the tool ran longer than {session.seconds:g} s"
        finally:
            with contextlib.suppress(OSError):
                os.killpg(process.get_pid(), signal.SIGKILL)
            await outputs.exited.wait()
            process.close()
        code = process.get_returncode() or 0
        code = code if code >= 0 else 128 - code
        output = program_output(bytes(outputs.of[1]), bytes(outputs.of[2]), code, stopped)
        return ToolOutcome("ok" if stopped is None else "stopped", output, code)


class _Outputs(asyncio.SubprocessProtocol):
    """What a command writes. A program that it leaves running cannot keep `exited` waiting, as it can with streams."""

    def __init__(self) -> None:
        self.of = {1: bytearray(), 2: bytearray()}
        self.finished: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self.exited = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep what was written to standard output (1) or standard error (2)."""
        self.of[fd] += data[: LARGEST_OUTPUT + 1 - len(self.of[fd])]
        if len(self.of[fd]) > LARGEST_OUTPUT:
            self._finish(f"the tool wrote more than {LARGEST_OUTPUT >> 20} MiB")

    def process_exited(self) -> None:
        """Note that the command has ended; its outputs may not have been read to their end."""
        self.exited.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the command has ended and that its outputs are complete."""
        self._finish(None)

    def _finish(self, stopped: str | None) -> None:
        if not self.finished.done():
            self.finished.set_result(stopped)


def command_tool(text: str) -> CommandTool:
    """Return the tool of `--tool-command`: NAME=COMMAND or a YAML file. Raises DiaError (exit 2)."""
    if text.endswith((".yaml", ".yml")) and "=" not in text:
        return _from_file(Path(text))
    name, _, command = text.partition("=")
    what = f"Run the tool {name} of the user on a text."
    return _checked(text, name, what, texts_schema(input="The input of the tool."), command)


def _from_file(path: Path) -> CommandTool:
    node, _ = read(path, str(path))
    record = _plain(data(node))
    if not isinstance(record, dict) or set(record) - set(KEYS) or not {"name", "command"} <= set(record):
        raise tool_error(f"`{path}` does not describe a tool", f"write the keys {', '.join(KEYS)}")
    parameters = record.get("parameters", {"type": "object", "properties": {}})
    description = record.get("description", "")
    if not isinstance(parameters, dict) or not isinstance(description, str) or not isinstance(record["name"], str):
        raise tool_error(f"`{path}` does not describe a tool", "name and description are text, parameters a mapping")
    return _checked(str(path), record["name"], description, parameters, record["command"])


def _plain(value: Any) -> Any:
    """Return a value of a YAML file as a JSON value."""
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(_plain, value))
    return float(value) if isinstance(value, Fraction) else value


def _checked(source: str, name: str, description: str, parameters: Record, command: Any) -> CommandTool:
    if not NAME.fullmatch(name):
        raise tool_error(f"`{source}` does not name a tool", f"{FIX}; names are letters, digits, _ and -")
    import jsonschema  # 30 ms, which other commands need not pay

    try:
        words = shlex.split(command) if isinstance(command, str) else [str(word) for word in command]
        jsonschema.Draft202012Validator.check_schema(dict(parameters))
    except (ValueError, TypeError):
        raise tool_error(f"the command of the tool `{name}` cannot be read", "write it as in a shell") from None
    except jsonschema.SchemaError as error:
        raise tool_error(f"the parameters of the tool `{name}` are not a JSON schema: {error.message}", FIX) from None
    if not words:
        raise tool_error(f"the tool `{name}` has no command", FIX)
    if shutil.which(words[0]) is None:
        raise tool_error(f"the tool `{name}` cannot be started: `{words[0]}` was not found", "check the path")
    return CommandTool(name, description, parameters, tuple(words))


def tool_error(message: str, fix: str) -> DiaError:
    """Return the error for a tool that cannot be given to a model."""
    return DiaError(Diagnostic("E852", visible(message[:1000]), None, visible(fix)))

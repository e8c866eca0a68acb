"""The tools of dia: Python, bash and files, each call in the sandbox and in the private folder of its question."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from dia_language.confinement.tools import FOLDER_BYTES, MEMORY_BYTES, ToolFolder, ToolRun
from dia_language.diagnostics import LanguageError

from dia_runtime.respondents.tools.base import MIB, Record, ToolOutcome, program_output, texts_schema
from dia_runtime.respondents.tools.session import ToolSession

LIMITS = (
    f"There is no network. Files in the current folder are kept for the next call (at most {FOLDER_BYTES // MIB} MiB). "
    f"A call may use {{seconds:g}} s and {MEMORY_BYTES // MIB} MiB of memory."
)
Action = Callable[[ToolFolder, Record], ToolRun]


@dataclass(frozen=True, slots=True)
class ConfinedTool:
    """A tool that runs in the sandbox."""

    name: str
    text: str
    parameters: Record
    action: Action

    def description(self, seconds: float) -> str:
        """Return what the model reads about it."""
        return self.text.replace("{limits}", LIMITS.format(seconds=seconds))

    async def run(self, arguments: Record, session: ToolSession) -> ToolOutcome:
        """Run a call in a thread, as many at once as there are processors."""
        try:
            async with _places(asyncio.get_running_loop()):
                done = await asyncio.to_thread(self.action, session.folder, arguments)
        except asyncio.CancelledError:  # which ends the waiting, but not the thread
            session.folder.is_unwanted.set()
            raise
        except LanguageError as error:
            return ToolOutcome("failed", f"[error: {error.message}]")
        output = program_output(done.output, done.error_output, done.code, done.stopped)
        return ToolOutcome("ok" if done.stopped is None else "stopped", output, done.code)


@cache
def _places(loop: asyncio.AbstractEventLoop) -> asyncio.Semaphore:
    """Return the places for programs: one that waits for a processor would soon exceed its seconds."""
    return asyncio.Semaphore(max(2, os.cpu_count() or 1))


PATH = "Path of the file, from the current folder."
CONFINED_TOOLS: dict[str, tuple[ConfinedTool, ...]] = {
    "python": (
        ConfinedTool(
            "python",
            "Run a Python 3 program and return what it prints; the value of an expression is not printed by itself. "
            "Only the standard library is available. Variables are not kept from one call to the next. {limits}",
            texts_schema(code="The program."),
            lambda folder, arguments: folder.python(arguments["code"]),
        ),
    ),
    "bash": (
        ConfinedTool(
            "bash",
            "Run a bash script and return its output and error output. The installed programs are available. Variables "
            "are not kept from one call to the next. {limits}",
            texts_schema(command="The script."),
            lambda folder, arguments: folder.bash(arguments["command"]),
        ),
    ),
    "files": (
        ConfinedTool(
            "read_file",
            "Return the content of a text file.",
            texts_schema(path=PATH),
            lambda folder, arguments: folder.file("read", arguments["path"]),
        ),
        ConfinedTool(
            "write_file",
            "Write a text file. A file of that name is replaced.",
            texts_schema(path=PATH, content="The new content."),
            lambda folder, arguments: folder.file("write", arguments["path"], arguments["content"]),
        ),
        ConfinedTool(
            "list_files",
            "List a folder.",
            texts_schema(path="Path of the folder; . for the current one."),
            lambda folder, arguments: folder.file("list", arguments["path"]),
        ),
    ),
}

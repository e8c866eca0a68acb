"""The tools that a run gives to its models."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import dia_language
from dia_language.confinement.sandboxes import Sandbox
from dia_language.confinement.tools import MEMORY_BYTES, SECONDS, tool_folder

import dia_runtime
from dia_runtime.respondents.api_keys import redact
from dia_runtime.respondents.tools.base import MIB, Record, Tool, definition
from dia_runtime.respondents.tools.confined import ConfinedTool
from dia_runtime.respondents.tools.session import ToolSession

CALLS = 20
OUTPUT_CHARACTERS = 8_000
EDITION = 2  # of the texts and the behaviour of the tools of dia, so that a run does not mix them
AssetReader = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class Toolbox:
    """Tools and their limits: at most `calls` calls for a question, each of at most `seconds`.

    `given` are the names of the tools as the command line gives them, which name the respondent; `own` describes the
    tools of the user for the settings of the run. `sandbox` is None if no tool needs one.
    """

    given: tuple[str, ...]
    tools: tuple[Tool, ...]
    sandbox: Sandbox | None
    calls: int = CALLS
    seconds: float = SECONDS
    output_characters: int = OUTPUT_CHARACTERS
    own: tuple[Record, ...] = ()
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def settings(self) -> dict[str, Any]:
        """Return what the replies depend on, as a run stores it. Fractions are text, since a run has no floats."""
        own = {"own": [dict(record) for record in self.own]} if self.own else {}
        return {
            "given": list(self.given),
            "edition": EDITION,
            "calls": self.calls,
            "seconds": f"{self.seconds:g}",
            "memory_mib": MEMORY_BYTES // MIB,
            "output_characters": self.output_characters,
            **own,
        }

    @property
    def has_files(self) -> bool:
        """Return whether the tools can read the files of a question."""
        return any(isinstance(tool, ConfinedTool) for tool in self.tools)

    def definitions(self, question: Record) -> tuple[Record, ...]:
        """Return the tools as OpenAI's `tools` parameter has them, with the names of the question's files."""
        names = list(map(file_name, question.get("assets") or ()))
        files = f"Files of the question in the current folder: {', '.join(names)}." if names else ""
        return tuple(
            definition(tool, self.seconds, files if isinstance(tool, ConfinedTool) else "") for tool in self.tools
        )

    @asynccontextmanager
    async def session(
        self, question: Record, read: AssetReader | None, bundle: Path | None
    ) -> AsyncIterator[ToolSession]:
        """Open the tools for a question, with its files in a private folder, which is removed at the end."""
        assets: Sequence[Mapping[str, Any]] = question.get("assets") or ()
        files = {} if read is None else {file_name(asset): read(asset["path"]) for asset in assets}
        hidden = hidden_folders(bundle)
        with tool_folder(self.sandbox, files, self.seconds, hidden) as folder:
            async with AsyncExitStack() as stack:
                tools = {tool.name: tool for tool in self.tools}
                hide = partial(_redacted, secrets=self.secrets)
                yield ToolSession(tools, folder, self.seconds, self.output_characters, hide, stack)


def _redacted(text: str, secrets: Sequence[str]) -> str:
    return redact(text, *secrets)


def file_name(asset: Record) -> str:
    """Return the path of an asset in the folder of a question.

    >>> file_name({"name": "scan.png"}), file_name({"name": "../../x"})
    ('scan.png', 'x')
    """
    path = PurePosixPath(str(asset["name"]))
    return path.name if path.is_absolute() or ".." in path.parts else str(path)


def hidden_folders(bundle: Path | None) -> list[Path]:
    """Return the folders that no program may see even if they are below one that it may read.

    These are the installed packages, since dia's contains specs with their solvers, the bundle, and the current folder.
    """
    packages = [Path(next(iter(package.__path__))).resolve().parent for package in (dia_language, dia_runtime)]
    return [*packages, Path.cwd(), *([] if bundle is None else [bundle.resolve()])]

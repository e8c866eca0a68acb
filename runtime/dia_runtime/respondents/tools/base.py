"""What a tool is, and what comes of a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from dia_runtime.respondents.tools.session import ToolSession

Record = Mapping[str, Any]
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What came of a call: a status of `ToolCall`, the whole output, and the exit code of a program."""

    status: str
    output: str
    exit_code: int | None = None


class Tool(Protocol):
    """Something that a model may call."""

    @property
    def name(self) -> str: ...
    @property
    def parameters(self) -> Record:
        """Return the JSON schema of its arguments."""
        ...

    def description(self, seconds: float) -> str:
        """Return what the model reads about it; `seconds` is the limit of a call."""
        ...

    async def run(self, arguments: Record, session: ToolSession) -> ToolOutcome:
        """Run a call with valid arguments."""
        ...


@dataclass(frozen=True, slots=True)
class UserTool:
    """A tool of the user: what a model reads about it, and the words of the command that runs or serves it."""

    name: str
    text: str
    parameters: Record
    words: tuple[str, ...]
    kind: ClassVar[str]  # the key of the words in the settings of a run

    def description(self, seconds: float) -> str:
        """Return what the model reads about it."""
        return self.text

    @property
    def record(self) -> Record:
        """Return the tool as the settings of a run store it."""
        return {
            "name": self.name, "description": self.text, "parameters": self.parameters, self.kind: list(self.words),
        }  # fmt: skip


def definition(tool: Tool, seconds: float, files: str) -> Record:
    """Return the tool for OpenAI's `tools` parameter. `files` is a sentence on the files of the question."""
    description = " ".join(filter(None, (tool.description(seconds), files)))
    return {
        "type": "function",
        "function": {"name": tool.name, "description": description, "parameters": dict(tool.parameters)},
    }


def texts_schema(**texts: str) -> Record:
    """Return the schema of an object with these required texts, each with its description."""
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": what} for name, what in texts.items()},
        "required": list(texts),
        "additionalProperties": False,
    }


def program_output(output: bytes, error_output: bytes, code: int, stopped: str | None) -> str:
    """Return what a model reads of a program: its output, its error output, and how it ended if that matters."""
    texts = [output.decode("utf-8", "replace").rstrip("\n")]
    if error_output:
        texts.append(f"[stderr]\n{error_output.decode('utf-8', 'replace')}".rstrip("\n"))
    if stopped is not None:
        texts.append(f"[stopped: {stopped}]")
    elif code:
        texts.append(f"[exit code {code}]")
    return "\n".join(filter(None, texts)) or "[no output]"

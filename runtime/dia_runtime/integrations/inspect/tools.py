"""The tools of `dia run --tools`, in Inspect's own sandbox."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dia_language.diagnostics import DiaError, Diagnostic, did_you_mean, visible
from inspect_ai.tool import Tool, bash, python, tool
from inspect_ai.util import sandbox

SECONDS = 10  # the default of `--tool-seconds`
Choice = bool | str | Sequence[str]


def chosen_tools(choice: Choice) -> list[Tool]:
    """Return the tools that `-T tools=...` names: all for true, or those of a list such as python,bash.

    Raises DiaError (exit 2) for an unknown name.
    """
    if isinstance(choice, bool):
        names = list(TOOLS) if choice else []
    else:
        names = choice.split(",") if isinstance(choice, str) else [str(name) for name in choice]
    for name in names:
        if name not in TOOLS:
            fix = did_you_mean(name, TOOLS) or f"the tools are {', '.join(TOOLS)}; `-T tools=true` gives all"
            raise DiaError(Diagnostic("E852", visible(f"unknown tool `{name}`"), None, fix))
    return [tool for name in TOOLS if name in names for tool in TOOLS[name]()]


@tool
def read_file() -> Tool:
    """Read text files of the sandbox."""

    async def execute(path: str) -> str:
        """Return the content of a text file.

        Args:
            path: Path of the file, from the current folder.
        """
        content: str = await sandbox().read_file(path)
        return content

    return execute


@tool
def write_file() -> Tool:
    """Write text files of the sandbox."""

    async def execute(path: str, content: str) -> str:
        """Write a text file. A file of that name is replaced.

        Args:
            path: Path of the file, from the current folder.
            content: The new content.
        """
        await sandbox().write_file(path, content)
        return f"wrote {path}"

    return execute


@tool
def list_files() -> Tool:
    """List folders of the sandbox."""

    async def execute(path: str) -> str:
        """List a folder.

        Args:
            path: Path of the folder; . for the current one.
        """
        listed = await sandbox().exec(["ls", "-la", "--", path], timeout=SECONDS)
        return str(listed.stdout if listed.success else listed.stderr)

    return execute


TOOLS: dict[str, Callable[[], list[Tool]]] = {
    "python": lambda: [python(SECONDS)],
    "bash": lambda: [bash(SECONDS)],
    "files": lambda: [read_file(), write_file(), list_files()],
}

"""Programs that a model writes and runs as a tool: confined like those of specs, with a writable folder.

A program runs without network and environment. It reads the system's programs and libraries and its own folder, which
is the current one and keeps its files from one call to the next.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Event
from typing import Final

from dia_language.confinement.interpreters import LIBRARIES, folders_of, interpreter
from dia_language.confinement.running import MOST_TASKS, Allowance, bounded, folder_size, run_until_limit
from dia_language.confinement.sandboxes import SHELL, Sandbox, Workspace, confinement, readable
from dia_language.diagnostics import LanguageError

SECONDS: Final = 10.0
MEMORY_BYTES: Final = 512 << 20
FILE_BYTES: Final = 16 << 20
FOLDER_BYTES: Final = 64 << 20
FOLDER_FILES: Final = 10_000
LONGEST_SOURCE = 100_000  # bytes; the kernel limits an argument to 128 KiB
SYSTEM = ("/usr", "/bin", "/sbin", *LIBRARIES)
# The kernel counts the processes of a user in a user namespace since Linux 5.14, and of the whole machine before.
PROCESS_LIMIT = (
    f"(ulimit -u {MOST_TASKS}) 2>/dev/null && ulimit -u {MOST_TASKS} || ulimit -p {MOST_TASKS} 2>/dev/null; "
)
ENVIRONMENT = 'cd "$0" && export HOME="$0" TMPDIR="$0" LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin && exec "$@"'
# Files are also read and written inside the sandbox, because a program may have put links among them.
FILES = """
import os, sys
action, path = sys.argv[1:]
try:
    if action == "read":
        with open(path, "rb") as file:
            sys.stdout.buffer.write(file.read(1_000_000))
    elif action == "write":
        content = sys.stdin.buffer.read()
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        print(f"wrote {len(content)} bytes")
    else:
        for name in sorted(os.listdir(path))[:1_000]:
            place = os.path.join(path, name)
            print(name + "/" if os.path.isdir(place) else f"{name} ({os.lstat(place).st_size} bytes)")
except OSError as error:
    sys.exit(f"{path}: {error.strerror}")
"""


@dataclass(frozen=True, slots=True)
class ToolRun:
    """The result of a program: its exit code, output and error output, and the limit that ended it, if any."""

    code: int
    output: bytes
    error_output: bytes
    stopped: str | None = None


@dataclass(slots=True)
class ToolFolder:
    """The private folder of the programs that answer one question. They need a sandbox to be run.

    Setting `is_unwanted` ends the program that is running, and every later one at once.
    """

    place: Path
    sandbox: Sandbox | None
    seconds: float = SECONDS
    hidden: tuple[Path, ...] = ()
    files: dict[str, bytes] = field(default_factory=dict)
    is_unwanted: Event = field(default_factory=Event)

    @property
    def folder(self) -> Path:
        """Return the folder that programs see as their current one."""
        return self.place / "own"

    def fill(self) -> None:
        """Make the folder, with the files of the question only."""
        self.folder.mkdir()
        for name, content in self.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def python(self, source: str) -> ToolRun:
        """Run a Python program. Raises LanguageError if it cannot be started."""
        return self._python(["-c", _checked(source)], b"")

    def bash(self, source: str) -> ToolRun:
        """Run a bash script, which may use all programs of the system. Raises LanguageError."""
        bash = interpreter("bash")
        if bash is None:
            raise LanguageError("bash is not installed on this machine")
        command = [str(bash), "--noprofile", "--norc", "-c", _checked(source)]
        return self._run(command, b"", filter(Path.exists, map(Path, SYSTEM)), has_bounded_address_space=False)

    def file(self, action: str, path: str, content: str = "") -> ToolRun:
        """Read, write or list files: `action` is `read`, `write` or `list`. Raises LanguageError."""
        return self._python(["-c", FILES, action, _checked(path or ".")], content.encode("utf-8", "replace"))

    def _python(self, words: list[str], input_bytes: bytes) -> ToolRun:
        python = interpreter("python")
        assert python is not None  # the program that it runs
        command = [str(python), "-S", "-B", "-X", "utf8", *words]
        return self._run(command, input_bytes, folders_of("python", python), has_bounded_address_space=True)

    def _run(
        self, command: list[str], input_bytes: bytes, paths: Iterable[Path], has_bounded_address_space: bool
    ) -> ToolRun:
        assert self.sandbox is not None
        shell = SHELL.resolve()
        visible = tuple(readable([*paths, shell]))
        hidden = tuple(path for path in self.hidden if path.is_dir() and set(path.parents) & set(visible))
        workspace = Workspace(visible, self.folder, is_writable=True, hidden=hidden)
        allowance = Allowance(
            self.seconds, MEMORY_BYTES, has_bounded_address_space=has_bounded_address_space, writes=FILE_BYTES,
            processes_around=self.sandbox.processes, folder=self.folder, folder_bytes=FOLDER_BYTES,
            folder_files=FOLDER_FILES, is_unwanted=self.is_unwanted,
        )  # fmt: skip
        words = [
            str(shell),
            "-c",
            (PROCESS_LIMIT if _counts_by_namespace() else "") + ENVIRONMENT,
            str(self.sandbox.home(self.folder)),
            *command,
        ]
        try:
            result, limit = run_until_limit(
                bounded(self.sandbox.around(words, workspace), allowance), input_bytes, allowance
            )
        except ValueError as error:  # a character that arguments cannot contain
            raise LanguageError(f"the program cannot be started: {error}") from None
        stopped = None if limit is None else limit.message
        return ToolRun(result.code, result.output, result.error_output, self._emptied(stopped))

    def _emptied(self, stopped: str | None) -> str | None:
        """Return why the program was stopped; empty the folder if its files exceed their limits."""
        files, size = folder_size(self.folder, FOLDER_FILES)
        if files <= FOLDER_FILES and size <= FOLDER_BYTES:
            return stopped
        remove_folder(self.folder)
        self.fill()
        why = stopped or f"the program left more than {FOLDER_BYTES >> 20} MiB or {FOLDER_FILES:,} files"
        return f"{why}; the folder was emptied, except for the files of the question"


def tool_sandbox() -> Sandbox | None:
    """Return the sandbox for tools; None if none works on this machine."""
    return confinement()


@contextmanager
def tool_folder(
    sandbox: Sandbox | None, files: dict[str, bytes], seconds: float = SECONDS, hidden: Iterable[Path] = ()
) -> Iterator[ToolFolder]:
    """Give a folder with these files to the programs that answer a question, and remove it at the end."""
    place = Path(tempfile.mkdtemp(prefix="dia-tools-"))
    try:
        folder = ToolFolder(place, sandbox, seconds, tuple(hidden), files)
        folder.fill()
        yield folder
    finally:
        remove_folder(place)


def remove_folder(folder: Path) -> None:
    """Remove a folder even if a program has made subfolders unreadable, or nested them too deeply for Python."""
    with suppress(OSError, RecursionError):
        shutil.rmtree(folder)
        return
    for command in (["chmod", "-R", "u+rwx", "--", str(folder)], ["rm", "-rf", "--", str(folder)]):
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)


@cache
def _counts_by_namespace() -> bool:
    """Return whether the kernel limits the processes of each user namespace separately."""
    match = re.match(r"(\d+)\.(\d+)", platform.release())
    return sys.platform == "linux" and match is not None and (int(match[1]), int(match[2])) >= (5, 14)


def _checked(source: str) -> str:
    """Return the text as an argument of a program. Raises LanguageError if it is too long."""
    if len(source.encode("utf-8", "replace")) > LONGEST_SOURCE:
        raise LanguageError(f"the text is longer than {LONGEST_SOURCE:,} bytes; write it to files in parts")
    if "\0" in source:
        raise LanguageError("the text contains a NUL character")
    return os.fsdecode(source.encode("utf-8", "replace"))

"""Run one program from start to end: write its input, read its output, watch it, and kill all its processes."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from threading import Event
from time import monotonic, sleep
from typing import IO, Any

from dia_language.confinement.process_limit import process_limit
from dia_language.diagnostics import LanguageError

SECONDS = 5.0
MEMORY_BYTES = 256 << 20
PROCESSES = 16
THREADS = 256
MOST_TASKS = 2 * THREADS  # kernel limit, above the allowed number so that an excess is reported
OUTPUT_BYTES = 1 << 20
OPEN_FILES = 64
TICK = 0.01
SECONDS_BETWEEN_FOLDER_CHECKS = 0.1
BLOCK = 1 << 16
SECONDS_TO_DIE, SECONDS_UNTIL_GONE = 2.0, 0.3
MANY = 64  # processes that are examined one by one
PAGE = 4096 if sys.platform == "win32" else os.sysconf("SC_PAGE_SIZE")
SMALLER = "make the program smaller, or check that it ends"


@dataclass(frozen=True, slots=True)
class Allowance:
    """The limits of one program.

    `address_space` also bounds what it reserves; `writes` is the maximum size of a file. `processes_around` are those
    of the sandbox, whose use is not the program's. `folder` is the folder that it may write to, whose files together
    may not exceed `folder_bytes` and `folder_files`. A program whose result is no longer needed is ended when
    `is_unwanted` is set.
    """

    seconds: float = SECONDS
    memory: int = MEMORY_BYTES
    processes: int = PROCESSES
    has_bounded_address_space: bool = True
    writes: int = 0
    processes_around: int = 0
    folder: Path | None = None
    folder_bytes: int = 0
    folder_files: int = 0
    is_unwanted: Event | None = None


@dataclass(slots=True)
class ProgramResult:
    """How a program ended, and its output. If a signal killed it, the code is 128 plus the signal's number."""

    code: int
    output: bytes
    error_output: bytes


def bounded(command: list[str], allowance: Allowance) -> list[str]:
    """Return the command after a shell that sets the kernel's limits."""
    space = f"ulimit -v {allowance.memory >> 10}" if allowance.has_bounded_address_space else "ulimit -S -v unlimited"
    bounds = (
        space, f"ulimit -t {int(allowance.seconds) + 1}", f"ulimit -f {allowance.writes >> 9}", "ulimit -c 0",
        f"ulimit -n {OPEN_FILES}",
    )  # fmt: skip
    # Lowest priority, so that a program that forks endlessly cannot keep out the process that ends it
    script = "; ".join(f"{bound} 2>/dev/null" for bound in bounds) + '; exec nice -n 10 "$@"'
    return ["/bin/sh", "-c", script, "sh", *command]


def run(command: list[str], input_bytes: bytes, allowance: Allowance, gathers: bool = False) -> ProgramResult:
    """Return the result of the command. Raises LanguageError if it exceeds a limit; none of its processes survives.

    With `gathers`, every process that appears below this one meanwhile counts as the program's, and is killed: for
    systems without a sandbox that does so.
    """
    with _gathering_orphans() if gathers else contextlib.nullcontext():
        result, error = run_until_limit(command, input_bytes, allowance)
    if error is not None:
        raise error
    return result


def run_until_limit(
    command: list[str], input_bytes: bytes, allowance: Allowance
) -> tuple[ProgramResult, LanguageError | None]:
    """Return the result of the command, and the limit that ended it, if any; none of its processes survives.

    A program that a limit ended has the exit code 137, as after SIGKILL, and the output that it had written until then.
    Raises LanguageError if it cannot be started.
    """
    with process_limit(command, MOST_TASKS) as limited:
        try:
            process = subprocess.Popen(limited, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       env={}, cwd="/", start_new_session=True)  # fmt: skip
        except OSError as error:
            raise LanguageError(f"the program cannot be started: {error.strerror}") from None
        watched = _WatchedProcess(process, input_bytes, allowance)
        try:
            return watched.run(), None
        except LanguageError as error:
            return ProgramResult(128 + signal.SIGKILL, *map(bytes, watched.streams.values())), error
        finally:
            _end(process)


@dataclass(slots=True)
class _WatchedProcess:
    """A running program, and its output so far."""

    process: subprocess.Popen[bytes]
    unsent_input: bytes
    allowance: Allowance
    streams: dict[str, bytearray] = field(default_factory=lambda: {"output": bytearray(), "error_output": bytearray()})
    begin: float = field(default_factory=monotonic)
    folder_checked_at: float = field(default_factory=monotonic)

    def run(self) -> ProgramResult:
        """Write the input and read the output until the program ends. Raises LanguageError if it exceeds a limit."""
        with selectors.DefaultSelector() as selector:
            self.listen(selector)
            while selector.get_map() or self.process.poll() is None:
                if not selector.get_map():
                    self.wait()
                for key, _ in selector.select(TICK) if selector.get_map() else ():
                    self.serve(selector, key)
                self.check_limits()
                self.check_wanted()
        code = self.process.returncode
        return ProgramResult(code if code >= 0 else 128 - code, *map(bytes, self.streams.values()))

    def listen(self, selector: selectors.BaseSelector) -> None:
        process = self.process
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        for pipe in (process.stdin, process.stdout, process.stderr):
            os.set_blocking(pipe.fileno(), False)
        selector.register(process.stdin, selectors.EVENT_WRITE, "input")
        selector.register(process.stdout, selectors.EVENT_READ, "output")
        selector.register(process.stderr, selectors.EVENT_READ, "error_output")

    def serve(self, selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        """Write or read a block at one pipe; close it at its end."""
        pipe: IO[bytes] = key.fileobj  # type: ignore[assignment]
        if key.data == "input":
            is_over = self.feed(pipe)
        else:
            block = os.read(pipe.fileno(), BLOCK)
            self.streams[key.data] += block
            is_over = not block
        if is_over:
            selector.unregister(pipe)
            pipe.close()

    def feed(self, pipe: IO[bytes]) -> bool:
        """Write more of the input to the program; return whether that was all, or all that it reads."""
        try:
            self.unsent_input = (
                self.unsent_input[os.write(pipe.fileno(), self.unsent_input[:BLOCK]) :] if self.unsent_input else b""
            )
        except BlockingIOError:
            return False
        except BrokenPipeError:
            return True
        return not self.unsent_input

    def wait(self) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(TICK)

    def check_wanted(self) -> None:
        """Raise LanguageError if the result is no longer needed."""
        if self.allowance.is_unwanted is not None and self.allowance.is_unwanted.is_set():
            raise LanguageError("the program was interrupted")

    def check_limits(self) -> None:
        """Raise LanguageError if the program exceeds a limit."""
        allowed = self.allowance
        if max(map(len, self.streams.values())) > OUTPUT_BYTES:
            raise over(f"wrote more than {OUTPUT_BYTES >> 20} MiB")
        processes = threads = memory = 0
        below = islice(_descendants(self.process.pid), allowed.processes_around, None)
        for _, tasks, resident in below:  # no more than needed, because more appear meanwhile
            processes, threads, memory = processes + 1, threads + tasks, memory + resident
            if processes > allowed.processes:
                raise over(f"started more than {PROCESSES} processes")
            if threads > THREADS:
                raise over(f"started more than {THREADS} threads")
            if memory > allowed.memory:
                raise too_much_memory(allowed)
        # last: a program that exceeds another limit on a busy machine may only be looked at when its time is over, too
        if monotonic() - self.begin > allowed.seconds:
            raise over(f"ran longer than {allowed.seconds:.2g} s")
        if allowed.folder is not None and monotonic() - self.folder_checked_at > SECONDS_BETWEEN_FOLDER_CHECKS:
            self.check_folder(allowed.folder)
            self.folder_checked_at = monotonic()

    def check_folder(self, folder: Path) -> None:
        """Raise LanguageError if the files in the folder, including deleted ones that are still open, are too large."""
        files, size = folder_size(folder, self.allowance.folder_files)
        below = islice(_descendants(self.process.pid), self.allowance.processes_around, None)
        size += sum(_deleted_bytes(number) for number, _, _ in below)
        if size > self.allowance.folder_bytes:
            raise over(f"wrote files of more than {self.allowance.folder_bytes >> 20} MiB")
        if files > self.allowance.folder_files:
            raise over(f"made more than {self.allowance.folder_files:,} files")


def over(what: str) -> LanguageError:
    """Return the error for a program that exceeds a limit."""
    return LanguageError(f"the program {what}", SMALLER, "E502")


def too_much_memory(allowance: Allowance) -> LanguageError:
    """Return the error for a program that uses too much memory."""
    return over(f"took more than {allowance.memory >> 20} MiB of memory")


def folder_size(folder: Path, most: int) -> tuple[int, int]:
    """Return the number of entries below a folder, and their size in bytes; counting stops after `most` entries.

    Links are not followed. A folder that cannot be read because its path is too long counts as too many files.
    """
    waiting, files, size = [str(folder)], 0, 0
    while waiting and files <= most:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in islice(entries, most + 1):
                    files += 1
                    with contextlib.suppress(FileNotFoundError):
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
        except FileNotFoundError:
            continue
        except PermissionError:  # nothing can be written there either, unless its permissions change
            continue
        except OSError:
            return most + 1, size
    return files, size


def _deleted_bytes(process: int) -> int:
    """Return the size of the files that a process has open, but that have been deleted."""
    size = 0
    with contextlib.suppress(OSError):
        for number in os.listdir(f"/proc/{process}/fd"):  # noqa: PTH208
            with contextlib.suppress(OSError):
                opened = os.stat(f"/proc/{process}/fd/{number}")  # noqa: PTH116
                size += opened.st_blocks * 512 if stat.S_ISREG(opened.st_mode) and not opened.st_nlink else 0
    return size


def _descendants(process: int) -> Iterator[tuple[int, int, int]]:
    """Return the number, threads and bytes in memory of a process and its descendants, if the system reports them."""
    waiting = [process]
    while waiting and len(waiting) < 10 * THREADS:
        pid = waiting.pop()
        with contextlib.suppress(OSError, ValueError):
            tasks = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - strings are wanted, and speed
            memory = int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * PAGE
            for task in tasks:
                waiting += map(int, Path(f"/proc/{pid}/task/{task}/children").read_bytes().split())
            yield pid, len(tasks), memory


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process with its group, and all its descendants that have left the group.

    The group comes first and in one call: processes that multiply would be created faster than they are killed one by
    one, or even counted. When the first process in a sandbox is killed, all others in it end at once.
    """
    below = [number for number, _, _ in islice(_descendants(process.pid), 1, MANY)] if process.poll() is None else []
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    for number in below:
        with contextlib.suppress(OSError):
            os.kill(number, signal.SIGKILL)
    if below:
        _wait_until_gone(below[0])
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(SECONDS_TO_DIE)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _wait_until_gone(number: int) -> None:
    """Wait until a killed process has ended, and with it its sandbox."""
    deadline = monotonic() + SECONDS_UNTIL_GONE
    while monotonic() < deadline and os.path.exists(f"/proc/{number}"):  # noqa: PTH110
        sleep(TICK / 10)


@contextlib.contextmanager
def _gathering_orphans() -> Iterator[None]:
    """Adopt processes that the program leaves running, and kill them at the end."""
    if sys.platform != "linux":
        yield
        return
    before = set(_children())
    _set_subreaper(True)
    try:
        yield
    finally:
        deadline = monotonic() + SECONDS_TO_DIE
        while (left := set(_children()) - before) and monotonic() < deadline:
            for number in left:
                with contextlib.suppress(OSError):
                    os.kill(number, signal.SIGKILL)
                    os.waitpid(number, 0)
        _set_subreaper(False)


def _children(process: int | str = "self") -> Iterator[int]:
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{process}/task"):  # noqa: PTH208
            yield from map(int, Path(f"/proc/{process}/task/{task}/children").read_bytes().split())


def _set_subreaper(is_on: bool) -> None:
    with contextlib.suppress(OSError, AttributeError):
        _library().prctl(36, int(is_on), 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def _library() -> Any:
    import ctypes

    return ctypes.CDLL(None)

"""Workers that share the memory of imported modules: one process imports them once and forks the workers.

That process is a fork server, or the command itself (OwnFork), which then does not import everything twice. Workers are
killed by process id from outside. So the fork server does not reap a worker until it is asked to: otherwise its id
could belong to another process when it is killed. When the fork server ends for any reason, the workers end too.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

CONTEXT = multiprocessing.get_context("spawn")
CAN_FORK = sys.platform == "linux"  # on other systems, libraries may have started what does not survive a fork
SECONDS_TO_END = 5.0
MOST_BYTES_TO_FORK = 128 << 20  # address space counted against the worker's limit; `dia check` needs about 50 MB
GC_THRESHOLD = 150_000  # objects between two garbage collections: most objects of an evaluation are freed without one

_FORKED_FROM: int | None = None  # the process id of the one that forked this one

Serve = Callable[[Connection, Any], None]
Channel = tuple[Connection, Any]  # a worker's pipe and its heartbeat cell


class ForkedWorker:
    """A worker process that the fork server has forked, or is about to fork."""

    def __init__(self, server: ForkServer, index: int) -> None:
        self.server, self.index = server, index

    @property
    def pid(self) -> int:
        """Return its process id, after waiting for it; the fork server's id if that has died."""
        return self.server.pids()[self.index]

    def kill(self) -> None:
        """Kill it, if it has been forked yet."""
        if self.server.is_ready():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def join(self) -> None:
        """Do nothing: the fork server reaps it."""


class ForkServer:
    """Starts the process that imports the modules and then forks one worker for each channel."""

    def __init__(
        self, serve: Serve, channels: Sequence[Channel], confine: Callable[[], None], modules: tuple[str, ...]
    ) -> None:
        self.pipe, theirs = CONTEXT.Pipe()
        self.children = [ForkedWorker(self, index) for index in range(len(channels))]
        self.forked_pids: list[int] = []
        arguments = (serve, list(channels), confine, modules, theirs)
        self.process = CONTEXT.Process(target=_fork_workers, args=arguments, daemon=True)
        start_without_interrupts(self.process)
        theirs.close()

    def is_ready(self) -> bool:
        """Return whether the workers have been forked."""
        return bool(self.forked_pids) or self.pipe.poll()

    def pids(self) -> list[int]:
        """Return the process ids of the workers."""
        if not self.forked_pids:
            try:
                self.forked_pids = self.pipe.recv()
            except (EOFError, OSError):
                self.forked_pids = [self.process.pid or 0] * len(self.children)
        return self.forked_pids

    def close(self) -> None:
        """End the process and its workers."""
        if not self.is_ready():
            self.process.kill()
        self.pipe.close()
        self.process.join(SECONDS_TO_END)
        self.process.kill()
        self.process.join()


class OwnFork:
    """A worker process that this process forks. It has no fork server: this process reaps it."""

    def __init__(self, serve: Serve, channel: Channel, other_end: Connection) -> None:
        """Fork it; it closes the other end of its pipe, so that it sees when this process closes it."""
        ours = os.getpid()
        with _interrupts_blocked():  # the child ignores them from its first line
            self.pid = os.fork()
            if not self.pid:
                try:
                    gc.set_threshold(GC_THRESHOLD)
                    gc.freeze()
                    other_end.close()
                    _note_fork_from(ours)
                    if not is_orphan():
                        serve(*channel)
                finally:
                    os._exit(1)
        self.is_over = False

    def kill(self) -> None:
        if not self.is_over:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def join(self) -> None:
        """Wait for its end."""
        if not self.is_over:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.pid, 0)
            self.is_over = True


def _note_fork_from(parent: int) -> None:
    global _FORKED_FROM
    _FORKED_FROM = parent


def is_orphan() -> bool:
    """Return whether the process that started this one has ended.

    An orphan usually belongs to the process 1, but that is also the id of a command that a container starts.
    """
    started_by = multiprocessing.parent_process()
    parent = _FORKED_FROM or (started_by.pid if started_by is not None else None)
    return os.getppid() != parent if parent is not None else os.getppid() == 1


def may_fork() -> bool:
    """Return whether this process can be forked: it has one thread, and leaves most of a worker's memory free."""
    if not CAN_FORK:
        return False
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        return (
            len(list(Path("/proc/self/task").iterdir())) == 1
            and pages * os.sysconf("SC_PAGE_SIZE") <= MOST_BYTES_TO_FORK
        )
    except (OSError, ValueError):
        return False


def start_without_interrupts(process: BaseProcess) -> None:
    """Start the process with Ctrl-C blocked: terminals also send it to children, but only the parent handles it.

    A new interpreter would otherwise print a traceback if Ctrl-C came before `ignore_interrupts` is called there.
    """
    if hasattr(signal, "pthread_sigmask"):
        resource_tracker.ensure_running()  # this unblocks Ctrl-C if `start` calls it
    with _interrupts_blocked():
        process.start()


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_interrupts() -> None:
    """Ignore Ctrl-C in this process, even while it is blocked."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _fork_workers(
    serve: Serve, channels: list[Channel], confine: Callable[[], None], modules: tuple[str, ...], control: Connection
) -> None:
    confine()
    import_modules(modules)
    pids, ours = [], os.getpid()
    for channel in channels:
        pid = os.fork()
        if not pid:
            _note_fork_from(ours)
            _serve_in_child(serve, channel, channels, control)
        pids.append(pid)
    for pipe, _ in channels:
        pipe.close()
    _wait_for_end(pids, control)


def import_modules(modules: tuple[str, ...]) -> None:
    """Import the modules, and exempt their objects, which are never freed, from garbage collection."""
    gc.disable()
    for module in modules:
        importlib.import_module(module)
    gc.set_threshold(GC_THRESHOLD)
    gc.enable()
    gc.freeze()


def _serve_in_child(serve: Serve, channel: Channel, channels: list[Channel], control: Connection) -> None:
    """Run in a child; it closes the pipes of the others, so that their ends are noticed."""
    control.close()
    for pipe, _ in channels:
        if pipe is not channel[0]:
            pipe.close()
    try:
        serve(*channel)
    finally:
        os._exit(1)


def _wait_for_end(pids: list[int], control: Connection) -> None:
    """Send the workers' process ids, then kill and reap the workers when the other side is closed."""
    with contextlib.suppress(EOFError, OSError):
        control.send(pids)
        control.recv()
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
    os._exit(0)

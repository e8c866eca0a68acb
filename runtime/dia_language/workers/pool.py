"""Worker processes that can be killed: they evaluate expressions from untrusted specs, with limits on memory and time.

A task is a module-level generator function with its arguments; each item that it yields is sent back at once. A worker
without a heartbeat (heartbeat.py) for the allowed seconds is killed and its task fails; the other workers continue.
Time is the worker's CPU time if the system reports it, but at least a quarter of the time in which it did not wait for
a processor or a disk: on a busy machine a valid evaluation must not fail, and a correct reply must not be graded as
wrong.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import signal
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from time import monotonic
from types import ModuleType
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, LanguageError, Position
from dia_language.workers import heartbeat
from dia_language.workers.fork_server import (
    CAN_FORK,
    CONTEXT,
    ForkServer,
    OwnFork,
    ignore_interrupts,
    import_modules,
    is_orphan,
    may_fork,
    start_without_interrupts,
)

MEMORY_BYTES = 512 << 20
SECONDS = heartbeat.SECONDS
SECONDS_BETWEEN = 6.0
PATIENCE = 4
START_SECONDS = 120.0  # a worker's time to import what its first call needs
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
WAITS_FOR_THE_MACHINE = (b"R", b"D")  # ready to run, or waiting for a disk: proc(5)
POLL = 0.05
INTEGER_DIGITS = 400_000
SAFE_PATH = "PYTHONSAFEPATH"
_STARTING = threading.Lock()  # one process at a time: a start changes the environment and hides the main script


@dataclass(frozen=True, slots=True)
class Task:
    """Work for a worker: a generator function, its arguments, and the seconds for one evaluation."""

    key: Any
    function: Callable[..., Iterator[Any]]
    arguments: tuple[Any, ...]
    seconds: float = SECONDS


@dataclass(frozen=True, slots=True)
class Outcome:
    """A result of a task so far: an item that it yielded, or its end with the diagnostics that ended it."""

    key: Any
    item: Any = None
    is_end: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()


class WorkerBug(RuntimeError):
    """An unexpected exception in a worker, with its traceback as text."""


@dataclass(slots=True)
class _Worker:
    process: Any
    pipe: Connection
    cell: Any
    task: Task | None = None
    beats: int = -1
    clock: Clock | None = None
    searches: int = 0
    search_clock: Clock | None = None
    positions: dict[int, Position | None] = field(default_factory=dict)


class Clock:
    """The seconds of a process since the clock was created, as the module's docstring defines them."""

    __slots__ = ("cpu", "last_cpu", "last_look", "process", "start_time", "waited")

    def __init__(self, process: int) -> None:
        self.process, self.start_time, self.waited = process, monotonic(), 0.0
        self.cpu, _ = cpu_seconds_and_state(process)
        self.last_look, self.last_cpu = self.start_time, self.cpu

    def seconds(self) -> float:
        """Return the seconds that count; to be called several times per second, because each call samples the state."""
        now, (cpu, state) = monotonic(), cpu_seconds_and_state(self.process)
        passed = now - self.start_time
        if self.cpu is None or self.last_cpu is None or cpu is None:
            return passed
        if state in WAITS_FOR_THE_MACHINE:
            self.waited += max(now - self.last_look - (cpu - self.last_cpu), 0)
        self.last_look, self.last_cpu = now, cpu
        passed -= self.waited
        return min(passed, max(cpu - self.cpu, passed / PATIENCE))


def cpu_seconds_and_state(process: int) -> tuple[float | None, bytes]:
    """Return the CPU seconds of the process and of its finished children, and the letter of its state (proc(5)).

    The seconds are None if the system does not report them.
    """
    try:
        with open(f"/proc/{process}/stat", "rb") as file:  # noqa: PTH123 - read many times a second
            fields = file.read().rpartition(b")")[2].split()
        return sum(map(int, fields[11:15])) / TICKS, fields[0]  # user and system time, and that of ended children
    except (OSError, ValueError, IndexError):
        return None, b""


class WorkerPool:
    """Workers that start at once, so that their imports are complete when the first task arrives."""

    def __init__(self, jobs: int, module: str | None = None, also: tuple[str, ...] = ()) -> None:
        """Start `jobs` workers, which import the module and the modules in `also` while they wait.

        On Linux one process imports for all of them and then forks (fork_server.py).
        """
        self.jobs, self.module, self.next_look = jobs, module, 0.0
        self.fork_server: ForkServer | None = None
        self.workers: list[_Worker] = []
        if module is not None and jobs > 1 and CAN_FORK:
            self.workers = self._fork_workers((module, *also))
        self.workers += [_start_worker(module) for _ in range(jobs - len(self.workers))]

    def _fork_workers(self, modules: tuple[str, ...]) -> list[_Worker]:
        """Return workers that one process forks."""
        pipes = [CONTEXT.Pipe() for _ in range(self.jobs)]
        cells = [CONTEXT.RawArray("q", heartbeat.CELLS) for _ in pipes]
        with _STARTING, _safe_path(), _hidden_main():
            channels = [(theirs, cell) for (_, theirs), cell in zip(pipes, cells, strict=True)]
            self.fork_server = ForkServer(_serve, channels, _limit_process, modules)
        for _, theirs in pipes:
            theirs.close()
        return [_Worker(child, ours, cell)
                for child, (ours, _), cell in zip(self.fork_server.children, pipes, cells, strict=True)]  # fmt: skip

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, tasks: Iterable[Task], label: str = "the evaluation") -> Generator[Outcome, None, None]:
        """Yield the outcomes of all tasks as they come; closing the generator kills the workers.

        A deque of tasks may grow while its outcomes are taken. Raises WorkerBug for exceptions other than DiaError.
        """
        waiting = tasks if isinstance(tasks, deque) else deque(tasks)
        try:
            yield from self.outcomes(waiting, label)
        finally:
            self.close()

    def outcomes(self, waiting: deque[Task], label: str = "the evaluation") -> Iterator[Outcome]:
        """Yield the outcomes of all tasks as they come; the workers stay for more tasks."""
        while waiting or any(worker.task for worker in self.workers):
            self._assign_tasks(waiting)
            yield from _collect(self.workers, label)
            if monotonic() >= self.next_look:  # clocks are not all read each time a worker sends something
                yield from _kill_stuck(self.workers, label)
                self.next_look = monotonic() + POLL

    def refill(self) -> None:
        """Start a worker for each one that has died, so that it is ready before the next task."""
        self.workers += [self._start() for _ in range(self.jobs - len(self.workers))]

    def _start(self) -> _Worker:
        return _start_worker(self.module)

    def interrupt(self) -> None:
        """Kill the busy workers; called from another thread than the one that takes the outcomes.

        Their tasks end with an error.
        """
        for worker in list(self.workers):
            if worker.task is not None:
                worker.process.kill()

    def close(self) -> None:
        """End all workers."""
        while self.workers:
            _stop(self.workers.pop())
        if self.fork_server is not None:
            self.fork_server.close()
            self.fork_server = None

    def _assign_tasks(self, waiting: deque[Task]) -> None:
        """Give every idle worker a task; dead ones are replaced while there is work for them."""
        for worker in [worker for worker in self.workers if worker.task is None]:
            if not waiting:
                return
            if _assign(worker, waiting[0]):
                waiting.popleft()
            else:
                _stop(worker)
                self.workers.remove(worker)
        while waiting and len(self.workers) < self.jobs:
            self.workers.append(self._start())
            if not _assign(self.workers[-1], waiting.popleft()):
                raise WorkerBug("a worker died before its first task")


class ForkingPool(WorkerPool):
    """Workers that this process forks at `refill` or with the first task, so that everything is already imported.

    If this process cannot be forked, for example because it has threads, they start as those of any pool.
    """

    def __init__(self, jobs: int, module: str) -> None:
        super().__init__(0)
        self.jobs, self.module = jobs, module

    def _start(self) -> _Worker:
        if not may_fork():
            return super()._start()
        ours, theirs = CONTEXT.Pipe()
        cell = memoryview(mmap.mmap(-1, heartbeat.CELLS * 8)).cast("q")  # shared with the child
        process = OwnFork(_serve, (theirs, cell), ours)
        theirs.close()
        return _Worker(process, ours, cell)


def run_tasks(tasks: Iterable[Task], jobs: int) -> Generator[Outcome, None, None]:
    """Yield the outcomes of all tasks as they come, with at most `jobs` workers; closing the generator kills them.

    Raises WorkerBug for exceptions other than DiaError.
    """
    waiting = deque(tasks)
    yield from WorkerPool(min(jobs, len(waiting))).run(waiting)


class SingleWorker:
    """One worker for one call at a time. It is killed when a call takes too long; the next call starts another."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self.worker: _Worker | None = None

    def call(self, function: Callable[..., Iterator[Any]], *arguments: Any) -> Any:
        """Return the last item that the generator function yields, computed in the worker.

        Raises LanguageError if the evaluation fails, dies, or runs longer than the allowed seconds.
        """
        if self.worker is None:
            self.worker = _start_worker(function.__module__)
            with contextlib.suppress(OSError, EOFError):  # of a worker that has died, which the call reports
                self.worker.pipe.send((_nothing, ()))
                if self.worker.pipe.poll(START_SECONDS):  # the time of imports does not count
                    self.worker.pipe.recv()
        pipe, result = self.worker.pipe, None
        try:
            pipe.send((function, arguments))
            while self._has_message(self.worker):
                kind, content = pipe.recv()
                if kind == "item":
                    result = content
                elif kind == "bug":
                    raise WorkerBug(content)
                elif kind == "end":
                    return _result_or_error(result, content)
        except (EOFError, OSError):
            self.close()
            raise LanguageError("the evaluation ran out of memory or died", code="E502") from None
        self.close()
        raise LanguageError(f"the evaluation ran longer than {self.seconds:g} s", code="E502")

    def _has_message(self, worker: _Worker) -> bool:
        """Return whether the worker sends something before its time is over."""
        clock = Clock(worker.process.pid)
        while (left := self.seconds - clock.seconds()) > 0:
            if worker.pipe.poll(min(left, POLL)):
                return True
        return False

    def close(self) -> None:
        """End the worker."""
        if self.worker is not None:
            _stop(self.worker)
            self.worker = None


def _nothing() -> Iterator[None]:
    yield from ()


def _result_or_error(result: Any, diagnostics: tuple[Diagnostic, ...]) -> Any:
    if diagnostics:
        raise LanguageError(diagnostics[0].message, diagnostics[0].help, diagnostics[0].code)
    return result


def _assign(worker: _Worker, task: Task) -> bool:
    """Return whether the worker is alive and has received the task."""
    try:
        worker.pipe.send((task.function, task.arguments))
    except OSError:
        return False
    worker.task, worker.clock, worker.beats, worker.searches = task, None, -1, -1
    return True


def _start_worker(module: str | None = None) -> _Worker:
    ours, theirs = CONTEXT.Pipe()
    cell = CONTEXT.RawArray("q", heartbeat.CELLS)
    process = CONTEXT.Process(target=_serve, args=(theirs, cell, module), daemon=True)
    with _STARTING, _safe_path(), _hidden_main():
        start_without_interrupts(process)
    theirs.close()
    return _Worker(process, ours, cell)


@contextlib.contextmanager
def _safe_path() -> Iterator[None]:
    """Keep the current folder, which may be untrusted and contain a signal.py, off the path of new interpreters."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before


@contextlib.contextmanager
def _hidden_main() -> Iterator[None]:
    """Keep new processes from running the program's main script again, which they do not need."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _collect(workers: list[_Worker], label: str) -> Iterator[Outcome]:
    busy = {worker.pipe: worker for worker in workers if worker.task}
    for pipe in wait(list(busy), timeout=POLL):
        worker = busy[pipe]  # type: ignore[index]
        yield from _receive(worker, workers, label)


def _kill_stuck(workers: list[_Worker], label: str) -> Iterator[Outcome]:
    for worker in list(workers):
        if worker.task is not None and _is_stuck(worker):
            yield _kill(worker, workers, label)


def _receive(worker: _Worker, workers: list[_Worker], label: str) -> Iterator[Outcome]:
    assert worker.task is not None
    key = worker.task.key
    try:
        kind, content = worker.pipe.recv()
    except (EOFError, OSError):
        position = worker.positions.get(worker.cell[1])
        _stop(worker)
        workers.remove(worker)
        message = f"{label} ran out of memory or died"
        yield Outcome(key, is_end=True, diagnostics=(Diagnostic("E502", message, position, LIMITS_HELP),))
        return
    worker.clock = None
    if kind == "positions":
        worker.positions |= content
    elif kind == "item":
        yield Outcome(key, item=content)
    elif kind == "bug":
        raise WorkerBug(content)
    else:
        worker.task = None
        yield Outcome(key, is_end=True, diagnostics=content)


LIMITS_HELP = "reduce the work, or raise `limits` of the template"


def _is_stuck(worker: _Worker) -> bool:
    """Return whether the worker's last heartbeat, or its vain search, is too long ago."""
    assert worker.task is not None
    process = worker.process.pid
    if worker.cell[2] != worker.searches or worker.search_clock is None:
        worker.searches, worker.search_clock = worker.cell[2], Clock(process)
    if worker.cell[0] != worker.beats or worker.clock is None:
        worker.beats, worker.clock = worker.cell[0], Clock(process)
    return worker.clock.seconds() > _allowed_seconds(worker) or _searches_too_long(worker)


def _searches_too_long(worker: _Worker) -> bool:
    """Return whether a search of many evaluations has been going on for too long.

    If a single step took half of that time, its own limit applies, whose message says what is slow.
    """
    assert worker.task is not None and worker.search_clock is not None and worker.clock is not None
    is_searching, seconds = worker.searches % 2 == 1, max(worker.task.seconds, SECONDS_BETWEEN)
    return is_searching and worker.search_clock.seconds() > seconds and worker.clock.seconds() < seconds / 2


def _allowed_seconds(worker: _Worker) -> float:
    """Return the seconds for the current expression, or for the work between two expressions."""
    assert worker.task is not None
    return worker.task.seconds if worker.cell[1] else max(worker.task.seconds, SECONDS_BETWEEN)


def _kill(worker: _Worker, workers: list[_Worker], label: str) -> Outcome:
    assert worker.task is not None and worker.clock is not None
    position, help = worker.positions.get(worker.cell[1]), LIMITS_HELP
    if worker.clock.seconds() > _allowed_seconds(worker):
        what = label if worker.cell[1] else "drawing the parameters" if worker.positions else "reading the template"
        message = f"{what} ran longer than {_allowed_seconds(worker):g} s"
    else:
        message = f"the search for an instance ran longer than {max(worker.task.seconds, SECONDS_BETWEEN):g} s"
        help = "draw only values that fit, instead of rejecting others, or raise `limits` of the template"
        failed = worker.positions.get(worker.cell[3])
        if failed is not None:
            position, help = failed, f"the draws fail this condition; relax it, {help}"
    _stop(worker)
    workers.remove(worker)
    return Outcome(worker.task.key, is_end=True, diagnostics=(Diagnostic("E502", message, position, help),))


def _stop(worker: _Worker) -> None:
    with contextlib.suppress(OSError):
        worker.pipe.close()
    worker.process.kill()
    worker.process.join()


def _serve(pipe: Connection, cell: Any, module: str | None = None) -> None:
    _limit_process()
    heartbeat.attach(cell)
    if module is not None:
        import_modules((module,))
    with contextlib.suppress(EOFError, OSError, MemoryError):  # the parent has ended, or reports the error
        while True:
            function, arguments = pipe.recv()
            heartbeat.end_search()
            pipe.send(_run_task(pipe, function, arguments))
            heartbeat.end_evaluation()
    os._exit(0)


def _run_task(pipe: Connection, function: Callable[..., Iterator[Any]], arguments: tuple[Any, ...]) -> tuple[str, Any]:
    """Send what the function yields; return the message that ends the task, made once all of its values are freed."""
    try:
        for item in function(*arguments):
            heartbeat.end_evaluation()
            pipe.send(("positions", item.positions) if isinstance(item, Positions) else ("item", item))
        return "end", ()
    except DiaError as error:
        return "end", error.diagnostics
    except LanguageError as error:
        return "end", (Diagnostic(error.code, error.message, None, error.help),)
    except MemoryError:
        message = "out of memory"
    except RecursionError:
        message = "values that are nested too deeply"
    except ConnectionError:
        raise
    except Exception:
        return "bug", traceback.format_exc()
    return "end", (Diagnostic("E502", message, None, LIMITS_HELP),)


@dataclass(frozen=True, slots=True)
class Positions:
    """A task's first item: the positions of its numbered expressions, for the message if one is killed."""

    positions: dict[int, Position | None]


def _limit_process() -> None:
    """Limit memory, disable core files, ignore Ctrl-C (the parent decides) and die with the parent."""
    ignore_interrupts()
    with contextlib.suppress(OSError):  # output of libraries is not for the user
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sys.set_int_max_str_digits(INTEGER_DIGITS)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # otherwise every thread reserves its own memory
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]  # stays, for a program that needs more room than memory
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, hard))
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if is_orphan():
            os._exit(1)

"""Workers on other machines: the tasks of a compile, sent to a Dask cluster in batches.

`distributed` is imported here and nowhere else. The cluster is the user's own: it runs what is sent to it.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import secrets
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from queue import Empty, SimpleQueue
from time import monotonic, sleep
from types import FrameType, ModuleType
from typing import Any

from dia_compiler.distribute.cluster_address import LOCAL
from dia_compiler.distribute.cluster_task import OtherVersions, dismiss, outcomes_of
from dia_compiler.freeze.versions import versions
from dia_language.diagnostics import DiaError, Diagnostic, install_extra, visible
from dia_language.workers.pool import Outcome, Task, WorkerBug, WorkerPool

HANDFUL = 10  # tasks in a batch for a worker: a scheduler needs about a millisecond for each batch
AHEAD = 2  # batches for each thread of the workers, so that none waits for the client
SECONDS_TO_CONNECT = 10
SECONDS_WITHOUT_WORKERS = 30.0
SECONDS_BETWEEN_LOOKS = 2.0
SECONDS_BETWEEN_TRIES = 0.2
# Our own workers need not measure themselves, which costs each of them 4 % of a core.
LEAN = {
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "500ms",
    "distributed.worker.profile.enabled": False,
}
INSTALL = install_extra("cluster")


class ClusterPool(WorkerPool):
    """The workers of a Dask cluster; those of `local` are started on this machine and ended with it."""

    def __init__(self, address: str, jobs: int) -> None:
        """Raise DiaError: exit 2 where `distributed` is missing, exit 4 if the scheduler does not answer."""
        super().__init__(0)
        distributed = _distributed()
        self.token, self.threads, self.looked = secrets.token_hex(8), 0, 0.0
        self.cluster: Any = None
        self.client: Any = None
        self.address, self.versions = address, versions()
        with _quiet():
            try:
                self.client = self._connected(distributed, jobs)
            except (OSError, ValueError, TypeError) as error:
                self.close()
                why = str(error).splitlines()[0] if str(error) else type(error).__name__
                raise unusable(f"the cluster `{address}` does not answer: {why[:200]}") from None

    def _connected(self, distributed: ModuleType, jobs: int) -> Any:
        if self.address == LOCAL:
            import dask

            with dask.config.set(LEAN), _deaf():
                self.cluster = distributed.LocalCluster(
                    n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
                )
            return distributed.Client(self.cluster, set_as_default=False, direct_to_workers=True)
        return distributed.Client(self.address, timeout=SECONDS_TO_CONNECT, set_as_default=False)

    def run(self, tasks: Iterable[Task], label: str = "the evaluation") -> Generator[Outcome, None, None]:
        """Yield the outcomes of all tasks as they come; closing the generator cancels running tasks."""
        waiting = tasks if isinstance(tasks, deque) else deque(tasks)
        done: SimpleQueue[Any] = SimpleQueue()
        under_way: dict[str, Any] = {}
        try:
            with _quiet():
                while waiting or under_way:
                    self._hand_over(waiting, under_way, done)
                    yield from self._completed(under_way, done)
        finally:
            with _quiet(), contextlib.suppress(Exception):
                self.client.cancel(list(under_way.values()))
            self.close()

    def _hand_over(self, waiting: deque[Task], under_way: dict[str, Any], done: SimpleQueue[Any]) -> None:
        """Submit as many tasks as the workers need to be busy."""
        self._look()
        while waiting and len(under_way) < AHEAD * self.threads:
            tasks = _handful(waiting, max(1, min(HANDFUL, len(waiting) // (AHEAD * self.threads))))
            key = f"dia-{self.token}-{secrets.token_hex(8)}"
            with _delayed_interrupt():
                future = self.client.submit(outcomes_of, self.token, tasks, self.versions, key=key, pure=False)
                under_way[key] = future
                future.add_done_callback(done.put)

    def _look(self) -> None:
        """Count the workers' threads from time to time. Raises DiaError (exit 4) if there are none for too long."""
        start = monotonic()
        while not self.threads or monotonic() - self.looked > SECONDS_BETWEEN_LOOKS:
            self.threads, self.looked = sum(self._ask(self.client.nthreads).values()), monotonic()
            if self.threads:
                return
            if monotonic() - start > SECONDS_WITHOUT_WORKERS:
                raise unusable(f"the cluster `{self.address}` has no workers")
            sleep(SECONDS_BETWEEN_TRIES)

    def _completed(self, under_way: dict[str, Any], done: SimpleQueue[Any]) -> Iterator[Outcome]:
        """Return the completed tasks."""
        try:
            future = done.get(timeout=SECONDS_BETWEEN_LOOKS)
        except Empty:
            if self.client.status != "running":
                raise self._connection_lost() from None
            return
        outcomes = self._ask(future.result)
        del under_way[future.key]
        future.release()
        yield from outcomes

    def _ask(self, question: Callable[[], Any]) -> Any:
        """Ask the cluster. Raises DiaError for its errors."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError
        from distributed.comm.core import CommClosedError

        try:
            return question()
        except OtherVersions as error:
            message = f"a worker of `{self.address}` has {error}"
            raise DiaError(
                Diagnostic("E621", visible(message), None, "install the same versions on all machines")
            ) from None
        except (ImportError, AttributeError) as error:
            message = f"a worker of `{self.address}` cannot run the task: {error}"
            raise DiaError(Diagnostic("E621", visible(message), None, "install dia-spec on the workers too")) from None
        except KilledWorker:
            raise unusable(f"several workers of `{self.address}` died on the same task") from None
        except WorkerBug:
            raise
        except (FutureCancelledError, CommClosedError, OSError, RuntimeError) as error:
            if "deserialization" in str(error):
                message = f"the scheduler of `{self.address}` cannot load the task"
                help = "install dia-spec in the same versions on the scheduler too"
                raise DiaError(Diagnostic("E621", visible(message), None, help)) from None
            raise self._connection_lost() from None

    def _connection_lost(self) -> DiaError:
        return unusable(f"lost the connection to the scheduler of `{self.address}`")

    def close(self) -> None:
        """Delete what the workers keep for this compile, and stop what was started here."""
        super().close()
        client, self.client = self.client, None
        cluster, self.cluster = self.cluster, None
        with _quiet(), contextlib.suppress(Exception):
            if client is not None:
                if client.status == "running" and cluster is None:
                    client.run(dismiss, self.token, on_error="ignore")
                client.close(timeout=2)
        with _quiet(), contextlib.suppress(Exception):
            if cluster is not None:
                cluster.close(timeout=5)


def unusable(message: str) -> DiaError:
    """Return the error for a cluster that cannot be used (exit 4)."""
    return DiaError(Diagnostic("E620", visible(message), None, "start it, and compile again: nothing was written"), 4)


def _handful(waiting: deque[Task], most: int) -> list[Task]:
    """Return the first batch: consecutive tasks of one template."""
    tasks = [waiting.popleft()]
    while waiting and len(tasks) < most and waiting[0].arguments[0] is tasks[0].arguments[0]:
        tasks.append(waiting.popleft())
    return tasks


def _distributed() -> ModuleType:
    """Return the package. Raises DiaError (exit 2) if it is not installed."""
    try:
        return importlib.import_module("distributed")
    except ImportError:
        message = "`--cluster` needs the extra `cluster`"
        raise DiaError(Diagnostic("E206", message, None, INSTALL)) from None


@contextlib.contextmanager
def _deaf() -> Generator[None, None, None]:
    """Make new processes ignore Ctrl-C; the process that started them ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _delayed_interrupt() -> Generator[None, None, None]:
    """Delay Ctrl-C to the end of the block: it would leave an incomplete future, whose deletion prints a traceback."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals: list[tuple[int, FrameType | None]] = []
    before = signal.signal(signal.SIGINT, lambda *arguments: signals.append(arguments))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if signals and callable(before):
            before(*signals[0])


@contextlib.contextmanager
def _quiet() -> Generator[None, None, None]:
    """Hide Dask's logs and warnings from the user, who gets our own messages."""
    import warnings

    loggers = [logging.getLogger(name) for name in ("distributed", "tornado", "asyncio")]
    before = [logger.level for logger in loggers]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        try:
            yield
        finally:
            for logger, level in zip(loggers, before, strict=True):
                logger.setLevel(level)

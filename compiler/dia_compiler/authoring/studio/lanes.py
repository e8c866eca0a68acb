"""Worker processes for a server that must answer immediately; each lane does one task after another."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from dia_language.diagnostics import Diagnostic
from dia_language.workers.pool import SECONDS, Outcome, Task, WorkerBug, WorkerPool

MODULE = "dia_compiler.authoring.studio.look"
GRACE = 0.2  # seconds that an abandoned task has to end by itself


class Lane:
    """One worker process, and the thread that waits for it."""

    def __init__(self) -> None:
        self.executor = ThreadPoolExecutor(1)
        self.pool: WorkerPool | None = None
        self.lock = asyncio.Lock()

    async def start(self) -> None:
        """Start the worker, which is ready when the first task comes."""
        await asyncio.get_running_loop().run_in_executor(self.executor, self._started)

    def _started(self) -> WorkerPool:
        if self.pool is None:
            self.pool = WorkerPool(1, MODULE)
        return self.pool

    async def outcomes(
        self, function: Callable[..., Iterator[Any]], *arguments: Any, seconds: float = SECONDS
    ) -> AsyncGenerator[Outcome, None]:
        """Yield the outcomes of the function; each evaluation may take this many seconds.

        Closing the iterator ends the task: its worker is killed if it does not end by itself, and replaced.
        """
        loop = asyncio.get_running_loop()
        async with self.lock:
            queue: asyncio.Queue[Outcome | None] = asyncio.Queue()
            task = Task(None, function, arguments, seconds)

            def put(outcome: Outcome | None) -> None:
                with contextlib.suppress(RuntimeError):  # the loop is closed when the studio ends
                    loop.call_soon_threadsafe(queue.put_nowait, outcome)

            future = loop.run_in_executor(self.executor, self._work, task, put)
            try:
                while (outcome := await queue.get()) is not None:
                    yield outcome
            finally:
                await self._ended(future)

    async def _ended(self, future: asyncio.Future[None]) -> None:
        """Wait for the thread, and kill its task if that takes long."""
        if not future.done():
            await asyncio.wait([future], timeout=GRACE)
        if not future.done() and self.pool is not None:
            self.pool.interrupt()
        await asyncio.wait([future])

    def _work(self, task: Task, add: Callable[[Outcome | None], None]) -> None:
        pool = self._started()
        try:
            for outcome in pool.outcomes(deque([task])):
                add(outcome)
        except WorkerBug as bug:
            message = f"a bug in dia: {str(bug).strip().splitlines()[-1]}"
            add(Outcome(None, is_end=True, diagnostics=(Diagnostic("E900", message, None, None),)))
            pool.close()
        finally:
            add(None)
            pool.refill()

    async def close(self) -> None:
        """End the worker and the thread."""
        if self.pool is not None:
            self.pool.interrupt()
        await asyncio.get_running_loop().run_in_executor(self.executor, self._end)
        self.executor.shutdown(wait=False)

    def _end(self) -> None:
        """End the worker, also one that was being started."""
        if self.pool is not None:
            self.pool.close()
            self.pool = None

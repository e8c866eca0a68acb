"""Writes replies and turns to disk in a separate thread, so that asking continues meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dia_runtime.respondents.respondent import Reply
from dia_runtime.store.schema import StoredTurn
from dia_runtime.store.store import Store, open_store

if TYPE_CHECKING:
    from dia_runtime.running.jobs import Job
    from dia_runtime.running.scheduler import RespondentState, Scheduler

BATCH = 100
BATCH_SECONDS, LONGEST_BATCH_SECONDS = 0.02, 0.2
DISK_SHARE = 50  # a batch waits 50 times as long as writing the last one took, so that writing takes little time
Result = TypeVar("Result")


class StoreThread:
    """One thread with its own connection to a run; it does its work in order."""

    def __init__(self, path: Path, questions_root: str) -> None:
        self.path, self.questions_root = path, questions_root
        self.thread = ThreadPoolExecutor(1, "keeper")
        self.store: Store | None = None
        self.is_used = False

    async def run(self, work: Callable[[Store], Result]) -> Result:
        """Run the work and return its result; it completes even if nobody waits for it any more."""
        self.is_used = True
        return await asyncio.wrap_future(self.thread.submit(self._work, work))

    def _work(self, work: Callable[[Store], Result]) -> Result:
        if self.store is None:
            self.store = open_store(self.path, self.questions_root)
        return work(self.store)

    def close(self) -> None:
        """Wait for pending work, and close the run."""
        if self.is_used:
            self.thread.submit(self._close).result()
        self.thread.shutdown()

    def _close(self) -> None:
        if self.store is not None:
            self.store.close()
            self.store = None


class TurnWriter:
    """Writes turns of one respondent: each is on disk when `keep` returns; turns that wait together share a commit."""

    def __init__(self, store_thread: StoreThread, respondent: int) -> None:
        self.store_thread, self.respondent = store_thread, respondent
        self.waiting: list[tuple[int, StoredTurn]] = []
        self.received = self.saved = 0
        self.busy = asyncio.Lock()

    async def keep(self, attempt: int, turn: StoredTurn) -> None:
        self.waiting.append((attempt, turn))
        self.received += 1
        number = self.received
        async with self.busy:  # the first to arrive writes for all that wait meanwhile
            if number > self.saved:
                rows, self.waiting, last = self.waiting, [], self.received
                await self.store_thread.run(lambda store: store.save_turns(self.respondent, rows))
                self.saved = last


class ReplyWriter:
    """Writes replies that arrive within some milliseconds in one commit, then counts them."""

    def __init__(self, scheduler: Scheduler, state: RespondentState, at_once: int) -> None:
        self.scheduler, self.state, self.at_once = scheduler, state, at_once
        self.group: asyncio.TaskGroup | None = None
        self.waiting: list[tuple[tuple[int, int, Reply], bool]] = []
        self.all_is_asked = asyncio.Event()
        self.flushed_at = 0.0
        self.is_due = False
        self.took = 0.0

    async def add(self, job: Job, reply: Reply) -> None:
        """Store the reply within LONGEST_BATCH_SECONDS."""
        self.waiting.append(((job.position, job.attempt, reply), "sessions" in job.question))
        # Where several are asked at once more will come in a moment; where one is, nothing else may come for long.
        is_alone = self.at_once == 1 and time.monotonic() - self.flushed_at >= BATCH_SECONDS
        if len(self.waiting) >= BATCH or is_alone:
            self.flush()
        elif not self.is_due and self.group is not None:
            self.is_due = True
            self.group.create_task(self.flush_later())

    async def flush_later(self) -> None:
        """Write waiting replies after a delay; as a task of the group, it stops the run if the disk is full."""
        seconds = min(LONGEST_BATCH_SECONDS, max(BATCH_SECONDS, DISK_SHARE * self.took))
        with suppress(TimeoutError):
            await asyncio.wait_for(self.all_is_asked.wait(), seconds)
        self.is_due = False
        self.flush()

    async def end_with(self, workers: Collection[asyncio.Task[None]]) -> None:
        """Write without delay once all workers have ended."""
        if workers:
            await asyncio.wait(workers)
        self.all_is_asked.set()

    def flush(self) -> None:
        """Write the waiting replies to disk, then count and report them."""
        if self.waiting:
            rows, self.waiting = self.waiting, []
            began = time.monotonic()
            self.scheduler.store.save(self.state.number, [row for row, _ in rows])
            self.took = time.monotonic() - began
            for (_, _, reply), is_session in rows:
                self.state.add(reply, is_session)
            if self.scheduler.on_progress is not None:
                self.scheduler.on_progress(self.state)
        self.flushed_at = time.monotonic()

"""Replies and turns on their way to the disk, in a thread of its own, so that asking goes on while the disk works."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from dia_runtime.store import Store, open_store
from dia_runtime.store_schema import StoredTurn

Result = TypeVar("Result")


class Keeper:
    """One thread with its own connection to a run; what it is given is done in order."""

    def __init__(self, path: Path, questions_root: str) -> None:
        self.path, self.questions_root = path, questions_root
        self.thread = ThreadPoolExecutor(1, "keeper")
        self.store: Store | None = None
        self.is_used = False

    async def done(self, work: Callable[[Store], Result]) -> Result:
        """What the work gives; it is done even where nobody waits for it any more."""
        self.is_used = True
        return await asyncio.wrap_future(self.thread.submit(self._work, work))

    def _work(self, work: Callable[[Store], Result]) -> Result:
        if self.store is None:
            self.store = open_store(self.path, self.questions_root)
        return work(self.store)

    def close(self) -> None:
        """Nothing; waits for what is under way, and closes the run."""
        if self.is_used:
            self.thread.submit(self._close).result()
        self.thread.shutdown()

    def _close(self) -> None:
        if self.store is not None:
            self.store.close()
            self.store = None


class TurnWriter:
    """Turns of one respondent: each is on the disk when `keep` returns; those that wait together are one commit."""

    def __init__(self, keeper: Keeper, respondent: int) -> None:
        self.keeper, self.respondent = keeper, respondent
        self.waiting: list[tuple[int, StoredTurn]] = []
        self.taken = self.saved = 0
        self.busy = asyncio.Lock()

    async def keep(self, attempt: int, turn: StoredTurn) -> None:
        """Nothing; the turn is on the disk."""
        self.waiting.append((attempt, turn))
        self.taken += 1
        number = self.taken
        async with self.busy:  # whoever comes first writes for all that wait meanwhile
            if number > self.saved:
                rows, self.waiting, last = self.waiting, [], self.taken
                await self.keeper.done(lambda store: store.save_turns(self.respondent, rows))
                self.saved = last

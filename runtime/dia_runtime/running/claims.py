"""Claims of questions in the run's file, so that several processes share the work.

A process registers as a worker and claims questions in batches. A claim ends when the reply is stored, when the process
ends, when another process on the same host sees that it is dead, or after LEASE_SECONDS without a heartbeat.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

from dia_language.workers.processes import host, process_start
from dia_runtime.store.store import Store

LEASE_SECONDS = 600
HEARTBEAT_SECONDS = 60
Pair = tuple[int, int]
"""A question's position and the attempt at it."""

INSERT_CLAIM = (
    "INSERT INTO claim SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS (SELECT 1 FROM reply WHERE respondent = ?1"
    " AND question = ?2 AND attempt = ?3 AND error IS NULL) ON CONFLICT DO NOTHING"
)


class Claims:
    """The claims of this process."""

    def __init__(self, store: Store) -> None:
        self.store, self.worker = store, 0

    def register(self) -> None:
        """Register this process as a worker."""
        insert = "INSERT INTO worker (host, process, start, seen) VALUES (?, ?, ?, ?) RETURNING id"
        ((self.worker,),) = self.store.rows(
            insert, host(), os.getpid(), process_start(os.getpid()) or "", int(time.time())
        )

    def unregister(self) -> None:
        """Release all claims of this process."""
        self.store.rows("DELETE FROM worker WHERE id = ?", self.worker)

    def heartbeat(self) -> None:
        """Record that this process is alive."""
        self.store.rows("UPDATE worker SET seen = ? WHERE id = ?", int(time.time()), self.worker)

    def claim(self, respondent: int, pairs: Iterable[Pair]) -> list[Pair]:
        """Claim those of the pairs that are neither answered nor claimed by another process, and return them."""
        with self.store.sqlite_errors(), self.store.relaxed_sync(), self.store.transaction():
            self._remove_dead_workers()
            if not self.store.rows("SELECT 1 FROM worker WHERE id = ?", self.worker):  # others took it for dead
                self.register()
            self.heartbeat()
            return [pair for pair in pairs if self._try_claim(respondent, pair)]

    def release(self, respondent: int) -> None:
        """Release the claims for a respondent."""
        self.store.rows("DELETE FROM claim WHERE respondent = ? AND worker = ?", respondent, self.worker)

    def claim_shared(self, respondent: int, attempt: int, scope: str) -> bool:
        """Claim what questions share, and return whether this succeeded."""
        with self.store.sqlite_errors(), self.store.relaxed_sync(), self.store.transaction():
            self._remove_dead_workers()
            if not self.store.rows("SELECT 1 FROM worker WHERE id = ?", self.worker):
                self.register()
            insert = "INSERT INTO share_claim VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1"
            return bool(self.store.rows(insert, respondent, attempt, scope, self.worker))

    def release_shared(self, respondent: int, attempt: int, scope: str) -> None:
        """Release the claim."""
        query = "DELETE FROM share_claim WHERE respondent = ? AND attempt = ? AND scope = ? AND worker = ?"
        with self.store.relaxed_sync():
            self.store.rows(query, respondent, attempt, scope, self.worker)

    def held_by_others(self, respondent: int) -> int:
        """Return how many questions other processes are asking the respondent now."""
        query = "SELECT count(*) FROM claim WHERE respondent = ? AND worker <> ?"
        ((count,),) = self.store.rows(query, respondent, self.worker)
        if count:
            with self.store.sqlite_errors(), self.store.transaction():
                self._remove_dead_workers()
            ((count,),) = self.store.rows(query, respondent, self.worker)
        return int(count)

    def _try_claim(self, respondent: int, pair: Pair) -> bool:
        return bool(self.store.rows(f"{INSERT_CLAIM} RETURNING 1", respondent, *pair, self.worker))

    def _remove_dead_workers(self) -> None:
        for number, worker_host, process, start, last_seen in self.store.rows(
            "SELECT * FROM worker WHERE id <> ?", self.worker
        ):
            if worker_host == host():
                is_alive = process_start(process) in (start, "")
            else:
                is_alive = time.time() - last_seen < LEASE_SECONDS
            if not is_alive:
                self.store.rows("DELETE FROM worker WHERE id = ?", number)

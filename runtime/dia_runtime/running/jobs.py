"""What is missing of a run, claimed in batches, so that processes that run at once ask nothing twice."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_runtime.bundle.files import integrity_error
from dia_runtime.bundle.open import Bundle
from dia_runtime.bundle.records import leaf_or_none
from dia_runtime.respondents.respondent import Reply
from dia_runtime.running.claims import Claims, Pair
from dia_runtime.store.store import Store

POLL_SECONDS = 0.5
QUICK_SECONDS = 0.5
MOST_CLAIMED = 100


@dataclass(frozen=True, slots=True)
class Workload:
    """What is asked: of the first `questions` every `step`-th from `first` on, `attempts` times each."""

    questions: int
    attempts: int
    first: int = 0
    step: int = 1

    @property
    def total(self) -> int:
        """Return how many replies there are in the end."""
        return len(self.positions) * self.attempts

    @property
    def positions(self) -> range:
        """Return the positions of the questions."""
        return range(self.first, self.questions, self.step)


@dataclass(frozen=True, slots=True)
class Job:
    """One attempt at one question."""

    position: int
    attempt: int
    question: Mapping[str, Any]


class JobSource(Protocol):
    """Where the questions of a respondent come from, one at a time."""

    async def next(self) -> Job | None:
        """Return the next question; None when there is none left to ask here."""

    def finished(self, job: Job, reply: Reply | None) -> None:
        """Record the result of a question: a reply, or none."""

    def close(self) -> None:
        """Release the questions that were not asked."""


class JobQueue:
    """The questions that a respondent still has to be asked, in order; each is claimed before it is returned.

    Questions that another process has claimed are returned here if that process ends without a reply. `on_wait` is
    called with their number.
    """

    def __init__(
        self, store: Store, bundle: Bundle, claims: Claims, respondent: int, extent: Workload, at_once: int
    ) -> None:
        self.store, self.bundle, self.claims = store, bundle, claims
        self.respondent, self.extent, self.batch = respondent, extent, min(2 * at_once, MOST_CLAIMED)
        self.claimed_at = -QUICK_SECONDS
        self.ready: deque[Job] = deque()
        self.claimed_elsewhere: set[Pair] = set()
        self.missing = self._missing(None)
        self.on_wait: Callable[[int], None] = lambda number: None
        self.is_over: Callable[[], bool] = lambda: False
        self.lock = asyncio.Lock()

    async def next(self) -> Job | None:
        """Return the next question, or None."""
        async with self.lock:
            while not self.ready and self._claim_batch():
                pass
            while not self.ready and self.claimed_elsewhere:
                await self._wait()
            return self.ready.popleft() if self.ready else None

    def finished(self, job: Job, reply: Reply | None) -> None:
        """Do nothing, because the next question does not depend on replies."""

    def close(self) -> None:
        """Release the questions that were claimed but not asked."""
        self.claims.release(self.respondent)

    def _claim_batch(self) -> bool:
        """Claim a batch, and return whether there was anything to claim; fast respondents get larger batches."""
        now = time.monotonic()
        self.batch = min(MOST_CLAIMED, 2 * self.batch) if now - self.claimed_at < QUICK_SECONDS else self.batch
        self.claimed_at = now
        candidates = {(job.position, job.attempt): job for job in islice(self.missing, self.batch)}
        claimed = self.claims.claim(self.respondent, candidates) if candidates else []
        self.ready.extend(candidates.pop(pair) for pair in claimed)
        self.claimed_elsewhere |= candidates.keys()
        return bool(claimed or candidates)

    async def _wait(self) -> None:
        """Wait while other processes hold questions, then look at these again."""
        while not self.is_over() and (number := self.claims.held_by_others(self.respondent)):
            self.on_wait(number)
            await asyncio.sleep(POLL_SECONDS)
        looked_at, self.claimed_elsewhere = self.claimed_elsewhere, set()
        if self.is_over():
            return
        self.missing = self._missing(looked_at)
        while not self.ready and self._claim_batch():
            pass
        if not self.ready and self.claimed_elsewhere:  # another has been quicker, or asks under the same name
            await asyncio.sleep(POLL_SECONDS)

    def _missing(self, among: set[Pair] | None) -> Iterator[Job]:
        """Yield what has no reply, if given only `among` these pairs."""
        extent = self.extent
        for position, question in enumerate(islice(self.bundle.questions(), extent.questions)):
            if position not in extent.positions:
                continue
            there = self.store.answered(self.respondent, position)
            attempts = [attempt for attempt in range(1, extent.attempts + 1) if attempt not in there]
            if among is not None:
                attempts = [attempt for attempt in attempts if (position, attempt) in among]
            if attempts and leaf_or_none(question) != self.store.leaf(position):
                raise integrity_error("E703", f"`{self.bundle.path}` changed during the run")
            yield from (Job(position, attempt, question) for attempt in attempts)


class Chooser(Protocol):
    """Chooses the next question from the replies so far (adaptive testing)."""

    def choose(self) -> int | None:
        """Return the position of the next question; None if there is none, or none until another reply arrives."""

    def finished(self, position: int, reply: Reply | None) -> None:
        """Record the result of a question."""


class AdaptiveJobs:
    """Questions that are chosen one by one from the earlier replies."""

    def __init__(self, store: Store, bundle: Bundle, claims: Claims, respondent: int, chooser: Chooser) -> None:
        self.store, self.claims, self.respondent, self.chooser = store, claims, respondent, chooser
        self.questions = QuestionsByPosition(store, bundle)
        self.under_way = 0
        self.changed = asyncio.Condition()
        self.wake_ups: set[asyncio.Task[None]] = set()

    async def next(self) -> Job | None:
        """Return the next question; wait while pending replies may still lead to one."""
        async with self.changed:
            while True:
                position = self.chooser.choose()
                if position is not None:
                    self.under_way += 1
                    return self._claim(position)
                if not self.under_way:
                    return None
                await self.changed.wait()

    def _claim(self, position: int) -> Job:
        """Claim and return the question. Raises DiaError (exit 2) if another process is asking it."""
        if not self.claims.claim(self.respondent, [(position, 1)]):
            message = f"another process is asking the same model and writing to `{self.store.path}`"
            raise DiaError(Diagnostic("E804", visible(message), None, "wait for it, or choose another `--out`"))
        return Job(position, 1, self.questions[position])

    def finished(self, job: Job, reply: Reply | None) -> None:
        """Report the result to the chooser, and wake those who wait."""
        self.under_way -= 1
        self.chooser.finished(job.position, reply)
        task = asyncio.ensure_future(self._wake())
        self.wake_ups.add(task)
        task.add_done_callback(self.wake_ups.discard)

    async def _wake(self) -> None:
        async with self.changed:
            self.changed.notify_all()

    def close(self) -> None:
        """Release the questions that were claimed but not asked."""
        self.claims.release(self.respondent)


class QuestionsByPosition:
    """The questions of a bundle by position, compared with those of the run."""

    def __init__(self, store: Store, bundle: Bundle) -> None:
        self.store, self.bundle = store, bundle
        self.questions = list(bundle.questions())

    def __getitem__(self, position: int) -> Mapping[str, Any]:
        """Return the question. Raises DiaError (exit 3) if the bundle has changed during the run."""
        question = self.questions[position]
        if leaf_or_none(question) != self.store.leaf(position):
            raise integrity_error("E703", f"`{self.bundle.path}` changed during the run")
        return question

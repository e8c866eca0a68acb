"""How fast a model is asked: as fast as its provider accepts, learned from the requests that it refuses.

Each model has a pace of its own, because providers limit models one by one. Models of one provider share the number of
parallel requests, and none of them can take all of it.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
CHECK_SECONDS, PROBE_CHECK_SECONDS = 0.5, 0.02
DEFAULT_PATIENCE = 3600.0
# The pace after a refusal, as in CUBIC (RFC 9438, section 4.2): a share of the rate at which replies came, then a curve
# that is back at this rate after RECOVERY_SECONDS, stays near it, and then rises ever faster.
SHARE_AFTER_REFUSAL, RECOVERY_SECONDS = 0.85, 5.0
WINDOW_SECONDS, LEAST_WINDOW_SECONDS, WINDOW_REPLIES = 10.0, 0.05, 1000
FIRST_RATE = 4.0  # requests per second after an outage; doubles every second
UNLIMITED_RATE = 1000.0  # a faster pace counts as no limit


class RateLimiter:
    """The pace of one model: requests per second, and pauses after refusals.

    A refusal of a request that was sent before the last slow-down says nothing new. After two refusals without a reply
    in between, requests are sent one at a time, until one gets a reply. `patience` is the longest time in seconds to
    wait for a model that only refuses.
    """

    def __init__(self, patience: float = DEFAULT_PATIENCE) -> None:
        self.patience = patience
        self.resumes_at = self.next_start = 0.0
        self.slowed_at: float | None = None
        self.ceiling: float | None = None  # replies per second when the last request was refused
        self.refused_since: float | None = None  # the first refusal since the last reply
        self.refusals = 0  # slow-downs since the last reply
        self.is_probing = False
        self.first_start: float | None = None
        self.replies = deque[float](maxlen=WINDOW_REPLIES)
        self.turn = asyncio.Lock()

    @asynccontextmanager
    async def request(self, is_over: Callable[[], bool]) -> AsyncIterator[None]:
        """Wait until the pace allows one more request, or the run is over; the request is sent within."""
        is_probe = False
        async with self.turn:
            clock = asyncio.get_running_loop()
            while (delay := self._delay(clock.time())) > 0 and not is_over():
                await asyncio.sleep(min(delay, CHECK_SECONDS))
            now = clock.time()
            self.first_start = now if self.first_start is None else self.first_start
            rate = self.rate(now)
            self.next_start = now if rate is None else max(now, self.next_start) + 1 / rate
            if self.refusals > 1:
                is_probe = self.is_probing = True
        try:
            yield
        finally:
            if is_probe:
                self.is_probing = False

    def pause(self) -> float:
        """Return the seconds until the end of the pause after a refusal."""
        return max(0.0, self.resumes_at - asyncio.get_running_loop().time())

    def _delay(self, now: float) -> float:
        """Return the seconds until the next request may be sent."""
        return max(self.resumes_at - now, self.next_start - now, PROBE_CHECK_SECONDS if self.is_probing else 0.0)

    def rate(self, now: float) -> float | None:
        """Return the allowed requests per second; None if no limit is known."""
        if self.slowed_at is None:
            return None
        passed = max(0.0, now - max(self.slowed_at, self.resumes_at))
        if self.ceiling is None:
            rate = FIRST_RATE * 2 ** min(passed, 60.0)
        else:
            relative = (passed - RECOVERY_SECONDS) / RECOVERY_SECONDS
            rate = self.ceiling * (1 + (1 - SHARE_AFTER_REFUSAL) * relative**3)
        if rate > UNLIMITED_RATE:
            self.slowed_at = None
        return rate

    def replied(self) -> None:
        """Count a reply."""
        self.replies.append(asyncio.get_running_loop().time())
        self.refusals, self.refused_since = 0, None

    def refused(self, sent_at: float, wait: float | None) -> bool:
        """Slow down after a refusal; return whether the model has refused for too long.

        `sent_at` is the event loop's time when the request was sent, `wait` the seconds that the provider asked for.
        """
        now = asyncio.get_running_loop().time()
        self.refused_since = now if self.refused_since is None else self.refused_since
        if wait:
            self.resumes_at = max(self.resumes_at, now + wait)
        if self.slowed_at is None or sent_at > self.slowed_at:
            self.refusals += 1
            self.ceiling, self.slowed_at = self._replies_per_second(now), now
            if not wait:
                self.resumes_at = max(self.resumes_at, now + backoff_seconds(self.refusals - 1))
        return self.resumes_at - self.refused_since > self.patience

    def _replies_per_second(self, now: float) -> float | None:
        """Return how many replies came per second in the last seconds; None if there was none."""
        since = max(now - WINDOW_SECONDS, now if self.first_start is None else self.first_start)
        recent = [time for time in self.replies if time >= since]
        if not recent:
            return None
        begin = recent[0] if len(recent) == WINDOW_REPLIES else since
        return len(recent) / max(now - begin, LEAST_WINDOW_SECONDS)


class ParallelRequests:
    """The parallel requests to one provider: at most `most`, shared evenly by the models that wait for one."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.running = Counter[str]()
        self.waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def slot(self, model: str) -> AsyncIterator[None]:
        """Wait until the model may send one more request, and count it while it is in progress."""
        if self.running.total() < self.most:
            self.running[model] += 1
        else:
            await self._wait(model)
        try:
            yield
        finally:
            self._release(model)

    async def _wait(self, model: str) -> None:
        turn = asyncio.get_running_loop().create_future()
        self.waiting.setdefault(model, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._release(model)
            raise

    def _release(self, model: str) -> None:
        """Give the slot to a waiting request of the model with the fewest requests in progress."""
        self.running[model] -= 1
        while self.waiting:
            next_model = min(self.waiting, key=lambda name: self.running[name])
            turn = self.waiting[next_model].popleft()
            if not self.waiting[next_model]:
                del self.waiting[next_model]
            if not turn.done():
                self.running[next_model] += 1
                turn.set_result(None)
                return


async def sleep_unless(seconds: float, is_over: Callable[[], bool]) -> None:
    """Wait this long, or until the run is over."""
    clock = asyncio.get_running_loop()
    until = clock.time() + seconds
    while (remaining := until - clock.time()) > 0 and not is_over():
        await asyncio.sleep(min(remaining, CHECK_SECONDS))


def backoff_seconds(failures: int) -> float:
    """Return the seconds to wait after earlier failures: a limit that doubles with each, times a random 0.5 to 1.

    Random, because requests that failed together would otherwise be repeated together ("equal jitter", Brooker 2015).
    """
    longest: float = min(LONGEST_WAIT, FIRST_WAIT * 2**failures)
    return longest * (500 + secrets.randbelow(501)) / 1000

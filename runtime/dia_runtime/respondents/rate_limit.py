"""The number of parallel requests to a provider: fewer after rate-limit errors, more after successes.

Additive increase and multiplicative decrease, as in TCP congestion avoidance (RFC 5681, section 3.1).
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

COOLDOWN_SECONDS = 1.0  # errors of requests that were sent together count once
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
LONGEST_RETRY_AFTER = 600.0
CHECK_SECONDS = 0.5


class RateLimiter:
    """Limits the parallel requests to one provider."""

    def __init__(self, most: int) -> None:
        self.most, self.allowed, self.running = most, float(most), 0
        self.paused_until = 0.0
        self.slowed_at: float | None = None
        self.free = asyncio.Condition()

    @asynccontextmanager
    async def slot(self, is_over: Callable[[], bool]) -> AsyncIterator[None]:
        """Wait until one more request may start or the run is over, and count it while it is in progress."""
        async with self.free:
            while self.running >= int(self.allowed):
                await self.free.wait()
            self.running += 1
        try:
            while (remaining := self.paused_until - asyncio.get_running_loop().time()) > 0 and not is_over():
                await sleep_unless(remaining, is_over)
            yield
        finally:
            self.running -= 1
            async with self.free:
                self.free.notify(max(1, int(self.allowed) - self.running))

    def back_off(self, wait: float | None) -> None:
        """Halve the allowed rate after a rate-limit error, and pause all requests for `wait` seconds."""
        now = asyncio.get_running_loop().time()
        if wait is not None:
            self.paused_until = max(self.paused_until, now + min(wait, LONGEST_RETRY_AFTER))
        if self.slowed_at is None or now - self.slowed_at >= COOLDOWN_SECONDS:
            self.allowed = max(1.0, self.allowed / 2)
            self.slowed_at = now

    def speed_up(self) -> None:
        """Allow one more request after as many successes as there are parallel requests."""
        self.allowed = min(float(self.most), self.allowed + 1 / self.allowed)


async def sleep_unless(seconds: float, is_over: Callable[[], bool]) -> None:
    """Wait this long, or until the run is over."""
    clock = asyncio.get_running_loop()
    until = clock.time() + seconds
    while (remaining := until - clock.time()) > 0 and not is_over():
        await asyncio.sleep(min(remaining, CHECK_SECONDS))


def backoff_seconds(tried: int) -> float:
    """Return the seconds to wait after failed tries: random, from zero to a limit that doubles with each try.

    Random, because requests that failed together would otherwise be repeated together ("full jitter", Brooker 2015).
    """
    longest: float = min(LONGEST_WAIT, FIRST_WAIT * 2**tried)
    return longest * secrets.randbelow(1001) / 1000

"""Rate limits are waited for, with few requests in vain, and models of one endpoint do not slow each other down."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from dia_runtime.respondents import rate_limit
from dia_runtime.respondents.rate_limit import ParallelRequests, RateLimiter
from dia_runtime.respondents.registry import ModelOptions
from dia_runtime.running import scheduler
from dia_runtime.running.run import Progress, RunOptions, RunSummary, run
from helpers import loopback as loop
from hypothesis import given
from hypothesis import strategies as st

Make = Callable[..., Path]
command_module = import_module("dia_runtime.commands.run")
progress_lines = import_module("dia_runtime.commands.progress_lines")


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdef")


def asked(bundle: Path, server: loop.Server, models: Any = "openai/m", **terms: Any) -> RunSummary:
    return run(bundle, models, "a.run", terms=RunOptions(ModelOptions(base_url=server.url), **terms))


class Bucket:
    """A limit of so many requests per second, with so many saved up at most, as most providers have (token bucket)."""

    def __init__(self, per_second: float, most: float) -> None:
        self.per_second, self.most = per_second, most
        self.tokens, self.at, self.refused = most, time.monotonic(), 0

    async def __call__(self, request: loop.Asked, raw: Any) -> Any:
        now = time.monotonic()
        self.tokens = min(self.most, self.tokens + (now - self.at) * self.per_second)
        self.at = now
        if self.tokens < 1:
            self.refused += 1
            return await loop.fails(429, "slow down")(request, raw)
        self.tokens -= 1
        await asyncio.sleep(0.02)
        return await loop.says()(request, raw)


class Outage:
    """Refuses everything for so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.until, self.refused = seconds, 0.0, 0

    async def __call__(self, request: loop.Asked, raw: Any) -> Any:
        self.until = self.until or time.monotonic() + self.seconds
        if time.monotonic() < self.until:
            self.refused += 1
            return await loop.fails(429, "slow down")(request, raw)
        return await loop.says()(request, raw)


@pytest.mark.slow
def test_a_bucket_of_eight_requests_a_second_loses_nothing(tiny: Make) -> None:
    bucket = Bucket(8, 8)
    with loop.serve(bucket) as server:
        (entry,) = asked(tiny(k=100), server).respondents
    assert (entry.asked, entry.errors, entry.ended) == (200, 0, None)
    assert bucket.refused < 0.2 * 200, bucket.refused


@pytest.mark.slow
@pytest.mark.parametrize("number", [50, 200])
def test_forty_seconds_of_refusals_lose_nothing(tiny: Make, number: int) -> None:
    outage = Outage(40)
    with loop.serve(outage) as server:
        (entry,) = asked(tiny(k=number // 2), server).respondents
    assert (entry.asked, entry.errors, entry.ended) == (number, 0, None)
    assert outage.refused < 0.2 * number, outage.refused


def test_a_bucket_is_learned(tiny: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the slow test above, with twenty times as many requests a second."""
    monkeypatch.setattr(rate_limit, "FIRST_WAIT", 0.025)
    monkeypatch.setattr(rate_limit, "RECOVERY_SECONDS", 0.25)
    bucket = Bucket(160, 8)
    with loop.serve(bucket) as server:
        (entry,) = asked(tiny(k=30), server).respondents
    assert (entry.asked, entry.errors, entry.ended) == (60, 0, None)
    assert 0 < bucket.refused < 0.4 * 60, bucket.refused


def test_an_outage_is_probed_by_one_request_at_a_time(tiny: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "FIRST_WAIT", 0.02)
    monkeypatch.setattr(rate_limit, "FIRST_RATE", 200.0)
    outage = Outage(0.3)
    with loop.serve(outage) as server:
        (entry,) = asked(tiny(k=20), server).respondents
    assert (entry.asked, entry.errors, entry.ended) == (40, 0, None)
    assert 2 <= outage.refused <= 10
    assert entry.requests == 40 + outage.refused


def test_a_wait_that_the_provider_asks_for_holds_all_requests_of_the_model(
    tiny: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first request is refused with a wait: nothing is sent before its end."""
    monkeypatch.setattr(rate_limit, "FIRST_RATE", 200.0)
    with loop.serve(loop.first(1, loop.fails(429, headers={"Retry-After": "0.3"}), loop.says())) as server:
        (entry,) = asked(tiny(k=2), server).respondents
    begun, *rest = [request.at for request in server.asked]
    assert entry.errors == 0 and min(rest) - begun >= 0.29


def test_patience_ends(tiny: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "FIRST_WAIT", 0.05)
    bundle = tiny(k=20)
    with loop.serve(loop.fails(429, "slow down")) as server:
        summary = asked(bundle, server, patience=0.4)
    (entry,) = summary.respondents
    assert summary.is_refused and "no reply within 0.4 s of the first rejected request (`--patience`)" in str(
        entry.ended
    )
    assert entry.requests < 12
    with loop.serve(loop.says(), server.port) as server:
        (again,) = asked(bundle, server).respondents
    assert (again.kept, again.asked, again.errors) == (0, 40, 0)


def test_a_refused_model_does_not_hold_up_another_one_at_its_endpoint(tiny: Make) -> None:
    scripts = {"a": loop.fails(429, headers={"Retry-After": "3"}), "b": loop.says(delay=0.01)}
    finished: list[float] = []

    async def answer(request: loop.Asked, raw: Any) -> Any:
        finished.append(time.monotonic())
        return await scripts[request.body["model"]](request, raw)

    with loop.serve(answer) as server:
        begun = time.monotonic()
        first, second = asked(tiny(k=20), server, ["openai/a", "openai/b"], patience=2.0).respondents
    assert first.is_refused and (second.asked, second.errors) == (40, 0)
    assert finished[-1] - begun < 3


def test_a_slow_model_does_not_take_all_parallel_requests(tiny: Make) -> None:
    """Both models wait for a slot all the time. The slow one gives four replies, and no other before the quick one is done:
    if it took all slots, that would never be.
    """
    started, finished = Counter[str](), Counter[str]()
    is_quick_done = asyncio.Event()

    async def answer(request: loop.Asked, raw: Any) -> Any:
        model = request.body["model"]
        started[model] += 1
        if model == "quick":
            await asyncio.sleep(0.01)
        elif started["slow"] <= 4:
            await asyncio.sleep(0.1)
        else:
            await asyncio.wait_for(is_quick_done.wait(), 60)
        finished[model] += 1
        if finished["quick"] == 20:
            is_quick_done.set()
        return await loop.says()(request, raw)

    with loop.serve(answer) as server:
        for entry in asked(tiny(k=10), server, ["openai/slow", "openai/quick"], concurrency=4, retries=0).respondents:
            assert (entry.asked, entry.errors) == (20, 0)
    assert server.most == 4


def test_all_parallel_requests_go_to_the_only_model_that_asks() -> None:
    async def story() -> int:
        parallel, most, running = ParallelRequests(4), 0, 0

        async def one(model: str) -> None:
            nonlocal most, running
            async with parallel.slot(model):
                running += 1
                most = max(most, running)
                await asyncio.sleep(0)
                running -= 1

        await asyncio.gather(*[one("a") for _ in range(20)])
        assert parallel.running.total() == 0 and parallel.waiting == {}
        return most

    assert asyncio.run(story()) == 4


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.booleans()), max_size=40), st.integers(1, 5))
def test_slots_are_neither_lost_nor_given_twice(requests: list[tuple[str, int, bool]], most: int) -> None:
    """Whatever is cancelled while it waits or runs."""

    async def story() -> None:
        parallel, running = ParallelRequests(most), 0

        async def one(model: str, steps: int) -> None:
            nonlocal running
            async with parallel.slot(model):
                running += 1
                assert running <= most
                try:
                    for _ in range(steps):
                        await asyncio.sleep(0)
                finally:
                    running -= 1

        tasks = [asyncio.create_task(one(model, steps)) for model, steps, _ in requests]
        await asyncio.sleep(0)
        for task, (_, _, is_cancelled) in zip(tasks, requests, strict=True):
            if is_cancelled:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert [task for task in tasks if not task.cancelled() and task.exception()] == []
        assert parallel.running.total() == 0 and parallel.waiting == {}

    asyncio.run(story())


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """A clock that the test sets, in place of the event loop's."""
    now = [100.0]

    class Loop:
        def time(self) -> float:
            return now[0]

    monkeypatch.setattr(rate_limit.asyncio, "get_running_loop", Loop)
    yield now


def test_the_pace_falls_below_the_rate_of_replies_and_rises_again(clock: list[float]) -> None:
    limiter = RateLimiter()
    assert limiter.rate(100.0) is None
    limiter.first_start = 90.0
    for reply in range(80):
        clock[0] = 90 + reply / 8
        limiter.replied()
    clock[0] = 100.0
    assert not limiter.refused(99.9, None)
    paused_until = limiter.resumes_at
    assert 100.25 <= paused_until <= 100.5
    rates = [limiter.rate(paused_until + seconds) for seconds in (0, 5, 10, 15, 200)]
    assert rates[:4] == pytest.approx([0.85 * 8, 8, 1.15 * 8, 2.2 * 8], rel=0.02)
    assert rates[4] is not None and rates[4] > 1000 and limiter.rate(paused_until + 201) is None


def test_requests_that_were_sent_together_slow_down_once(clock: list[float]) -> None:
    limiter = RateLimiter()
    clock[0] = 101.0
    limiter.refused(100.0, None)
    first = (limiter.refusals, limiter.resumes_at)
    for _ in range(15):
        limiter.refused(100.0, None)
    assert (limiter.refusals, limiter.resumes_at) == first == (1, pytest.approx(101.375, abs=0.126))
    limiter.refused(100.0, 7.0)  # but a wait that the provider asks for counts
    assert limiter.resumes_at == 108.0
    clock[0] = 109.0
    limiter.refused(108.5, None)
    assert limiter.refusals == 2
    limiter.replied()
    assert limiter.refusals == 0 and limiter.refused_since is None


def test_a_line_of_progress_comes_every_ten_seconds_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [50.0]
    monkeypatch.setattr(progress_lines.time, "monotonic", lambda: now[0])
    report = command_module._progress_lines()
    steps = [
        (9.9, Progress("m", 3, 300, 0)),
        (10.0, Progress("m", 120, 300, 2, "0.12", pause=29.6)),
        (11.0, Progress("m", 130, 300, 2, "0.12")),
        (12.0, Progress("n", 5, 300, 0)),
        (14.0, Progress("o", 5, 300, 0, pause=0.3, is_limited=True)),
        (20.0, Progress("m", 299, 300, 1, "0")),
        (31.0, Progress("m", 300, 300, 0)),
    ]
    for passed, step in steps:
        now[0] = 50.0 + passed
        report(step)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "m: 120 of 300 replies, 2 errors, 0.12 US dollars; the rate limit allows the next request in 30 s",
        "n: 5 of 300 replies",
        "o: 5 of 300 replies; waiting for the rate limit",
        "m: 299 of 300 replies, 1 error",
    ]


def test_a_rate_limit_before_the_first_reply_is_reported_once(tiny: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "FIRST_WAIT", 0.02)
    monkeypatch.setattr(rate_limit, "FIRST_RATE", 200.0)
    notes: list[tuple[str, str]] = []
    with loop.serve(loop.first(3, loop.fails(429, "slow down"), loop.says())) as server:
        terms = RunOptions(ModelOptions(base_url=server.url), on_retry=lambda *note: notes.append(note))
        run(tiny(templates=1, k=2), "openai/m", "a.run", terms=terms)
    assert notes == [("openai/m", "429 slow down")]


def test_progress_is_reported_although_no_reply_comes(tiny: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "PROGRESS_SECONDS", 0.02)
    steps: list[Progress] = []
    with loop.serve(loop.first(1, loop.fails(429, headers={"Retry-After": "0.4"}), loop.says())) as server:
        terms = RunOptions(ModelOptions(base_url=server.url))
        run(tiny(templates=1, k=1), "openai/m", "a.run", on_progress=steps.append, terms=terms)
    assert sum(0.1 < step.pause <= 0.4 and step.done == 0 and step.is_limited for step in steps) >= 3

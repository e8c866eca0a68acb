"""Runs of sessions that several processes write and that are killed: no turn is lost, none asked twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dia_runtime.respondents.registry import ModelOptions
from dia_runtime.running.run import RespondentSummary, RunOptions, run
from dia_runtime.store.store import read_store
from helpers import loopback as loop
from helpers import persona as scripted
from helpers import session_records
from helpers.kills import KILLS

Make = Callable[..., Path]
AT_ONCE = 4
CONVERSATIONS = 3 * AT_ONCE  # of the questions that are asked at once; the ones of `difficulty` have three each
PROGRAM = textwrap.dedent(
    """
    import sys
    from dia_runtime.respondents.registry import ModelOptions
    from dia_runtime.running.run import RunOptions, run
    bundle, path, url, *judge = sys.argv[1:]
    print("begun", flush=True)
    held = RunOptions(ModelOptions(base_url=url), 4, roles=dict.fromkeys(judge, "openai/j"))
    (entry,) = run(bundle, "openai/m", path, terms=held).respondents
    print(entry.asked, entry.kept, entry.errors)
    """
)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdef")


@pytest.fixture
def mixed(bundle_writer: Make, tmp_path: Path) -> Path:
    """Judged replies, conversations of several turns, and single questions that several groups share."""
    made: list[Any] = []
    for at in range(0, 60, 3):
        made += [
            session_records.refusal(at),
            session_records.pressure(at + 1),
            session_records.difficulty([at, at + 3, at + 6], at + 2),
        ]
    return session_records.bundle(bundle_writer, tmp_path / "mixed", made)


def roles(bundle: Path) -> list[str]:
    """The roles of a bundle of these tests."""
    return ["judge"] if bundle.name == "mixed" else []


def begun(bundle: Path, path: Path, server: loop.Server) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, str(bundle), str(path), server.url, *roles(bundle)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> tuple[int, ...]:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return tuple(map(int, out.splitlines()[-1].split()))


def here(bundle: Path, path: Path, server: loop.Server) -> RespondentSummary:
    """The run taken up in this process."""
    held = RunOptions(ModelOptions(base_url=server.url), AT_ONCE, roles=dict.fromkeys(roles(bundle), "openai/j"))
    (entry,) = run(bundle, "openai/m", path, terms=held).respondents
    return entry


def wait_for(server: loop.Server, number: int) -> None:
    """Waits until so many requests have come."""
    deadline = time.monotonic() + 20
    while len(server.asked) < number:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def requests(server: loop.Server, since: int = 0) -> Counter[str]:
    """What was asked: every conversation of this bundle is different."""
    return Counter(str(request.body["messages"]) for request in server.asked[since:])


def kept(path: Path) -> tuple[int, list[str]]:
    """How many turns lie in the run, and the transcripts."""
    with read_store(path) as store:
        ((turns,),) = store.rows("SELECT count(*) FROM turn WHERE error IS NULL")
        return turns, [text for (text,) in store.rows("SELECT text FROM reply ORDER BY question")]


@pytest.mark.slow
def test_kills_lose_and_repeat_no_turn(mixed: Path, tmp_path: Path) -> None:
    """A turn that is on the disk is never asked again; one whose request or writing was under way at a kill may be."""
    path, whole = tmp_path / "a.run", tmp_path / "whole.run"
    with loop.serve(scripted.plays(delay=0.01)) as server:
        here(mixed, whole, server)
        expected = requests(server)
    assert set(expected.values()) == {1}
    with loop.serve(scripted.plays(delay=0.03)) as server:
        durable = 0
        for number in range(KILLS):
            before = len(server.asked)
            process = begun(mixed, path, server)
            assert process.stdout is not None
            process.stdout.readline()
            deadline = time.monotonic() + 20
            while (
                len(server.asked) < before + 3 + number % 5 and process.poll() is None and time.monotonic() < deadline
            ):
                time.sleep(0.005)
            time.sleep((number * 7 % 20) / 1000)
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
            turns, _ = kept(path)
            answered = len(server.asked)
            assert len(expected) > turns >= durable  # it was not finished, and nothing that was there is gone
            durable = turns
        entry = here(mixed, path, server)
        again = requests(server)
        assert entry.errors == 0 and again.keys() == expected.keys()
        # A kill may cost one turn of each conversation: it sends the next request once the last reply is on the disk.
        assert sum(again.values()) - len(expected) <= KILLS * CONVERSATIONS and answered >= durable
        asked = len(server.asked)
        assert here(mixed, path, server).requests == 0 and len(server.asked) == asked
    assert [texts(text) for text in kept(path)[1]] == [texts(text) for text in kept(whole)[1]]
    assert kept(path)[0] == kept(whole)[0] == len(expected)


def texts(transcript: str) -> list[Any]:
    from dia_runtime.store.transcripts import read_transcript

    return [(s.name, s.item, s.shared, s.messages, [r.text for r in s.replies]) for s in read_transcript(transcript)]


@pytest.mark.slow
def test_a_kill_between_two_turns_asks_only_the_second(bundle_writer: Make, tmp_path: Path) -> None:
    bundle, path = (
        session_records.bundle(bundle_writer, tmp_path / "b", [session_records.pressure(depth=3)]),
        tmp_path / "a.run",
    )

    async def answer(asked: loop.Asked, request: Any) -> Any:
        return await scripted.plays(delay=60 if asked.number == 3 else 0)(asked, request)

    with loop.serve(answer) as server:
        process = begun(bundle, path, server)
        wait_for(server, 3)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        entry = here(bundle, path, server)
        assert (entry.asked, entry.requests, len(server.asked)) == (1, 2, 5)
        assert server.asked[3].body == server.asked[2].body
    ((text,),) = [kept(path)[1]]
    assert [reply for _, _, _, _, found in texts(text) for reply in found] == ["A", "A", "A", "B"]


@pytest.mark.long
def test_two_processes_share_the_work_and_what_questions_share(mixed: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    with loop.serve(scripted.plays(delay=0.05)) as server:
        first, second = begun(mixed, path, server), begun(mixed, path, server)
        one, other = ended(first), ended(second)
        assert set(requests(server).values()) == {1}
    assert one[0] and other[0] and one[0] + other[0] == 60 and (one[2], other[2]) == (0, 0)
    with read_store(path) as store:
        for table in ("claim", "share_claim", "worker"):
            assert store.rows(f"SELECT count(*) FROM {table}") == [(0,)]


@pytest.mark.slow
def test_what_a_killed_process_shared_is_asked_by_the_other(bundle_writer: Make, tmp_path: Path) -> None:
    groups = [session_records.difficulty([0, 1], at) for at in range(2)]
    bundle, path = session_records.bundle(bundle_writer, tmp_path / "b", groups), tmp_path / "a.run"

    async def answer(asked: loop.Asked, request: Any) -> Any:
        return await scripted.plays(delay=60 if asked.number <= 2 else 0)(asked, request)

    with loop.serve(answer) as server:
        doomed = begun(bundle, path, server)
        wait_for(server, 2)
        other = begun(bundle, path, server)
        assert other.stdout is not None
        other.stdout.readline()
        time.sleep(1)
        assert len(server.asked) == 2  # it waits for what the first one holds
        os.kill(doomed.pid, signal.SIGKILL)
        assert ended(other)[0] == 2
        doomed.communicate()
        assert len(server.asked) == 2 + 2 + 2


@pytest.mark.slow
def test_an_interrupt_keeps_the_turns(bundle_writer: Make, tmp_path: Path) -> None:
    bundle, path = (
        session_records.bundle(bundle_writer, tmp_path / "b", [session_records.pressure(depth=3)]),
        tmp_path / "a.run",
    )

    async def answer(asked: loop.Asked, request: Any) -> Any:
        return await scripted.plays(delay=60 if asked.number == 3 else 0)(asked, request)

    with loop.serve(answer) as server:
        process = begun(bundle, path, server)
        wait_for(server, 3)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        process.communicate(timeout=20)
        assert time.monotonic() - began < 5 and kept(path)[0] == 2
    assert [entry.name for entry in tmp_path.glob("a.run*")] == ["a.run"]

"""Runs that several processes write, that are killed, and whose disk is full: nothing is lost, nothing asked twice."""

from __future__ import annotations

import os
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import dia_runtime
import pytest
from dia_language.diagnostics import DiaError
from dia_language.workers.processes import host, process_start
from dia_runtime.respondents.registry import ModelOptions
from dia_runtime.respondents.respondent import Reply
from dia_runtime.running import claims as claiming
from dia_runtime.running.claims import Claims
from dia_runtime.running.run import RunOptions, run
from dia_runtime.store.schema import FIRST_SCHEMA, VERSION
from dia_runtime.store.store import open_store, read_store
from helpers import loopback as loop
from helpers.kills import KILLS

Make = Callable[..., Path]
# Of four requests at once that take 30 ms each: those under way, and those that wait some 200 ms for their commit.
AT_RISK = 40
PROGRAM = textwrap.dedent(
    """
    import signal, sys
    from dia_runtime.respondents.registry import ModelOptions
    from dia_runtime.running.run import RunOptions, run
    bundle, path, url, concurrency = sys.argv[1:]
    def told(step):
        print(step.done, flush=True)
    print("begun", flush=True)
    summary = run(bundle, "m", path, terms=RunOptions(ModelOptions(base_url=url), int(concurrency)), on_progress=told)
    print("asked", summary.respondents[0].asked, summary.respondents[0].kept, summary.has_errors)
    """
)


def begun(bundle: Path, path: Path, server: loop.Server, concurrency: int = 8, **more: Any) -> subprocess.Popen[str]:
    """A process that asks; it prints how many replies are counted as done."""
    command = [sys.executable, "-c", PROGRAM, str(bundle), str(path), server.url, str(concurrency)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def ended(process: subprocess.Popen[str]) -> tuple[int, int, str]:
    """How much it asked, how much was there, and whether errors are left."""
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    asked, kept, has_errors = out.splitlines()[-1].split()[1:]
    return int(asked), int(kept), has_errors


def held(path: Path) -> list[int]:
    """The positions of the questions that have a reply."""
    with read_store(path) as store:
        return [question.position for question, reply in store.replies(1) if reply.error is None]


def counts(server: loop.Server) -> Counter[str]:
    return Counter(request.text for request in server.asked)


def rest(bundle: Path, path: Path, server: loop.Server) -> Any:
    """The run taken up in this process."""
    return run(bundle, "m", path, terms=RunOptions(ModelOptions(base_url=server.url), 8))


@pytest.mark.long
def test_two_processes_share_the_work_and_ask_nothing_twice(tiny: Make, tmp_path: Path) -> None:
    bundle, path = tiny(templates=4, k=50), tmp_path / "a.run"
    with loop.serve(loop.says(delay=0.02)) as server:
        first, second = begun(bundle, path, server, 4), begun(bundle, path, server, 4)
        one, other = ended(first), ended(second)
        assert set(counts(server).values()) == {1} and len(server.asked) == 200
    assert one[0] + other[0] == 200 and one[0] and other[0]
    assert (one[0] + one[1], other[0] + other[1], one[2], other[2]) == (200, 200, "False", "False")
    assert held(path) == list(range(200)) and [entry.name for entry in tmp_path.glob("a.run*")] == ["a.run"]
    with read_store(path) as store:
        assert store.rows("SELECT count(*) FROM claim") == store.rows("SELECT count(*) FROM worker") == [(0,)]


@pytest.mark.slow
def test_what_a_killed_process_held_is_asked_by_the_other(tiny: Make, tmp_path: Path) -> None:
    bundle, path = tiny(templates=2, k=60), tmp_path / "a.run"
    with loop.serve(loop.says(delay=0.03)) as server:
        doomed, other = begun(bundle, path, server, 4), begun(bundle, path, server, 4)
        assert doomed.stdout is not None
        told = list(islice(doomed.stdout, 3))
        os.kill(doomed.pid, signal.SIGKILL)
        asked, kept, has_errors = ended(other)  # its dead companion is not even waited for by its parent yet
        doomed.communicate()
        repeated = sum(count - 1 for count in counts(server).values())
    assert asked + kept == 120 and has_errors == "False" and int(told[-1]) <= kept
    assert held(path) == list(range(120)) and repeated <= AT_RISK


def killed_again_and_again(bundle: Path, path: Path, times: int, questions: int) -> None:
    prompts = [record["messages"][0]["content"] for record in dia_runtime.open_bundle(bundle).questions()]
    with loop.serve(loop.says(delay=0.01)) as server:
        done: set[str] = set()
        for number in range(times):
            before = len(server.asked)
            process = begun(bundle, path, server, 4)
            assert process.stdout is not None
            process.stdout.readline()
            told = [int(line) for line in islice(process.stdout, number % 4)]
            time.sleep((number * 7 % 20) / 1000)
            os.kill(process.pid, signal.SIGKILL)
            told += [int(line) for line in process.stdout.read().split() if line.isdecimal()]
            process.communicate()
            assert not done & {request.text for request in server.asked[before:]}, number  # never asked again
            is_laid_down = path.exists() and path.stat().st_size
            positions = held(path) if is_laid_down else []
            assert len(positions) == len(set(positions)) >= (told[-1] if told else 0), number
            assert done <= {prompts[position] for position in positions}  # never lost
            done = {prompts[position] for position in positions}
        before = len(server.asked)
        rest(bundle, path, server)
        assert Counter(request.text for request in server.asked[before:]) == Counter(set(prompts) - done)
    assert held(path) == list(range(questions))


@pytest.mark.slow
def test_kills_lose_nothing(tiny: Make, tmp_path: Path) -> None:
    questions = 40 * KILLS
    killed_again_and_again(tiny(templates=4, k=10 * KILLS), tmp_path / "a.run", KILLS, questions)


LAYING_DOWN = textwrap.dedent(
    """
    import os, signal, sys
    from itertools import count
    from dia_runtime.running import load_questions
    from dia_runtime.running.run import run
    stored, number = load_questions._stored_question, count()
    def dying(*arguments):
        if next(number) == 5_000:  # more than SQLite keeps in memory: parts are in the file, its beginning may not be
            os.kill(os.getpid(), signal.SIGKILL)
        return stored(*arguments)
    load_questions._stored_question = dying
    run(sys.argv[1], "oracle", sys.argv[2])
    """
)


@pytest.mark.slow
def test_a_kill_while_questions_are_laid_down_leaves_nothing_in_the_way(tiny: Make, tmp_path: Path) -> None:
    bundle, path = tiny(templates=2, k=3_000), tmp_path / "a.run"
    done = subprocess.run([sys.executable, "-c", LAYING_DOWN, str(bundle), str(path)], check=False)
    assert done.returncode == -signal.SIGKILL and path.stat().st_size and Path(f"{path}-journal").exists()
    with pytest.raises(DiaError) as caught:
        read_store(path)
    assert caught.value.exit_code == 2
    (entry,) = run(bundle, "oracle", path, limit=10).respondents
    assert entry.asked == 10


@pytest.mark.long
def test_processes_that_begin_together_lay_the_questions_down_once(tiny: Make, tmp_path: Path) -> None:
    bundle, path = tiny(templates=2, k=2_000), tmp_path / "a.run"
    program = "import sys; from dia_runtime.running.run import run; run(sys.argv[1], 'oracle', sys.argv[2], limit=100)"
    command = [sys.executable, "-c", program, str(bundle), str(path)]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate(timeout=60)[1] for process in processes] == ["", "", ""]
    with read_store(path) as store:
        assert store.size == 4_000 and store.count(1, 1, 4_000) == 100


@pytest.mark.slow
def test_an_interrupt_keeps_what_has_come(tiny: Make, tmp_path: Path) -> None:
    bundle, path = tiny(templates=2, k=60), tmp_path / "a.run"
    program = "import sys; from dia_compiler.commands.cli import main; sys.argv[0] = 'dia'; main()"
    with loop.serve(loop.says(delay=0.02)) as server:
        command = [sys.executable, "-c", program, "run", str(bundle), "--model", "m", "--base-url", server.url]
        process = subprocess.Popen([*command, "-o", str(path), "--concurrency", "2"], stderr=subprocess.PIPE, text=True)
        while len(server.asked) < 30:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGINT)
        told = process.communicate(timeout=30)[1]
        there = len(held(path))
        assert process.returncode == 130 and "repeat the command to continue" in told and "Traceback" not in told
        assert 20 <= there < 120 and not Path(f"{path}-wal").exists()
        rest(bundle, path, server)
    assert len(held(path)) == 120 and sum(count - 1 for count in counts(server).values()) <= 2


def small_files() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond the bound fails, as on a full disk
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))


@pytest.mark.long
def test_a_full_disk_loses_nothing_that_was_counted(tiny: Make, tmp_path: Path) -> None:
    bundle, path = tiny(templates=2, k=60), tmp_path / "a.run"
    with loop.serve(loop.says("x" * 20_000, delay=0.02)) as server:
        process = begun(bundle, path, server, 4, preexec_fn=small_files)
        out, err = process.communicate(timeout=60)
        told = [int(line) for line in out.splitlines() if line.isdecimal()]
        assert process.returncode != 0 and "DiaError" in err and "cannot be used" in err
        there = len(held(path))
        assert told and there >= told[-1] and there < 120
        assert len(server.asked) < 120  # what cannot be kept is not asked for
        rest(bundle, path, server)
    assert held(path) == list(range(120))


def left_by_a_kill(tiny: Make, path: Path, server: loop.Server) -> tuple[Path, Path, int]:
    """A bundle, the log of the run that was killed, and how much was counted."""
    bundle = tiny(templates=2, k=60)
    process = begun(bundle, path, server, 4)
    assert process.stdout is not None
    told = list(islice(process.stdout, 4))
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    log = Path(f"{path}-wal")
    assert log.stat().st_size
    return bundle, log, int(told[-1])


@pytest.mark.parametrize("rubbish", [b"\0" * 5000, b"rubbish" * 1000])
@pytest.mark.long
def test_a_log_with_a_torn_end_loses_nothing(tiny: Make, tmp_path: Path, rubbish: bytes) -> None:
    with loop.serve(loop.says(delay=0.01)) as server:
        bundle, log, told = left_by_a_kill(tiny, tmp_path / "a.run", server)
        with log.open("ab") as file:
            file.write(rubbish)
        assert len(held(tmp_path / "a.run")) >= told
        rest(bundle, tmp_path / "a.run", server)
    assert held(tmp_path / "a.run") == list(range(120))


@pytest.mark.long
def test_what_a_damaged_log_held_is_asked_again(tiny: Make, tmp_path: Path) -> None:
    with loop.serve(loop.says(delay=0.01)) as server:
        bundle, log, _ = left_by_a_kill(tiny, tmp_path / "a.run", server)
        content = bytearray(log.read_bytes())
        content[len(content) * 3 // 4] ^= 0xFF
        log.write_bytes(content)
        rest(bundle, tmp_path / "a.run", server)
    assert held(tmp_path / "a.run") == list(range(120))


@pytest.fixture
def laid_down(tiny: Make, tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "a.run"
    dia_runtime.run(tiny(), "oracle", path, limit=1)
    yield path


def root_of(path: Path) -> str:
    with read_store(path) as store:
        return str(store.facts["questions_root"])


PAIRS = [(position, 1) for position in range(6)]


def test_a_run_that_waits_for_another_process_says_so(tiny: Make, laid_down: Path) -> None:
    bundle, program = laid_down.parent / "bundle", "import sys; from dia_compiler.commands.cli import main; main()"
    with open_store(laid_down, root_of(laid_down)) as store:
        other = Claims(store)
        other.register()
        assert other.claim(1, PAIRS) == PAIRS[1:]
        command = [sys.executable, "-c", program, "run", str(bundle), "--model", "oracle", "-o", str(laid_down)]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        assert process.stderr.readline() == "oracle: waiting for 5 questions that another process is asking\n"
        store.save(1, [(position, 1, Reply("mine")) for position, _ in PAIRS[1:3]])
        other.unregister()
        assert "oracle: 6 of 6 replies, 3 of them already in the run" in process.communicate(timeout=30)[1]
        assert process.returncode == 0


def test_claims_exclude_each_other_and_answers(laid_down: Path) -> None:
    root = root_of(laid_down)
    with open_store(laid_down, root) as store, open_store(laid_down, root) as beside:
        one, other = Claims(store), Claims(beside)
        one.register()
        other.register()
        assert one.claim(1, PAIRS[:3]) == PAIRS[1:3]  # the first has its reply
        assert other.claim(1, PAIRS) == PAIRS[3:] and other.claim(1, PAIRS) == []
        assert (one.held_by_others(1), other.held_by_others(1)) == (3, 2)
        store.save(1, [(1, 1, Reply("x")), (2, 1, Reply(None, error="network"))])
        assert other.held_by_others(1) == 0 and other.claim(1, PAIRS) == [(2, 1)]  # an error may be asked again
        other.unregister()
        assert one.held_by_others(1) == 0 and one.claim(1, PAIRS) == PAIRS[2:]
        one.release(1)
        assert store.rows("SELECT count(*) FROM claim") == [(0,)]


@pytest.mark.slow
def test_claims_of_the_dead_are_free_at_once(laid_down: Path) -> None:
    with (
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process,
        open_store(laid_down, root_of(laid_down)) as store,
    ):
        start = process_start(process.pid)
        insert = "INSERT INTO worker (host, process, start, seen) VALUES (?, ?, ?, 0)"
        store.rows(insert, host(), process.pid, start)
        store.rows("INSERT INTO claim VALUES (1, 1, 1, last_insert_rowid())")
        mine = Claims(store)
        mine.register()
        assert (
            mine.claim(1, PAIRS) == PAIRS[2:] and mine.held_by_others(1) == 1
        )  # alive, however long it was not heard of
        process.kill()
        while process_start(process.pid) is not None:  # dead, but nobody has waited for it yet
            time.sleep(0.01)
        assert mine.held_by_others(1) == 0 and mine.claim(1, PAIRS) == [(1, 1)]
        store.rows(insert, host(), os.getpid(), "another start")  # a number that is used again
        store.rows("INSERT INTO claim VALUES (1, 0, 2, last_insert_rowid())")
        assert mine.held_by_others(1) == 0


def test_claims_of_another_machine_are_free_after_a_time(laid_down: Path) -> None:
    with open_store(laid_down, root_of(laid_down)) as store:
        insert = "INSERT INTO worker (host, process, start, seen) VALUES ('elsewhere', 1, '', ?)"
        store.rows(insert, int(time.time()) - claiming.LEASE_SECONDS + 30)
        store.rows("INSERT INTO claim VALUES (1, 1, 1, last_insert_rowid())")
        mine = Claims(store)
        mine.register()
        assert mine.held_by_others(1) == 1
        store.rows("UPDATE worker SET seen = seen - 60 WHERE host = 'elsewhere'")
        assert mine.held_by_others(1) == 0


def test_a_worker_that_was_thought_dead_enters_again(laid_down: Path) -> None:
    with open_store(laid_down, root_of(laid_down)) as store:
        mine = Claims(store)
        mine.register()
        before = mine.worker
        store.rows("DELETE FROM worker")
        assert mine.claim(1, PAIRS) == PAIRS[1:] and mine.worker > before  # numbers are not given twice


def test_a_host_is_told_from_others() -> None:
    assert host().startswith(socket.gethostname()) and process_start(os.getpid()) is not None
    assert process_start(2**22 + 1) is None


def test_a_run_of_the_first_version_is_read_and_brought_up(tiny: Make, tmp_path: Path) -> None:
    bundle, new, old = tiny(), tmp_path / "new.run", tmp_path / "old.run"
    dia_runtime.run(bundle, "oracle", new, limit=4)
    with sqlite3.connect(old) as connection:
        for statement in FIRST_SCHEMA:
            connection.execute(statement)
        connection.execute("ATTACH ? AS new", (str(new),))
        for table in ("meta", "respondent", "question", "reply"):
            columns = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]
            connection.execute(f"INSERT INTO {table} SELECT {', '.join(columns)} FROM new.{table}")
        connection.commit()
        connection.execute("PRAGMA main.application_id = 0x64696172")
        connection.execute("PRAGMA main.user_version = 1")
    connection.close()
    before = old.read_bytes()
    assert dia_runtime.score(old)["models"][0]["counts"]["correct"] == 4 and old.read_bytes() == before
    (entry,) = dia_runtime.run(bundle, "oracle", old).respondents
    assert (entry.asked, entry.kept) == (2, 4)
    with read_store(old) as store, read_store(new) as made:
        assert store.version == made.version == VERSION and store.schema() == made.schema()
        assert store.rows("SELECT DISTINCT skills FROM question") == [("[]",)]
        assert store.rows("SELECT tries FROM reply ORDER BY question") == [(None,)] * 4 + [(1,)] * 2

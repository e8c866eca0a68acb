"""Workers: what hangs, dies or eats memory is ended and told at its place; the others live on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, closing
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from dia_language.diagnostics import DiaError, Diagnostic, LanguageError, Position
from dia_language.workers import heartbeat
from dia_language.workers.pool import Clock, Outcome, Positions, SingleWorker, Task, WorkerBug, WorkerPool, run_tasks

pytestmark = pytest.mark.spawned

HERE = Position("f.yaml", 3, 7)


def count(number: int) -> Iterator[Any]:
    """Counts, and says who did."""
    yield from range(number)
    yield os.getpid()


def hang(seconds: float) -> Iterator[Any]:
    """Hangs within expression 5."""
    yield Positions({5: HERE})
    heartbeat.begin_evaluation(5)
    time.sleep(seconds)
    yield "late"


def devour() -> Iterator[Any]:
    """Asks for more memory than there is for it."""
    yield Positions({9: HERE})
    heartbeat.begin_evaluation(9)
    yield len(bytearray(8 << 30))


def die() -> Iterator[Any]:
    """Ends without a word."""
    yield Positions({7: HERE})
    heartbeat.begin_evaluation(7)
    os._exit(3)


def fail() -> Iterator[Any]:
    """Fails as a spec does."""
    yield "first"
    raise DiaError(Diagnostic("E503", "a check is false", HERE))


def break_down() -> Iterator[Any]:
    """Has a bug."""
    yield 1
    raise KeyError("ours")


def outcomes(*tasks: Task, jobs: int = 2) -> dict[Any, list[Outcome]]:
    found: dict[Any, list[Outcome]] = {task.key: [] for task in tasks}
    with closing(run_tasks(tasks, jobs)) as stream:
        for outcome in stream:
            found[outcome.key].append(outcome)
    return found


def test_items_come_in_order_and_tasks_share_the_workers() -> None:
    found = outcomes(*(Task(key, count, (key,)) for key in range(7)), jobs=3)
    for key, held in found.items():
        assert [outcome.item for outcome in held[:-2]] == list(range(key))
        assert held[-1].is_end and not held[-1].diagnostics
    assert len({held[-2].item for held in found.values()}) <= 3
    assert os.getpid() not in {held[-2].item for held in found.values()}


@pytest.mark.slow
def test_a_task_that_hangs_is_killed_at_its_place_and_the_others_end_well() -> None:
    start = time.monotonic()
    found = outcomes(Task("slow", hang, (60.0,), seconds=1.0), *(Task(key, count, (2,)) for key in range(4)))
    assert time.monotonic() - start < 15
    (diagnostic,) = found["slow"][-1].diagnostics
    assert diagnostic.position == HERE and "longer than 1 s" in diagnostic.message
    assert all(found[key][-1].is_end and not found[key][-1].diagnostics for key in range(4))


def test_memory_is_bounded() -> None:
    found = outcomes(Task("big", devour, ()), Task("small", count, (1,)), jobs=1)
    (diagnostic,) = found["big"][-1].diagnostics
    assert diagnostic.code == "E502" and "memory" in diagnostic.message
    assert not found["small"][-1].diagnostics


def test_a_dead_worker_is_told_and_replaced() -> None:
    found = outcomes(Task("dead", die, ()), Task("next", count, (1,)), jobs=1)
    (diagnostic,) = found["dead"][-1].diagnostics
    assert diagnostic.position == HERE
    assert found["next"][0].item == 0


def test_expected_failures_come_back_with_what_was_done_before() -> None:
    held = outcomes(Task("x", fail, ()))["x"]
    assert held[0].item == "first" and held[-1].diagnostics[0].position == HERE


def test_our_own_bugs_are_not_hidden() -> None:
    with pytest.raises(WorkerBug, match="KeyError"):
        outcomes(Task("x", break_down, ()))


def test_closing_the_stream_ends_the_workers() -> None:
    stream = run_tasks([Task("x", hang, (60.0,), seconds=50.0), Task("y", count, (1,))], 2)
    pids = [outcome.item for outcome in (next(stream), next(stream)) if isinstance(outcome.item, int)]
    stream.close()
    time.sleep(0.1)
    for pid in (pid for pid in pids if pid > 1000):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.slow
def test_a_single_worker_outlives_failures() -> None:
    with closing(SingleWorker(seconds=1.0)) as worker:
        assert worker.call(count, 0) != os.getpid()
        with pytest.raises(LanguageError, match="a check is false"):
            worker.call(fail)
        with pytest.raises(LanguageError, match="longer than 1 s"):
            worker.call(hang, 60.0)
        with pytest.raises(LanguageError, match="died"):
            worker.call(die)
        assert isinstance(worker.call(count, 3), int)


def test_imports_of_a_single_worker_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the first reply that is graded on a busy machine is wrong."""
    code = (
        "import multiprocessing, time\n"
        "end = time.process_time() + (0.6 if multiprocessing.parent_process() else 0)\n"  # not in this process
        "while time.process_time() < end: pass\n"
    )
    (tmp_path / "slow_to_import.py").write_text(code + "def answer():\n    yield 'done'\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with closing(SingleWorker(0.3)) as worker:
        assert worker.call(import_module("slow_to_import").answer) == "done"


def test_workers_do_not_run_the_script_that_starts_them(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from dia_language.workers.pool import Clock, WorkerPool, Task\n"
        "print('run')\n"
        "with WorkerPool(2, 'json') as pool:\n"
        "    print(sum(outcome.item or 0 for outcome in pool.run([Task(0, reversed, ([1, 2, 3],))])))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("run\n6\n", "")


def test_threads_may_start_workers_at_once(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys, threading\n"
        "from dia_language.workers.pool import WorkerPool\n"
        "print('run')\n"
        "main, pools = sys.modules['__main__'], []\n"
        "threads = [threading.Thread(target=lambda: pools.append(WorkerPool(1, 'json'))) for _ in range(8)]\n"
        "[thread.start() for thread in threads]\n"
        "[thread.join() for thread in threads]\n"
        "print(sys.modules['__main__'] is main, 'PYTHONSAFEPATH' in os.environ)\n"
        "[pool.close() for pool in pools]\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environment)
    assert (done.stdout, done.stderr) == ("run\nTrue False\n", "")


def test_tasks_may_be_added_while_outcomes_are_taken() -> None:
    waiting = deque([Task(0, count, (1,))])
    ended = []
    with WorkerPool(2) as pool:
        for outcome in pool.run(waiting):
            if outcome.is_end:
                ended.append(outcome.key)
                waiting.extend(Task(key, count, (1,)) for key in range(1, 5) if len(ended) == 1)
    assert sorted(ended) == [0, 1, 2, 3, 4]


def test_a_worker_that_died_while_it_waited_is_replaced() -> None:
    with WorkerPool(1) as pool:
        os.kill(pool.workers[0].process.pid, signal.SIGKILL)
        pool.workers[0].process.join()
        assert [outcome.item for outcome in pool.run([Task(0, count, (2,))])][:2] == [0, 1]


def held_up(seconds: float) -> Iterator[Any]:
    """Is stopped by the system for a while within an expression, as on a machine that has others to serve."""
    heartbeat.begin_evaluation(5)
    waker = subprocess.Popen(["sh", "-c", f"sleep {seconds}; kill -CONT {os.getpid()}"])
    os.kill(os.getpid(), signal.SIGSTOP)
    waker.wait()
    yield "done"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not tell what a process computes")
def test_time_that_a_worker_is_not_given_does_not_count() -> None:
    (first, *_) = run_tasks([Task("held up", held_up, (2.4,), 1.5)], 1)
    assert first.item == "done"
    with closing(SingleWorker(1.5)) as worker:
        assert worker.call(held_up, 2.4) == "done"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not tell what a process computes")
def test_a_clock_leaves_out_the_time_in_a_queue_for_a_processor() -> None:
    """Otherwise a valid spec is refused where a dozen of other processes have the processors."""
    processor = min(os.sched_getaffinity(0))
    code = f"import os; os.sched_setaffinity(0, {{{processor}}}); os.nice(NICE)\nprint(flush=True)\nwhile True: pass"
    with ExitStack() as stack:
        (starved, *others) = (
            stack.enter_context(
                subprocess.Popen([sys.executable, "-c", code.replace("NICE", nice)], stdout=subprocess.PIPE)
            )
            for nice in ("19", "0", "0")
        )
        stack.callback(lambda: [process.kill() for process in (starved, *others)])
        for process in (starved, *others):
            assert process.stdout is not None and process.stdout.readline()
        clock = Clock(starved.pid)
        for _ in range(10):
            time.sleep(0.05)
            assert clock.seconds() < 0.1


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not tell what a process computes")
def test_a_clock_counts_what_is_computed_and_a_quarter_of_what_passes() -> None:
    code = (
        "import time; print(flush=True); input()\n"
        "end = time.process_time() + 0.3\n"
        "while time.process_time() < end: pass\n"
        "print(flush=True); input()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdout.readline()
        clock = Clock(process.pid)
        time.sleep(0.4)
        assert 0.09 < clock.seconds() < 0.3
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()
        assert clock.seconds() >= 0.28
        process.kill()

"""Workers that come from one process: what it imports is there, and they are told, killed and ended like any other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dia_language.workers import fork_server, heartbeat
from dia_language.workers.fork_server import CAN_FORK
from dia_language.workers.pool import Task, WorkerPool

pytestmark = [
    pytest.mark.skipif(not CAN_FORK, reason="this system starts every worker on its own"),
    pytest.mark.spawned,
]
MODULE = "fractions"


def who(seconds: float = 0.0) -> Iterator[Any]:
    yield os.getpid(), os.getppid(), sorted({MODULE, "colorsys"} & sys.modules.keys())
    time.sleep(seconds)
    yield "end"


def until(path: Path) -> Iterator[Any]:
    """Works until the file is there, or for ten seconds."""
    end = time.monotonic() + 10
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.01)
    yield "end"


def die() -> Iterator[Any]:
    yield os.getpid()
    os._exit(3)


def spin() -> Iterator[Any]:
    heartbeat.begin_evaluation(5)
    while True:
        pass
    yield None


def is_gone(pid: int) -> bool:
    """Whether the process has ended, be it that nobody has buried it yet."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


def wait_for(pids: list[int]) -> None:
    end = time.monotonic() + 10
    while not all(map(is_gone, pids)) and time.monotonic() < end:
        time.sleep(0.01)


def test_workers_of_one_process_hold_what_it_has_imported() -> None:
    with (
        WorkerPool(2, MODULE, ("colorsys",)) as pool,
        closing(pool.run([Task(key, who, (0.2,)) for key in range(2)])) as found,
    ):
        told = [outcome.item for outcome in found if isinstance(outcome.item, tuple)]
    assert len({pid for pid, _, _ in told}) == 2 and len({parent for _, parent, _ in told}) == 1
    assert os.getpid() not in {number for pid, parent, _ in told for number in (pid, parent)}
    assert [modules for _, _, modules in told] == [["colorsys", MODULE]] * 2
    assert all(is_gone(number) for pid, parent, _ in told for number in (pid, parent))


def test_one_that_dies_is_told_while_its_brother_works_on_and_is_replaced(tmp_path: Path) -> None:
    told = tmp_path / "told"
    tasks = [Task("dead", die, ()), Task("slow", until, (told,)), Task("next", who, ())]
    with WorkerPool(2, MODULE) as pool:
        held: dict[Any, list[Any]] = {task.key: [] for task in tasks}
        ended = []
        for outcome in pool.run(tasks):
            held[outcome.key].append(outcome.diagnostics if outcome.is_end else outcome.item)
            ended += [outcome.key] if outcome.is_end else []
            if "dead" in ended:
                told.touch()
    assert held["dead"][-1][0].code == "E502" and ended[0] == "dead"
    assert held["slow"][-2:] == ["end", ()] and held["next"][-2:] == ["end", ()]


@pytest.mark.slow
def test_one_that_hangs_is_killed() -> None:
    with WorkerPool(2, MODULE) as pool:
        found = list(pool.run([Task("x", spin, (), 0.5), Task("y", who, ())]))
    (end,) = [outcome for outcome in found if outcome.key == "x" and outcome.is_end]
    assert "ran longer" in end.diagnostics[0].message


@pytest.mark.parametrize("module", [MODULE, "no_module_of_this_name"])
def test_a_nursery_that_dies_takes_its_children_along_and_the_work_is_done_by_others(module: str) -> None:
    with WorkerPool(2, module) as pool:
        assert pool.fork_server is not None
        server = pool.fork_server.process
        children = [worker.process.pid for worker in pool.workers]
        if module == MODULE:
            os.kill(server.pid or 0, signal.SIGKILL)
        server.join()
        wait_for(children)
        pool.module = MODULE
        found = list(pool.run([Task(key, who, ()) for key in range(2)]))
    assert sorted(outcome.key for outcome in found if outcome.item == "end") == [0, 1]
    assert all(is_gone(pid) for pid in children)


def test_a_crew_that_is_not_used_ends_at_once() -> None:
    with WorkerPool(2, MODULE) as pool:
        begun = time.monotonic()
        assert pool.fork_server is not None
        server = pool.fork_server.process
    assert time.monotonic() - begun < 2 and not server.is_alive()


def test_without_forking_every_worker_is_started_on_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dia_language.workers.pool.CAN_FORK", False)
    with WorkerPool(2, MODULE) as pool, closing(pool.run([Task(key, who, (0.2,)) for key in range(2)])) as found:
        parents = {outcome.item[1] for outcome in found if isinstance(outcome.item, tuple)}
    assert parents == {os.getpid()}


@pytest.mark.parametrize("can_fork", [True, False])
def test_interrupts_while_workers_start_print_nothing_and_end_nothing(can_fork: bool) -> None:
    script = f"""
        import contextlib, multiprocessing, os, signal, threading
        from dia_language.workers import pool
        pool.CAN_FORK = {can_fork}
        is_over = threading.Event()

        def interrupt_children():  # as a terminal does, which also sends it to the parent
            while not is_over.wait(0.002):
                for child in multiprocessing.active_children():
                    with contextlib.suppress(ProcessLookupError):  # it has just ended
                        os.kill(child.pid, signal.SIGINT)

        thread = threading.Thread(target=interrupt_children)
        thread.start()
        with pool.WorkerPool(2, "fractions") as workers:
            tasks = [pool.Task(key, reversed, ([1, 2],)) for key in range(3)]
            print(sum(outcome.item or 0 for outcome in workers.run(tasks)))
        is_over.set()
        thread.join()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("9\n", "")


@pytest.mark.parametrize("forks", [False, True])
def test_workers_start_for_the_first_process_of_a_container(tmp_path: Path, forks: bool) -> None:
    """Its id is 1, which otherwise tells an orphan."""
    namespace = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
    try:
        subprocess.run([*namespace, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this system does not let users make namespaces")
    (tmp_path / "run.py").write_text(
        textwrap.dedent(f"""\
        import os
        from dia_language.workers.pool import ForkingPool, Task, WorkerPool
        import tasks
        if __name__ == "__main__":
            pool = ForkingPool(1, "tasks") if {forks} else WorkerPool(1, "tasks", ())
            with pool:
                print(os.getpid(), [outcome.item for outcome in pool.run([Task(0, tasks.one, (), 5.0)])])
    """)
    )
    (tmp_path / "tasks.py").write_text("def one():\n    yield 1\n")
    result = subprocess.run([*namespace, sys.executable, tmp_path / "run.py"], capture_output=True, text=True,
                            timeout=60, env={**os.environ, "PYTHONPATH": str(tmp_path)}, check=False)  # fmt: skip
    assert result.stdout == "1 [1, None]\n", result.stderr


def test_a_process_whose_parent_has_ended_is_an_orphan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork_server, "_FORKED_FROM", None)
    monkeypatch.setattr(fork_server.multiprocessing, "parent_process", lambda: SimpleNamespace(pid=1))
    monkeypatch.setattr(os, "getppid", lambda: 1)
    assert not fork_server.is_orphan()
    monkeypatch.setattr(fork_server, "_FORKED_FROM", 5)
    assert fork_server.is_orphan()
    monkeypatch.setattr(os, "getppid", lambda: 5)
    assert not fork_server.is_orphan()

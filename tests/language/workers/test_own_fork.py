"""Workers that a command forks itself: they have what it imported, and are replaced, killed and ended like any other."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from dia_language.workers.fork_server import CAN_FORK

pytestmark = [
    pytest.mark.skipif(not CAN_FORK, reason="this system starts every worker on its own"),
    pytest.mark.spawned,
]
TASKS = """
import os, signal, sys, threading, time
from dia_language.workers import heartbeat

MARK = []

def who(seconds=0.0):
    yield [os.getpid(), os.getppid(), list(MARK)]
    time.sleep(seconds)
    yield "end"

def die():
    os._exit(3)
    yield None

def spin():
    heartbeat.begin_evaluation(5)
    while True:
        pass
    yield None

def fill():
    yield len(bytearray(1 << 30))
"""
RUN = """
import json, os, sys, threading, time
import tasks
from dia_language.workers.pool import ForkingPool, Task
tasks.MARK.append("imported")

def outcomes(*work, jobs=1):
    with ForkingPool(jobs, "fractions") as pool:
        for outcome in pool.run([Task(number, function, arguments, 0.5)
                                 for number, (function, *arguments) in enumerate(work)]):
            yield [outcome.key, outcome.item, [entry.message for entry in outcome.diagnostics]]

def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False

"""


def printed(tmp_path: Path, script: str) -> Any:
    """What the script prints as JSON; it runs in a process of its own, because that of the tests has threads."""
    (tmp_path / "tasks.py").write_text(TASKS)
    (tmp_path / "run.py").write_text(RUN + script)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    result = subprocess.run(
        [sys.executable, tmp_path / "run.py"], capture_output=True, text=True, timeout=60, env=environment, check=True
    )
    assert not result.stderr
    return json.loads(result.stdout)


def is_gone(pid: int) -> bool:
    """Whether the process has ended, be it that nobody has waited for it yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_workers_have_what_the_command_has_imported_and_end_with_the_pool(tmp_path: Path) -> None:
    script = """
seen = [item for _, item, _ in outcomes((tasks.who, 0.2), (tasks.who, 0.2), jobs=2) if isinstance(item, list)]
print(json.dumps([os.getpid(), seen, [gone(pid) for pid, _, _ in seen]]))
"""
    own, seen, are_gone = printed(tmp_path, script)
    assert [marks for _, _, marks in seen] == [["imported"]] * 2 and {parent for _, parent, _ in seen} == {own}
    assert len({pid for pid, _, _ in seen} | {own}) == 3 and are_gone == [True, True]


def test_one_that_dies_or_hangs_or_fills_the_memory_is_replaced(tmp_path: Path) -> None:
    script = """
print(json.dumps(list(outcomes((tasks.die,), (tasks.spin,), (tasks.fill,), (tasks.who,)))))
"""
    died, hung, filled, *last = printed(tmp_path, script)
    assert died == [0, None, ["the evaluation ran out of memory or died"]]
    assert hung == [1, None, ["the evaluation ran longer than 0.5 s"]]
    assert filled == [2, None, ["out of memory"]]
    assert last[0][1][2] == ["imported"] and last[-1] == [3, None, []]


@pytest.mark.parametrize("reason", ["threading.Thread(target=time.sleep, args=(5,), daemon=True).start()",
                                    "import mmap; room = mmap.mmap(-1, 200 << 20)"])  # fmt: skip
def test_a_process_with_threads_or_little_memory_left_is_not_forked(tmp_path: Path, reason: str) -> None:
    script = f"""
if __name__ == "__main__":
    {reason}
    seen = [item for _, item, _ in outcomes((tasks.who,)) if isinstance(item, list)]
    print(json.dumps(seen))
"""
    ((_, _, marks),) = printed(tmp_path, script)
    assert marks == []


def test_a_worker_ends_with_a_command_that_is_killed(tmp_path: Path) -> None:
    script = """
import signal
pool = ForkingPool(1, "fractions")
pool.refill()
pid = pool.workers[0].process.pid
print(json.dumps(pid), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    (tmp_path / "tasks.py").write_text(TASKS)
    (tmp_path / "run.py").write_text(RUN + script)
    result = subprocess.run([sys.executable, tmp_path / "run.py"], capture_output=True, text=True, timeout=60,
                            env={**os.environ, "PYTHONPATH": str(tmp_path)}, check=False)  # fmt: skip
    end = time.monotonic() + 10
    while not is_gone(int(result.stdout)) and time.monotonic() < end:
        time.sleep(0.01)
    assert result.returncode == -signal.SIGKILL and is_gone(int(result.stdout))


def test_ctrl_c_does_not_reach_a_worker(tmp_path: Path) -> None:
    script = """
import signal
signal.signal(signal.SIGINT, lambda *_: None)
pool = ForkingPool(1, "fractions")
pool.refill()
os.kill(pool.workers[0].process.pid, signal.SIGINT)
print(json.dumps([outcome.item for outcome in pool.run([Task(0, tasks.who, ())])][1:]))
"""
    assert printed(tmp_path, script) == ["end", None]


def test_a_worker_that_has_died_is_replaced_even_if_its_id_is_free_again(tmp_path: Path) -> None:
    """A supervisor may start a command with SIGCHLD ignored; then the system reaps the workers."""
    script = """
import signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
print(json.dumps([messages for _, item, messages in outcomes((tasks.die,), (tasks.who,)) if item is None]))
"""
    assert printed(tmp_path, script) == [["the evaluation ran out of memory or died"], []]

"""A compile on a Dask cluster: the same bytes, whatever dies on the way, or a clear refusal and nothing written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from dia_compiler import compile
from dia_compiler.commands.cli import run
from dia_compiler.distribute.cluster import ClusterPool
from dia_compiler.pipeline.merge import merge
from dia_language.diagnostics import DiaError
from dia_language.workers.pool import Task, WorkerPool
from helpers.files import content
from helpers.places import ROOT

pytestmark = pytest.mark.spawned

distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
BENCHMARK = "language: 1\nbenchmark: demo\nversion: 1.0.0\n"
CUBES = """\
template: cubes
title: Cubes
params: {n: {type: integer, min: 1, max: 1000000000}}
answer: {value: n**3, type: integer}
prompt: What is {{ n }}**3?
"""
# The first holes come late: a part that begins behind one cannot know of it.
LATE = """\
template: late
title: Late holes
params: {n: {type: integer, min: 1, max: 3000}}
where: n % 1000 != 11
answer: {value: n + 1, type: integer}
prompt: What comes after {{ n }}?
"""
HOLES = LATE.replace(": late", ": holes").replace("n % 1000 != 11", "n % 2 == 0").replace("3000", "6000")
SECONDS = 60.0


def specs(folder: Path, *texts: str) -> Path:
    folder.mkdir()
    (folder / "benchmark.yaml").write_text(BENCHMARK)
    for number, text in enumerate(texts):
        (folder / f"t{number}.yaml").write_text(text)
    return folder


class Machines:
    """A scheduler and workers, as they are on other machines."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self.processes: list[subprocess.Popen[bytes]] = []
        self.scheduler = self.begun("dask_scheduler", "--port", "0", "--no-dashboard")
        until = time.monotonic() + SECONDS
        while not self.file.exists() and time.monotonic() < until:
            time.sleep(0.05)
        self.address = str(json.loads(self.file.read_text())["address"])

    def begun(self, kind: str, *words: str, **more: str) -> subprocess.Popen[bytes]:
        program = f"from distributed.cli.{kind} import main; main()"
        command = [sys.executable, "-c", program, "--scheduler-file", str(self.file), *words]
        environment = {**os.environ, **more, "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "critical"}
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        self.processes.append(process)
        return process

    def worker(self, **more: str) -> subprocess.Popen[bytes]:
        """A worker without a nanny, so that nobody begins it again when it is killed."""
        return self.begun("dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard", **more)

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    (tmp_path / "machines").mkdir()
    held = Machines(tmp_path / "machines")
    yield held
    held.end()


def killing(process: subprocess.Popen[bytes], after: int, name: str = "cubes") -> object:
    """What kills the process as soon as so many instances are there."""

    def tell(template: str, done: int, total: int) -> None:
        if template.endswith(f"/{name}") and done >= after and process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()

    return tell


def test_a_cluster_gives_the_bytes_of_one_process(tmp_path: Path, machines: Machines) -> None:
    folder = specs(tmp_path / "specs", CUBES, LATE, HOLES)
    one = compile([folder], k=900, out=tmp_path / "one", jobs=1, use_cache=False).bundles[0]
    machines.worker(), machines.worker()
    two = compile([folder], k=900, out=tmp_path / "two", cluster=machines.address, use_cache=False).bundles[0]
    assert content(one.path) == content(two.path)
    again = compile([folder], k=901, out=tmp_path / "two", cluster=machines.address, use_cache=False).bundles[0]
    assert again.questions == 2703  # the workers are there for the next compile


@pytest.mark.slow
def test_a_worker_that_is_killed_on_the_way_changes_no_byte(tmp_path: Path, machines: Machines) -> None:
    folder = specs(tmp_path / "specs", CUBES)
    one = compile([folder], k=12_000, out=tmp_path / "one", jobs=2, use_cache=False).bundles[0]
    machines.worker()
    victim = machines.worker()
    two = compile(
        [folder], k=12_000, out=tmp_path / "two", cluster=machines.address, use_cache=False,
        on_progress=killing(victim, 2_000),  # type: ignore[arg-type]
    ).bundles[0]  # fmt: skip
    assert victim.poll() == -signal.SIGKILL
    assert content(one.path) == content(two.path)


@pytest.mark.long
def test_a_worker_with_another_library_is_refused(tmp_path: Path, machines: Machines) -> None:
    folder = specs(tmp_path / "specs", CUBES)
    told = tmp_path / "lying" / "sympy-0.7.dist-info"
    told.mkdir(parents=True)
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: sympy\nVersion: 0.7\n")
    machines.worker(PYTHONPATH=str(tmp_path / "lying"))
    with pytest.raises(DiaError) as found:
        compile([folder], k=300, out=tmp_path / "out", cluster=machines.address, use_cache=False)
    (entry,) = found.value.diagnostics
    assert (entry.code, found.value.exit_code) == ("E621", 2) and "sympy 0.7 instead of" in entry.message
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_scheduler_that_goes_away_is_told(tmp_path: Path, machines: Machines) -> None:
    folder = specs(tmp_path / "specs", CUBES)
    machines.worker()
    with pytest.raises(DiaError) as found:
        compile(
            [folder], k=12_000, out=tmp_path / "out", cluster=machines.address, use_cache=False,
            on_progress=killing(machines.scheduler, 2_000),  # type: ignore[arg-type]
        )  # fmt: skip
    (entry,) = found.value.diagnostics
    assert (entry.code, found.value.exit_code) == ("E620", 4) and "lost the connection" in entry.message
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_cluster_that_nobody_answers_for_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = specs(tmp_path / "specs", CUBES)
    assert run(["compile", str(folder), "-o", str(tmp_path / "out"), "--cluster", "tcp://127.0.0.1:1"]) == 4
    printed = capsys.readouterr()
    assert "does not answer" in printed.err and "Traceback" not in printed.err
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_parts_behind_holes_are_made_again_where_they_are_merged(tmp_path: Path) -> None:
    folder = specs(tmp_path / "specs", LATE, HOLES)
    whole = compile([folder], k=2_400, out=tmp_path / "whole", jobs=2, use_cache=False).bundles[0]
    for number in (1, 2, 3):
        compile([folder], k=2_400, out=tmp_path / "parts", jobs=1, part=f"{number}/3")
    found = merge([tmp_path / "parts"], tmp_path / "merged", jobs=1)
    assert content(found.frozen.path) == content(whole.path)
    assert found.made_here > 0  # of `late`; the parts of `holes` see from the first instances that there are some


@pytest.mark.long
def test_sessions_survive_parts_and_merging(tmp_path: Path) -> None:
    folder = ROOT / "docs" / "examples" / "sessions"
    whole = compile([folder], k=3, out=tmp_path / "whole", jobs=1, use_cache=False).bundles[0]
    for number in (1, 2):
        compile([folder], k=3, out=tmp_path / "parts", jobs=1, part=f"{number}/2")
    assert content(merge([tmp_path / "parts"], tmp_path / "merged").frozen.path) == content(whole.path)


@pytest.mark.slow
def test_ctrl_c_ends_a_local_cluster_and_leaves_nothing(tmp_path: Path) -> None:
    folder = specs(tmp_path / "specs", CUBES, HOLES.replace("6000", "600").replace("params", "instances: 20\nparams"))
    words = ["compile", str(folder), "--k", "300000", "-o", str(tmp_path / "out"), "--cluster", "local", "--jobs", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "dia_compiler.commands.cli", *words],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "demo/holes: 20 questions\n"  # the cluster is at work
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it, too
    assert process.communicate(timeout=SECONDS)[1] == "interrupted\n"
    assert process.returncode == 130 and not (tmp_path / "out").exists()


class InterruptedClient:
    """A client that is interrupted with Ctrl-C while a task is being submitted."""

    status = "closing"

    def __init__(self) -> None:
        self.cancelled: list[InterruptedFuture] = []
        self.is_closed = False

    def nthreads(self) -> dict[str, int]:
        return {"worker": 1}

    def submit(self, *arguments: object, **options: object) -> InterruptedFuture:
        signal.raise_signal(signal.SIGINT)
        return InterruptedFuture()

    def cancel(self, futures: list[InterruptedFuture]) -> None:
        self.cancelled = futures

    def close(self, timeout: float) -> None:
        self.is_closed = True


class InterruptedFuture:
    def add_done_callback(self, callback: object) -> None:
        pass


def test_ctrl_c_waits_until_a_task_is_submitted() -> None:
    pool = ClusterPool.__new__(ClusterPool)
    WorkerPool.__init__(pool, 0)
    client = InterruptedClient()
    pool.client, pool.cluster, pool.address = client, None, "test"
    pool.token, pool.versions, pool.threads, pool.looked = "0", {}, 0, 0.0
    handler = signal.getsignal(signal.SIGINT)
    task = Task("one", iter, ((),))
    with pytest.raises(KeyboardInterrupt):
        list(pool.run([task]))
    assert len(client.cancelled) == 1 and client.is_closed  # the interrupted submission was completed first
    assert signal.getsignal(signal.SIGINT) is handler

"""Workers in tests: what those of pytest-xdist make once for all of them, and how those of dia start."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dia_language.workers import pool

PAGE = 4096


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Lets one process at a time pass; the lock of one that dies is free again."""
    import fcntl

    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def made_once(
    name: str,
    make: Callable[[Path], object],
    factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Path:
    """The folder that `make` fills, for all workers of this run: the first one that asks makes it."""
    base = factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        base = base.parent  # the parent of the workers' folders is theirs together
    shared = base / "shared"
    shared.mkdir(exist_ok=True)
    folder, done = shared / name, shared / f"{name}.done"
    with alone(shared / f"{name}.lock"):
        if not done.exists():
            folder.mkdir()
            make(folder)
            done.touch()
    return folder


@contextmanager
def forked_workers() -> Iterator[None]:
    """Start workers by a fork of this process, which has imported all that they need.

    A new interpreter for each of the hundreds of compiles takes 0.2 s to import it, three quarters of a test's time.
    A worker may allocate as much as in a new process: what it has inherited comes on top.
    """
    limit_process, memory_bytes = pool._limit_process, pool.MEMORY_BYTES

    def limit_fork() -> None:
        own_pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        pool.MEMORY_BYTES = memory_bytes + own_pages * PAGE
        limit_process()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "_limit_process", limit_fork)
        patch.setattr(pool, "CONTEXT", multiprocessing.get_context("fork"))
        patch.setattr(pool, "CAN_FORK", False)  # no fork server: each worker is a fork of this process
        yield

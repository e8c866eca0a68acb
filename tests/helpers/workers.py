"""What the workers of pytest-xdist make once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


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
    if not hasattr(request.config, "workerinput"):
        folder = factory.mktemp(name)
        make(folder)
        return folder
    shared = factory.getbasetemp().parent / "shared"  # the parent of the workers' folders is theirs together
    shared.mkdir(exist_ok=True)
    folder, done = shared / name, shared / f"{name}.done"
    with alone(shared / f"{name}.lock"):
        if not done.exists():
            folder.mkdir()
            make(folder)
            done.touch()
    return folder

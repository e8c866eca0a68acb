"""The tasks of a compile on a worker of a cluster, in a separate process that can be killed.

A batch of tasks is a pure function of its arguments: it gives the same result on every machine.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from threading import Lock
from typing import Any

from dia_compiler.freeze.versions import difference, versions
from dia_language.workers.pool import Outcome, Task, WorkerPool

_LOCK = Lock()
_IDLE: dict[str, list[WorkerPool]] = {}


class OtherVersions(Exception):
    """A worker whose output might differ, and the versions that differ."""


def outcomes_of(token: str, tasks: list[Task], expected: Mapping[str, str]) -> list[Outcome]:
    """Return the outcomes of the tasks. Raises OtherVersions if this machine has other versions than the client.

    The token identifies the compile, because a process is prepared for one compile only.
    """
    other = difference(_versions(), expected)
    if other is not None:
        raise OtherVersions(other)
    pool = _borrowed(token)
    try:
        return list(pool.outcomes(deque(map(_at_home, tasks))))
    finally:
        with _LOCK:
            _IDLE.setdefault(token, []).append(pool)


def dismiss(token: str) -> None:
    """End the processes that were kept for a compile."""
    with _LOCK:
        crews = _IDLE.pop(token, [])
    for pool in crews:
        pool.close()


@cache
def _versions() -> dict[str, str]:
    return versions()


def _at_home(task: Task) -> Task:
    """Return the task with a temporary folder on this machine instead of the client's."""
    job, *others = task.arguments
    return replace(task, arguments=(replace(job, resources=replace(job.resources, scratch="")), *others))


def _borrowed(token: str) -> WorkerPool:
    with _LOCK:
        if _IDLE.get(token):
            return _IDLE[token].pop()
        with _may_have_children():
            return WorkerPool(1, "dia_compiler.distribute.task", ("sympy", "numpy"))


@contextmanager
def _may_have_children() -> Iterator[None]:
    """Allow child processes.

    Dask's workers are daemons, which Python does not allow children; ours end with their parent.
    """
    facts: dict[str, Any] = getattr(multiprocessing.current_process(), "_config", {})
    was_daemon = facts.pop("daemon", None)
    try:
        yield
    finally:
        if was_daemon is not None:
            facts["daemon"] = was_daemon

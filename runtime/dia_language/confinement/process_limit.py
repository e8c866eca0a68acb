"""A limit of processes that the kernel enforces, for where nothing else does: it exempts the user root from others.

Watching alone is too slow for a program that multiplies on a busy machine. Where control groups can be made, root's
programs run in one of their own, of version 1 (the controller `pids`) or of version 2.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from time import sleep

GROUPS = Path("/sys/fs/cgroup")
ENTER = 'echo $$ > "$0" 2>/dev/null; exec "$@"'
TRIES, PAUSE = 50, 0.01


@cache
def _parent() -> Path | None:
    """Return the folder in which groups with a limit of processes are made; None if there is none."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    if (GROUPS / "pids" / "cgroup.procs").exists():
        return GROUPS / "pids"
    with suppress(OSError):
        if "pids" in (GROUPS / "cgroup.subtree_control").read_text().split():
            return GROUPS
    return None


@contextmanager
def process_limit(command: Sequence[str], most: int) -> Iterator[list[str]]:
    """Give the command, in a group of at most so many processes and threads if one can be made."""
    parent = _parent()
    group = None if parent is None else parent / f"dia-{secrets.token_hex(8)}"
    try:
        if group is None:
            raise OSError
        group.mkdir()
        (group / "pids.max").write_text(str(most))
    except OSError:
        yield list(command)
        return
    try:
        yield ["/bin/sh", "-c", ENTER, str(group / "cgroup.procs"), *command]
    finally:
        _remove(group)


def _remove(group: Path) -> None:
    """Remove a group; its last processes may still be ending."""
    for _ in range(TRIES):
        try:
            group.rmdir()
            return
        except FileNotFoundError:
            return
        except OSError:
            sleep(PAUSE)

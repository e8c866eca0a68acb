"""A limit of processes that the kernel enforces even for the user root, whom other limits exempt.

Watching alone is too slow for a program that multiplies on a busy machine. If control groups can be created, root's
programs run in a separate group, of version 1 (the controller `pids`) or of version 2.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
ENTER = 'echo $$ > "$0" || exit 125; exec "$@"'
TRIES, PAUSE = 50, 0.01
STALE = 3600.0  # seconds after which an empty group belongs to a process that was killed


@cache
def _parent() -> Path | None:
    """Return the folder in which groups with a process limit can be created and joined; None if there is none."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    parent: Path | None = None
    if (GROUPS / "pids" / "cgroup.procs").exists():
        parent = GROUPS / "pids"
    else:
        with suppress(OSError):
            parent = GROUPS if "pids" in (GROUPS / "cgroup.subtree_control").read_text().split() else None
    if parent is None:
        return None
    remove_stale_groups(parent)
    try:
        with _group(parent, 16) as group:
            command = ["/bin/sh", "-c", ENTER, str(group / "cgroup.procs"), "/bin/sh", "-c", ":"]
            return parent if subprocess.run(command, capture_output=True, check=False).returncode == 0 else None
    except OSError:
        return None


def remove_stale_groups(parent: Path) -> None:
    """Remove the groups of processes that were killed; one with processes cannot be removed."""
    for group in parent.glob("dia-*"):
        with suppress(OSError):
            if time.time() - group.stat().st_mtime > STALE:
                group.rmdir()


@contextmanager
def _group(parent: Path, most: int) -> Iterator[Path]:
    """Yield a new group of at most this many processes. Raises OSError if it cannot be made."""
    group = parent / f"dia-{secrets.token_hex(8)}"
    group.mkdir()
    try:
        (group / "pids.max").write_text(str(most))
        yield group
    finally:
        _remove(group)


@contextmanager
def process_limit(command: Sequence[str], most: int) -> Iterator[list[str]]:
    """Yield the command, in a group of at most this many processes and threads if groups work.

    A command that cannot join its group ends with code 125.
    """
    parent = _parent()
    with ExitStack() as stack:
        entering: list[str] = []
        if parent is not None:
            with suppress(OSError):  # no further group can be created: the program is only watched
                group = stack.enter_context(_group(parent, most))
                entering = ["/bin/sh", "-c", ENTER, str(group / "cgroup.procs")]
        yield [*entering, *command]


def _remove(group: Path) -> None:
    """Remove a group; its last processes may still be ending."""
    for _ in range(TRIES):
        try:
            group.rmdir()
            return
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(PAUSE)

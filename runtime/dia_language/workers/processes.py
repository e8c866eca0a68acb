"""Identify this machine, and find out whether a process on it is still running."""

from __future__ import annotations

import os
import socket
import sys
from functools import cache
from pathlib import Path


@cache
def host() -> str:
    """Return an identifier of this machine since its last start, and of the container's process numbers."""
    try:
        start = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        space = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - it is no file's name
    except OSError:
        start = space = ""
    return " ".join(filter(None, (socket.gethostname(), start, space)))


def process_start(process: int) -> str | None:
    """Return when a process started, as the system reports it; None if it has ended, "" if unknown."""
    if sys.platform == "linux":
        try:
            state, *facts = (
                Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
            )
        except OSError:
            return None
        return None if state in "ZX" else facts[18]
    if os.name == "posix":
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return None
        except OSError:
            return ""
    return ""

"""Read the start of a run file without harm to the databases that this process has open.

A process that closes a file loses all POSIX locks that it has on it, whichever descriptor took them
(https://www.sqlite.org/howtocorrupt.html, section 2.2). Without its lock on a run that it writes, another process that
reads the run takes itself for the last user and deletes the write-ahead log, with every reply that follows. So a
descriptor of a file that is open as a database is closed after the database.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from threading import Lock

Key = tuple[int, int]
_LOCK = Lock()
_DATABASES: Counter[Key] = Counter()
_DESCRIPTORS: dict[Key, list[int]] = {}


def file_start(path: Path, length: int) -> bytes:
    """Return the first bytes of the file. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        return os.read(descriptor, length)
    finally:
        with _LOCK:
            key = _key(os.fstat(descriptor))
            if _DATABASES[key]:
                _DESCRIPTORS.setdefault(key, []).append(descriptor)
            else:
                os.close(descriptor)


def database_opened(path: Path) -> Key:
    """Note that this process has opened the file as a database; returns the argument of `database_closed`."""
    key = _key(path.stat())
    with _LOCK:
        _DATABASES[key] += 1
    return key


def database_closed(key: Key) -> None:
    """Note that a database was closed, and close the descriptors that waited for the last one of its file."""
    with _LOCK:
        _DATABASES[key] -= 1
        if not _DATABASES[key]:
            del _DATABASES[key]
            for descriptor in _DESCRIPTORS.pop(key, ()):
                os.close(descriptor)


def _key(status: os.stat_result) -> Key:
    return status.st_dev, status.st_ino

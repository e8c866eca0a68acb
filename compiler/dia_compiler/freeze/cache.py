"""The cache of results of earlier compiles: unchanged bundles and templates.

Everything is in `.cache/` of the output folder and may be deleted at any time. An entry's key is a digest of everything
that its content depends on. Its own digests are checked when it is read; a damaged entry is made again. Errors of the
cache are not reported, because a compile works without it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dia_runtime.bundle.atomic_output import make_private_folder

from dia_compiler.freeze.fingerprint import digest_of, file_digest

FOLDER = ".cache"
LARGEST_ENTRY = 1 << 26
LARGEST_CACHE = 1 << 29
FORMAT = 1
KINDS = ("bundles", "templates")


class Cache:
    """The entries of one kind below an output folder."""

    def __init__(self, out: Path, kind: str) -> None:
        self.folder = out / FOLDER / kind

    def read(self, key: str) -> dict[str, Any] | None:
        """Return the facts of an entry if its facts and files are intact, otherwise None. Marks it as used."""
        place = self.folder / key
        if self.leaves(place):
            return None
        try:
            facts = _unsealed((place / "facts.json").read_bytes(), key)
            if any(file_digest(place / name) != digest for name, digest in facts["files"].items()):
                return None
            os.utime(place)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return facts

    def store(self, key: str, facts: Mapping[str, Any], files: Mapping[str, Path]) -> None:
        """Store facts and files as an entry; the files are moved. Replaces a damaged entry."""
        if self.leaves(self.folder / key):
            return
        with contextlib.suppress(OSError):
            if sum(path.stat().st_size for path in files.values()) > LARGEST_ENTRY:
                return
            self.folder.mkdir(parents=True, exist_ok=True)
            with _temporary_folder(self.folder) as entry:
                digests = {name: file_digest(path) for name, path in files.items()}
                for name, path in files.items():
                    path.rename(entry / name)
                (entry / "facts.json").write_bytes(_sealed({**facts, "files": digests}, key))
                shutil.rmtree(self.folder / key, ignore_errors=True)
                entry.rename(self.folder / key)

    def leaves(self, place: Path) -> bool:
        """Return whether a link leads out of the cache, where nothing may be read, written or deleted."""
        return any(path.is_symlink() for path in (self.folder.parent, self.folder, place))

    def path(self, key: str, name: str) -> Path:
        """Return the path of a file of an entry."""
        return self.folder / key / name


def _sealed(facts: Mapping[str, Any], key: str) -> bytes:
    text = json.dumps(facts, sort_keys=True)
    return f"{digest_of([str(FORMAT), key, text])}\n{text}".encode()


def _unsealed(encoded: bytes, key: str) -> dict[str, Any]:
    seal, _, text = encoded.decode("utf-8").partition("\n")
    if seal != digest_of([str(FORMAT), key, text]):
        raise ValueError("damaged")
    facts: dict[str, Any] = json.loads(text)
    return facts


@contextlib.contextmanager
def _temporary_folder(folder: Path) -> Iterator[Path]:
    temporary = make_private_folder(folder)
    try:
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def trim(out: Path, most: int = LARGEST_CACHE) -> None:
    """Delete the least recently used entries until the rest is small enough."""
    with contextlib.suppress(OSError):
        entries = sorted(_entries(out / FOLDER), reverse=True)
        total = 0
        for _, size, path in entries:
            total += size
            if total > most:
                shutil.rmtree(path, ignore_errors=True)


def _entries(folder: Path) -> Iterator[tuple[int, int, str]]:
    """Return each entry with the time of its last use, its size and its path; links are not followed."""
    kinds = () if folder.is_symlink() else [kind for kind in os.scandir(folder) if kind.name in KINDS]
    for kind in kinds:
        for entry in os.scandir(kind.path) if kind.is_dir(follow_symlinks=False) else ():
            if entry.is_dir(follow_symlinks=False):
                size = sum(file.stat(follow_symlinks=False).st_size for file in os.scandir(entry.path))
                yield entry.stat().st_mtime_ns, size, entry.path

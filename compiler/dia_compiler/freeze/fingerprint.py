"""What the bytes of a bundle depend on besides the specs: our code, the libraries, the files."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import dia_language
import dia_runtime
from dia_language.confinement.interpreters import stamp
from dia_runtime.data import data_folder

import dia_compiler

BLOCK = 1 << 20
LARGEST_FOLDER = 1 << 31
MOST_FILES = 20_000
NEVER_READ = frozenset({"__pycache__"})
# Settings that change how a library computes. Results must not depend on them, but the cache does not rely on that.
ENVIRONMENT = ("SYMPY_GROUND_TYPES", "SYMPY_USE_CACHE", "MPMATH_NOGMPY")


def digest_of(parts: Iterable[str | bytes]) -> str:
    """Return the SHA-256, in hex, of parts, with their lengths so that different parts cannot give the same bytes."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        digest.update(b"%d:" % len(encoded))
        digest.update(encoded)
    return digest.hexdigest()


@cache
def machinery() -> str:
    """Return a digest of the interpreters, of every installed distribution, and of our own files.

    Files are identified by size and time.
    """
    packages = (dia_language, dia_runtime, dia_compiler)
    folders = [*(Path(package.__path__[0]).resolve() for package in packages), data_folder() / "schemas"]
    parts = [sys.version, *(f"{name}={os.environ.get(name)}" for name in ENVIRONMENT)]
    parts += [*sorted(_distributions()), stamp()]
    parts += [f"{path} {stat.st_size} {stat.st_mtime_ns}" for folder in folders for path, stat in _walked(str(folder))]
    return digest_of(parts)


def _distributions() -> Iterator[str]:
    """Yield the names of the metadata folders of installed distributions, which include their versions."""
    for place in dict.fromkeys(sys.path):
        try:
            names = [path.name for path in Path(place or ".").iterdir()]
        except OSError:
            continue
        yield from (name for name in names if name.endswith((".dist-info", ".egg-info", ".egg-link")))


def _walked(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield every file below the folder in a fixed order, except hidden and compiled ones."""
    with os.scandir(folder) as entries:
        ordered = sorted(entries, key=lambda entry: entry.name)
    for entry in ordered:
        if entry.name.startswith(".") or entry.name in NEVER_READ:
            continue
        if entry.is_dir():
            yield from _walked(entry.path)
        elif entry.is_file():
            yield entry.path, entry.stat()


def folder_files(folder: Path, without: Path) -> dict[str, str] | None:
    """Path -> SHA-256 of every file of a benchmark's folder, except for hidden ones and those of the folder `without`.

    Bundles below it, and folders of other benchmarks, are left out. None if the files are too many or too large to
    be read each time.
    """
    digests: dict[str, str] = {}
    size = 0
    skipped = without.resolve()
    for path in _own_files(folder, skipped):
        size += Path(path).stat().st_size
        if size > LARGEST_FOLDER or len(digests) >= MOST_FILES:
            return None
        digests[os.path.relpath(path, folder)] = file_digest(path)
    return digests


def _own_files(folder: Path, skipped: Path) -> Iterator[str]:
    with os.scandir(folder) as entries:
        ordered = sorted(entries, key=lambda entry: entry.name)
    for entry in ordered:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            inner = Path(entry.path)
            if inner.resolve() != skipped and not any((inner / name).exists() for name in OTHERS):
                yield from _own_files(inner, skipped)
        elif entry.is_file():
            yield entry.path


# A folder with one of these is a bundle, or another benchmark.
OTHERS = ("manifest.json", "benchmark.yaml")


def file_digest(path: str | Path) -> str:
    """Return the SHA-256 of a file's bytes, in hex."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:  # noqa: PTH123 - most paths here are text
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()

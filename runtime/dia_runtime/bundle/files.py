"""Files in a bundle's folder, opened without leaving the folder."""

from __future__ import annotations

import hashlib
import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from dia_language.diagnostics import DiaError, Diagnostic

BLOCK = 1 << 20
LONGEST_UNEXPECTED_READ = 1 << 28  # a file of the wrong size is only hashed if it is smaller than this
OPENING = sum(getattr(os, name, 0) for name in ("O_RDONLY", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))


@dataclass(frozen=True, slots=True)
class Measured:
    """The actual size of a file, and its SHA-256 if it was read."""

    size: int
    sha256: str | None

    def __str__(self) -> str:
        return f"sha256 {self.sha256 or 'not computed'} ({self.size} bytes)"


def integrity_error(code: str, message: str, help: str | None = None) -> DiaError:
    """Return the error for bytes that are damaged, foreign or unverifiable: exit code 3."""
    return DiaError(Diagnostic(code, message, None, help), 3)


def path_error(name: str) -> str | None:
    """Return why a path of a manifest is rejected; None if it stays inside the folder.

    >>> path_error("../x"), path_error("specs/a.yaml")
    ('it leads out of the folder', None)
    """
    if not name or len(name) > 1024 or not name.isprintable():
        return "it is empty, too long or contains control characters"
    if "\\" in name or ":" in name:
        return "it contains a backslash or a colon"
    if name.startswith("/"):
        return "it is absolute"
    if ".." in name.split("/"):
        return "it leads out of the folder"
    if {"", "."} & set(name.split("/")):
        return "it has an empty part"
    return None if unicodedata.is_normalized("NFC", name) else "its letters are not in Unicode's composed form (NFC)"


def path_errors(names: Iterable[str]) -> dict[str, str]:
    """Return what is wrong with paths of a bundle: invalid ones, and those that some systems cannot tell from others.

    >>> path_errors(["answers.jsonl", "Answers.jsonl"])
    {'Answers.jsonl': 'on some systems it is the same file as `answers.jsonl`'}
    """
    errors, first_spelling = dict[str, str](), dict[str, str]()
    for name in names:
        if why := path_error(name):
            errors[name] = why
        elif (other := first_spelling.setdefault(name.casefold(), name)) != name:
            errors[name] = f"on some systems it is the same file as `{other}`"
    return errors


def open_inside(root: Path, name: str) -> BinaryIO:
    """Open the regular file at this relative path for reading.

    Raises FileNotFoundError if it is missing, and DiaError (exit 3) if it is a link or not a regular file.
    """
    place = root
    for part in name.split("/"):
        place = place / part
        if stat.S_ISLNK(place.lstat().st_mode):
            raise integrity_error("E706", f"`{name}` is a link, or inside a linked folder")
    if not stat.S_ISREG(place.lstat().st_mode):
        raise integrity_error("E706", f"`{name}` is not a regular file")
    return os.fdopen(os.open(place, OPENING), "rb")


def measure(root: Path, name: str, expected_size: int) -> Measured:
    """Return the size and digest of a file; a huge file of the wrong size is not read."""
    with open_inside(root, name) as file:
        size = os.fstat(file.fileno()).st_size
        if size != expected_size and size > LONGEST_UNEXPECTED_READ:
            return Measured(size, None)
        digest, size = hashlib.sha256(), 0
        while block := file.read(BLOCK):
            digest.update(block)
            size += len(block)
    return Measured(size, digest.hexdigest())


def walk(root: Path) -> Iterator[tuple[str, bool]]:
    """Yield every file of the folder: its path, and whether it is a regular file; links are not followed."""
    folders = [""]
    while folders:  # iterative, because an untrusted folder may be nested too deeply for recursion
        below = folders.pop()
        with os.scandir(root / below) as entries:
            ordered = sorted(entries, key=lambda entry: entry.name)
        for entry in ordered:
            if entry.is_dir(follow_symlinks=False):
                folders.append(f"{below}{entry.name}/")
            else:
                yield below + entry.name, entry.is_file(follow_symlinks=False)

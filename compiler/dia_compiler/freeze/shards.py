"""Write the lines of a bundle's file: to one plain file, or to shards of fixed size if there are more."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

from dia_compiler.freeze.spool import SpooledBytes

Files = dict[str, dict[str, Any]]


class HashedFile:
    """A file that is hashed while it is written; it is listed among the bundle's files when it is closed."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name, self.size, self.digest = name, 0, hashlib.sha256()
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file: BinaryIO = path.open("wb")

    def write(self, piece: bytes) -> None:
        """Append the bytes."""
        self.file.write(piece)
        self.digest.update(piece)
        self.size += len(piece)

    def close(self, files: Files) -> None:
        """Flush the bytes to disk, and list the file."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        files[self.name] = {"size": self.size, "sha256": self.digest.hexdigest()}


def write_file(folder: Path, name: str, content: bytes, files: Files) -> None:
    """Write one whole file of the bundle."""
    file = HashedFile(folder, name)
    try:
        file.write(content)
        file.close(files)
    finally:
        file.file.close()


def write_lines(
    folder: Path, kind: str, parts: Iterable[tuple[int, SpooledBytes]], shard: int | None, files: Files
) -> None:
    """Write the lines of all parts, each with its number of lines, to one file or to shards of `shard` lines."""
    writer = _ShardWriter(folder, kind, shard, files)
    try:
        for rows, part in parts:
            writer.add(rows, part)
        writer.end()
    finally:
        if writer.file is not None:
            writer.file.file.close()


class _ShardWriter:
    """Writes lines to one file after the other."""

    def __init__(self, folder: Path, kind: str, shard: int | None, files: Files) -> None:
        self.folder, self.kind, self.shard, self.files = folder, kind, shard, files
        self.number, self.room = 0, shard or 0
        self.file: HashedFile | None = None

    def open(self) -> HashedFile:
        """Return the file that the next line goes to."""
        if self.file is None:
            number = "" if self.shard is None else f"-{self.number:05}"
            self.file = HashedFile(self.folder, f"{self.kind}{number}.jsonl")
        return self.file

    def add(self, rows: int, part: SpooledBytes) -> None:
        """Append lines, or blocks of lines if single lines do not matter."""
        if self.shard is None or rows < self.room:
            for block in part.blocks():
                self.open().write(block)
            self.room -= rows
            return
        for line in part.lines():
            self.open().write(line)
            self.room -= 1
            if self.room == 0:
                self.end()
                self.number, self.room = self.number + 1, self.shard

    def end(self) -> None:
        """Close the last file; a plain file exists even if it is empty."""
        if self.file is not None or self.shard is None:
            self.open().close(self.files)
            self.file = None

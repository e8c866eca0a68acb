"""The rows of a template while a bundle is made: lines on disk, and one record of fixed size for each of them."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

BLOCK = 1 << 18
HELD = 1 << 16
PARTS = ("questions", "answers", "index", "assets")
FRAME = struct.Struct(">32s16sQ")
ENTRY = struct.Struct(">32s32s16sQQB")
SHOWN, BASE, FIRST, LONG = 1, 2, 4, 8
LONGEST = 32_000  # characters that a prompt should not exceed: about 8,000 tokens of English, more of digits


NUL = b"\0"


def asset_frame(digest: str, extension: str, content: bytes) -> bytes:
    """Return an asset in the form in which it is kept until it is frozen."""
    return FRAME.pack(bytes.fromhex(digest), extension.encode(), len(content)) + content


class IndexEntry(NamedTuple):
    """What a bundle needs of a row: its leaf, digests of its text and its answer, its position, flags."""

    leaf: bytes
    content: bytes
    text: bytes
    position: int
    instance: int
    flags: int

    @property
    def is_base(self) -> bool:
        """Whether it is an instance in its base wording, not a variant."""
        return bool(self.flags & BASE)


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of a template in order: their lines joined, their entries joined, the first one's answer."""

    rows: int
    questions: bytes
    answers: bytes
    index: bytes
    sample: str
    assets: bytes = b""


class SpooledBytes:
    """Bytes that arrive in pieces: kept in memory at first, then in a file."""

    __slots__ = ("buffer", "path", "size")

    def __init__(self, path: Path | None, size: int = 0) -> None:
        self.path, self.size, self.buffer = path, size, bytearray()

    def add(self, piece: bytes) -> None:
        """Append the piece."""
        self.buffer += piece
        self.size += len(piece)
        if self.path is not None and len(self.buffer) > HELD:
            self.flush(self.path)

    def flush(self, path: Path) -> None:
        """Write the bytes in memory to the file."""
        with path.open("ab") as file:
            file.write(self.buffer)
        self.buffer = bytearray()

    def blocks(self, size: int = BLOCK) -> Iterator[bytes]:
        """Yield all bytes in order, in blocks of that size, except the last block of the file and of the memory."""
        if self.size > len(self.buffer) and self.path is not None:
            with self.path.open("rb") as file:
                while block := file.read(size):
                    yield block
        for start in range(0, len(self.buffer), size):
            yield bytes(self.buffer[start : start + size])

    def lines(self) -> Iterator[bytes]:
        """Yield all lines in order, each with its end."""
        rest = b""
        for block in self.blocks():
            *whole, rest = (rest + block).split(b"\n")
            for line in whole:
                yield line + b"\n"

    def drop(self) -> None:
        """Delete everything."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
        self.buffer, self.size = bytearray(), 0


class ChainedBytes(SpooledBytes):
    """Read-only parts, one after the other."""

    __slots__ = ("links",)

    def __init__(self, links: Sequence[SpooledBytes]) -> None:
        super().__init__(None, sum(link.size for link in links))
        self.links = links

    def blocks(self, size: int = BLOCK) -> Iterator[bytes]:
        """Yield all bytes in order, block by block."""
        for link in self.links:
            yield from link.blocks(size)


class Spool:
    """The rows of one template, in order; kept in memory if there is no folder."""

    __slots__ = ("parts", "rows", "sample")

    def __init__(self, folder: Path | None = None, name: str = "") -> None:
        self.parts = {part: SpooledBytes(folder / f"{name}.{part}" if folder else None) for part in PARTS}
        self.rows, self.sample = 0, ""

    def add(self, batch: Batch) -> None:
        """Append the rows of a batch."""
        self.sample = batch.sample if self.rows == 0 else self.sample
        self.rows += batch.rows
        for part, piece in zip(PARTS, (batch.questions, batch.answers, batch.index, batch.assets), strict=True):
            self.parts[part].add(piece)

    def take(self, other: Spool) -> None:
        """Append the rows of the other spool, and empty it."""
        self.sample = other.sample if self.rows == 0 else self.sample
        self.rows += other.rows
        for part in PARTS:
            for block in other.parts[part].blocks():
                self.parts[part].add(block)
        other.drop()

    @staticmethod
    def chained(spools: Sequence[Spool]) -> Spool:
        """Return the rows of all spools in order, without copying them."""
        whole = Spool()
        whole.parts = {part: ChainedBytes([spool.parts[part] for spool in spools]) for part in PARTS}
        whole.rows = sum(spool.rows for spool in spools)
        whole.sample = next((spool.sample for spool in spools if spool.rows), "")
        return whole

    def entries(self) -> Iterator[IndexEntry]:
        """What is known of each row, in order."""
        rest = b""
        for block in self.parts["index"].blocks(ENTRY.size * 4096):
            rest += block
            whole = len(rest) - len(rest) % ENTRY.size
            yield from map(IndexEntry._make, ENTRY.iter_unpack(rest[:whole]))
            rest = rest[whole:]

    def assets(self) -> Iterator[tuple[str, bytes]]:
        """File name and content of each asset in a separate file, in order; one that is used again is repeated."""
        rest = bytearray()
        for block in self.parts["assets"].blocks():
            rest += block
            place = 0
            while len(rest) - place >= FRAME.size:
                digest, extension, size = FRAME.unpack_from(rest, place)
                end = place + FRAME.size + size
                if len(rest) < end:
                    break
                yield f"{digest.hex()}.{extension.rstrip(NUL).decode()}", bytes(rest[place + FRAME.size : end])
                place = end
            del rest[:place]

    def drop(self) -> None:
        """Delete everything."""
        for part in self.parts.values():
            part.drop()
        self.rows = 0

"""Lines of a file that may be compressed by gzip or zstd."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

LONGEST_LINE = 1 << 25
# A compressed file may unpack to this size, or to this multiple of its own size: text compresses 3 to 30 times.
FREE = 1 << 26
RATIO = 200
EMPTY_LINES = 1_000_000  # empty frames in a row, which only a hostile file has
BUFFER = 1 << 18
CHUNK = 1 << 10  # limits a hostile zstd file to at most 32 MiB of memory
MAGICS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


def read_lines(path: Path, ends: bool = False) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of each line. The first bytes of the file show whether and how it is compressed.

    Raises OSError, or ValueError for a damaged file, one that unpacks to far more than it should, or a line that is
    too long.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(4)
        file.seek(0)
        kind = next((name for magic, name in MAGICS.items() if start.startswith(magic)), None)
        most = None if kind is None else max(FREE, RATIO * size)
        try:
            yield from _numbered(_unpacked(file, kind), most, ends)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise ValueError(f"it is damaged: not a complete {kind} file") from None


def decompressed(file: IO[bytes], size: int) -> IO[bytes]:
    """Return the content of a file of this size, decompressed if necessary.

    Reading it raises ValueError for a damaged file, or one that unpacks to far more than it should.
    """
    start = file.read(4)
    file.seek(0)
    kind = next((name for magic, name in MAGICS.items() if start.startswith(magic)), None)
    return file if kind is None else io.BufferedReader(_Bounded(_unpacked(file, kind), kind, max(FREE, RATIO * size)))


class _Bounded(io.RawIOBase):
    """A file that returns at most this many bytes."""

    def __init__(self, file: IO[bytes], kind: str, most: int) -> None:
        self.file, self.kind, self.left = file, kind, most

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        try:
            piece = self.file.read(len(room))
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise ValueError(f"it is damaged: not a complete {self.kind} file") from None
        self.left -= len(piece)
        if self.left < 0:
            raise ValueError(f"it unpacks to more than {RATIO} times its size")
        room[: len(piece)] = piece
        return len(piece)


def _unpacked(file: IO[bytes], kind: str | None) -> IO[bytes]:
    if kind is None:
        return file
    if kind == "gzip":
        return gzip.open(file, "rb")  # type: ignore[return-value]
    return _zstd(file)


def _zstd(file: IO[bytes]) -> IO[bytes]:
    pieces = _zstd_pieces(file)

    class Whole(io.RawIOBase):
        """The decompressed content of a zstd file, as a file."""

        buffer = b""

        def readable(self) -> bool:
            return True

        def readinto(self, room: Any) -> int:
            self.buffer = self.buffer or next(pieces, b"")
            piece = self.buffer[: len(room)]
            room[: len(piece)], self.buffer = piece, self.buffer[len(piece) :]
            return len(piece)

    return io.BufferedReader(Whole(), BUFFER)


def _zstd_pieces(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the decompressed content of a zstd file, frame by frame. Raises ValueError if it is damaged or cut off."""
    import zstandard

    frame, remainder = zstandard.ZstdDecompressor().decompressobj(), b""
    try:
        while chunk := remainder or file.read(CHUNK):
            if frame.eof:
                frame = zstandard.ZstdDecompressor().decompressobj()
            if piece := frame.decompress(chunk):
                yield piece
            remainder = frame.unused_data if frame.eof else b""
    except zstandard.ZstdError as error:
        raise ValueError(f"it is damaged: {error}") from None
    if not frame.eof:
        raise ValueError("it is damaged: not a complete zstd file")


def _numbered(file: IO[bytes], most: int | None, ends: bool) -> Iterator[tuple[int, bytes]]:
    number = size = empty = 0
    while line := file.readline(LONGEST_LINE + 1):
        number, size = number + 1, size + len(line)
        empty = empty + 1 if line.isspace() else 0
        if empty > EMPTY_LINES:
            raise ValueError(f"it has more than {EMPTY_LINES:,} empty lines in a row")
        if len(line) > LONGEST_LINE:
            raise ValueError(f"line {number} is longer than {LONGEST_LINE >> 20} MiB")
        if most is not None and size > most:
            raise ValueError(f"it unpacks to more than {RATIO} times its size")
        yield number, line if ends else line.rstrip(b"\r\n")

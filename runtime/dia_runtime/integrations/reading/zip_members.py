"""Members of a zip archive, one at a time, each of bounded size: nothing is unpacked to disk.

Python's own module reads the directory, after its size has been checked. Members are decompressed here, because logs
use zstd, which zipfile only supports from Python 3.14 on.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from dia_runtime.bundle.compressed import FREE

RATIO = 50  # logs are compressed 5 to 20 times
DIRECTORY = 1 << 25
MEMBER = 1 << 26
END, END_SIZE = b"PK\x05\x06", 22
FAR, FAR_SIZE, FAR_END_SIZE = b"PK\x06\x07", 20, 56
LOCAL, LOCAL_SIZE = b"PK\x03\x04", 30
STORED, DEFLATED, ZSTD = 0, 8, 93


class Members:
    """The members of an open archive, by name. Raises ValueError for a damaged or too large member."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self.file, self.left = file, max(FREE, RATIO * size)
        self.of: dict[str, zipfile.ZipInfo] = {}
        for info in zipfile.ZipFile(file).infolist():
            if info.filename in self.of:
                raise ValueError(f"it contains `{info.filename[:100]}` twice")
            self.of[info.filename] = info

    def read(self, name: str) -> bytes:
        info = self.of[name]
        self.left -= info.file_size
        if info.file_size > MEMBER or info.compress_size > MEMBER:
            raise ValueError(f"`{name[:100]}` is larger than {MEMBER >> 20} MiB")
        if self.left < 0:
            raise ValueError(f"it unpacks to more than {RATIO} times its size")
        content = _unpacked(self._packed(info), info.compress_type, info.file_size + 1)
        if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
            raise ValueError(f"`{name[:100]}` is damaged")
        return content

    def _packed(self, info: zipfile.ZipInfo) -> bytes:
        self.file.seek(info.header_offset)
        head = self.file.read(LOCAL_SIZE)
        if len(head) < LOCAL_SIZE or not head.startswith(LOCAL):
            raise ValueError(f"`{info.filename[:100]}` is damaged")
        self.file.seek(sum(struct.unpack("<HH", head[26:30])), 1)
        return self.file.read(info.compress_size)


@contextmanager
def open_archive(path: Path) -> Iterator[Members]:
    """Open an archive. Raises OSError, or ValueError if it is not an archive or too large."""
    with path.open("rb") as file:
        size = path.stat().st_size
        if _directory(file, size) > DIRECTORY:
            raise ValueError(f"its directory is larger than {DIRECTORY >> 20} MiB")
        try:
            members = Members(file, size)
        except (zipfile.BadZipFile, struct.error, NotImplementedError, UnicodeDecodeError):
            raise ValueError("it is damaged: not a complete zip archive") from None
        yield members


def _directory(file: IO[bytes], size: int) -> int:
    """Return the size of the archive's directory, as stated at its end."""
    file.seek(max(size - END_SIZE - FAR_SIZE - FAR_END_SIZE, 0))
    tail = file.read()
    end = tail[-END_SIZE:]
    if len(end) < END_SIZE or not end.startswith(END):
        raise ValueError("it is damaged: not a complete zip archive")
    if tail[-END_SIZE - FAR_SIZE :].startswith(FAR):
        return int(struct.unpack("<Q", tail[40:48])[0]) if len(tail) == END_SIZE + FAR_SIZE + FAR_END_SIZE else size
    return int(struct.unpack("<L", end[12:16])[0])


def _unpacked(raw: bytes, method: int, most: int) -> bytes:
    """Return the decompressed bytes, at most as many as requested."""
    if method == STORED:
        return raw[:most]
    if method == DEFLATED:
        try:
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(raw, most)
        except zlib.error as error:
            raise ValueError(f"it is damaged: {error}") from None
    if method != ZSTD:
        raise ValueError(f"a member uses the unsupported compression method {method}")
    import zstandard

    try:
        return zstandard.ZstdDecompressor().stream_reader(raw).read(most)
    except zstandard.ZstdError as error:
        raise ValueError(f"it is damaged: {error}") from None

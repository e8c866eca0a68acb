"""A file of a corpus in overlapping pieces, so that no match is cut in two and memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tarfile import BLOCKSIZE, HeaderError, TarInfo
from typing import IO

from dia_language.diagnostics import DiaError, Diagnostic, visible

from dia_runtime.bundle.compressed import decompressed

PIECE = 1 << 21
OVERLAP = 1 << 17
BLANKS = b" \n\t\r"


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes of a file from an offset; a match that begins at or after `cut` is repeated in the next piece."""

    offset: int
    line: int
    text: bytes
    cut: int
    is_json: bool


def pieces(path: Path) -> Iterator[Piece]:
    """Yield the pieces of a file, decompressed, and in a tar file those of one member after another.

    Raises DiaError (exit 2) if it cannot be read.
    """
    try:
        with path.open("rb") as file:
            yield from _pieces(decompressed(file, path.stat().st_size))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise DiaError(Diagnostic("E727", visible(f"`{path}` cannot be scanned: {why}"))) from None


def _pieces(file: IO[bytes]) -> Iterator[Piece]:
    offset, line = 0, 1
    for section in _sections(file):
        for piece in _pieces_of(section, offset, line):
            yield piece
        offset, line = piece.offset + len(piece.text), piece.line + piece.text.count(b"\n")


class _Section:
    """A part of a file: its first bytes, which were already read, and more of the file, up to a size if given."""

    def __init__(self, start: bytes, file: IO[bytes], size: int | None) -> None:
        self.start, self.file, self.left = start, file, size

    def read(self, size: int) -> bytes:
        """Return the next bytes of the section, and fewer than this only at its end."""
        parts = [self.start[:size]]
        self.start = self.start[size:]
        size -= len(parts[0])
        if self.left is not None:
            size = min(size, self.left)
        while size and (part := self.file.read(size)):
            parts.append(part)
            size -= len(part)
            if self.left is not None:
                self.left -= len(part)
        return b"".join(parts)


def _sections(file: IO[bytes]) -> Iterator[_Section]:
    """Yield the headers and the members of a tar file, so that each member is read like a file; or the whole file."""
    while True:
        block = _Section(b"", file, BLOCKSIZE).read(BLOCKSIZE)
        try:
            size = TarInfo.frombuf(block, "utf-8", "replace").size
        except (HeaderError, ValueError):  # the end of a tar file is searched, too
            yield _Section(block, file, None)
            return
        yield _Section(block, file, 0)
        if size > 0:
            yield _Section(b"", file, size + -size % BLOCKSIZE)


def _pieces_of(section: _Section, offset: int, line: int) -> Iterator[Piece]:
    overlap, is_json = b"", None
    while True:
        text = overlap + section.read(PIECE)
        is_last = len(text) - len(overlap) < PIECE
        if is_json is None:
            is_json = text.lstrip(BLANKS)[:1] in (b"{", b"[")
        cut = len(text) if is_last else _cut(text)
        yield Piece(offset, line, text, cut, is_json)
        if is_last:
            return
        line += text.count(b"\n", 0, cut)
        offset, overlap = offset + cut, text[cut:]


def _cut(text: bytes) -> int:
    """Return where the next piece begins: after a space, an overlap before the end."""
    least = len(text) - OVERLAP
    space = max(text.rfind(bytes([blank]), least - OVERLAP, least) for blank in BLANKS)
    return space + 1 if space > 0 else least

"""A file of a corpus in overlapping pieces, so that no match is cut in two and memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
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
    """Yield the pieces of a file, decompressed. Raises DiaError (exit 2) if it cannot be read."""
    try:
        with path.open("rb") as file:
            yield from _pieces(decompressed(file, path.stat().st_size))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise DiaError(Diagnostic("E727", visible(f"`{path}` cannot be scanned: {why}"))) from None


def _pieces(file: IO[bytes]) -> Iterator[Piece]:
    overlap, offset, line, is_json = b"", 0, 1, None
    while True:
        text = overlap + _read(file, PIECE)
        is_last = len(text) - len(overlap) < PIECE
        if is_json is None:
            is_json = text.lstrip(BLANKS)[:1] in (b"{", b"[")
        cut = len(text) if is_last else _cut(text)
        yield Piece(offset, line, text, cut, is_json)
        if is_last:
            return
        line += text.count(b"\n", 0, cut)
        offset, overlap = offset + cut, text[cut:]


def _read(file: IO[bytes], size: int) -> bytes:
    parts = []
    while size and (part := file.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _cut(text: bytes) -> int:
    """Return where the next piece begins: after a space, an overlap before the end."""
    least = len(text) - OVERLAP
    space = max(text.rfind(bytes([blank]), least - OVERLAP, least) for blank in BLANKS)
    return space + 1 if space > 0 else least

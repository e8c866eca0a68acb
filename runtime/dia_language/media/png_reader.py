"""Read pictures from PNG files without an image library; sizes are checked before decompression.

Source: W3C, Portable Network Graphics (PNG) Specification, third edition (2025).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Final

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError

if TYPE_CHECKING:
    import numpy

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
SIDE: Final = 4096
AREA: Final = 1 << 22
FILE: Final = 1 << 25
CHUNKS: Final = 10_000
CHANNELS: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # samples per pixel, by colour type (section 11.2.1)
NARROW: Final = {0: (1, 2, 4, 8), 2: (8,), 3: (1, 2, 4, 8), 4: (8,), 6: (8,)}  # bits per sample that are supported here
FEATURES: Final = "supported: pictures with at most 8 bits per sample, not interlaced, up to 4096 by 4096 pixels"


@dataclass(frozen=True)
class Picture:
    """A picture: its size, the number of samples per pixel, and the samples row by row, one per byte."""

    width: int
    height: int
    channels: int
    samples: bytes

    @cached_property
    def array(self) -> numpy.ndarray[Any, Any]:
        """Return the samples as an array of rows, columns and channels."""
        import numpy

        return numpy.frombuffer(self.samples, numpy.uint8).reshape(self.height, self.width, self.channels)


@dataclass(frozen=True, slots=True)
class Header:
    """The facts in the first chunk of a PNG file."""

    width: int
    height: int
    depth: int
    colour: int


Chunks = Sequence[tuple[str, bytes]]


@lru_cache(maxsize=2)  # several facts about one file are requested in a row
def chunks_of(data: bytes) -> Chunks:
    """Return the chunks of a PNG file in order: the name and content of each. Raises LanguageError."""
    if not data.startswith(SIGNATURE) or len(data) > FILE:
        raise LanguageError(
            "the bytes are not a PNG picture",
            f"a PNG picture starts with 89 50 4E 47 and can have up to {FILE:,} bytes",
        )
    chunks: list[tuple[str, bytes]] = []
    place = len(SIGNATURE)
    while place < len(data):
        name, content, place = _chunk(data, place)
        chunks.append((name, content))
        if name == "IEND":
            return tuple(chunks)
        if len(chunks) == CHUNKS:
            raise LanguageError(f"the PNG picture has more than {CHUNKS} chunks", code="E502")
    raise LanguageError("the PNG picture ends early")


def _chunk(data: bytes, place: int) -> tuple[str, bytes, int]:
    size = int.from_bytes(data[place : place + 4], "big")
    end = place + 12 + size
    if end > len(data):
        raise LanguageError("the PNG picture ends early")
    if zlib.crc32(data[place + 4 : end - 4]) != int.from_bytes(data[end - 4 : end], "big"):
        raise LanguageError("a chunk of the PNG picture has a wrong checksum")
    return data[place + 4 : place + 8].decode("latin-1"), data[place + 8 : end - 4], end


def header_of(chunks: Chunks) -> Header:
    """Return the header of a supported picture. Raises LanguageError."""
    name, content = chunks[0]
    if name != "IHDR" or len(content) != 13:
        raise LanguageError("the PNG picture has no header")
    width, height = int.from_bytes(content[:4], "big"), int.from_bytes(content[4:8], "big")
    depth, colour, _, _, interlaced = content[8:]
    is_small = 1 <= width <= SIDE and 1 <= height <= SIDE and width * height <= AREA
    if not is_small or interlaced or depth not in NARROW.get(colour, ()):
        raise LanguageError("this kind of PNG picture is not supported", FEATURES)
    return Header(width, height, depth, colour)


def decompress(data: bytes, most: int) -> bytes:
    """Decompress zlib data, up to a limit of bytes. Raises LanguageError for more, and for malformed data."""
    machine = zlib.decompressobj()
    try:
        content = machine.decompress(data, most)
    except zlib.error:
        raise LanguageError("the compressed data of the PNG picture is damaged") from None
    if not machine.eof and (machine.unconsumed_tail or machine.decompress(b"", 1)):
        raise LanguageError("the PNG picture has more data than its header allows")
    return content


def picture_of(data: bytes) -> Picture:
    """Return the picture in a PNG file; colours of a palette are given as red, green and blue. Raises LanguageError."""
    chunks = chunks_of(data)
    header = header_of(chunks)
    line = -(-header.width * CHANNELS[header.colour] * header.depth // 8)
    most = header.height * (line + 1)
    charge(most // 16)
    packed = b"".join(content for name, content in chunks if name == "IDAT")
    filtered = decompress(packed, most + 1)
    if len(filtered) != most:
        raise LanguageError("the PNG picture does not have as many pixels as its header states")
    return _to_picture(
        header, undo_filters(filtered, line, max(1, CHANNELS[header.colour] * header.depth // 8)), chunks
    )


def undo_filters(filtered: bytes, line: int, step: int) -> numpy.ndarray[Any, Any]:
    """Return the rows without their filters (section 9); `step` is the number of bytes from one pixel to the next."""
    import numpy

    rows = numpy.frombuffer(filtered, numpy.uint8).reshape(-1, line + 1)
    above = numpy.zeros(line, numpy.uint8)
    unfiltered = numpy.empty((len(rows), line), numpy.uint8)
    for place, row in enumerate(rows):
        above = unfiltered[place] = _undo_filter(int(row[0]), row[1:], above, step)
    return unfiltered


def _undo_filter(kind: int, row: Any, above: Any, step: int) -> Any:
    import numpy

    if kind == 0:
        return row
    if kind == 1:
        width = -(-len(row) // step) * step
        padded = numpy.pad(row, (0, width - len(row))).reshape(-1, step)
        return numpy.cumsum(padded, axis=0, dtype=numpy.uint8).reshape(-1)[: len(row)]
    if kind == 2:
        return row + above
    if kind in (3, 4):
        charge(len(row))
        undone = _average if kind == 3 else _paeth
        return numpy.frombuffer(undone(row.tobytes(), above.tobytes(), step), numpy.uint8)
    raise LanguageError("the PNG picture uses an unknown filter")


def _average(row: bytes, above: bytes, step: int) -> bytes:
    result = bytearray(step)
    for place, byte in enumerate(row):
        result.append(byte + (result[place] + above[place] >> 1) & 255)
    return bytes(result[step:])


def _paeth(row: bytes, above: bytes, step: int) -> bytes:
    result = bytearray(step)
    for byte, up, corner, left in zip(row, above, bytes(step) + above, result, strict=False):  # `result` grows
        if up == corner:
            nearest = left
        elif left == corner:
            nearest = up
        else:
            to_left, to_up, to_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
            nearest = left if to_left <= to_up and to_left <= to_corner else up if to_up <= to_corner else corner
        result.append(byte + nearest & 255)
    return bytes(result[step:])


def _to_picture(header: Header, rows: numpy.ndarray[Any, Any], chunks: Chunks) -> Picture:
    """Return the picture with unfiltered rows: one byte per sample, colours looked up in the palette."""
    samples = rows if header.depth == 8 else _spread(rows, header)
    if header.colour == 3:
        samples = _look_up_colours(samples, next((content for name, content in chunks if name == "PLTE"), b""))
    elif header.depth < 8:
        samples = samples * (255 // ((1 << header.depth) - 1))
    channels = 3 if header.colour == 3 else CHANNELS[header.colour]
    return Picture(header.width, header.height, channels, samples.tobytes())


def _spread(rows: numpy.ndarray[Any, Any], header: Header) -> numpy.ndarray[Any, Any]:
    import numpy

    bits = numpy.unpackbits(rows, axis=1).reshape(len(rows), -1, header.depth)
    weights = 1 << numpy.arange(header.depth - 1, -1, -1, dtype=numpy.uint8)
    spread: numpy.ndarray[Any, Any] = (bits * weights).sum(axis=2, dtype=numpy.uint8)[:, : header.width]
    return spread


def _look_up_colours(samples: numpy.ndarray[Any, Any], palette: bytes) -> numpy.ndarray[Any, Any]:
    import numpy

    if len(palette) % 3 or int(samples.max()) * 3 >= len(palette):
        raise LanguageError("the PNG picture uses a colour that is not in its palette")
    colours: numpy.ndarray[Any, Any] = numpy.frombuffer(palette, numpy.uint8).reshape(-1, 3)[samples]
    return colours

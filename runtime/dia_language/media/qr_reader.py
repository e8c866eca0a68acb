"""Read the modules of a QR code: format, mask, blocks with their check words, and the segments of the text.

For codes that are drawn without damage or distortion: errors are found, not corrected.
Source: ISO/IEC 18004:2015, sections 6.3 to 7.9 and table 9.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from dia_language.diagnostics import LanguageError

if TYPE_CHECKING:
    import numpy

Modules = list[list[int]]
GENERATOR, FORMAT_MASK = 0x537, 0x5412
FIELD = 0x11D
ALPHANUMERIC: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"
UTF_8 = 26
# Table 9, by the two bits of a level (M, L, H, Q): check words of a block and number of blocks in versions 1 to 40
CHECK_WORDS: Final = tuple(
    tuple(map(int, row.split()))
    for row in (
        "10 16 26 18 24 16 18 22 22 26 30 22 22 24 24 28 28 26 26 26 "
        "26 28 28 28 28 28 28 28 28 28 28 28 28 28 28 28 28 28 28 28",
        "7 10 15 20 26 18 20 24 30 18 20 24 26 30 22 24 28 30 28 28 "
        "28 28 30 30 26 28 30 30 30 30 30 30 30 30 30 30 30 30 30 30",
        "17 28 22 16 22 28 26 26 24 28 24 28 22 24 24 30 28 28 26 28 "
        "30 24 30 30 30 30 30 30 30 30 30 30 30 30 30 30 30 30 30 30",
        "13 22 18 26 18 24 18 22 20 24 28 26 24 20 30 24 28 28 26 30 "
        "28 30 30 30 30 28 30 30 30 30 30 30 30 30 30 30 30 30 30 30",
    )
)
BLOCKS: Final = tuple(
    tuple(map(int, row.split()))
    for row in (
        "1 1 1 2 2 4 4 4 5 5 5 8 9 9 10 10 11 13 14 16 17 17 18 20 21 23 25 26 28 29 31 33 35 37 38 40 43 45 47 49",
        "1 1 1 1 1 2 2 2 2 4 4 4 4 4 6 6 6 6 7 8 8 9 9 10 12 12 12 13 14 15 16 17 18 19 19 20 21 22 24 25",
        "1 1 2 4 4 4 5 6 8 8 11 11 16 16 18 16 19 21 25 25 25 34 30 32 35 37 40 42 45 48 51 54 57 60 63 66 70 74 77 81",
        "1 1 2 2 4 4 6 6 8 8 8 10 12 16 12 17 16 18 21 20 23 23 25 27 29 34 34 35 38 40 43 45 48 51 53 56 59 62 65 68",
    )
)


def modules_of(dark: numpy.ndarray[Any, Any]) -> Modules:
    """Return the modules of an upright code in a picture, given its dark pixels. Raises LanguageError."""
    import numpy

    rows, columns = numpy.flatnonzero(dark.any(axis=1)), numpy.flatnonzero(dark.any(axis=0))
    if not len(rows):
        raise LanguageError("the picture does not show a QR code")
    code = dark[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    breaks = numpy.flatnonzero(~code[0])
    scale = int(breaks[0]) // 7 if len(breaks) else 0
    size = len(code) // scale if scale else 0
    if not scale or code.shape != (size * scale, size * scale) or size % 4 != 1 or not 21 <= size <= 177:
        raise LanguageError(
            "the picture does not show a QR code", "it must be upright, dark on light, with square modules"
        )
    sampled = code[scale // 2 :: scale, scale // 2 :: scale]
    return [[int(module) for module in row] for row in sampled.tolist()]


def text_of_modules(modules: Modules) -> str:
    """Return the text of a code. Raises LanguageError."""
    version = (len(modules) - 17) // 4
    level, mask = _format(modules)
    words = _words(modules, mask, _reserved(version))
    return _text(_checked_data(words, CHECK_WORDS[level][version - 1], BLOCKS[level][version - 1]), version)


def _format(modules: Modules) -> tuple[int, int]:
    """Return level and mask, from the 15 bits next to the finder pattern in the corner (7.9)."""
    places = [(row, 8) for row in (0, 1, 2, 3, 4, 5, 7, 8)] + [(8, column) for column in (7, 5, 4, 3, 2, 1, 0)]
    read = sum(modules[row][column] << bit for bit, (row, column) in enumerate(places)) ^ FORMAT_MASK
    for bits in range(32):
        rest = bits << 10
        for place in range(4, -1, -1):
            rest ^= GENERATOR << place if rest >> place + 10 & 1 else 0
        if read == bits << 10 | rest:
            return bits >> 3, bits & 7
    raise LanguageError("the QR code's format bits are damaged")


def alignment_places(version: int) -> list[int]:
    """Return rows and columns of the centres of alignment patterns (annex E)."""
    if version == 1:
        return []
    count = version // 7 + 2
    step = (version * 8 + count * 3 + 5) // (count * 4 - 4) * 2
    return [6, *(10 + version * 4 - place * step for place in range(count - 2, -1, -1))]


def _reserved(version: int) -> list[list[bool]]:
    """Return which modules contain no data: finder, timing and alignment patterns, format and version."""
    size = 17 + 4 * version
    reserved = [[row == 6 or column == 6 for column in range(size)] for row in range(size)]

    def fill(top: int, left: int, height: int, width: int) -> None:
        for row in range(top, top + height):
            reserved[row][left : left + width] = [True] * width

    fill(0, 0, 9, 9)
    fill(0, size - 8, 9, 8)
    fill(size - 8, 0, 8, 9)
    places = alignment_places(version)
    corners = {(6, 6), (6, size - 7), (size - 7, 6)}
    for row, column in ((row, column) for row in places for column in places if (row, column) not in corners):
        fill(row - 2, column - 2, 5, 5)
    if version >= 7:
        fill(0, size - 11, 6, 3)
        fill(size - 11, 0, 3, 6)
    return reserved


def _is_flipped(mask: int, row: int, column: int) -> bool:
    """Return whether a mask flips the module at this position (table 10)."""
    product = row * column
    match mask:
        case 0:
            rest = (row + column) % 2
        case 1:
            rest = row % 2
        case 2:
            rest = column % 3
        case 3:
            rest = (row + column) % 3
        case 4:
            rest = (row // 2 + column // 3) % 2
        case 5:
            rest = product % 2 + product % 3
        case 6:
            rest = (product % 2 + product % 3) % 2
        case _:
            rest = ((row + column) % 2 + product % 3) % 2
    return rest == 0


def _path(size: int) -> Iterator[tuple[int, int]]:
    """Yield the modules in the order of the data: pairs of columns from the right, alternately up and down (7.7.3)."""
    is_upward = True
    for right in (*range(size - 1, 6, -2), 5, 3, 1):
        for step in range(size):
            row = size - 1 - step if is_upward else step
            yield row, right
            yield row, right - 1
        is_upward = not is_upward


def _words(modules: Modules, mask: int, reserved: list[list[bool]]) -> list[int]:
    bits = [
        modules[row][column] ^ _is_flipped(mask, row, column)
        for row, column in _path(len(modules))
        if not reserved[row][column]
    ]
    return [int("".join(map(str, bits[place : place + 8])), 2) for place in range(0, len(bits) - 7, 8)]


def _checked_data(words: list[int], checks: int, count: int) -> bytes:
    """Return the data of the blocks in order, after checking every block (7.5, 7.6)."""
    least, longer = divmod(len(words), count)
    sizes = [least - checks + (block >= count - longer) for block in range(count)]
    blocks: list[list[int]] = [[] for _ in sizes]
    rest = iter(words)
    for place in range(max(sizes)):
        for block, size in zip(blocks, sizes, strict=True):
            block.extend([next(rest)] if place < size else [])
    data = b"".join(map(bytes, blocks))
    for _ in range(checks):
        for block in blocks:
            block.append(next(rest))
    if any(_evaluate(block, exponent) for block in blocks for exponent in range(checks)):
        raise LanguageError("the QR code is damaged", "errors are detected, but not corrected")
    return data


def _powers() -> list[int]:
    powers = [1]
    for _ in range(254):
        powers.append(powers[-1] << 1 ^ (FIELD if powers[-1] & 128 else 0))
    return powers


POWERS: Final = _powers()  # of 2, in the field of 256 elements
LOGARITHMS: Final = {power: place for place, power in enumerate(POWERS)}


def _evaluate(block: list[int], exponent: int) -> int:
    """Return the polynomial whose coefficients are the block's words, at a power of 2: zero if there is no error."""
    total = 0
    for word in block:
        total = word ^ (POWERS[(LOGARITHMS[total] + exponent) % 255] if total else 0)
    return total


class _Bits:
    """Bits that are read from the front."""

    def __init__(self, data: bytes) -> None:
        self.number, self.left = int.from_bytes(data, "big"), len(data) * 8

    def take(self, count: int) -> int:
        if count > self.left:
            raise LanguageError("the QR code's text ends early")
        self.left -= count
        return self.number >> self.left & (1 << count) - 1


def _text(data: bytes, version: int) -> str:
    """Return the text of the segments (7.4)."""
    bits, content, code = _Bits(data), bytearray(), None
    wide = 0 if version < 10 else 1 if version < 27 else 2
    while bits.left >= 4 and (mode := bits.take(4)):
        if mode == 1:
            content += _numeric(bits, bits.take(10 + 2 * wide))
        elif mode == 2:
            content += _alphanumeric(bits, bits.take(9 + 2 * wide))
        elif mode == 4:
            content += bytes(bits.take(8) for _ in range(bits.take(16 if wide else 8)))
        elif mode == 7:
            code = bits.take(8)
        else:
            raise LanguageError(
                "the QR code has a segment of an unsupported kind", "digits, letters and bytes are supported"
            )
    return _decode(bytes(content), code)


def _decode(content: bytes, code: int | None) -> str:
    try:
        return content.decode("utf-8" if code in (None, UTF_8) else "latin-1")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _numeric(bits: _Bits, count: int) -> bytes:
    digits = [f"{bits.take(10):03d}" for _ in range(count // 3)]
    rest = count % 3
    return "".join([*digits, f"{bits.take(3 * rest + 1):0{rest}d}" if rest else ""]).encode()


def _alphanumeric(bits: _Bits, count: int) -> bytes:
    numbers = [place for _ in range(count // 2) for place in divmod(bits.take(11), 45)]
    numbers += [bits.take(6)] if count % 2 else []
    if any(number >= len(ALPHANUMERIC) for number in numbers):
        raise LanguageError("the QR code contains an invalid character")
    return "".join(ALPHANUMERIC[number] for number in numbers).encode()

"""Reading pictures made by the asset builders: QR codes, text in the built-in font, and Tower of Hanoi positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.registry import library_function
from dia_language.media.glyphs import LEAST_SIZE, MOST_SIZE, cell_size, glyph, missing_characters
from dia_language.media.png_reader import SIDE, Picture, picture_of
from dia_language.media.qr_reader import modules_of, text_of_modules
from dia_language.numbers.values import Value

if TYPE_CHECKING:
    import numpy

PRINTABLE: Final = "".join(map(chr, range(32, 127)))
ALPHABET: Final = 1000
LIKENESS: Final = 24  # largest mean difference, out of 255, between a cell and its glyph
COLOURFUL: Final = 40  # smallest spread, out of 255, between the samples of a colour that is not grey


@library_function
def read_qr(data: bytes) -> str:
    """The text of the QR code in a PNG picture.

    The picture must contain exactly one code, upright, dark on light and undamaged. Reads numeric, alphanumeric and
    byte segments (UTF-8, otherwise Latin-1). Raises an error for Kanji mode, Micro QR codes, and codes whose
    error-correction check fails. Source: ISO/IEC 18004:2015.

    Examples:
        read_qr(from_base64("iVBORw0KGgoAAAANSUhEUgAAABcAAAAXAQAAAADIUekNAAAAZ0lEQVR4nAFcAKP/Af8A/wCAxgICPtT4AuRQk"
            "AIAEAACAJAABBwoMALC4AgA/9P+AqsUuAIDpyQC563kAh0DEAIrPNQCIxuwAoEvHAC+4R4BouLmAKL+5gQAnR8EHDD0BMLMIAH/AP"
            "+55CEF6qtojAAAAABJRU5ErkJggg==")) -> "DIA"
    """
    picture = picture_of(data)
    charge(len(picture.samples) // 16 + 40_000)
    return text_of_modules(modules_of(picture.array[:, :, :3].mean(axis=2) < 128))


@library_function
def read_text(data: bytes, font_size: int = 24, margin: int = 10, alphabet: str = "") -> str:
    """The text in a picture drawn by the asset builder `png`, recognised from its pixels.

    Each cell is compared with every glyph of the built-in font. `font_size` and `margin` must be those used to draw the
    picture. `alphabet` lists the characters to look for; the default is printable ASCII. Spaces at the end of a line
    are lost. Needs Pillow. Raises an error if a cell matches no character.

    Examples:
        read_text(from_base64("iVBORw0KGgoAAAANSUhEUgAAAAwAAAAMCAAAAABzHgM7AAAARUlEQVR4nIWNwQmAMADEcuIwjtIFnKYDOEy"
            "/QhHcLX34EKHg/UICF3m3MIMC4NGsXVWnWTZghR06lsc06zc7c+Um/6cAA/FwE4VAhxHTAAAAAElFTkSuQmCC"), 8, 1) -> "Hi"
    """
    letters = alphabet or PRINTABLE
    _check_letters(font_size, margin, letters)
    width, height = cell_size(font_size)
    ink = _ink(picture_of(data))
    ink = ink[margin : len(ink) - margin, margin : ink.shape[1] - margin]
    rows, columns = len(ink) // height, ink.shape[1] // width
    charge(rows * columns * len(letters) * (1 + width * height // 64))
    shapes = _shapes(letters, font_size)
    lines = [
        [_nearest(ink[row : row + height, column : column + width], shapes) for column in _steps(columns, width)]
        for row in _steps(rows, height)
    ]
    return "\n".join("".join(letters[place] for place in line).rstrip(" ") for line in lines)


def _check_letters(font_size: int, margin: int, letters: str) -> None:
    if not LEAST_SIZE <= font_size <= MOST_SIZE or not 0 <= margin <= SIDE:
        raise LanguageError(f"the font size must be from {LEAST_SIZE} to {MOST_SIZE} and the margin at most {SIDE:,}")
    if not 1 <= len(letters) <= ALPHABET or missing_characters(letters):
        raise LanguageError(
            f"`read_text` needs an alphabet of 1 to {ALPHABET:,} characters that the built-in font contains"
        )


def _steps(count: int, size: int) -> range:
    return range(0, count * size, size)


def _ink(picture: Picture) -> numpy.ndarray[Any, Any]:
    """The ink in each pixel, from 0 to 255. The first row is paper; ink is the colour farthest from it."""
    import numpy

    samples = picture.array.astype(numpy.int32)
    away = samples - numpy.median(samples[0], axis=0).astype(numpy.int32)
    channel = int(numpy.abs(away).max(axis=(0, 1)).argmax())
    distance: numpy.ndarray[Any, Any] = away[:, :, channel]
    farthest = int(distance.flat[int(numpy.abs(distance).argmax())])
    return numpy.clip(distance * 255 // farthest, 0, 255) if farthest else distance


def _shapes(letters: str, font_size: int) -> numpy.ndarray[Any, Any]:
    import numpy

    width, height = cell_size(font_size)
    cells = [numpy.frombuffer(glyph(letter, font_size).tobytes(), numpy.uint8) for letter in letters]
    return numpy.stack(cells).reshape(-1, height, width).astype(numpy.int32)


def _nearest(cell: numpy.ndarray[Any, Any], shapes: numpy.ndarray[Any, Any]) -> int:
    import numpy

    differences = numpy.abs(shapes - cell).mean(axis=(1, 2))
    place = int(differences.argmin())
    if differences[place] > LIKENESS:
        raise LanguageError("a part of the picture does not look like any character", "check `font_size` and `margin`")
    return place


@library_function
def disks_of(data: bytes) -> list[Value]:
    """The disks on each peg, bottom to top, in a Tower of Hanoi picture drawn by the asset builder `hanoi`.

    Disks are numbered by width; the smallest is 1. Raises an error for any other picture.

    Examples:
        disks_of(from_base64("iVBORw0KGgoAAAANSUhEUgAAAAkAAAADCAIAAADOaLIhAAAAJUlEQVR4nGP4//8/AwPD////MRmMJxigwPz/"
            "f0ZGRogElIFHHwA/oCzbFj409wAAAABJRU5ErkJggg==")) -> [[1], [], []]
    """
    picture = picture_of(data)
    if picture.channels != 3:
        raise LanguageError("the picture does not show a Tower of Hanoi")
    charge(picture.width * picture.height // 4)
    pegs = _pegs(picture)
    boxes = _boxes(picture)
    sizes = {width: rank for rank, width in enumerate(sorted({right - left for _, left, right in boxes}), 1)}
    if not 3 <= pegs <= 6 or len(sizes) != len(boxes):
        raise LanguageError("the picture does not show a Tower of Hanoi")
    pegs_with_disks: list[Value] = []
    for peg in range(pegs):
        here = [box for box in boxes if (box[1] + box[2]) * pegs // (2 * picture.width) == peg]
        pegs_with_disks.append([sizes[right - left] for _, left, right in sorted(here, reverse=True)])
    return pegs_with_disks


def _pegs(picture: Picture) -> int:
    """Return the number of pegs in the first non-empty row."""
    dark = picture.array.max(axis=2) < 200
    row = dark[int(dark.any(axis=1).argmax())]
    return len(_runs(row))


def _runs(row: numpy.ndarray[Any, Any]) -> list[tuple[int, int]]:
    """The runs of set pixels in a row: the first position and the position after the last."""
    import numpy

    edges = numpy.flatnonzero(numpy.diff(numpy.pad(row.astype(numpy.int8), 1)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _boxes(picture: Picture) -> list[tuple[int, int, int]]:
    """The coloured rectangles: the first row of each, its first column, and the column after its last."""
    import numpy

    samples = picture.array.astype(numpy.int16)
    coloured = samples.max(axis=2) - samples.min(axis=2) > COLOURFUL
    boxes, above = [], set[tuple[int, int]]()
    for place, row in enumerate(coloured):
        here = set(_runs(row))
        boxes += [(place, *run) for run in sorted(here - above)]
        above = here
    return boxes

"""Reading plots: the positions of their marks on the axes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.registry import library_function
from dia_language.media.png_reader import picture_of
from dia_language.numbers.values import Value, normal

if TYPE_CHECKING:
    import numpy

TICK, MARK = 4, 5
MOST: Final = 1000


@dataclass(frozen=True, slots=True)
class Axes:
    """The first and last column and row of the axes."""

    left: int
    right: int
    top: int
    bottom: int


@library_function
def marks_of(data: bytes, colour: str = "#1f77b4") -> list[Value]:
    """The positions of the marks in a plot drawn by the asset builder `plot`, from left to right, as [x, y].

    Both coordinates are fractions of an axis: 0 at its start and 1 at its end. An axis of numbers starts and ends with
    a tick. The mark of a bar is the middle of its top. The positions are exact to one pixel. Raises an error if marks
    touch each other.

    Examples:
        marks_of(from_base64("iVBORw0KGgoAAAANSUhEUgAAABQAAAAUCAIAAAAC64paAAAAVUlEQVR4nGP8//8/A7mAiWydDAwMLAwMDIyM"
            "jMhCcLcoVGyFCz7o8MauGdnlaAbhBxQ5e1TzkNLMiASQucjqGFEBVJBgxmBkxKlmCAcYfoAnUAbO2Q"
            "BbFxVGmcum2AAAAABJRU5ErkJggg==")) -> [[1/2, 1]]
    """
    if re.fullmatch("#[0-9A-Fa-f]{6}", colour) is None:
        raise LanguageError("a colour must be written as '#rrggbb'")
    picture = picture_of(data)
    if picture.channels != 3:
        raise LanguageError("the picture does not show a plot")
    charge(picture.width * picture.height // 4)
    is_mark = (picture.array == list(bytes.fromhex(colour[1:]))).all(axis=2)
    axes = _axes((picture.array == 0).all(axis=2), is_mark)
    ends = sorted(_ends(is_mark))
    across, up = axes.right - axes.left, axes.bottom - axes.top
    return [
        [normal(Fraction(column - axes.left, across)), normal(Fraction(axes.bottom - row, up))] for column, row in ends
    ]


def _axes(black: numpy.ndarray[Any, Any], is_mark: numpy.ndarray[Any, Any]) -> Axes:
    """The axes: the longest lines, which marks may cover in part. Their ticks show where they end."""
    lines = black | is_mark
    left, bottom = int(black.sum(axis=0).argmax()), int(black.sum(axis=1).argmax())
    top = _run(lines[:, left], bottom)[0]
    right = _run(lines[bottom], left)[1]
    if left < TICK or bottom + TICK >= len(black) or right - left < MARK or bottom - top < MARK:
        raise LanguageError("the picture does not show a plot")
    top = next((row for row in range(top, top + MARK) if black[row, left - TICK]), top)
    right = next((end for end in range(right, right - MARK, -1) if black[bottom + TICK, end]), right)
    return Axes(left, right, top, bottom)


def _run(line: numpy.ndarray[Any, Any], place: int) -> tuple[int, int]:
    """The first and last position of the run of set pixels around a position."""
    import numpy

    gaps = numpy.flatnonzero(~line)
    before, behind = gaps[gaps < place], gaps[gaps > place]
    return (int(before[-1]) + 1 if len(before) else 0), (int(behind[0]) - 1 if len(behind) else len(line) - 1)


def _ends(is_mark: numpy.ndarray[Any, Any]) -> list[tuple[int, int]]:
    """The column and row of each mark: the centre of a point, or the middle of the top of a bar."""
    from scipy import ndimage

    labelled, count = ndimage.label(is_mark)
    if count > MOST:
        raise LanguageError(f"the plot has more than {MOST:,} marks", code="E502")
    ends = []
    for rows, columns in ndimage.find_objects(labelled):
        width, height = columns.stop - columns.start, rows.stop - rows.start
        is_point = width == height == MARK
        if not is_point and width % 2:
            raise LanguageError("marks of the plot touch each other")
        ends.append(((columns.start + columns.stop) // 2, rows.start + (MARK // 2 if is_point else 0)))
    return ends

"""A plot as plain data: shapes with positions in pixels from the top left, independent of the output format."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile

Point = tuple[float, float]
NARROW, WIDE = frozenset("fijlrtI.,:;|!'()[] -"), frozenset("mwMWGOQ@%")
DASHES: tuple[tuple[float, ...], ...] = ((), (6, 3), (2, 3), (8, 3, 2, 3), (1, 2), (10, 4), (4, 2, 1, 2, 1, 2), (3, 6))


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle; `tip` is its tooltip."""

    x: float
    y: float
    width: float
    height: float
    fill: str = "ink"
    stroke: str = "none"
    tip: str = ""
    rounded: float = 0


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line."""

    x1: float
    y1: float
    x2: float
    y2: float
    stroke: str = "ink"
    width: float = 1
    dash: tuple[float, ...] = ()
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Polyline:
    """Points joined in order."""

    points: tuple[Point, ...]
    stroke: str = "ink"
    width: float = 1.5
    dash: tuple[float, ...] = ()
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Polygons:
    """Closed shapes of one colour."""

    shapes: tuple[tuple[Point, ...], ...]
    fill: str = "ink"
    stroke: str = "none"
    opacity: float = 1
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Circle:
    """A circle around (x, y)."""

    x: float
    y: float
    radius: float = 3
    fill: str = "ink"
    stroke: str = "none"
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text with its baseline at y; `anchor` is start, middle or end, `turn` in degrees clockwise."""

    x: float
    y: float
    text: str
    size: float = 12
    anchor: str = "start"
    fill: str = "ink"
    bold: bool = False
    turn: float = 0
    tip: str = ""


Mark = Rect | Line | Polyline | Polygons | Circle | Text


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture: title, size, marks in paint order, and a description in words for people who cannot see it.

    >>> Drawing("A dot", "One dot.", 10, 10, (Circle(5, 5),)).width
    10
    """

    title: str
    description: str
    width: float
    height: float
    marks: tuple[Mark, ...]


def moved(mark: Mark, x: float, y: float) -> Mark:
    """Return the mark shifted."""
    match mark:
        case Line():
            return replace(mark, x1=mark.x1 + x, x2=mark.x2 + x, y1=mark.y1 + y, y2=mark.y2 + y)
        case Polyline():
            return replace(mark, points=tuple((px + x, py + y) for px, py in mark.points))
        case Polygons():
            return replace(mark, shapes=tuple(tuple((px + x, py + y) for px, py in shape) for shape in mark.shapes))
        case Rect() | Circle() | Text():
            return replace(mark, x=mark.x + x, y=mark.y + y)


def text_width(text: str, size: float = 12) -> float:
    """Return the approximate width of the text in a usual sans-serif font, rather too large than too small.

    >>> text_width("") == 0, text_width("iii") < text_width("mmm")
    (True, True)
    """
    return sum(map(_share, text)) * size


def _share(char: str) -> float:
    """Return the width of a character as a share of the font size."""
    if unicodedata.combining(char):
        return 0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.05
    return 0.36 if char in NARROW else 0.94 if char in WIDE else 0.7 if char.isupper() else 0.61


def clipped(text: str, width: float, size: float = 12) -> str:
    """Return the text, or as much of its beginning and its end as fits; names of one family often differ at the end.

    >>> clipped("short", 100), clipped("family:theta=1,seed=1", 90)
    ('short', 'family:t…ed=1')
    """
    if text_width(text, size) <= width:
        return text
    room = width - text_width("\N{HORIZONTAL ELLIPSIS}", size)
    head = text[: _fitting(text, room * 0.6, size)].rstrip()
    tail = text[::-1][: _fitting(text[::-1], room - text_width(head, size), size)][::-1].lstrip()
    return f"{head}\N{HORIZONTAL ELLIPSIS}{tail}"


def _fitting(text: str, room: float, size: float) -> int:
    """Return how many characters of the text fit."""
    widths = accumulate(_share(char) * size for char in text[:1000])
    return sum(1 for width in takewhile(lambda width: width <= room, widths))

"""Tables of a page: headings, and cells that know their sort keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from dia_runtime.report.pictures.figures import ends, middle
from dia_runtime.scoring.results import Estimate, unknown

T = TypeVar("T")
Column = tuple[str, Callable[[T], "Cell"]]  # heading, and the function that makes the cell of an entry
DASH, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text, small text below it, and the sort key of its column; `art` is an SVG element."""

    text: str
    note: str = ""
    key: float | str | None = None
    art: str = ""
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of a page; the first `names` columns are row headings."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    names: int = 1
    is_sortable: bool = False
    is_folded: bool = False


def word(text: str) -> Cell:
    """Return a cell with a name."""
    return Cell(text, key=text.lower())


def count(number: int) -> Cell:
    return Cell(f"{number:,}", key=number)


def share(value: float | None, places: int = 1) -> Cell:
    """Return a cell with a share in percent."""
    return Cell(DASH if value is None else f"{100 * value:.{places}f} %", key=value)


def figure(estimate: Estimate | None, factor: float = 1, places: int = 1) -> Cell:
    """Return a cell with a figure, and its interval below it."""
    estimate = estimate or unknown()
    value, interval = middle(estimate), ends(estimate)
    if value is None:
        return Cell(DASH)
    note = f"{number(interval[0], factor, places)} to {number(interval[1], factor, places)}" if interval else ""
    if estimate["value"] is None:
        return Cell(note, "range while errors remain", value)
    return Cell(number(value, factor, places), note if estimate["ci"] or estimate["se"] else "", value)


def number(value: float, factor: float = 1, places: int = 1) -> str:
    """Return the number with this many decimals and a real minus sign.

    >>> number(-0.5, 100, 0)
    '−50'
    """
    return f"{factor * value:z,.{places}f}".replace("-", MINUS)


def grid(
    caption: str,
    columns: Sequence[Column[T]],
    entries: Sequence[T],
    names: int = 1,
    is_sortable: bool = False,
) -> Grid:
    """Return a table with a row for each entry, and the columns (heading, its cell of an entry)."""
    rows = tuple(tuple(make(entry) for _, make in columns) for entry in entries)
    return Grid(caption, tuple(heading for heading, _ in columns), rows, names, is_sortable)

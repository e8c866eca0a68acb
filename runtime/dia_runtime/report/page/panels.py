"""The parts of the page: sections with pictures and tables."""

from __future__ import annotations

from dataclasses import dataclass, field

from dia_runtime.report.page.cells import DASH, Cell, Column, Grid, figure, number
from dia_runtime.report.pictures import pictures
from dia_runtime.report.pictures.figures import PictureData
from dia_runtime.report.pictures.svg import svg
from dia_runtime.scoring.figures import FIGURES, Unit
from dia_runtime.scoring.results import Block, Score, figure_of

# Pictures that are drawn again for small screens, with this width.
OF_BANKS = ("wright-map", "abilities", "item-fit", "item-curves")
FOR_PHONES = frozenset(["verdicts", "reliability", "drop", "risk-coverage", "comparisons", *OF_BANKS])
PHONE = 356
MOST_CELLS = 6000  # of a table that accompanies a plot


@dataclass(frozen=True, slots=True)
class Panel:
    """A picture of the page with its title, a sentence about it, and a table of the same facts."""

    name: str
    title: str
    caption: str
    art: tuple[str, ...]
    table: Grid | None = None
    key: tuple[str, ...] = ()
    is_tiled: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with a heading."""

    name: str
    title: str
    lead: str = ""
    panels: tuple[Panel, ...] = ()
    tables: tuple[Grid, ...] = ()
    notes: tuple[str, ...] = field(default=())


def picture(kind: str, score: Score, title: str, caption: str, table: Grid | None = None) -> Panel:
    """Return a picture of the score for the page."""
    return drawn(kind, {"score": score}, title, caption, table)


def drawn(kind: str, data: PictureData, title: str, caption: str, table: Grid | None = None) -> Panel:
    """Return a picture of these data for the page."""
    draw = pictures()[kind].draw
    art = [svg(draw(data), kind, alone=False)]
    if kind in FOR_PHONES:
        art.append(svg(draw({**data, "width": PHONE}), f"{kind}-narrow", alone=False))
    return Panel(kind, title, caption, tuple(art), table)


def with_article(name: str) -> str:
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def column(name: str, k: int) -> Column[Block]:
    """Return the column of a figure, for items with k instances."""
    entry = FIGURES[name]
    places = 0 if entry.unit is Unit.ITEMS else 1
    return entry.heading_at(k), lambda block: figure(figure_of(block, name), entry.unit.factor, places)


def factor(name: str) -> int:
    """Return the factor for display: shares are printed in percent."""
    return FIGURES[name].unit.factor


def plain(value: float | None, name: str) -> Cell:
    """Return a cell with only a value of that figure."""
    return Cell(DASH) if value is None else Cell(number(value, factor(name)), key=value)

"""What the page is made of: sections with pictures and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dia_runtime.report.page.cells import DASH, Cell, Grid, figure, number
from dia_runtime.report.pictures import PICTURES
from dia_runtime.report.pictures.figures import FIGURES, IN_POINTS
from dia_runtime.report.pictures.svg import svg

Score = Mapping[str, Any]
Model = Mapping[str, Any]
# Pictures that are drawn a second time for small screens, and how wide.
OF_BANKS = ("wright-map", "abilities", "item-fit", "item-curves")
FOR_PHONES = frozenset(["verdicts", "reliability", "drop", "risk-coverage", "comparisons", *OF_BANKS])
PHONE = 356
MOST_CELLS = 6000  # of a table that stands behind a picture


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture of the page with its title, a sentence about it, and the table of the same facts."""

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
    shown: tuple[Shown, ...] = ()
    tables: tuple[Grid, ...] = ()
    notes: tuple[str, ...] = field(default=())


def picture(kind: str, score: Score, title: str, caption: str, table: Grid | None = None) -> Shown:
    """A picture of the score for the page."""
    return drawn(kind, {"score": score}, title, caption, table)


def drawn(kind: str, data: Mapping[str, Any], title: str, caption: str, table: Grid | None = None) -> Shown:
    """A picture of these data for the page."""
    draw = PICTURES[kind].draw
    art = [svg(draw(data), kind, alone=False)]
    if kind in FOR_PHONES:
        art.append(svg(draw({**data, "width": PHONE}), f"{kind}-narrow", alone=False))
    return Shown(kind, title, caption, tuple(art), table)


def words(score: Score) -> tuple[str, str]:
    """What is one of n, and what is one of its k."""
    return ("question", "attempt") if score["over"] == "attempts" else ("item", "instance")


def a(name: str) -> str:
    """The name with its article."""
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def heading(key: str, k: int) -> str:
    """The heading of a column of shares."""
    return FIGURES[key].replace("@k", f"@{k}") + " %"


def of(key: str, factor: float = 100) -> Any:
    """What makes cells of that figure."""
    return lambda model: figure(model.get(key), factor)


def factor(name: str) -> int:
    """By what the figure is multiplied for readers: shares are told in percent."""
    return 1 if name in IN_POINTS else 100


def plain(value: float | None, name: str) -> Cell:
    """A cell with a value of that figure and nothing beside it."""
    return Cell(DASH) if value is None else Cell(number(value, factor(name)), key=value)

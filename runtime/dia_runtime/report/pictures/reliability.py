"""How many instances of each item each model solves, as a map of colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any

from dia_runtime.report.pictures.axes import SMALL, USUAL, plain
from dia_runtime.report.pictures.drawing import Drawing, Mark, Text, clipped, moved
from dia_runtime.report.pictures.figures import NARROW, cell, name_at, ranked, require, room
from dia_runtime.report.pictures.palette import heat, on

WIDTH, ROW, TOP = 960, 24, 8
MOST_COLUMNS = 200  # above it, neighbours in difficulty share a column
MOST_TIPS = 3000
NAMED, TOLD = 13, 18  # pixels of a column that has its name below, its number within


@dataclass(frozen=True, slots=True)
class Column:
    """An item, or several that are about as hard, and the mean share of their instances that each model solves."""

    name: str
    items: int
    shares: tuple[float | None, ...]


def columns(models: Sequence[Mapping[str, Any]], k: int, most: int = MOST_COLUMNS) -> list[Column]:
    """The items from the easiest to the hardest, those of equal ease by name; at most so many columns."""
    items = list(dict.fromkeys(item for model in models for item in model["tsr"]))
    rows = [(item, tuple(_share(model["tsr"].get(item), k) for model in models)) for item in items]
    rows.sort(key=lambda row: (-fmean([share or 0 for share in row[1]]), row[0]))
    number = min(most, len(rows))
    edges = [at * len(rows) // number for at in range(number + 1)] if rows else [0]
    return [_column(rows[low:high], low) for low, high in pairwise(edges)]


def _share(solved: int | None, k: int) -> float | None:
    return None if solved is None else min(1.0, solved / k)


def _column(rows: Sequence[tuple[str, tuple[float | None, ...]]], first: int) -> Column:
    if len(rows) == 1:
        return Column(rows[0][0], 1, rows[0][1])
    shares = []
    for held in zip(*(shares for _, shares in rows), strict=True):
        known = [share for share in held if share is not None]
        shares.append(fmean(known) if known else None)
    return Column(f"items {first + 1} to {first + len(rows)}", len(rows), tuple(shares))


def reliability(data: Mapping[str, Any]) -> Drawing:
    """Models in rows, items in columns, the easiest at the left; the stronger the colour, the more is solved."""
    score = data["score"]
    models, k = ranked(score), score["k"]
    width, left = room(data, WIDTH)
    found = columns(models, k, MOST_COLUMNS if width > NARROW else MOST_COLUMNS // 2)
    require(found, "no run holds replies")
    wide = min(40.0, (width - left - 8) / len(found))
    has_tips = len(found) * len(models) <= MOST_TIPS
    marks: list[Mark] = []
    for row, model in enumerate(models):
        y = TOP + row * ROW
        marks.append(name_at(model["model"], y + ROW / 2, left))
        fields = _row(model["model"], found, row, wide, k, has_tips)
        marks += [moved(mark, left, y) for mark in fields]
    base = TOP + ROW * len(models)
    names, bottom = _names(found, wide, left, base)
    key, height = _key(k, found, left if width > NARROW else 0, bottom + 12)
    words = f"{len(models)} models in rows, {score['n']} items in columns from the easiest to the hardest. "
    title = f"Solved instances of each item, of {k}"
    return Drawing(title, words + _ends(models, found), width, bottom + 12 + height, (*marks, *names, *key))


def _row(model: str, found: Sequence[Column], row: int, wide: float, k: int, has_tips: bool) -> list[Mark]:
    """The fields of one model; neighbours of one colour are one field where nothing is told of each."""
    gap = 1.0 if wide >= 6 else 0.0
    marks: list[Mark] = []
    at = 0
    while at < len(found):
        share = found[at].shares[row]
        end = at + 1 if has_tips else _end(found, row, at)
        if share is None:
            at = end
            continue
        colour = heat(share)
        tip = f"{found[at].name}, {model}: {plain(round(share * k, 2))} of {k}" if has_tips else ""
        told = plain(round(share * k, 1)) if wide >= TOLD and has_tips else ""
        overlap = 0.3 if not gap and end < len(found) else 0.0
        x, width = at * wide, (end - at) * wide - gap + overlap
        marks += cell(x, 1, width, ROW - 2, colour, told, on(colour), tip)
        at = end
    return marks


def _end(found: Sequence[Column], row: int, at: int) -> int:
    """The first column behind this one that has another colour in the row."""
    shares = [column.shares[row] for column in found[at:]]
    colours = [None if share is None else heat(share) for share in shares]
    return at + next((number for number, colour in enumerate(colours) if colour != colours[0]), len(colours))


def _names(found: Sequence[Column], wide: float, left: float, bottom: float) -> tuple[list[Mark], float]:
    """The names of the items below their columns, where these are wide enough; else in which order they stand."""
    if wide < NAMED:
        end = left + wide * len(found)
        words = (Text(left, bottom + 16, "easiest item", SMALL, fill="muted"),
                 Text(end, bottom + 16, "hardest item", SMALL, "end", "muted"))  # fmt: skip
        return list(words), bottom + 22
    marks: list[Mark] = [
        Text(
            left + (at + 0.5) * wide + 4,
            bottom + 10,
            clipped(column.name, 110, SMALL),
            SMALL,
            "end",
            "muted",
            turn=-55,
        )
        for at, column in enumerate(found)
    ]
    return marks, bottom + 104


def _key(k: int, found: Sequence[Column], left: float, top: float) -> tuple[list[Mark], float]:
    """The colours with their numbers: all of 0 to k, where they are few."""
    steps = range(k + 1) if k <= 10 else range(0, k + 1, max(1, k // 5))
    marks: list[Mark] = [Text(left, top + 14, "solved", USUAL, fill="muted")]
    x = left + 50.0
    for step in steps:
        colour = heat(step / k)
        marks += cell(x, top, 26, 20, colour, str(step), on(colour))
        x += 27
    if any(column.items > 1 for column in found):
        most = max(column.items for column in found)
        marks.append(Text(x + 10, top + 14, f"means of up to {most} like items", SMALL, fill="muted"))
    return marks, 28


def _ends(models: Sequence[Mapping[str, Any]], found: Sequence[Column]) -> str:
    every = sum(all(share == 1 for share in column.shares) * column.items for column in found)
    none = sum(all(share == 0 for share in column.shares) * column.items for column in found)
    return f"{every} items are solved by all models in all instances, {none} by none in any."

"""How many instances of each item each model solves, as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import radians, sin
from statistics import fmean

from dia_language.diagnostics import counted

from dia_runtime.report.pictures.axes import SMALL, USUAL, percent, plain
from dia_runtime.report.pictures.drawing import Drawing, Mark, Text, clipped, moved, text_width
from dia_runtime.report.pictures.figures import (
    NARROW,
    PictureData,
    cell,
    instances,
    name_at,
    ranked,
    require,
    room,
    unit_words,
)
from dia_runtime.report.pictures.palette import heat, on
from dia_runtime.scoring.results import Respondent

WIDTH, ROW, TOP = 960, 24, 8
MOST_COLUMNS = 200  # with more items, neighbours in difficulty share a column
MOST_TIPS = 3000
LONGEST, TURN = 110, 55  # pixels of an item's name, and its rotation in degrees
NAMED, NUMBERED = 13, 18  # pixels of a column with its name below, and with its number inside


@dataclass(frozen=True, slots=True)
class ItemColumn:
    """An item, or several of similar difficulty.

    It has the mean share of instances that each model solves, and their number.
    """

    name: str
    items: int
    shares: tuple[float | None, ...]
    sizes: tuple[int, ...]


def columns(models: Sequence[Respondent], k: int, most: int = MOST_COLUMNS) -> list[ItemColumn]:
    """Return the items from the easiest to the hardest, equally easy ones by name, in a limited number of columns."""
    items = list(dict.fromkeys(item for model in models for item in model["tsr"]))
    rows = [_item(item, models, k) for item in items]
    rows.sort(key=lambda row: (-fmean([share for share in row.shares if share is not None]), row.name))
    number = min(most, len(rows))
    edges = [at * len(rows) // number for at in range(number + 1)] if rows else [0]
    return [_column(rows[low:high], low, k) for low, high in pairwise(edges)]


def _item(item: str, models: Sequence[Respondent], k: int) -> ItemColumn:
    sizes = tuple(instances(model, item, k) for model in models)
    solved = [model["tsr"].get(item) for model in models]
    shares = (None if number is None else min(1.0, number / size) for number, size in zip(solved, sizes, strict=True))
    return ItemColumn(item, 1, tuple(shares), sizes)


def is_even(models: Sequence[Respondent]) -> bool:
    """Return whether all items have the same number of instances."""
    return not any(model.get("other_k") for model in models)


def solved(share: float, size: int, k: int) -> str:
    """Return how many instances are solved, and the total if it is not k.

    >>> solved(0.5, 4, 4), solved(0.5, 2, 4)
    ('2', '1 of 2')
    """
    number = plain(round(share * size, 1))
    return number if size == k else f"{number} of {size}"


def _column(rows: Sequence[ItemColumn], first: int, k: int) -> ItemColumn:
    if len(rows) == 1:
        return rows[0]
    shares = []
    for column in zip(*(row.shares for row in rows), strict=True):
        present = [share for share in column if share is not None]
        shares.append(fmean(present) if present else None)
    return ItemColumn(f"items {first + 1} to {first + len(rows)}", len(rows), tuple(shares), (k,) * len(shares))


def reliability(data: PictureData) -> Drawing:
    """Draw models in rows, items in columns, the easiest first; stronger colours mean more solved instances."""
    score = data["score"]
    models, k = ranked(score), score["k"]
    one, part = unit_words(score)
    width, left = room(data, WIDTH)
    items = columns(models, k, MOST_COLUMNS if width > NARROW else MOST_COLUMNS // 2)
    require(items, "the runs have no replies")
    wide = min(40.0, (width - left - 8) / len(items))
    has_tips = len(items) * len(models) <= MOST_TIPS
    marks: list[Mark] = []
    for row, model in enumerate(models):
        y = TOP + row * ROW
        marks.append(name_at(model["model"], y + ROW / 2, left))
        fields = _row(model["model"], items, row, wide, k, has_tips)
        marks += [moved(mark, left, y) for mark in fields]
    base = TOP + ROW * len(models)
    names, bottom = _names(items, wide, left, base, one)
    key, height = _key(k if is_even(models) else None, items, left if width > NARROW else 0, bottom + 12, one)
    number = sum(column.items for column in items)
    words = f"{counted(len(models), 'model')} in rows, {counted(number, one)} in columns, from easiest to hardest. "
    title = f"Correct {part}s for each {one}, of {k}" if is_even(models) else f"Share of correct {part}s for each {one}"
    title = title if k > 1 else f"Correct replies to each {one}"
    return Drawing(title, words + _ends(items, k, one, part), width, bottom + 12 + height, (*marks, *names, *key))


def _row(model: str, items: Sequence[ItemColumn], row: int, wide: float, k: int, has_tips: bool) -> list[Mark]:
    """Return the fields of one model; neighbours with the same colour are joined if they have no descriptions."""
    gap = 1.0 if wide >= 6 else 0.0
    marks: list[Mark] = []
    at = 0
    while at < len(items):
        share = items[at].shares[row]
        end = at + 1 if has_tips else _end(items, row, at)
        if share is None:
            at = end
            continue
        colour = heat(share)
        size = items[at].sizes[row]
        tip = f"{items[at].name}, {model}: {plain(round(share * size, 2))} of {size}" if has_tips else ""
        text = solved(share, size, k) if has_tips else ""
        text = text if wide >= max(NUMBERED, text_width(text, SMALL) + 4) else ""
        overlap = 0.3 if not gap and end < len(items) else 0.0
        x, width = at * wide, (end - at) * wide - gap + overlap
        marks += cell(x, 1, width, ROW - 2, colour, text, on(colour), tip)
        at = end
    return marks


def _end(items: Sequence[ItemColumn], row: int, at: int) -> int:
    """Return the next column with a different colour in the row."""
    shares = [column.shares[row] for column in items[at:]]
    colours = [None if share is None else heat(share) for share in shares]
    return at + next((number for number, colour in enumerate(colours) if colour != colours[0]), len(colours))


def _names(items: Sequence[ItemColumn], wide: float, left: float, bottom: float, one: str) -> tuple[list[Mark], float]:
    """Return the names of the items below their columns, if these are wide enough; otherwise a note on their order."""
    if wide < NAMED:
        end = left + wide * len(items)
        words = (Text(left, bottom + 16, f"easiest {one}", SMALL, fill="muted"),
                 Text(end, bottom + 16, f"hardest {one}", SMALL, "end", "muted"))  # fmt: skip
        return list(words), bottom + 22
    marks: list[Mark] = [
        Text(
            left + (at + 0.5) * wide + 4,
            bottom + 10,
            clipped(column.name, LONGEST, SMALL),
            SMALL,
            "end",
            "muted",
            turn=-TURN,
        )
        for at, column in enumerate(items)
    ]
    longest = max(min(LONGEST, text_width(column.name, SMALL)) for column in items)
    return marks, bottom + 16 + sin(radians(TURN)) * longest


def _key(k: int | None, items: Sequence[ItemColumn], left: float, top: float, one: str) -> tuple[list[Mark], float]:
    """Return the legend: colours with the numbers 0 to k if these are few, shares if there is no common k."""
    if k is None:
        steps = [(share, percent(share)) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    else:
        numbers = range(k + 1) if k <= 10 else range(0, k + 1, max(1, k // 5))
        steps = [(number / k, str(number)) for number in numbers]
    wide = 26 if k else 44
    marks: list[Mark] = [Text(left, top + 14, "correct", USUAL, fill="muted")]
    x = left + 50.0
    for share, text in steps:
        colour = heat(share)
        marks += cell(x, top, wide, 20, colour, text, on(colour))
        x += wide + 1
    if any(column.items > 1 for column in items):
        most = max(column.items for column in items)
        marks.append(Text(x + 10, top + 14, f"means of up to {most} similar {one}s", SMALL, fill="muted"))
    return marks, 28


def _ends(items: Sequence[ItemColumn], k: int, one: str, part: str) -> str:
    every = sum(all(share in (1, None) for share in column.shares) * column.items for column in items)
    none = sum(all(share in (0, None) for share in column.shares) * column.items for column in items)
    if k == 1:
        return f"{one.capitalize()}s solved by all models: {every}; by none: {none}."
    return f"{one.capitalize()}s solved in all {part}s by all models: {every}; in no {part} by any model: {none}."

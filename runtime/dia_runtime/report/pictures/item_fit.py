"""How well items fit the model: infit by difficulty."""

from __future__ import annotations

from dia_language.diagnostics import counted

from dia_runtime.report.pictures.axes import Scale, bottom_axis, left_axis, plain, rounded
from dia_runtime.report.pictures.drawing import Circle, Drawing, Line, Mark, Rect
from dia_runtime.report.pictures.figures import NARROW, PictureData, require

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 760, 400, 70, 16, 346
SMALL_LEFT = 50
BAND = (0.7, 1.3)
HIGHEST = 3.0
MOST_TIPS = 2000


def is_fitting(infit: float) -> bool:
    """Return whether an item fits the model."""
    return BAND[0] <= infit <= BAND[1]


def item_fit(data: PictureData) -> Drawing:
    """Draw a dot for each item at its difficulty and infit; those between 0.7 and 1.3 fit the model."""
    items = [entry for entry in data["bank"]["items"] if entry["infit"] is not None]
    require(items, "no item of the bank has an infit")
    places = [entry["difficulty"] for entry in items]
    wide = float(data.get("width", WIDTH))
    left, right = (LEFT if wide > NARROW else SMALL_LEFT), wide - 16
    across = Scale(*rounded(min(places), max(places)), left, right)
    highest = min(HIGHEST, max(1.5, max(entry["infit"] for entry in items)))
    up = Scale(0.0, highest, BOTTOM, TOP)
    marks: list[Mark] = [Rect(left, up(BAND[1]), right - left, up(BAND[0]) - up(BAND[1]), "shade")]
    marks += [
        *left_axis(up, left, right, "infit mean square"),
        *bottom_axis(across, TOP, BOTTOM, "difficulty, logits", about=6 if wide > NARROW else 4),
    ]
    marks.append(Line(left, up(1), right, up(1), "muted"))
    for entry in items:
        is_good = is_fitting(entry["infit"])
        tip = f"{entry['item']}: infit {plain(round(entry['infit'], 2))}" if len(items) <= MOST_TIPS else ""
        y = up(min(entry["infit"], highest))
        marks.append(Circle(across(entry["difficulty"]), y, 3, "series-1" if is_good else "series-2", tip=tip))
    outside = sum(not is_fitting(entry["infit"]) for entry in items)
    words = (
        f"{counted(len(items), 'item')} by difficulty and infit; {outside:,} outside {plain(BAND[0])} to "
        f"{plain(BAND[1])}."
    )
    return Drawing("Fit of items", words, wide, HEIGHT, tuple(marks))

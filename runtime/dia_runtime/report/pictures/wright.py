"""Models and items of a bank on one scale: the Wright map, and the abilities with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dia_language.diagnostics import counted

from dia_runtime.report.pictures.axes import SMALL, USUAL, Scale, bottom_axis, left_axis, plain, rounded
from dia_runtime.report.pictures.drawing import Drawing, Line, Mark, Rect, Text, clipped
from dia_runtime.report.pictures.figures import NARROW, ROW, PictureData, Z, name_at, require, room, whisker
from dia_runtime.scoring.results import Estimate

WIDTH, HEIGHT, TOP, BOTTOM = 760, 520, 40, 30
LEFT, MIDDLE, NAMES = 60.0, 360.0, 190.0  # the axis, where models and items meet, and room for a name
SMALL_LEFT, SMALL_MIDDLE, SMALL_NAMES = 34.0, 190.0, 120.0
BINS = 40
STEP = 14.0  # pixels between two names
MOST_NAMES = 34


def wright_map(data: PictureData) -> Drawing:
    """Models at the left, items by how many are as hard at the right, the strong and the hard ones above."""
    bank = data["bank"]
    models, items = bank["models"], bank["items"]
    require(models and items, "the bank has no models or no items")
    places = [entry["ability"] for entry in models] + [entry["difficulty"] for entry in items]
    scale = Scale(*rounded(min(places), max(places), 9), HEIGHT - BOTTOM, TOP)
    wide = float(data.get("width", WIDTH))
    left, middle, names = (LEFT, MIDDLE, NAMES) if wide > NARROW else (SMALL_LEFT, SMALL_MIDDLE, SMALL_NAMES)
    marks: list[Mark] = left_axis(scale, left, wide - 20, "logits" if wide > NARROW else "", about=9)
    marks += [
        Text(middle - 16, TOP - 20, counted(len(models), "model"), USUAL, "end", "muted"),
        Text(middle + 16, TOP - 20, counted(len(items), "item"), USUAL, "start", "muted"),
        *_bars(scale, items, middle, wide - 40),
        *_names(scale, models, middle, names),
        Line(middle, TOP - 8, middle, HEIGHT - BOTTOM, "ink"),
    ]
    return Drawing("Abilities and difficulties on one scale", _words(models, items), wide, HEIGHT, tuple(marks))


def _bars(scale: Scale, items: Sequence[Mapping[str, Any]], start: float, end: float) -> list[Mark]:
    """Return how many items lie in each strip of the scale, as bars between two places."""
    width = (scale.high - scale.low) / BINS
    counts = [0] * BINS
    for entry in items:
        counts[min(BINS - 1, max(0, int((entry["difficulty"] - scale.low) / width)))] += 1
    most, marks = max(counts), []
    for number, count in enumerate(counts):
        if count:
            low, high = scale(scale.low + number * width), scale(scale.low + (number + 1) * width)
            size = (end - start) * count / most
            tip = f"{counted(count, 'item')} between {plain(round(scale.low + number * width, 2))} and "
            tip += plain(round(scale.low + (number + 1) * width, 2))
            marks.append(Rect(start + 1, high + 0.5, size, low - high - 1, "series-2", tip=tip))
    return [*marks]


def _names(scale: Scale, models: Sequence[Mapping[str, Any]], middle: float, room: float) -> list[Mark]:
    """Return a mark for each model at its ability, with its name if there is space."""
    ranked = sorted(models, key=lambda entry: -entry["ability"])
    marks: list[Mark] = []
    for entry in ranked:
        tip = f"{entry['model']}: {plain(round(entry['ability'], 3))}"
        marks.append(
            Line(middle - 12, scale(entry["ability"]), middle, scale(entry["ability"]), "series-1", 2, tip=tip)
        )
    if len(ranked) > MOST_NAMES:
        return marks
    for entry, y in zip(ranked, _apart([scale(entry["ability"]) for entry in ranked]), strict=True):
        marks.append(Line(middle - 22, y, middle - 12, scale(entry["ability"]), "faint"))
        name = clipped(entry["model"], room, SMALL)
        marks.append(Text(middle - 26, y + 4, name, SMALL, "end", "ink", tip=entry["model"]))
    return marks


def _apart(heights: Sequence[float]) -> list[float]:
    """Heights near the wanted ones (from the top down) that leave each name its room."""
    places: list[float] = []
    for place in heights:
        places.append(max(place, places[-1] + STEP) if places else place)
    floor = HEIGHT - BOTTOM + 8.0
    for at in range(len(places) - 1, -1, -1):
        places[at] = min(places[at], floor)
        floor = places[at] - STEP
    return places


def _words(models: Sequence[Mapping[str, Any]], items: Sequence[Mapping[str, Any]]) -> str:
    best = max(models, key=lambda entry: entry["ability"])
    places = sorted(entry["difficulty"] for entry in items)
    return (
        f"{counted(len(models), 'model')} between {plain(round(min(entry['ability'] for entry in models), 2))} and "
        f"{plain(round(best['ability'], 2))} logits, {best['model']} the highest; {counted(len(items), 'item')} "
        "between "
        f"{plain(round(places[0], 2))} and {plain(round(places[-1], 2))}, half of them below "
        f"{plain(round(places[len(places) // 2], 2))}."
    )


def abilities(data: PictureData) -> Drawing:
    """Return every model's ability with its 95 % interval, the highest first, with its counts."""
    models = sorted(data["bank"]["models"], key=lambda entry: -entry["ability"])
    require(models, "the bank has no models")
    ends = [entry["ability"] + side * Z * (entry["se"] or 0) for entry in models for side in (-1, 1)]
    bottom = 8 + ROW * len(models)
    wide, left = room(data, WIDTH)
    is_wide = wide > NARROW
    scale = Scale(*rounded(min(ends), max(ends)), left, wide - (190 if is_wide else 56))
    marks: list[Mark] = bottom_axis(scale, 4, bottom, "ability, logits", about=6 if is_wide else 4)
    for number, entry in enumerate(models):
        y = 8 + ROW * (number + 0.5)
        estimate: Estimate = {"value": entry["ability"], "se": entry["se"], "ci": None}
        short = plain(round(entry["ability"], 2))
        label = f"{short} \N{PLUS-MINUS SIGN} {plain(round(entry['se'], 2))}" if entry["se"] is not None else short
        marks += [name_at(entry["model"], y, left), *whisker(scale, y, estimate, tip=f"{entry['model']}: {label}")]
        if not is_wide:
            marks.append(Text(wide - 4, y + 4, short, USUAL, "end"))
            continue
        marks.append(Text(wide - 180, y + 4, label, USUAL))
        if entry["trials"]:
            share = f"{plain(round(100 * entry['successes'] / entry['trials'], 1))} %"
            marks.append(Text(wide - 8, y + 4, share, USUAL, "end", "muted"))
    words = f"{counted(len(models), 'model')} by ability, with whiskers of ±1.96 standard errors"
    words += ", and the share of correct replies. " if is_wide else ". "
    first = f"{models[0]['model']} has {plain(round(models[0]['ability'], 2))} logits."
    return Drawing("Abilities", words + first, wide, bottom + 46, tuple(marks))

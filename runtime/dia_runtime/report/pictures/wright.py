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
LEFT, MIDDLE, NAMES = 60.0, 360.0, 190.0  # the axis between models and items, and space for a name
SMALL_LEFT, SMALL_MIDDLE, SMALL_NAMES = 34.0, 190.0, 120.0
BINS = 40
STEP = 14.0  # pixels between two names
MOST_NAMES = 34
BARS, MODEL_BARS = 150.0, 110.0  # pixels of the longest bar of items, and of that of models
GAP = 14.0  # pixels between a bar or mark and a name


def wright_map(data: PictureData) -> Drawing:
    """Draw models on the left and items on the right, the strong and hard ones on top: bars, and names that fit."""
    bank = data["bank"]
    models, items = bank["models"], bank["items"]
    require(models and items, "the bank has no models or no items")
    places = [entry["ability"] for entry in models] + [entry["difficulty"] for entry in items]
    scale = Scale(*rounded(min(places), max(places), 9), HEIGHT - BOTTOM, TOP)
    wide = float(data.get("width", WIDTH))
    is_wide = wide > NARROW
    left, middle, names = (LEFT, MIDDLE, NAMES) if is_wide else (SMALL_LEFT, SMALL_MIDDLE, SMALL_NAMES)
    marks: list[Mark] = left_axis(scale, left, wide - 20, "logits" if is_wide else "", about=9)
    marks += [
        Text(middle - 16, TOP - 20, counted(len(models), "model"), USUAL, "end", "muted"),
        Text(middle + 16, TOP - 20, counted(len(items), "item"), USUAL, "start", "muted"),
        *_bars(
            scale, [entry["difficulty"] for entry in items], "item", middle, middle + BARS if is_wide else wide - 40
        ),
        *_models(scale, models, middle, names, is_wide),
        *(_item_names(scale, items, middle + BARS, wide - middle - BARS - GAP - 8) if is_wide else ()),
        Line(middle, TOP - 8, middle, HEIGHT - BOTTOM, "ink"),
    ]
    return Drawing("Abilities and difficulties on one scale", _words(models, items), wide, HEIGHT, tuple(marks))


def _bars(scale: Scale, places: Sequence[float], what: str, start: float, end: float) -> list[Mark]:
    """Return how many models or items are in each strip of the scale, as bars between two positions."""
    width = (scale.high - scale.low) / BINS
    counts = [0] * BINS
    for place in places:
        counts[min(BINS - 1, max(0, int((place - scale.low) / width)))] += 1
    most, marks = max(counts), []
    colour = "series-2" if what == "item" else "series-1"
    for number, count in enumerate(counts):
        if count:
            low, high = scale(scale.low + number * width), scale(scale.low + (number + 1) * width)
            size = abs(end - start) * count / most
            tip = f"{counted(count, what)} between {plain(round(scale.low + number * width, 2))} and "
            tip += plain(round(scale.low + (number + 1) * width, 2))
            x = start + 1 if end > start else start - 1 - size
            marks.append(Rect(x, high + 0.5, size, low - high - 1, colour, tip=tip))
    return [*marks]


def _models(scale: Scale, models: Sequence[Mapping[str, Any]], middle: float, room: float, is_wide: bool) -> list[Mark]:
    """Return a mark and the name of each model at its ability; for many models, a histogram and some names."""
    places = [(str(entry["model"]), float(entry["ability"])) for entry in models]
    if len(places) <= MOST_NAMES:
        marks: list[Mark] = [
            Line(middle - 12, scale(ability), middle, scale(ability), "series-1", 2, tip=f"{name}: {_logits(ability)}")
            for name, ability in places
        ]
        return [*marks, *_names(scale, places, middle - 12, room, -1)]
    if not is_wide:
        return _bars(scale, [ability for _, ability in places], "model", middle, middle - room)
    bars = _bars(scale, [ability for _, ability in places], "model", middle, middle - MODEL_BARS)
    return [*bars, *_names(scale, _some(scale, places), middle - MODEL_BARS, middle - MODEL_BARS - GAP - LEFT - 8, -1)]


def _item_names(scale: Scale, items: Sequence[Mapping[str, Any]], start: float, room: float) -> list[Mark]:
    """Return the names of the items, or of some from the easiest to the hardest."""
    return _names(
        scale, _some(scale, [(str(entry["item"]), float(entry["difficulty"])) for entry in items]), start, room, 1
    )


def _some(scale: Scale, places: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """Return all places if there are few; otherwise the first, the last, and some in between whose names fit."""
    ranked = sorted(places, key=lambda entry: (entry[1], entry[0]))
    if len(ranked) <= MOST_NAMES:
        return ranked
    chosen = ranked[:1]
    for entry in ranked[1:]:
        if scale(chosen[-1][1]) - scale(entry[1]) >= STEP:
            chosen.append(entry)
    if chosen[-1] is not ranked[-1]:
        chosen[max(1, len(chosen) - 1) :] = ranked[-1:]
    return chosen


def _names(scale: Scale, places: Sequence[tuple[str, float]], x: float, room: float, side: int) -> list[Mark]:
    """Return names to the left (-1) or right (1) of x, each with a line to its place on the scale."""
    ranked = sorted(places, key=lambda entry: -entry[1])
    marks: list[Mark] = []
    for (name, place), y in zip(ranked, _apart([scale(place) for _, place in ranked]), strict=True):
        marks.append(Line(x + side * 10, y, x, scale(place), "faint"))
        label = clipped(name, room, SMALL)
        anchor = "start" if side > 0 else "end"
        marks.append(Text(x + side * GAP, y + 4, label, SMALL, anchor, "ink", tip=f"{name}: {_logits(place)}"))
    return marks


def _logits(value: float) -> str:
    return plain(round(value, 3))


def _apart(heights: Sequence[float]) -> list[float]:
    """Return heights near the wanted ones (from the top down) that leave space for each name."""
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
    """Draw every model's ability with its 95 % interval, the highest first, with its counts."""
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
        label = f"{short} (SE {plain(round(entry['se'], 2))})" if entry["se"] is not None else short
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
    first = f"The highest ability is that of {models[0]['model']}, {plain(round(models[0]['ability'], 2))} logits."
    return Drawing("Abilities", words + first, wide, bottom + 46, tuple(marks))

"""The section on the scale of a bank: models and items, their fit, and item characteristic curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor
from typing import Any

from dia_language.diagnostics import counted

from dia_runtime.report.page.cells import DASH, Cell, Grid, count, figure, grid, number, share, word
from dia_runtime.report.page.panels import Panel, Section, drawn
from dia_runtime.report.pictures.figures import PictureData
from dia_runtime.report.pictures.item_curves import chance, groups_of, name_of, summed
from dia_runtime.report.pictures.item_fit import is_fitting

MOST_ITEMS = 200  # in a table
MOST_STRIPS = 24
MOST_NAMES = 12  # of models in a strip
ORIGINS = {
    "mean_difficulty": "the mean difficulty",
    "mean_ability": "the mean ability",
    "anchors": "fixed by the anchors",
}
Entry = Mapping[str, Any]


def on_one_scale(data: PictureData) -> Section:
    """Return the section on models and items of a bank on the Rasch scale, with the observed replies."""
    bank = data["bank"]
    models = sorted(bank["models"], key=lambda entry: (-entry["ability"], entry["model"]))
    items = sorted(bank["items"], key=lambda entry: (entry["difficulty"], entry["item"]))
    drawings = []
    if models and items:
        caption = (
            "Models on the left, the most able at the top; items on the right, the hardest at the top. A model solves "
        )
        caption += "an item at its own height half of the time."
        title = "Abilities and difficulties on one scale"
        drawings.append(drawn("wright-map", data, title, caption, _strips(models, items)))
    if models:
        caption = "Abilities in logits with 95 % intervals, the most able model first."
        drawings.append(drawn("abilities", data, "Abilities", caption, _models(models)))
    if any(entry["infit"] is not None for entry in items):
        caption = (
            "Items in the shaded band fit the Rasch model. Above it, replies are more erratic than predicted; below "
            "it, more regular. With few replies to an item, its infit is often outside the band by chance."
        )
        drawings.append(drawn("item-fit", data, "Fit of the items", caption, _items(items)))
    return Section("scale", "Scale", _lead(bank), (*drawings, *_curves(data)))


def _lead(bank: Entry) -> str:
    unit = "items" if bank["unit"] == "columns" else bank["unit"]
    origin = ORIGINS.get(bank["gauge"])
    zero = f" The origin is {origin}." if origin else ""
    return (
        f"{len(bank['items']):,} {unit} and {counted(len(bank['models']), 'model')} on the scale of a bank (Rasch "
        "model, "
        f"method {bank['method'].replace('_', '-')}).{zero} One more logit multiplies the odds of a correct reply by "
        "2.7."
    )


def _strips(models: Sequence[Entry], items: Sequence[Entry]) -> Grid:
    """Return the map as a table: strips of the scale from the top down, with models and the number of items in each."""
    places = [*(entry["ability"] for entry in models), *(entry["difficulty"] for entry in items)]
    width = next(step for step in (0.5, 1, 2, 5, 10, 100) if (max(places) - min(places)) / step < MOST_STRIPS - 1)
    low, high = floor(min(places) / width), ceil(max(places) / width)
    strips: dict[int, tuple[list[str], int]] = {at: ([], 0) for at in range(max(high - 1, low), low - 1, -1)}
    for entry in models:
        strips[min(floor(entry["ability"] / width), max(strips))][0].append(entry["model"])
    for entry in items:
        at = min(floor(entry["difficulty"] / width), max(strips))
        strips[at] = (strips[at][0], strips[at][1] + 1)
    heads: list[Any] = [
        ("logits", lambda at: Cell(f"{number(at * width)} to {number((at + 1) * width)}", key=at)),
        ("models", lambda at: Cell(_listed(strips[at][0]))),
        ("items", lambda at: count(strips[at][1])),
    ]
    return grid("Models and items from the top of the scale to the bottom", heads, list(strips))


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "") if names else DASH


def _models(models: Sequence[Entry]) -> Grid:
    heads: list[Any] = [
        ("model", lambda entry: word(entry["model"])),
        ("ability, logits", lambda entry: _place(entry, "ability")),
        *_counts_and_fit(),
    ]
    return grid("Abilities, with their confidence intervals", heads, models, is_sortable=True)


def _items(items: Sequence[Entry]) -> Grid:
    """Return all items; if there are many, those with the worst fit."""
    fitted = [entry for entry in items if entry["infit"] is not None]
    few = ""
    if len(fitted) > MOST_ITEMS:
        few = f"; the {MOST_ITEMS} with the worst fit of {len(fitted):,}"
        fitted = sorted(fitted, key=lambda entry: (-abs(entry["infit"] - 1), entry["item"]))[:MOST_ITEMS]
    heads: list[Any] = [
        ("item", lambda entry: word(entry["item"])),
        ("difficulty, logits", lambda entry: _place(entry, "difficulty")),
        *_counts_and_fit(),
        ("in the band", lambda entry: word("yes" if is_fitting(entry["infit"]) else "no")),
    ]
    return grid(f"Difficulty and fit of items{few}", heads, fitted, is_sortable=True)


def _place(entry: Entry, key: str) -> Cell:
    return figure({"value": entry[key], "se": entry["se"], "ci": None}, 1, 2)


def _counts_and_fit() -> list[Any]:
    return [
        ("correct", lambda entry: _plain(entry["successes"], 1)),
        ("of", lambda entry: _plain(entry["trials"], 0)),
        ("infit", lambda entry: _plain(entry["infit"], 2)),
        ("outfit", lambda entry: _plain(entry["outfit"], 2)),
        ("status", lambda entry: word(entry["status"].replace("_", " "))),
    ]


def _plain(value: float | None, places: int) -> Cell:
    if value is None:
        return Cell(DASH)
    return Cell(number(value, 1, 0 if value == round(value) and places == 1 else places), key=value)


def _curves(data: PictureData) -> list[Panel]:
    """Return the predicted curves of a few items with the observed shares; nothing if no item was asked."""
    bank, observed = data["bank"], data["observed"]
    groups = groups_of(bank["items"], observed)
    if not groups:
        return []
    names: dict[float, list[str]] = {}
    for entry in bank["models"]:
        names.setdefault(entry["ability"], []).append(entry["model"])
    rows = [
        (group, ability, names[ability], right, tried)
        for group in groups
        for ability, (right, tried) in sorted(summed(group, observed).items())
    ]
    heads: list[Any] = [
        ("items", lambda row: word(name_of(row[0]))),
        ("model", lambda row: word(_listed(row[2]))),
        ("ability", lambda row: _plain(row[1], 2)),
        ("correct", lambda row: _plain(row[3], 1)),
        ("of", lambda row: _plain(row[4], 0)),
        ("correct %", lambda row: share(row[3] / row[4])),
        ("predicted %", lambda row: share(chance(row[0], row[1]))),
    ]
    caption = (
        "Each curve shows the probability of a correct reply that the scale predicts at each ability; the dots show "
        "the models' shares of correct replies in these runs, with ±1 standard error. Items with only a few replies "
        "share a curve."
    )
    table = grid("Observed and predicted shares", heads, rows, 2, True)
    return [drawn("item-curves", data, "Item characteristic curves", caption, table)]

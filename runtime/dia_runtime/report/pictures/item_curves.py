"""Predicted probabilities of a correct reply by ability, with the observed pass rates of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from math import exp
from typing import Any

from dia_language.diagnostics import counted

from dia_runtime.report.pictures.axes import Scale, bottom_axis, left_axis, line_legend, percent, plain, rounded
from dia_runtime.report.pictures.drawing import DASHES, Circle, Drawing, Line, Mark, Polyline, clipped
from dia_runtime.report.pictures.figures import NARROW, PictureData, require
from dia_runtime.report.pictures.palette import series

WIDTH, LEFT, TOP, BOTTOM = 760, 80, 16, 380
SMALL_LEFT = 62
SHOWN = 5  # items with curves
POINTS = 80
ENOUGH = 5  # minimum trials of a model at an item for a rate
Entry = Mapping[str, Any]
Observed = Mapping[str, Sequence[tuple[float, float, float]]]


def item_curves(data: PictureData) -> Drawing:
    """Draw the characteristic curves of items from the easiest to the hardest, and every model's pass rate at each.

    If models tried each item only a few times, neighbouring items share a curve, the mean of theirs. `observed` has for
    each item the ability, successes and trials of the models. With `item`, only that item has a curve.
    """
    observed: Observed = data["observed"]
    items = [entry for entry in data["bank"]["items"] if data.get("item") in (None, entry["item"])]
    groups = groups_of(items, observed)
    require(groups, "the runs and the bank have no items in common")
    models: Counter[float] = Counter()  # ability -> models with it, which tried the same items
    for entry in (entry for group in groups for entry in group):
        models |= Counter(ability for ability, _, _ in observed[entry["item"]])
    places = [*models, *(entry["difficulty"] for group in groups for entry in group)]
    wide = float(data.get("width", WIDTH))
    left, right = (LEFT if wide > NARROW else SMALL_LEFT), wide - 16
    across = Scale(*rounded(min(places) - 0.5, max(places) + 0.5), left, right)
    up = Scale(0.0, 1.0, BOTTOM, TOP)
    marks: list[Mark] = [*left_axis(up, left, right, "correct replies", percent)]
    marks += bottom_axis(across, TOP, BOTTOM, "ability, logits", about=6 if wide > NARROW else 4)
    for number, group in enumerate(groups):
        marks += _curve(number, group, observed, across, up)
    names = [(series(at), clipped(name_of(group), min(300, right - left - 60))) for at, group in enumerate(groups)]
    key, height = line_legend(names, left, BOTTOM + 46, wide - left)
    words = (
        f"{counted(len(groups), 'curve')} of {counted(sum(map(len, groups)), 'item')}, and "
        f"{counted(models.total(), 'model')} at their abilities."
    )
    return Drawing("Item characteristic curves", words, wide, BOTTOM + 50 + height, (*marks, *key))


def groups_of(items: Sequence[Entry], observed: Observed) -> list[list[Entry]]:
    """Return a few items, evenly spaced from the easiest to the hardest; or all, grouped by similar difficulty.

    Items without observations are left out. Groups of the same mean difficulty are one.
    """
    counts = [entry for entry in items if observed.get(entry["item"])]
    ranked = sorted(counts, key=lambda entry: (entry["difficulty"], entry["item"]))
    if len(ranked) <= SHOWN:
        return [[entry] for entry in ranked]
    cells = [trials for entry in ranked for _, _, trials in observed[entry["item"]]]
    if sum(cells) / len(cells) >= ENOUGH:
        return [[ranked[round(at * (len(ranked) - 1) / (SHOWN - 1))]] for at in range(SHOWN)]
    edges = [at * len(ranked) // SHOWN for at in range(SHOWN + 1)]
    groups = groupby((ranked[low:high] for low, high in pairwise(edges)), _mean)
    return [[entry for group in alike for entry in group] for _, alike in groups]


def name_of(group: Sequence[Entry]) -> str:
    """Return the item of a curve, or the number of items, with their difficulty."""
    mean = _mean(group)
    return (
        f"{group[0]['item']} (difficulty {mean})" if len(group) == 1 else f"{len(group)} items (mean difficulty {mean})"
    )


def _mean(group: Sequence[Entry]) -> str:
    """Return the mean difficulty as it is printed."""
    return plain(round(sum(entry["difficulty"] for entry in group) / len(group), 2))


def _curve(number: int, group: Sequence[Entry], observed: Observed, across: Scale, up: Scale) -> list[Mark]:
    steps = [across.low + at * (across.high - across.low) / POINTS for at in range(POINTS + 1)]
    points = tuple((across(place), up(chance(group, place))) for place in steps)
    colour, name = series(number), name_of(group)
    marks: list[Mark] = [Polyline(points, colour, 2, DASHES[number % len(DASHES)], name)]
    for ability, (successes, trials) in sorted(summed(group, observed).items()):
        share, x = successes / trials, across(ability)
        spread = (share * (1 - share) / trials) ** 0.5
        if spread:
            marks.append(Line(x, up(max(0.0, share - spread)), x, up(min(1.0, share + spread)), colour))
        marks.append(
            Circle(
                x, up(share), 3.5, colour, "paper", f"{name}: {plain(round(successes, 2))} of {plain(trials)} correct"
            )
        )
    return marks


def chance(group: Sequence[Entry], place: float) -> float:
    """Return the probability of a correct reply at an ability, the mean of the items."""
    return sum(1 / (1 + exp(entry["difficulty"] - place)) for entry in group) / len(group)


def summed(group: Sequence[Entry], observed: Observed) -> dict[float, tuple[float, float]]:
    """Return successes and trials by ability, over the items of a group."""
    sums: dict[float, tuple[float, float]] = {}
    for entry in group:
        for ability, successes, trials in observed[entry["item"]]:
            before = sums.get(ability, (0.0, 0.0))
            sums[ability] = (before[0] + successes, before[1] + trials)
    return sums

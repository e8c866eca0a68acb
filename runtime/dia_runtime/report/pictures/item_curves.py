"""Chances of a right reply by ability, as the model has them, with what models really did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from typing import Any

from dia_runtime.report.pictures.axes import Scale, bottom_axis, left_axis, line_legend, percent, plain, rounded
from dia_runtime.report.pictures.drawing import DASHES, Circle, Drawing, Line, Mark, Polyline, clipped
from dia_runtime.report.pictures.figures import require
from dia_runtime.report.pictures.palette import series

WIDTH, LEFT, TOP, BOTTOM = 760, 80, 16, 380
SHOWN = 5  # items whose curves are drawn
POINTS = 80
Observed = Mapping[str, Sequence[tuple[float, float, float]]]


def item_curves(data: Mapping[str, Any]) -> Drawing:
    """The characteristic curves of items from the easiest to the hardest, and the pass rate of every model at each.

    `observed` has of each item the ability, successes and trials of the models.
    """
    observed: Observed = data["observed"]
    items = _chosen([entry for entry in data["bank"]["items"] if observed.get(entry["item"])])
    require(items, "the runs and the bank have no items in common")
    seen = [ability for entry in items for ability, _, _ in observed[entry["item"]]]
    places = [*seen, *(entry["difficulty"] for entry in items)]
    across = Scale(*rounded(min(places) - 0.5, max(places) + 0.5), LEFT, WIDTH - 16)
    up = Scale(0.0, 1.0, BOTTOM, TOP)
    marks: list[Mark] = [*left_axis(up, LEFT, WIDTH - 16, "right replies", percent)]
    marks += bottom_axis(across, TOP, BOTTOM, "ability, logits")
    for number, entry in enumerate(items):
        marks += _curve(number, entry, observed[entry["item"]], across, up)
    names = [
        (series(at), clipped(f"{entry['item']} ({plain(round(entry['difficulty'], 2))})", 300))
        for at, entry in enumerate(items)
    ]
    key, height = line_legend(names, LEFT, BOTTOM + 46, WIDTH - LEFT)
    words = f"{len(items)} items with their curves, and {len(set(seen))} abilities at which models were seen."
    return Drawing("Characteristic curves of items", words, WIDTH, BOTTOM + 50 + height, (*marks, *key))


def _chosen(items: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """A few items, evenly from the easiest to the hardest."""
    ranked = sorted(items, key=lambda entry: (entry["difficulty"], entry["item"]))
    if len(ranked) <= SHOWN:
        return ranked
    return [ranked[round(at * (len(ranked) - 1) / (SHOWN - 1))] for at in range(SHOWN)]


def _curve(
    number: int, entry: Mapping[str, Any], seen: Sequence[tuple[float, float, float]], across: Scale, up: Scale
) -> list[Mark]:
    steps = [across.low + at * (across.high - across.low) / POINTS for at in range(POINTS + 1)]
    points = tuple((across(place), up(1 / (1 + exp(entry["difficulty"] - place)))) for place in steps)
    colour = series(number)
    marks: list[Mark] = [Polyline(points, colour, 2, DASHES[number % len(DASHES)], entry["item"])]
    for ability, successes, trials in seen:
        share = successes / trials
        spread = (share * (1 - share) / trials) ** 0.5 if trials > 1 else 0.0
        x = across(ability)
        if spread:
            marks.append(Line(x, up(max(0.0, share - spread)), x, up(min(1.0, share + spread)), colour))
        tip = f"{entry['item']}: {plain(round(successes, 2))} of {plain(trials)}"
        marks.append(Circle(x, up(share), 3.5, colour, "paper", tip))
    return marks

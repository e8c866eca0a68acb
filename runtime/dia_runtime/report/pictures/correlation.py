"""The similarity of two models: the correlation of what they solve, item by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import radians, sin, sqrt

from dia_runtime.report.pictures.axes import SMALL, plain
from dia_runtime.report.pictures.drawing import Drawing, Mark, Text, clipped, text_width
from dia_runtime.report.pictures.figures import (
    LABELS,
    PictureData,
    cell,
    few,
    instances,
    name_at,
    ranked,
    require,
    unit_words,
)
from dia_runtime.report.pictures.palette import on, tilt
from dia_runtime.scoring.results import Respondent

WIDE, TALL, LONGEST = 54, 30, 120
TURN = 40  # degrees
MOST = 30  # models
UNDEFINED = "undefined, because one of them solves the same share of each"


def correlation(data: PictureData) -> Drawing:
    """Draw models in rows and columns; blue for pairs that solve the same items, orange for opposite ones."""
    models = ranked(data["score"])[:MOST]
    require(len(models) > 1, "a correlation needs two models")
    values = correlations(models, data["score"]["k"])
    marks: list[Mark] = []
    top = 22 + sin(radians(TURN)) * max(min(LONGEST, text_width(model["model"], SMALL)) for model in models[:-1])
    for row, model in enumerate(models):
        y = top + (row - 1) * TALL
        x = LABELS + (row + 0.5) * WIDE
        if row + 1 < len(models):
            marks.append(Text(x + 2, top - 8, clipped(model["model"], LONGEST, SMALL), SMALL, turn=-TURN))
        if row:
            marks.append(name_at(model["model"], y + TALL / 2))
        for column, other in enumerate(models[:row]):
            value = values[row][column]
            text = "\N{EN DASH}" if value is None else f"{value:z.2f}".replace("-", "\N{MINUS SIGN}")
            colour = "grid" if value is None else tilt(value)
            tip = f"{model['model']} and {other['model']}: {UNDEFINED if value is None else text}"
            ink = "muted" if value is None else on(colour)
            marks += cell(LABELS + column * WIDE, y + 1, WIDE - 2, TALL - 2, colour, text, ink, tip)
    width, height = LABELS + WIDE * len(models) + 20, top + TALL * (len(models) - 1) + 34
    marks += _key(height - 24)
    one = unit_words(data["score"])[0]
    words = f"For each pair of models, the correlation over {one}s of their shares of correct replies. " + _closest(
        models, values
    )
    return Drawing(f"Which models solve the same {one}s", words, max(width, LABELS + 250), height, tuple(marks))


def _key(y: float) -> list[Mark]:
    marks: list[Mark] = []
    for at, value in enumerate((-1.0, -0.5, 0.0, 0.5, 1.0)):
        colour = tilt(value)
        marks += cell(LABELS + at * 44, y, 42, 18, colour, plain(value), on(colour))
    return marks


def correlations(models: Sequence[Respondent], k: int) -> list[list[float | None]]:
    """Return Pearson's correlation of each pair of models' solved instances, over the items that both were asked.

    If items have different numbers of instances, it is that of the shares, because longer items are not solved more
    often.
    """
    solved = [_solved(model, k) for model in models]
    return [[_pearson(one, other) for other in solved] for one in solved]


def _solved(model: Respondent, k: int) -> Mapping[str, int | Fraction]:
    if not model.get("other_k"):
        return model["tsr"]
    return {item: Fraction(number, instances(model, item, k)) for item, number in model["tsr"].items()}


def _pearson(one: Mapping[str, int | Fraction], other: Mapping[str, int | Fraction]) -> float | None:
    """Return Pearson's correlation; None if one of the two is constant.

    >>> _pearson({"a": 0, "b": 1, "c": 2}, {"a": 2, "b": 1, "c": 0})
    -1.0
    """
    pairs = [(share, other[item]) for item, share in one.items() if item in other]
    number = len(pairs)
    first, second = sum(x for x, _ in pairs), sum(y for _, y in pairs)
    spread = number * sum(x * x for x, _ in pairs) - first * first
    other_spread = number * sum(y * y for _, y in pairs) - second * second
    if spread <= 0 or other_spread <= 0:
        return None
    return float(number * sum(x * y for x, y in pairs) - first * second) / sqrt(spread * other_spread)


def _closest(models: Sequence[Respondent], values: Sequence[Sequence[float | None]]) -> str:
    pairs = [
        (value, models[row]["model"], models[column]["model"])
        for row in range(len(models))
        for column in range(row)
        if (value := values[row][column]) is not None
    ]
    if not pairs:
        return "No correlation is defined."
    highest = f"{max(pairs)[0]:.2f}"
    closest = [f"{one} and {other}" for value, one, other in pairs if f"{value:.2f}" == highest]
    return f"The highest correlation is {highest}: {few(closest)}."

"""All models by their reliability score, with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dia_runtime.report.pictures.axes import Scale, bottom_axis, plain, rounded
from dia_runtime.report.pictures.drawing import Drawing, Mark, Rect, Text
from dia_runtime.report.pictures.figures import (
    LABELS,
    ROW,
    ends,
    kind_of_interval,
    middle,
    name_at,
    ranked,
    require,
    span,
    whisker,
)

WIDTH, STRIP, STRIP_HEIGHT = 720, 120, 22
FIGURE = "rs"


def leaderboard(data: Mapping[str, Any]) -> Drawing:
    """The models in rows, the best first, each with its RS@k and interval."""
    score = data["score"]
    models = ranked(score)
    require(models, "no run holds replies")
    figures = [model[FIGURE] for model in models]
    low, high = rounded(*span(figures, 0.0))
    scale = Scale(low, high, LABELS, WIDTH - 70)
    bottom = 12 + ROW * len(models)
    marks: list[Mark] = bottom_axis(scale, 8, bottom, f"RS@{score['k']}, {kind_of_interval(figures)}")
    for at, (model, figure) in enumerate(zip(models, figures, strict=True)):
        y = 12 + ROW * (at + 0.5)
        if at % 2:
            marks.insert(0, Rect(0, y - ROW / 2, WIDTH, ROW, "shade"))
        marks.append(name_at(model["model"], y))
        marks += whisker(scale, y, figure, tip=f"{model['model']}: {_said(figure)}")
        marks.append(Text(WIDTH - 8, y + 4, _said(figure, short=True), 12, "end", "ink", True))
    first = f"{models[0]['model']} leads with {_said(figures[0])}."
    return Drawing(
        "Reliability scores", f"{len(models)} models by RS@{score['k']}. {first}", WIDTH, bottom + 46, tuple(marks)
    )


def strip(figure: Mapping[str, Any], scale: Scale) -> Drawing:
    """One row of the leaderboard by itself, for a cell of a table; its numbers stand beside it."""
    zero = scale(0)
    marks: list[Mark] = [Rect(zero - 0.5, 0, 1, STRIP_HEIGHT, "faint")]
    return Drawing("", "", STRIP, STRIP_HEIGHT, (*marks, *whisker(scale, STRIP_HEIGHT / 2, figure)))


def strip_scale(score: Mapping[str, Any]) -> Scale:
    """The scale that the rows of one table share."""
    low, high = span([model[FIGURE] for model in ranked(score)], 0.0)
    return Scale(low, high, 6, STRIP - 6)


def _said(figure: Mapping[str, Any], short: bool = False) -> str:
    value, found = middle(figure), ends(figure)
    if value is None:
        return "\N{EN DASH}"
    if figure["value"] is None and found:
        return f"{plain(round(found[0], 1))} to {plain(round(found[1], 1))}"
    shown = plain(round(value, 1))
    return shown if short or not found else f"{shown} ({plain(round(found[0], 1))} to {plain(round(found[1], 1))})"

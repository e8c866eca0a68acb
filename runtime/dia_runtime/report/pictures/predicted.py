"""Observed and predicted success of models on the instances that were chosen by predictions."""

from __future__ import annotations

from collections.abc import Sequence

from dia_language.diagnostics import counted

from dia_runtime.report.pictures.axes import Scale, bottom_axis, left_axis, line_legend, percent
from dia_runtime.report.pictures.drawing import Circle, Drawing, Line, Mark, clipped
from dia_runtime.report.pictures.figures import NARROW
from dia_runtime.report.pictures.palette import series
from dia_runtime.scoring.predicted import SuccessRow

LEFT, SMALL_LEFT, TOP, BOTTOM = 80, 62, 16, 380
MOST_MODELS = 8


def predicted(rows: Sequence[SuccessRow], width: float) -> Drawing:
    """Draw a point for each model and template, with its interval, and the line of correct predictions."""
    models = list(dict.fromkeys(row.model for row in rows))[:MOST_MODELS]
    left, right = (LEFT if width > NARROW else SMALL_LEFT), width - 16
    across, up = Scale(0.0, 1.0, left, right), Scale(0.0, 1.0, BOTTOM, TOP)
    marks: list[Mark] = [*left_axis(up, left, right, "observed", percent)]
    marks += bottom_axis(across, TOP, BOTTOM, "predicted success", about=6 if width > NARROW else 4)
    marks.append(Line(across(0.0), up(0.0), across(1.0), up(1.0), "muted"))
    has_templates = any(row.template is not None for row in rows)
    for row in rows:
        if row.model not in models or (row.template is None) == has_templates:
            continue
        colour, x = series(models.index(row.model)), across(row.predicted)
        marks.append(Line(x, up(row.interval[0]), x, up(row.interval[1]), colour))
        name = f"{row.model}, {row.template}" if row.template else row.model
        words = f"{name}: predicted {percent(round(row.predicted, 3))}, observed {percent(round(row.observed, 3))}"
        marks.append(Circle(x, up(row.observed), 4, colour, "paper", words))
    names = [(series(at), clipped(name, min(300, right - left - 60))) for at, name in enumerate(models)]
    key, height = line_legend(names, left, BOTTOM + 46, width - left)
    words = f"{counted(len(models), 'model')}; the line shows where observed and predicted success are the same."
    return Drawing("Predicted and observed success", words, width, BOTTOM + 50 + height, (*marks, *key))

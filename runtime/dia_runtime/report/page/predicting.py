"""The section on instances that were chosen by their predicted difficulty: predicted and observed success."""

from __future__ import annotations

from typing import Any

from dia_runtime.report.page.cells import Cell, count, grid, number, share, word
from dia_runtime.report.page.panels import PHONE, Panel, Section
from dia_runtime.report.pictures.predicted import predicted
from dia_runtime.report.pictures.svg import svg
from dia_runtime.scoring.predicted import PredictedSuccess, SuccessRow

ALL = "all templates"


def predicted_and_observed(result: PredictedSuccess) -> Section:
    """Return the section, with the templates whose predictions are not good enough."""
    target = f"{result.success:.0%}".replace("%", " %")
    whom, others = (
        (result.model, "to other models")
        if result.model
        else ("a model with the ability that was given to `dia compile`", "to models with another ability")
    )
    lead = f"The instances were chosen for {whom}, so that its predicted success is close to {target}. "
    lead += f"The predictions come from the effects of parameters in the bank, and do not apply {others}."
    heads: list[Any] = [
        ("model", lambda row: word(row.model)),
        ("template", lambda row: word(row.template or ALL)),
        ("questions", lambda row: count(row.questions)),
        ("predicted %", lambda row: share(row.predicted)),
        ("observed %", _observed),
        ("difference, points", _difference),
    ]
    table = grid("Predicted and observed success", heads, result.rows, 2, True)
    art = [svg(predicted(result.rows, width), f"predicted{suffix}", alone=False) for width, suffix in SIZES]
    caption = (
        "Observed success plotted against predicted success, with 95 % intervals (Wilson). On the line, predictions "
        "are right."
    )
    panels = (Panel("predicted", "Predicted and observed success", caption, tuple(art), table),) if result.rows else ()
    reasons: list[Any] = [("template", lambda pair: word(pair[0])), ("why it was left out", lambda pair: Cell(pair[1]))]
    refused = (grid("Templates whose difficulty is not predicted well enough", reasons, result.refused, 2),)
    return Section("predicted", "Predicted success", lead, panels, refused if result.refused else ())


SIZES = ((760.0, ""), (float(PHONE), "-narrow"))


def _difference(row: SuccessRow) -> Cell:
    difference = row.observed - row.predicted
    return Cell(number(difference, 100), key=difference)


def _observed(row: SuccessRow) -> Cell:
    low, high = row.interval
    return Cell(f"{100 * row.observed:.1f} %", f"{100 * low:.1f} to {100 * high:.1f}", row.observed)

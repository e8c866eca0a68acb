"""All models by one figure, with intervals."""

from __future__ import annotations

from dia_language.diagnostics import counted

from dia_runtime.report.pictures.axes import Scale, bottom_axis, plain, rounded
from dia_runtime.report.pictures.drawing import Drawing, Mark, Rect, Text
from dia_runtime.report.pictures.figures import (
    LABELS,
    ROW,
    PictureData,
    ends,
    kind_of_interval,
    middle,
    name_at,
    ranked,
    require,
    span,
    whisker,
)
from dia_runtime.scoring.figures import Figure
from dia_runtime.scoring.results import Estimate, Score, figure_of

WIDTH, STRIP, STRIP_HEIGHT = 720, 120, 22


def leaderboard(data: PictureData, figure: Figure) -> Drawing:
    """Draw the models in rows, the best first, each with the figure and its interval."""
    score = data["score"]
    models = ranked(score, figure.name)
    require(models, "the runs have no replies")
    estimates = [scaled(figure_of(model, figure.name), figure) for model in models]
    low, high = rounded(*span(estimates, 0.0))
    scale = Scale(low, high, LABELS, WIDTH - 70)
    name = figure.heading_at(score["k"])
    bottom = 12 + ROW * len(models)
    marks: list[Mark] = bottom_axis(scale, 8, bottom, f"{name}, {kind_of_interval(estimates)}")
    for at, (model, estimate) in enumerate(zip(models, estimates, strict=True)):
        y = 12 + ROW * (at + 0.5)
        if at % 2:
            marks.insert(0, Rect(0, y - ROW / 2, WIDTH, ROW, "shade"))
        marks.append(name_at(model["model"], y))
        marks += whisker(scale, y, estimate, tip=f"{model['model']}: {_text(estimate)}")
        marks.append(Text(WIDTH - 8, y + 4, _text(estimate, short=True), 12, "end", "ink", True))
    first = f"{models[0]['model']} leads with {_text(estimates[0])}."
    title = figure.leaderboard.title if figure.leaderboard else figure.label
    return Drawing(title, f"{counted(len(models), 'model')} by {name}. {first}", WIDTH, bottom + 46, tuple(marks))


def scaled(estimate: Estimate, figure: Figure) -> Estimate:
    """Return the estimate as it is displayed: shares in percent."""
    factor = figure.unit.factor
    if factor == 1:
        return estimate
    value, error, interval = estimate["value"], estimate["se"], estimate["ci"]
    result: Estimate = {
        "value": None if value is None else factor * value,
        "se": None if error is None else factor * error,
        "ci": None if interval is None else [factor * end for end in interval],
    }
    if "bounds" in estimate:
        result["bounds"] = [factor * end for end in estimate["bounds"]]
    return result


def strip(estimate: Estimate, scale: Scale) -> Drawing:
    """Return one row of the leaderboard for a cell of a table, next to its numbers."""
    zero = scale(0)
    marks: list[Mark] = [Rect(zero - 0.5, 0, 1, STRIP_HEIGHT, "faint")]
    return Drawing("", "", STRIP, STRIP_HEIGHT, (*marks, *whisker(scale, STRIP_HEIGHT / 2, estimate)))


def strip_scale(score: Score) -> Scale:
    """Return the scale that the rows of one table share."""
    low, high = span([figure_of(model, "rs") for model in ranked(score)], 0.0)
    return Scale(low, high, 6, STRIP - 6)


def _text(estimate: Estimate, short: bool = False) -> str:
    value, interval = middle(estimate), ends(estimate)
    if value is None:
        return "\N{EN DASH}"
    if estimate["value"] is None and interval:
        return f"{plain(round(interval[0], 1))} to {plain(round(interval[1], 1))}"
    number = plain(round(value, 1))
    return (
        number
        if short or not interval
        else f"{number} ({plain(round(interval[0], 1))} to {plain(round(interval[1], 1))})"
    )

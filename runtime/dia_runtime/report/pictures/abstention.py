"""The costs and benefits of abstaining: the drop from the traditional score, and risk against coverage."""

from __future__ import annotations

from collections.abc import Sequence

from dia_language.diagnostics import counted

from dia_runtime.report.pictures.axes import (
    SMALL,
    Scale,
    bottom_axis,
    dot_legend,
    left_axis,
    line_legend,
    percent,
    plain,
)
from dia_runtime.report.pictures.drawing import DASHES, Circle, Drawing, Line, Mark, Polyline, Rect, Text, text_width
from dia_runtime.report.pictures.figures import (
    NARROW,
    PictureData,
    ends,
    few,
    kind_of_interval,
    middle,
    name_at,
    ranked,
    require,
    room,
)
from dia_runtime.report.pictures.palette import series
from dia_runtime.scoring.results import Respondent, figure_of

WIDTH, ROW = 720, 30
DRAWN_BY_DROP = ("trad_score", "idk_score", "drop")
TRAD, IDK = "series-1", "series-2"


def drop(data: PictureData) -> Drawing:
    """Draw each model's accuracy and its abstention score, joined by a line."""
    models = ranked(data["score"], "idk_score")
    require(models, "the runs have no replies")
    low = min([0.0, *(value for model in models for value in _values(model))])
    width, names = room(data, WIDTH)
    is_wide = width > NARROW
    drops = [_points(model) if is_wide else _points(model).removesuffix(" points") for model in models]
    beside = max(90 if is_wide else 52, *(text_width(text, 12) + 20 for text in drops))
    scale = Scale(_floor(low), 1.0, names, width - beside)
    left = names if is_wide else 0
    key, height = dot_legend(
        [(IDK, "+1 correct, 0 abstained, −1 wrong"), (TRAD, "correct replies")], left, 2, width - left
    )
    top = height + (8 if is_wide else 20)
    bottom = top + ROW * len(models)
    note = kind_of_interval([figure_of(model, "idk_score") for model in models])
    marks: list[Mark] = [*bottom_axis(scale, top, bottom, f"score, with {note}", percent, _few(width)), *key]
    marks.append(Text(width - 6, top - 6, "drop" if is_wide else "drop %", 12, "end", "muted"))
    for at, (model, text) in enumerate(zip(models, drops, strict=True)):
        y = top + ROW * (at + 0.5)
        if at % 2:
            marks.insert(0, Rect(0, y - ROW / 2, width, ROW, "shade"))
        marks += _row(model, scale, y, names)
        marks.append(Text(width - 6, y + 4, text, 12, "end", "ink", True))
    largest = _points(max(models, key=lambda model: middle(figure_of(model, "drop")) or 0))
    worst = few([model["model"] for model in models if _points(model) == largest])
    words = (
        f"The share of correct replies of {counted(len(models), 'model')}, and that share minus the share of "
        f"wrong or unparsed replies. The largest drop is {largest}: {worst}."
    )
    return Drawing("Cost of wrong answers", words, width, bottom + 46, tuple(marks))


def _row(model: Respondent, scale: Scale, y: float, names: float) -> list[Mark]:
    marks: list[Mark] = [name_at(model["model"], y, names)]
    idk, trad = (middle(figure_of(model, name)) for name in ("idk_score", "trad_score"))
    if idk is None or trad is None:
        return marks
    is_open = figure_of(model, "idk_score")["value"] is None
    if not is_open:
        marks.append(Line(scale(idk), y, scale(trad), y, "faint", 6))
    for name, value, colour, side in (("trad_score", trad, TRAD, -1), ("idk_score", idk, IDK, 1)):
        if interval := ends(figure_of(model, name)):
            low, high = (scale(min(1.0, max(-1.0, end))) for end in interval)
            marks.append(Line(low, y + 7 * side, high, y + 7 * side, colour, 1.5))
        if is_open:  # the line alone shows the possible scores
            continue
        tip = f"{model['model']}: {percent(round(value, 3))}"
        marks.append(Circle(scale(value), y, 5.5, colour, "paper", tip))
    return marks


def _points(model: Respondent) -> str:
    value, interval = middle(figure_of(model, "drop")), ends(figure_of(model, "drop"))
    if value is None:
        return "\N{EN DASH}"
    if figure_of(model, "drop")["value"] is None and interval:
        return f"{plain(round(100 * interval[0]))} to {plain(round(100 * interval[1]))} points"
    return f"{plain(round(100 * value, 1))} points"


def _values(model: Respondent) -> list[float]:
    values = [middle(figure_of(model, name)) for name in ("idk_score", "trad_score")]
    return [value for value in (*values, *(ends(figure_of(model, "idk_score")) or ())) if value is not None]


def _floor(low: float) -> float:
    """Return the low end of the scale: 0, or a tenth below the lowest value, never below -1."""
    return 0.0 if low >= 0 else max(-1.0, int(low * 5 - 1) / 5)


def risk_coverage(data: PictureData) -> Drawing:
    """Draw each model's risk by coverage, from its most confident answers on; the dot is where it abstained."""
    models = [model for model in ranked(data["score"]) if _curve(model)]
    require(models, "no model answered anything")
    highest = max(risk for model in models for _, risk in _curve(model))
    width, _ = room(data, WIDTH)
    left, top, bottom, right = 74, 12, min(352.0, width * 0.75), width - 20
    across, up = Scale(_nearest(models), 1, left, right), Scale(0, max(0.1, highest * 1.08), bottom, top)
    marks: list[Mark] = bottom_axis(
        across, top, bottom, "coverage: share of replies that are not skips", percent, _few(width)
    )
    marks += left_axis(up, left, right, "risk: share wrong or unparsed if not skipped", percent)
    for number, model in enumerate(models):
        marks += _path(model, number, across, up)
    entries = [(series(number), f"{number + 1} {model['model']}") for number, model in enumerate(models)]
    sample = line_legend if any(map(has_curve, models)) else dot_legend
    key, height = sample(entries, left, bottom + 48, right - left)
    words = "Risk against coverage. " + "; ".join(_stop(model) for model in models[:12]) + "."
    return Drawing("Risk and coverage", words, width, bottom + 54 + height, (*marks, *key))


def _few(width: float) -> int:
    """Return how many ticks fit."""
    return 6 if width > NARROW else 4


def _path(model: Respondent, number: int, across: Scale, up: Scale) -> list[Mark]:
    """Return the model's curve, and the dot with its number where it ends."""
    marks: list[Mark] = []
    points = tuple((across(coverage), up(risk)) for coverage, risk in _curve(model))
    if len(points) > 1:
        marks.append(Polyline(points, series(number), 2, DASHES[number % len(DASHES)], model["model"]))
    coverage, risk = _curve(model)[-1]
    tip = f"{model['model']}: coverage {percent(round(coverage, 3))}, risk {percent(round(risk, 3))}"
    x, y = points[-1]
    dot = Circle(x, y, 5, series(number), "paper", tip)
    return [*marks, dot, Text(x, y - 9, str(number + 1), SMALL, "middle", series(number), True)]


def has_curve(model: Respondent) -> bool:
    """Return whether the model's answers have different confidences."""
    return len(_curve(model)) > 1


def _nearest(models: Sequence[Respondent]) -> float:
    """Return the low end of the coverages: 0 with curves, else somewhat below the lowest dot."""
    if any(map(has_curve, models)):
        return 0.0
    return max(0.0, int((min(coverage for model in models for coverage, _ in _curve(model)) - 0.05) * 10) / 10)


def _curve(model: Respondent) -> list[tuple[float, float]]:
    """Return a model's (coverage, risk) points from its most confident answers on; without a curve only the last."""
    selective = model.get("selective")
    if selective and selective["curve"]:
        return [(point["coverage"], point["risk"]) for point in selective["curve"]]
    coverage, accuracy = (figure_of(model, name)["value"] for name in ("coverage", "accuracy_answered"))
    return [] if coverage is None or accuracy is None else [(coverage, 1 - accuracy)]


def _stop(model: Respondent) -> str:
    coverage, risk = _curve(model)[-1]
    return f"{model['model']}: coverage {100 * coverage:.0f} %, risk {100 * risk:.0f} %"

"""What pictures read from scores: models in order, and figures with their intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, TypedDict, cast

from dia_runtime.report.pictures.axes import SMALL, USUAL, Scale
from dia_runtime.report.pictures.drawing import Circle, Line, Mark, Rect, Text, clipped
from dia_runtime.scoring.figures import FIGURES
from dia_runtime.scoring.results import Estimate, Respondent, Score, figure_of, respondents


class PictureData(TypedDict, total=False):
    """The data of a picture: a score, or a bank with observed results of its items."""

    score: Score
    bank: Mapping[str, Any]  # as `dia calibrate` writes it
    observed: Mapping[str, Any]  # item -> ability, successes and trials of the models
    item: str | None  # the only item whose curve is drawn
    width: float  # in pixels, for small screens


Z = 1.959963984540054  # of the normal distribution, for an interval of 95 %
LABELS = 160  # pixels for names of models
ROW = 26
NARROW, FEW = 500, 104  # maximum pixels of a picture for small screens, and of its names of models


def room(data: PictureData, usual: float) -> tuple[float, float]:
    """Return the width of the picture, which the data may set as `width`, and the width for names of models."""
    width = float(data.get("width", usual))
    return width, FEW if width < NARROW else LABELS


def ranked(score: Score, name: str = "rs") -> list[Respondent]:
    """Return the models and ensembles, best figure first, those without the figure last.

    All have different names.
    """
    own_names = (*names(score), *(ensemble["model"] for ensemble in score.get("ensembles", ())))
    models = [
        cast(Respondent, {**model, "model": own_name})
        for own_name, model in zip(own_names, respondents(score), strict=True)
    ]
    sign = 1 if FIGURES[name].more_is_better is False else -1

    def rank(model: Respondent) -> tuple[bool, float]:
        value = middle(figure_of(model, name))
        return value is None, sign * (value or 0)

    return sorted(models, key=rank)


def names(score: Score) -> list[str]:
    """Return the names of the models; names that occur in several runs are followed by that of the run."""
    counts = Counter(model["model"] for model in score["models"])
    return [
        f"{model['model']} ({PurePath(model['run']).name})" if counts[model["model"]] > 1 else model["model"]
        for model in score["models"]
    ]


def units(score: Score) -> str:
    """Return what the counts of verdicts and flags count."""
    return "attempts" if score["over"] == "attempts" else "questions"


def unit_words(score: Score) -> tuple[str, str]:
    """Return the words for one of n, and for one of its k."""
    return ("question", "attempt") if score["over"] == "attempts" else ("item", "instance")


def few(texts: Sequence[str], most: int = 3) -> str:
    """Return the first texts, and how many more there are.

    >>> few(["a", "b"]), few(["a", "b", "c", "d", "e"])
    ('a; b', 'a; b; c; and 2 more')
    """
    return "; ".join([*texts[:most], *([f"and {len(texts) - most} more"] if len(texts) > most else [])])


def instances(model: Respondent, item: str, k: int) -> int:
    """Return how many instances of the item count for the model: k, unless it has its own number."""
    return model.get("other_k", {}).get(item, k)


def middle(estimate: Estimate) -> float | None:
    """Return the figure's value, or the middle of its bounds while errors leave it open."""
    if estimate["value"] is not None:
        return float(estimate["value"])
    bounds = estimate.get("bounds")
    return None if not bounds else (bounds[0] + bounds[1]) / 2


def ends(estimate: Estimate) -> tuple[float, float] | None:
    """Return the ends of a figure's interval: its own, or 1.96 standard errors to both sides, or its bounds.

    >>> ends({"value": 1.0, "se": None, "ci": [0.5, 1.5]}), ends({"value": None, "se": None, "ci": None})
    ((0.5, 1.5), None)
    """
    if estimate["ci"]:
        return float(estimate["ci"][0]), float(estimate["ci"][1])
    value, error = estimate["value"], estimate["se"]
    if value is not None and error is not None:
        return float(value - Z * error), float(value + Z * error)
    bounds = estimate.get("bounds")
    return (float(bounds[0]), float(bounds[1])) if bounds else None


def kind_of_interval(estimates: Sequence[Estimate]) -> str:
    """Return what the whiskers of these figures are."""
    if any(estimate["ci"] for estimate in estimates):
        return "95 % confidence intervals"
    return "±1.96 standard errors"


def span(estimates: Sequence[Estimate], *more: float) -> tuple[float, float]:
    """Return the lowest and the highest value to be shown."""
    values = [
        value for estimate in estimates for value in (*(ends(estimate) or ()), middle(estimate)) if value is not None
    ]
    values += more
    return (min(values), max(values)) if values else (0.0, 1.0)


def whisker(scale: Scale, y: float, estimate: Estimate, colour: str = "accent", tip: str = "") -> list[Mark]:
    """Return a dot with the line of its interval; for an open figure only a line."""
    marks: list[Mark] = []
    if interval := ends(estimate):
        low, high = map(scale, interval)
        marks.append(Line(low, y, high, y, colour, 2))
        marks += [Line(end, y - 4, end, y + 4, colour, 2) for end in (low, high)]
    if estimate["value"] is not None:
        marks.append(Circle(scale(estimate["value"]), y, 4.5, colour, "paper", tip))
    return marks


def name_at(name: str, y: float, width: float = LABELS, colour: str = "ink") -> Text:
    """Return a model's name at the left, shortened if it is too long."""
    return Text(width - 12, y + 4, clipped(name, width - 14, USUAL), USUAL, "end", colour, tip=name)


def cell(
    x: float, y: float, width: float, height: float, colour: str, text: str, ink: str, tip: str = ""
) -> list[Mark]:
    """Return a field of a heat map, with its text if it fits."""
    marks: list[Mark] = [Rect(x, y, width, height, colour, tip=tip)]
    if text:
        marks.append(Text(x + width / 2, y + height / 2 + 4, text, SMALL, "middle", ink))
    return marks


def require(condition: object, why: str) -> None:
    """Raise DiaError (exit 2) if there is nothing to draw."""
    from dia_language.diagnostics import DiaError, Diagnostic

    if not condition:
        raise DiaError(Diagnostic("E872", f"nothing to draw: {why}", None, "name other runs, or choose another plot"))

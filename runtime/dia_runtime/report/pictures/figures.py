"""What pictures read out of scores: models in their order, figures with their ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from dia_runtime.report.pictures.axes import SMALL, USUAL, Scale
from dia_runtime.report.pictures.drawing import Circle, Line, Mark, Rect, Text, clipped

Model = Mapping[str, Any]
# Names of figures in prose.
FIGURES = {
    "rs": "RS@k", "conf": "Conf@k", "nms": "NMS@k", "pass_at_k": "Pass@k", "trad_score": "right replies",
    "idk_score": "abstention score", "idk_freq": "abstained", "extract_fail": "unread",
    "accuracy_answered": "right if answered", "drop": "drop", "coverage": "coverage", "share": "marks",
}  # fmt: skip
IN_POINTS = frozenset(["rs", "nms"])  # figures that are no shares


Z = 1.959963984540054  # of the normal distribution, for an interval of 95 %
LABELS = 160  # pixels for the names of models
ROW = 26
NARROW, FEW = 500, 104  # pixels of a picture for small screens at most, and its pixels for the names of models


def room(data: Mapping[str, Any], usual: float) -> tuple[float, float]:
    """The width of the picture, which its data may ask for as `width`, and of it what is for the names of models."""
    width = float(data.get("width", usual))
    return width, FEW if width < NARROW else LABELS


def ranked(score: Mapping[str, Any], key: str = "rs") -> list[Model]:
    """The models and ensembles, those with the highest figure first, those without one last.

    Each has a name of its own, and its place in `models` as `at`.
    """
    ensembles = score.get("ensembles", ())
    every = zip((*names(score), *(held["model"] for held in ensembles)), (*score["models"], *ensembles), strict=True)
    models = [{**model, "model": name, "at": at} for at, (name, model) in enumerate(every)]
    return sorted(models, key=lambda model: (middle(model[key]) is None, -(middle(model[key]) or 0)))


def names(score: Mapping[str, Any]) -> list[str]:
    """The names of the models; those that several have with that of their run behind."""
    many = Counter(model["model"] for model in score["models"])
    return [
        f"{model['model']} ({PurePath(model['run']).name})" if many[model["model"]] > 1 else model["model"]
        for model in score["models"]
    ]


def instances(model: Model, item: str, k: int) -> int:
    """How many instances of the item count for the model: k, unless it says otherwise."""
    return int((model.get("other_k") or {}).get(item, k))


def middle(figure: Mapping[str, Any]) -> float | None:
    """The figure's value, or the middle of its bounds while errors leave it open."""
    if figure["value"] is not None:
        return float(figure["value"])
    bounds = figure.get("bounds")
    return None if not bounds else (bounds[0] + bounds[1]) / 2


def ends(figure: Mapping[str, Any]) -> tuple[float, float] | None:
    """The ends of a figure's interval: its own, else 1.96 standard errors to both sides, else its bounds.

    >>> ends({"value": 1.0, "se": None, "ci": [0.5, 1.5]}), ends({"value": None, "se": None, "ci": None})
    ((0.5, 1.5), None)
    """
    if figure.get("ci"):
        return float(figure["ci"][0]), float(figure["ci"][1])
    value, error = figure["value"], figure.get("se")
    if value is not None and error is not None:
        return float(value - Z * error), float(value + Z * error)
    bounds = figure.get("bounds")
    return (float(bounds[0]), float(bounds[1])) if bounds else None


def kind_of_interval(figures: Sequence[Mapping[str, Any]]) -> str:
    """What the whiskers of these figures are."""
    if any(figure.get("ci") for figure in figures):
        return "95 % confidence intervals"
    return "1.96 standard errors to both sides"


def span(figures: Sequence[Mapping[str, Any]], *more: float) -> tuple[float, float]:
    """The lowest and the highest value that has to be shown."""
    held = [value for figure in figures for value in (*(ends(figure) or ()), middle(figure)) if value is not None]
    held += more
    return (min(held), max(held)) if held else (0.0, 1.0)


def whisker(scale: Scale, y: float, figure: Mapping[str, Any], colour: str = "accent", tip: str = "") -> list[Mark]:
    """A dot with the line of its interval; an open figure is a line alone."""
    marks: list[Mark] = []
    if found := ends(figure):
        low, high = map(scale, found)
        marks.append(Line(low, y, high, y, colour, 2))
        marks += [Line(end, y - 4, end, y + 4, colour, 2) for end in (low, high)]
    if figure["value"] is not None:
        marks.append(Circle(scale(figure["value"]), y, 4.5, colour, "paper", tip))
    return marks


def name_at(name: str, y: float, width: float = LABELS, colour: str = "ink") -> Text:
    """A model's name at the left, cut where it is too long."""
    return Text(width - 12, y + 4, clipped(name, width - 14, USUAL), USUAL, "end", colour, tip=name)


def cell(
    x: float, y: float, width: float, height: float, colour: str, told: str, ink: str, tip: str = ""
) -> list[Mark]:
    """A field of a table of colours, with its text where there is room for it."""
    marks: list[Mark] = [Rect(x, y, width, height, colour, tip=tip)]
    if told:
        marks.append(Text(x + width / 2, y + height / 2 + 4, told, SMALL, "middle", ink))
    return marks


def require(held: Any, why: str) -> None:
    """Nothing, where there is something to draw; else DiaError (exit 2)."""
    from dia_language.diagnostics import DiaError, Diagnostic

    if not held:
        raise DiaError(Diagnostic("E872", f"there is nothing to draw: {why}"))


def told(value: float | None, form: Callable[[float], str]) -> str:
    """The value as text; a dash where there is none."""
    return "\N{EN DASH}" if value is None else form(value)

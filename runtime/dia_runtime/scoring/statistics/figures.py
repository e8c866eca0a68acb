"""Figures to what JSON says of them: value, standard error and confidence interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dia_runtime.scoring.intervals import LEVEL, standard_error
from dia_runtime.scoring.metrics import MEAN, Figure
from dia_runtime.scoring.statistics.resample import Intervals
from dia_runtime.scoring.statistics.sample import Ratio, sample_of

NOWHERE: dict[str, Any] = {"value": None, "se": None, "ci": None}
Ends = tuple[float, float]
SUMS = frozenset({"rs", "nms"})
SUMS_WITH_ENDS = SUMS | {"rs_best", "rs_lost"}


def figures_json(figures: Mapping[str, Figure], intervals: Intervals) -> dict[str, dict[str, Any]]:
    """Each figure as `value`, `se` and `ci`, with `bounds` beside them while errors leave the value open.

    All figures of as many items use the same resamples, so that they are computed together.
    """
    found = {name: _without_interval(figure) for name, figure in figures.items()}
    together: dict[tuple[int, ...], list[str]] = {}
    for name, figure in figures.items():
        if intervals.method != "none" and found[name]["se"] is not None:
            together.setdefault(tuple(part.times for part in figure.parts), []).append(name)
    for times, names in together.items():
        varied = [name for name in names if found[name]["se"]]
        columns = [column for name in varied for column in _columns(figures[name])]
        sample = sample_of(zip(zip(*columns, strict=True), times, strict=True)) if varied else None
        for name in names:
            if sample and name in varied:
                at = 2 * varied.index(name)
                part = Ratio(at, None if figures[name].is_sum else at + 1)
                found[name]["ci"] = sample.interval((part,), intervals)
            else:
                answered = sum(part.times for part in figures[name].parts if part.size)
                is_known = name in SUMS_WITH_ENDS or not figures[name].is_sum
                ends = ends_of(name, answered, intervals) if is_known else None
                found[name]["ci"] = of_one_value(found[name]["value"], ends, answered)
    return found


def _without_interval(figure: Figure) -> dict[str, Any]:
    value, bounds = figure.value, figure.bounds
    if value is None:
        return {**NOWHERE, "bounds": [float(end) for end in bounds]} if bounds else dict(NOWHERE)
    clusters = [(part.low, part.size) for part in figure.parts]
    error = standard_error(clusters, figure.is_sum, [part.times for part in figure.parts])
    return {"value": float(value), "se": error, "ci": None}


def _columns(figure: Figure) -> tuple[list[Any], list[Any]]:
    return [part.low for part in figure.parts], [part.size for part in figure.parts]


def ends_of(name: str, items: int, intervals: Intervals) -> Ends | None:
    """Between which values a figure of so many items lies; None where nobody knows."""
    if name.startswith(MEAN) or name == "nms":  # which is 0 for certain where items have few instances
        return None
    if name in ("rs", "rs_best", "rs_lost"):
        if intervals.points is None:
            return None
        low, high = intervals.points
        return (0.0, items * (high - low)) if name == "rs_lost" else (items * low, items * high)
    return (-1.0, 1.0) if name == "idk_score" else (0.0, 1.0)


def of_one_value(value: float, ends: Ends | None, items: int) -> list[float] | None:
    """The interval of a figure that so many items have alike, of which resamples show nothing.

    With a chance of 97.5 % a value that one item in q has shows among them when (1 - q)^items is 2.5 %: so much may
    lie unseen at either end. For a share of 0 or 1 this is the interval of Clopper and Pearson (1934).
    """
    if ends is None or items < 2:
        return None
    unseen = 1 - float(((1 - LEVEL) / 2) ** (1 / items))
    return [value - unseen * (value - ends[0]), value + unseen * (ends[1] - value)]

"""Figures to what JSON says of them: value, standard error and confidence interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dia_runtime.intervals import standard_error
from dia_runtime.metrics import Figure
from dia_runtime.statistics.confidence import LEVEL
from dia_runtime.statistics.resample import Intervals
from dia_runtime.statistics.sample import Ratio, sample_of

NOWHERE: dict[str, Any] = {"value": None, "se": None, "ci": None}
RANGES: dict[str, tuple[int, int] | None] = {"idk_score": (-1, 1), "points": None}  # all other means are shares
SUMS = frozenset({"rs", "nms"})
MEAN = "mean:"  # begins the name of a mean of anything, which has no range that is known


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
                is_free = figures[name].is_sum or name.startswith(MEAN)
                ends = None if is_free else RANGES.get(name, (0, 1))
                found[name]["ci"] = _of_one_value(ends, found[name]["value"], sum(times))
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


def _of_one_value(ends: tuple[int, int] | None, value: float, number: int) -> list[float] | None:
    """The interval of a mean that so many items have alike at an end of its range; None for anything else.

    When the mean over items is m, all of them are at the upper end with a chance of at most m^n, whatever lies
    between; so m is not below the n-th root of 2.5 % (as Clopper and Pearson 1934 have it for n of n).
    """
    if ends is None or value not in ends:
        return None
    low, high = ends
    reach = (high - low) * float(((1 - LEVEL) / 2) ** (1 / number))
    return [low + reach, float(high)] if value == high else [float(low), high - reach]

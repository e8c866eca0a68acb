"""Differences of figures over the same questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy
from dia_runtime.scoring.metrics import FIGURES, Figure
from dia_runtime.scoring.statistics.figures import NOWHERE, SUMS, ends_of, of_one_value
from dia_runtime.scoring.statistics.ledger import Row
from dia_runtime.scoring.statistics.resample import Intervals, Numbers
from dia_runtime.scoring.statistics.sample import Ratio, Sample, sample_of
from dia_runtime.scoring.statistics.significance import two_sided

TINY = 1e-12  # smaller errors of a mean are those of rounding
Weights = Mapping[int, Fraction]  # respondent's place in a row -> its weight in a mean of figures, or a difference


class Side:
    """Respondents side by side over the items that all of them have, with the figures that are wanted."""

    def __init__(self, rows: Mapping[Any, int], questions: int, figures: Sequence[str], intervals: Intervals) -> None:
        self.rows: list[Row] = list(rows)
        self.questions, self.intervals = questions, intervals
        self.times, self.figures = list(rows.values()), tuple(figures)
        self._figures: dict[tuple[str, int], Figure] = {}
        self._bounds: dict[tuple[str, int], tuple[Fraction, Fraction] | None] = {}
        self.items, self.wide = sum(self.times), len(self.rows[0]) if self.rows else 0

    def figure(self, name: str, at: int) -> Figure:
        """The figure of one respondent."""
        if (name, at) not in self._figures:
            parts = (FIGURES[name]({row[at]: 1}).parts[0] for row in self.rows)
            held = tuple(part._replace(times=times) for part, times in zip(parts, self.times, strict=True))
            self._figures[name, at] = Figure(held, is_sum=name in SUMS)
        return self._figures[name, at]

    def bounds(self, name: str, at: int) -> tuple[Fraction, Fraction] | None:
        """The two ends of the figure of one respondent."""
        if (name, at) not in self._bounds:
            self._bounds[name, at] = self.figure(name, at).bounds
        return self._bounds[name, at]

    @cached_property
    def sample(self) -> Sample:
        """The items with the sums and sizes of all figures of all respondents."""
        columns: list[list[Any]] = []
        for name in self.figures:
            for at in range(self.wide):
                parts = self.figure(name, at).parts
                columns += [[part.low for part in parts], [part.size for part in parts]]
        return sample_of(list(zip(zip(*columns, strict=True), self.times, strict=True)))

    def quantity(self, name: str, weights: Weights) -> tuple[Ratio, ...]:
        """The weighted sum of the respondents' figures."""
        first = 2 * self.wide * self.figures.index(name)
        places = ((first + 2 * at, float(weight)) for at, weight in weights.items())
        return tuple(Ratio(top, None if name in SUMS else top + 1, weight) for top, weight in places)

    def estimate(self, name: str, weights: Weights) -> dict[str, Any]:
        """The weighted sum with its standard error and interval; its bounds while errors leave it open."""
        ends = [(self.bounds(name, at), weight) for at, weight in weights.items()]
        if any(bounds is None for bounds, _ in ends):
            return dict(NOWHERE)
        pairs = [sorted((bounds[0] * weight, bounds[1] * weight)) for bounds, weight in ends if bounds]
        low, high = (float(sum(pair[side] for pair in pairs)) for side in (0, 1))
        if low != high:
            return {**NOWHERE, "bounds": [low, high]}
        quantity = self.quantity(name, weights)
        error = self.sample.standard_error(quantity)
        is_difference = any(weight < 0 for weight in weights.values())
        around = self.sample.interval(quantity, self.intervals, is_difference)
        if error is not None and error < TINY * (self.items if name in SUMS else 1):
            is_wanted, number = self.intervals.method != "none", self.sample.evidence(quantity)
            error, around = 0.0, of_one_value(low, self._ends(name, weights), number) if is_wanted else None
        return {"value": low, "se": error, "ci": around}

    def _ends(self, name: str, weights: Weights) -> tuple[float, float] | None:
        """Between which values the weighted sum lies."""
        ends = ends_of(name, self.items, self.intervals)
        if ends is None:
            return None
        pairs = [sorted((float(weight) * ends[0], float(weight) * ends[1])) for weight in weights.values()]
        return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)

    def replicates(self, name: str, weights: Weights) -> Numbers:
        """The weighted sum in each resample; none where no intervals are wanted."""
        if self.intervals.method == "none" or not self.rows:
            return numpy.zeros(0)
        return self.sample.replicates(self.quantity(name, weights), self.intervals)

    def tested(self, name: str, weights: Weights) -> dict[str, Any]:
        """The difference, its p, and the share of resamples in which its sign is the one that was measured."""
        difference = self.estimate(name, weights)
        value = difference["value"]
        number = 0 if value is None else self.sample.evidence(self.quantity(name, weights))
        p = None if value is None else two_sided(value, difference["se"], number)
        drawn = self.replicates(name, weights) if value else numpy.zeros(0)
        return {"difference": difference, "p": p, "order": order(drawn, value)}


def order(replicates: Numbers, value: float | None) -> float | None:
    """The share of resamples with the sign of the value, of zeros one half; None without a sign or resamples."""
    held = replicates[numpy.isfinite(replicates)]
    if not value or not len(held):
        return None
    same = numpy.count_nonzero(held > 0) if value > 0 else numpy.count_nonzero(held < 0)
    return float((same + numpy.count_nonzero(held == 0) / 2) / len(held))

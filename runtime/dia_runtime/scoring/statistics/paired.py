"""Differences of figures over the same questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property

import numpy
from dia_runtime.scoring.figures import FIGURES
from dia_runtime.scoring.metrics import Aggregate, Ends, Parts
from dia_runtime.scoring.results import Difference, Estimate, unknown
from dia_runtime.scoring.statistics.estimates import interval_of_one_value
from dia_runtime.scoring.statistics.ledger import Row
from dia_runtime.scoring.statistics.resample import Intervals, Numbers
from dia_runtime.scoring.statistics.sample import Ratio, Sample, sample_of
from dia_runtime.scoring.statistics.significance import two_sided

TINY = 1e-12  # smaller errors of a mean are rounding errors
Weights = Mapping[int, Fraction]  # a respondent's position in a row -> its weight in a mean or a difference of figures


class PairedFigures:
    """Figures of several respondents over the items that all of them have."""

    def __init__(self, rows: Mapping[Row, int], questions: int, figures: Sequence[str], intervals: Intervals) -> None:
        """`rows` says how many items have these tallies, one for each respondent."""
        self.rows: list[Row] = list(rows)
        self.questions, self.intervals = questions, intervals
        self.times, self.figures = list(rows.values()), tuple(figures)
        self._aggregates: dict[tuple[str, int], Aggregate] = {}
        self._bounds: dict[tuple[str, int], tuple[Fraction, Fraction] | None] = {}
        self.items, self.respondents = sum(self.times), len(self.rows[0]) if self.rows else 0

    def aggregate(self, name: str, at: int) -> Aggregate:
        """Return the figure of one respondent."""
        if (name, at) not in self._aggregates:
            figure = FIGURES[name]
            parts = (figure.aggregate({row[at]: 1}).parts[0] for row in self.rows)
            weighted: Parts = tuple(part._replace(times=times) for part, times in zip(parts, self.times, strict=True))
            self._aggregates[name, at] = figure.aggregate_of(weighted)
        return self._aggregates[name, at]

    def bounds(self, name: str, at: int) -> tuple[Fraction, Fraction] | None:
        """Return the two ends of one respondent's figure."""
        if (name, at) not in self._bounds:
            self._bounds[name, at] = self.aggregate(name, at).bounds
        return self._bounds[name, at]

    @cached_property
    def sample(self) -> Sample:
        """Return the items with the sums and sizes of all figures of all respondents."""
        aggregates = [self.aggregate(name, at) for name in self.figures for at in range(self.respondents)]
        columns = [column for aggregate in aggregates for column in aggregate.columns()]
        return sample_of(list(zip(zip(*columns, strict=True), self.times, strict=True)))

    def quantity(self, name: str, weights: Weights) -> tuple[Ratio, ...]:
        """Return the weighted sum of the respondents' figures."""
        first = 2 * self.respondents * self.figures.index(name)
        places = ((first + 2 * at, float(weight)) for at, weight in weights.items())
        return tuple(Ratio(top, None if FIGURES[name].is_sum else top + 1, weight) for top, weight in places)

    def estimate(self, name: str, weights: Weights) -> Estimate:
        """Return the weighted sum with its standard error and interval; its bounds while errors leave it open."""
        ends = [(self.bounds(name, at), weight) for at, weight in weights.items()] if self.rows else [(None, 0)]
        if any(bounds is None for bounds, _ in ends):
            return unknown()
        pairs = [sorted((bounds[0] * weight, bounds[1] * weight)) for bounds, weight in ends if bounds]
        low, high = (float(sum(pair[side] for pair in pairs)) for side in (0, 1))
        if low != high:
            return {**unknown(), "bounds": [low, high]}
        quantity = self.quantity(name, weights)
        error = self.sample.standard_error(quantity)
        is_difference = any(weight < 0 for weight in weights.values())
        around = self.sample.interval(quantity, self.intervals, is_difference)
        if error is not None and error < TINY * (self.items if FIGURES[name].is_sum else 1):
            is_wanted, number = self.intervals.method != "none", self.sample.evidence(quantity)
            around = interval_of_one_value(low, self._ends(name, weights), number) if is_wanted else None
            error = 0.0
        return {"value": low, "se": error, "ci": around}

    def _ends(self, name: str, weights: Weights) -> Ends | None:
        """Return the range of the weighted sum."""
        figure = FIGURES[name]
        ends = figure.ends(self.items, self.intervals.points)
        if ends is None or all(tally.k < figure.least_instances for row in self.rows for tally in row):
            return None
        pairs = [sorted((float(weight) * ends[0], float(weight) * ends[1])) for weight in weights.values()]
        return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)

    def replicates(self, name: str, weights: Weights) -> Numbers:
        """Return the weighted sum in each resample; none if no intervals are requested."""
        if self.intervals.method == "none" or not self.rows:
            return numpy.zeros(0)
        return self.sample.replicates(self.quantity(name, weights), self.intervals)

    def tested(self, name: str, weights: Weights) -> Difference:
        """Return the difference, its p, and the share of resamples with the sign of the difference."""
        difference = self.estimate(name, weights)
        value = difference["value"]
        number = 0 if value is None else self.sample.evidence(self.quantity(name, weights))
        p = None if value is None else two_sided(value, difference["se"], number)
        replicates = self.replicates(name, weights) if value else numpy.zeros(0)
        return {"difference": difference, "p": p, "order": share_of_order(replicates, value)}


def share_of_order(replicates: Numbers, value: float | None) -> float | None:
    """Return the share of resamples with the sign of the value, zeros half; None without a sign or resamples."""
    finite = replicates[numpy.isfinite(replicates)]
    if not value or not len(finite):
        return None
    same = numpy.count_nonzero(finite > 0) if value > 0 else numpy.count_nonzero(finite < 0)
    return float((same + numpy.count_nonzero(finite == 0) / 2) / len(finite))

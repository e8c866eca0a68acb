"""Items as rows of numbers, and figures that are computed from the sums of the columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy
from dia_runtime.scoring.intervals import NORMAL, SHARES
from dia_runtime.scoring.results import Estimate
from dia_runtime.scoring.statistics.confidence import interval, widened
from dia_runtime.scoring.statistics.resample import Intervals, Numbers, resampled_sums
from numpy.typing import NDArray

Exact = int | Fraction
Row = Sequence[Exact]
MANY = 5_000  # different items; with more, the interval is that of the normal distribution
WIDTH = 1.959963984540054  # of the normal distribution, for 95 %
EXACT = 1 << 53  # below this, a float represents every integer


@dataclass(frozen=True, slots=True)
class Ratio:
    """The sum of a column divided by that of another one, or only the sum, as a part of a quantity."""

    top: int
    bottom: int | None = None
    weight: float = 1.0


Quantity = Sequence[Ratio] | Callable[[Numbers], Numbers]


@dataclass(slots=True)
class Sample:
    """Different items as rows of integers, the number of items equal to each, and the scale of each column."""

    rows: Numbers
    times: NDArray[numpy.int64]
    scales: Numbers
    _resampled: dict[Intervals, Numbers] = field(default_factory=dict, repr=False)

    @property
    def number(self) -> int:
        """Return how many items there are."""
        return int(self.times.sum())

    def values(self, quantity: Quantity, sums: Numbers) -> Numbers:
        """Return the quantity for each row of sums; NaN if it is undefined."""
        with numpy.errstate(all="ignore"):
            if callable(quantity):
                return quantity(sums / self.scales)
            values = numpy.zeros(len(sums))
            for part in quantity:
                values += self._part(part, sums)
            return values

    def _part(self, part: Ratio, sums: Numbers) -> Numbers:
        scaled = part.weight / float(self.scales[part.top])
        if part.bottom is None:
            alone: Numbers = sums[:, part.top] * scaled
            return alone
        share: Numbers = sums[:, part.top] / sums[:, part.bottom] * (scaled * float(self.scales[part.bottom]))
        return share

    def resampled(self, intervals: Intervals) -> Numbers:
        """Return the sums of each resample."""
        if intervals not in self._resampled:
            self._resampled[intervals] = resampled_sums(self.rows, self.times.tolist(), intervals)
        return self._resampled[intervals]

    def replicates(self, quantity: Quantity, intervals: Intervals) -> Numbers:
        """Return the quantity in each resample; for many different items, values of the normal distribution instead."""
        if len(self.rows) > MANY:
            steps = (numpy.arange(intervals.resamples) + 0.5) / intervals.resamples
            normal = numpy.array([NORMAL.inv_cdf(step) for step in steps])
            return (self.point(quantity) or 0.0) + (self.standard_error(quantity) or 0.0) * normal
        return self.values(quantity, self.resampled(intervals))

    def point(self, quantity: Quantity) -> float | None:
        """Return the quantity of the items themselves."""
        value = float(self.values(quantity, self._total()[None])[0])
        return value if math.isfinite(value) else None

    def _total(self) -> Numbers:
        total: Numbers = self.times.astype(numpy.float64) @ self.rows
        return total

    def standard_error(self, quantity: Quantity) -> float | None:
        """Return the standard error with items as clusters; None for fewer than two items.

        For ratios and sums it is linearised (Liang and Zeger 1986), for other quantities it is the jackknife.
        """
        number = self.number
        if self.evidence(quantity) < 2 or self.point(quantity) is None:
            return None
        if callable(quantity):
            return self._jackknife_error(quantity)
        influence = numpy.zeros(len(self.rows))
        for part in quantity:
            influence += self._influence(part)
        return math.sqrt(number / (number - 1) * float((self.times * influence**2).sum()))

    def evidence(self, quantity: Quantity) -> int:
        """Return how many items have values; for several ratios, the smallest of their numbers."""
        if callable(quantity):
            return self.number
        sizes = [self.rows[:, part.bottom] for part in quantity if part.bottom is not None]
        return min([self.number, *(int(self.times[size != 0].sum()) for size in sizes)])

    def _influence(self, part: Ratio) -> Numbers:
        """Return how far each item moves the part, to first order."""
        total, scaled = self._total(), part.weight / float(self.scales[part.top])
        top = self.rows[:, part.top]
        if part.bottom is None:
            alone: Numbers = scaled * (top - total[part.top] / self.number)
            return alone
        bottom = self.rows[:, part.bottom]
        share = total[part.top] / total[part.bottom]
        moved: Numbers = scaled * float(self.scales[part.bottom]) * (top - share * bottom) / total[part.bottom]
        return moved

    def _jackknife_error(self, quantity: Quantity) -> float | None:
        left_out, number = self.left_out(quantity), self.number
        if not numpy.isfinite(left_out).all():
            return None
        deviations = left_out - numpy.average(left_out, weights=self.times)
        return math.sqrt((number - 1) / number * float((self.times * deviations**2).sum()))

    def _rounding(self, quantity: Quantity) -> float:
        """Return the size below which an error is a rounding error."""
        is_sum = not callable(quantity) and any(part.bottom is None for part in quantity)
        return 1e-12 * (self.number if is_sum else 1)

    def left_out(self, quantity: Quantity) -> Numbers:
        """Return the quantity without one of the items equal to each row."""
        return self.values(quantity, self._total() - self.rows)

    def estimate(self, quantity: Quantity, intervals: Intervals) -> Estimate:
        """Return the quantity with its uncertainty."""
        return {
            "value": self.point(quantity),
            "se": self.standard_error(quantity),
            "ci": self.interval(quantity, intervals),
        }

    def interval(self, quantity: Quantity, intervals: Intervals, is_difference: bool = False) -> list[float] | None:
        """Return the confidence interval; None if nothing varies, for fewer than two items, or if none is wanted."""
        point, error = self.point(quantity), self.standard_error(quantity)
        if intervals.method == "none" or point is None or not error or error < self._rounding(quantity):
            return None
        if len(self.rows) > MANY:
            return [point - WIDTH * error, point + WIDTH * error]
        values, left_out = self.replicates(quantity, intervals), self.left_out(quantity)
        shares = widened(self.number) if is_difference else SHARES
        return interval(values, point, left_out, self.times, intervals.method, shares)


def sample_of(items: Iterable[tuple[Row, int]]) -> Sample:
    """Return the sample of these rows, and how many items equal each."""
    pairs = list(items)
    times = numpy.array([number for _, number in pairs], dtype=numpy.int64)
    columns = [_integers(column, int(times.sum())) for column in zip(*(row for row, _ in pairs), strict=True)]
    rows = numpy.array([column for column, _ in columns], dtype=numpy.float64).T.reshape(len(pairs), len(columns))
    return Sample(rows, times, numpy.array([scale for _, scale in columns], dtype=numpy.float64))


def _integers(column: Sequence[Exact], number: int) -> tuple[list[int], int]:
    """Return the column times a scale that makes it integer; without a small one, rounded to a fine scale."""
    scale = math.lcm(*(value.denominator for value in column))
    highest = max((abs(float(value)) for value in column), default=0.0)
    largest = 4 * max(1, number) * max(1, math.ceil(highest))
    if scale * largest > EXACT:
        scale = 1 << max(0, (EXACT // largest).bit_length() - 1)
    return [round(value * scale) for value in column], scale

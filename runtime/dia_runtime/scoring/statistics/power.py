"""Detectable differences of a benchmark, from the variances between and within items."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from dia_runtime.grading.verdicts import Mark, Verdict
from dia_runtime.scoring.figures import FIGURES
from dia_runtime.scoring.intervals import NORMAL
from dia_runtime.scoring.metrics import VerdictMean
from dia_runtime.scoring.results import Detectable, Power
from dia_runtime.scoring.statistics.ledger import Marks, shared_questions

ALPHA, POWER = 0.05, 0.8
WIDTH = NORMAL.inv_cdf(1 - ALPHA / 2)
FEWEST = 5  # items; with fewer, the error of the error is not estimated
REACH = NORMAL.inv_cdf(1 - ALPHA / 2) + NORMAL.inv_cdf(POWER)
MOST = 10**9  # items or instances; a larger number is reported as null
Worths = Mapping[Verdict, int]


@dataclass(frozen=True, slots=True)
class Spread:
    """The variance between items and within items, their number, and the mean number of instances k."""

    items: int
    k: float
    between: float | None
    within: float | None
    error: float | None
    error_range: tuple[float, float] | None = None  # 95 % interval of the error

    def detectable(self, figure: str, groups: int, difference: float | None) -> Detectable:
        """Return what is detectable in a figure, if the difference is of this many independent samples."""
        items, k = self._needed(groups, difference)
        reach, few, many = REACH * math.sqrt(groups), None, None
        if self.error_range and items is not None:
            few, many = (self._items_for(error, groups, difference) for error in self.error_range)
        return {
            "figure": figure,
            "items": self.items,
            "k": self.k or None,
            "between": self.between,
            "within": self.within,
            "se": self.error,
            "detectable": reach * self.error if self.error else None,  # unknown without variance
            "detectable_ci": [reach * error for error in self.error_range] if self.error_range else None,
            "needed_items": items,
            "needed_items_ci": None if few is None or many is None else [few, many],
            "needed_k": k,
        }

    def _needed(self, groups: int, difference: float | None) -> tuple[int | None, int | None]:
        """Return how many items at this k, or instances of these items, detect the difference."""
        if not difference or not self.error:
            return None, None
        aim, k = _aim(difference, groups), None
        if self.between is not None and self.within is not None and self.items * aim > self.between:
            k = self.within / (self.items * aim - self.between)
        return self._items_for(self.error, groups, difference), None if k is None else _rounded_up(k, 1)

    def _items_for(self, error: float, groups: int, difference: float | None) -> int | None:
        """Return how many items detect the difference if these have this error."""
        return _rounded_up(self.items * error**2 / _aim(difference, groups), 2) if difference else None


def _aim(difference: float, groups: int) -> float:
    """Return the variance that a mean may have for a difference of this many means to be detected."""
    return (difference / REACH) ** 2 / groups


def _rounded_up(number: float, least: int) -> int | None:
    return max(least, math.ceil(number - 1e-9)) if number < MOST else None


def spread(groups: Iterable[Sequence[float]]) -> Spread:
    """Return the components of variance of items, each given by its values (one-way random effects, Searle 1971).

    The error of the mean over all values is the clustered one; with one value per item, the variance within items is
    unknown.
    """
    items = [values for values in groups if values]
    sizes, number = [len(values) for values in items], len(items)
    total = sum(sizes)
    if number < 2:
        return Spread(number, total / number if number else 0.0, None, None, None)
    mean = math.fsum(map(math.fsum, items)) / total
    deviations = [math.fsum(values) - len(values) * mean for values in items]
    error = math.sqrt(number / (number - 1) * math.fsum(deviation**2 for deviation in deviations)) / total
    factors = deviation_factors(deviations)
    error_range = None if factors is None else (factors[0] * error, factors[1] * error)
    if total == number:
        return Spread(number, 1.0, None, None, error, error_range)
    means = [math.fsum(values) / len(values) for values in items]
    squares_within = math.fsum(
        (value - item_mean) ** 2 for values, item_mean in zip(items, means, strict=True) for value in values
    )
    squares_between = math.fsum(size * (item_mean - mean) ** 2 for size, item_mean in zip(sizes, means, strict=True))
    within = squares_within / (total - number)
    typical = (total - sum(size * size for size in sizes) / total) / (number - 1)
    between = max(0.0, (squares_between / (number - 1) - within) / typical)
    return Spread(number, total / number, between, within, error, error_range)


def deviation_factors(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the ends of the 95 % interval of a standard deviation, in multiples of that of the values.

    The interval holds for values without a normal distribution: its width follows from their kurtosis, which is taken
    around a trimmed mean (Bonett, Approximate confidence interval for standard deviation of nonnormal distributions,
    2006). None for fewer than five values, or without variance.
    """
    number = len(values)
    if number < FEWEST:
        return None
    mean = math.fsum(values) / number
    squares = math.fsum((value - mean) ** 2 for value in values)
    if not squares:
        return None
    cut = min(int(number / (2 * math.sqrt(number - 4))), (number - 1) // 2)
    middle = sorted(values)[cut : number - cut]
    center = math.fsum(middle) / len(middle)
    kurtosis = number * math.fsum((value - center) ** 4 for value in values) / squares**2
    correction = number / (number - WIDTH)
    error = correction * math.sqrt(max(0.0, kurtosis - (number - 3) / number) / (number - 1))
    low, high = (math.sqrt(correction) * math.exp(side * WIDTH * error / 2) for side in (-1, 1))
    return low, high


def power(names: Sequence[str], marks: Sequence[Marks], difference: float | None) -> Power:
    """Return the smallest differences detected in 80 of 100 such measurements, for respondents and pairs."""
    worths = {
        name: figure.of_tallies.worths
        for name, figure in FIGURES.items()
        if figure.in_power and isinstance(figure.of_tallies, VerdictMean)
    }
    return {
        "alpha": ALPHA,
        "power": POWER,
        "difference": difference,
        "models": [
            {"model": name, "at": at, **spread(_scores([of_model], worth)).detectable(figure, 2, difference)}
            for at, (name, of_model) in enumerate(zip(names, marks, strict=True))
            for figure, worth in worths.items()
        ],
        "pairs": [
            {
                "models": [names[one], names[other]],
                "at": [one, other],
                **spread(_scores([marks[one], marks[other]], worth)).detectable(figure, 1, difference),
            }
            for one, other in combinations(range(len(names)), 2)
            for figure, worth in worths.items()
        ],
    }


def _scores(marks: list[Marks], worths: Worths) -> Iterable[list[float]]:
    """Yield the scores of each item's questions, or the differences of two; questions with an error are left out."""
    for item in shared_questions(marks):
        replied = [entries for entries in item if all(entry.verdict is not Verdict.ERROR for entry in entries)]
        yield [_score(entries, worths) for entries in replied]


def _score(entries: tuple[Mark, ...], worths: Worths) -> float:
    first, *others = (worths.get(entry.verdict, 0) for entry in entries)
    return float(first - sum(others))

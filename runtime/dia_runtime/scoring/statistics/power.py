"""Which difference a benchmark can see: variance between and within items, and what follows for its size."""

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

    def detectable(self, figure: str, groups: int, difference: float | None) -> Detectable:
        """Return what can be detected in a figure, if the difference is made of this many independent samples."""
        items, k = self._needed(groups, difference)
        return {
            "figure": figure,
            "items": self.items,
            "k": self.k or None,
            "between": self.between,
            "within": self.within,
            "se": self.error,
            "detectable": REACH * self.error * math.sqrt(groups) if self.error else None,  # unknown without variance
            "needed_items": items,
            "needed_k": k,
        }

    def _needed(self, groups: int, difference: float | None) -> tuple[int | None, int | None]:
        """Return how many items at this k, or instances of these items, show the difference."""
        if not difference or not self.error:
            return None, None
        aim = (difference / REACH) ** 2 / groups  # the variance that the mean may have
        items, k = self.items * self.error**2 / aim, None
        if self.between is not None and self.within is not None and self.items * aim > self.between:
            k = self.within / (self.items * aim - self.between)
        return _rounded_up(items, 2), None if k is None else _rounded_up(k, 1)


def _rounded_up(number: float, least: int) -> int | None:
    return max(least, math.ceil(number - 1e-9)) if number < MOST else None


def spread(groups: Iterable[Sequence[float]]) -> Spread:
    """Return the components of variance of items, each given by its values (one-way random effects, Searle 1971).

    The error of the mean over all values is the clustered one; with one value an item nothing is known within.
    """
    items = [values for values in groups if values]
    sizes, number = [len(values) for values in items], len(items)
    total = sum(sizes)
    if number < 2:
        return Spread(number, total / number if number else 0.0, None, None, None)
    mean = math.fsum(map(math.fsum, items)) / total
    error = (
        math.sqrt(number / (number - 1) * math.fsum((math.fsum(values) - len(values) * mean) ** 2 for values in items))
        / total
    )
    if total == number:
        return Spread(number, 1.0, None, None, error)
    means = [math.fsum(values) / len(values) for values in items]
    squares_within = math.fsum(
        (value - item_mean) ** 2 for values, item_mean in zip(items, means, strict=True) for value in values
    )
    squares_between = math.fsum(size * (item_mean - mean) ** 2 for size, item_mean in zip(sizes, means, strict=True))
    within = squares_within / (total - number)
    typical = (total - sum(size * size for size in sizes) / total) / (number - 1)
    between = max(0.0, (squares_between / (number - 1) - within) / typical)
    return Spread(number, total / number, between, within, error)


def power(names: Sequence[str], marks: Sequence[Marks], difference: float | None) -> Power:
    """For each respondent and each pair the smallest difference that is seen in 80 of 100 such measurements."""
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

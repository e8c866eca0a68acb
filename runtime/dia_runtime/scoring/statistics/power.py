"""Which difference a benchmark can see: variance between and within items, and what follows for its size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from dia_runtime.grading.verdicts import Mark
from dia_runtime.scoring.intervals import NORMAL
from dia_runtime.scoring.statistics.ledger import Marks, shared

ALPHA, POWER = 0.05, 0.8
REACH = NORMAL.inv_cdf(1 - ALPHA / 2) + NORMAL.inv_cdf(POWER)
MOST = 10**9  # items or instances; a larger number is told as none
WORTHS: Mapping[str, Mapping[str, int]] = {
    "trad_score": {"correct": 1},
    "idk_score": {"correct": 1, "wrong": -1, "unparsed": -1},
}


@dataclass(frozen=True, slots=True)
class Spread:
    """The variance between items and within an item, of so many items with k instances in the mean."""

    items: int
    k: float
    between: float | None
    within: float | None
    error: float | None

    def facts(self, groups: int, difference: float | None) -> dict[str, Any]:
        """What can be seen, where so many independent samples make the difference."""
        detectable = REACH * self.error * math.sqrt(groups) if self.error else None  # without spread nobody knows
        needed = self._needed(groups, difference) if difference else {"needed_items": None, "needed_k": None}
        held = {"items": self.items, "k": self.k or None, "between": self.between, "within": self.within}
        return {**held, "se": self.error, "detectable": detectable, **needed}

    def _needed(self, groups: int, difference: float) -> dict[str, int | None]:
        """How many items at this k, or instances of these items, show the difference."""
        if not self.error:
            return {"needed_items": None, "needed_k": None}
        aim = (difference / REACH) ** 2 / groups  # the variance that the mean may have
        items, k = self.items * self.error**2 / aim, None
        if self.between is not None and self.within is not None and self.items * aim > self.between:
            k = self.within / (self.items * aim - self.between)
        return {"needed_items": _whole(items, 2), "needed_k": None if k is None else _whole(k, 1)}


def _whole(number: float, least: int) -> int | None:
    return max(least, math.ceil(number - 1e-9)) if number < MOST else None


def spread(groups: Iterable[Sequence[float]]) -> Spread:
    """The components of variance of items, each given by its values (one-way random effects, Searle 1971).

    The error of the mean over all values is the clustered one; with one value an item nothing is known within.
    """
    held = [values for values in groups if values]
    sizes, number = [len(values) for values in held], len(held)
    total = sum(sizes)
    if number < 2:
        return Spread(number, total / number if number else 0.0, None, None, None)
    mean = math.fsum(map(math.fsum, held)) / total
    error = (
        math.sqrt(number / (number - 1) * math.fsum((math.fsum(values) - len(values) * mean) ** 2 for values in held))
        / total
    )
    if total == number:
        return Spread(number, 1.0, None, None, error)
    means = [math.fsum(values) / len(values) for values in held]
    inner = math.fsum((value - own) ** 2 for values, own in zip(held, means, strict=True) for value in values)
    outer = math.fsum(size * (own - mean) ** 2 for size, own in zip(sizes, means, strict=True))
    within = inner / (total - number)
    typical = (total - sum(size * size for size in sizes) / total) / (number - 1)
    between = max(0.0, (outer / (number - 1) - within) / typical)
    return Spread(number, total / number, between, within, error)


def power(names: Sequence[str], marks: Sequence[Marks], difference: float | None) -> dict[str, Any]:
    """For each respondent and each pair the smallest difference that is seen in 80 of 100 such measurements."""
    models = [
        {"model": name, "at": at, "figure": figure, **spread(_values([held], worth)).facts(2, difference)}
        for at, (name, held) in enumerate(zip(names, marks, strict=True))
        for figure, worth in WORTHS.items()
    ]
    pairs = [
        {
            "models": [names[one], names[other]],
            "at": [one, other],
            "figure": figure,
            **spread(_values([marks[one], marks[other]], worth)).facts(1, difference),
        }
        for one, other in combinations(range(len(names)), 2)
        for figure, worth in WORTHS.items()
    ]
    return {"alpha": ALPHA, "power": POWER, "difference": difference, "models": models, "pairs": pairs}


def _values(marks: list[Marks], worth: Mapping[str, int]) -> Iterable[list[float]]:
    """The scores of each item's questions, or the differences of two; questions with an error are left out."""
    for together in shared(marks):
        known = [entries for entries in together if all(entry.verdict != "error" for entry in entries)]
        yield [_score(entries, worth) for entries in known]


def _score(entries: tuple[Mark, ...], worth: Mapping[str, int]) -> float:
    first, *others = (worth.get(entry.verdict, 0) for entry in entries)
    return float(first - sum(others))

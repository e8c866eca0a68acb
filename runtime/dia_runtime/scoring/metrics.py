"""Counts and sums of verdicts, exact.

A tally counts the verdicts on an item's instances, and sums their points. Figures are computed from the different
tallies, each with the number of its items, so that a million questions take no longer than a few. An aggregate keeps
what each item contributes, so that its uncertainty can be estimated over items. While there are errors, it has bounds
instead of a value: the possible values from all errors wrong to all correct.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction
from functools import lru_cache, reduce
from math import comb
from typing import Any, NamedTuple, TypeVar

from dia_runtime.grading.verdicts import Exact, Mark, Verdict

Ends = tuple[float, float]
RowT = TypeVar("RowT", bound=tuple[Any, ...])


class Tally(NamedTuple):
    """The number of an item's instances with each verdict, and the lowest and highest sum of their points."""

    correct: int = 0
    skipped: int = 0
    wrong: int = 0
    unparsed: int = 0
    error: int = 0
    low: Exact = 0
    high: Exact = 0

    @property
    def k(self) -> int:
        """Return the number of instances."""
        return self.correct + self.skipped + self.wrong + self.unparsed + self.error


NOTHING = Tally()
TallyTable = Mapping[str, Tally]  # item -> its tally
Tallies = Mapping[Tally, int]  # tally -> how many items have it
Shares = Mapping[tuple[Fraction, int], int]  # sum and number of an item's shares of full marks -> items that have them


def equal_rows(rows: Iterable[RowT]) -> Counter[RowT]:
    """Return how many items have each row.

    The rows are in the same order whatever the order of the items is, so that their resamples are the same.
    """
    return Counter(sorted(rows))


class Part(NamedTuple):
    """The contribution of equal items to a figure: the lowest and highest sum, the number of values, and of items."""

    low: Exact
    high: Exact
    size: int
    times: int = 1


Parts = tuple[Part, ...]


class PointRange(NamedTuple):
    """The fewest and the most points of a question, and those of abstaining from it."""

    low: float
    high: float
    skipped_low: float = 0.0
    skipped_high: float = 0.0


class Range(Enum):
    """Return the range of a figure, if it is known."""

    SHARE = auto()  # 0 to 1
    BALANCE = auto()  # -1 to 1
    MEAN_POINTS = auto()  # the fewest to the most points that a question gives
    POINTS = auto()  # the same, summed over items
    POINTS_AT_BEST = auto()  # the sum with perfect abstention
    POINTS_LOST = auto()  # 0 to what that gains
    COUNT = auto()  # 0 to the number of items
    UNKNOWN = auto()

    def ends(self, items: int, points: PointRange | None) -> Ends | None:
        """Return the lowest and highest value over this many items with these points per question; None if unknown."""
        if self is Range.SHARE:
            return (0.0, 1.0)
        if self is Range.BALANCE:
            return (-1.0, 1.0)
        if self is Range.COUNT:
            return (0.0, float(items))
        if self is Range.UNKNOWN or points is None:
            return None
        if self is Range.POINTS_LOST:
            return (0.0, items * (points.skipped_high - points.low))
        if self is Range.MEAN_POINTS:
            return (points.low, points.high)
        low = points.skipped_low if self is Range.POINTS_AT_BEST else points.low
        return (items * low, items * points.high)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A mean over all values of its parts, or the sum of the parts."""

    parts: Parts
    is_sum: bool = False
    range: Range = Range.SHARE

    @property
    def bounds(self) -> tuple[Fraction, Fraction] | None:
        """Return the lowest and the highest value that the aggregate may have; None for a mean of nothing."""
        number = 1 if self.is_sum else sum(part.size * part.times for part in self.parts)
        if not number:
            return None
        ends = (sum(part.low * part.times for part in self.parts), sum(part.high * part.times for part in self.parts))
        return Fraction(ends[0]) / number, Fraction(ends[1]) / number

    def columns(self) -> tuple[list[Exact], list[int]]:
        """Return the sums of the items if nothing is open, and the numbers of their values."""
        return [part.low for part in self.parts], [part.size for part in self.parts]

    @property
    def value(self) -> Fraction | None:
        """Return the aggregate itself; None while errors leave it open."""
        ends = self.bounds
        return ends[0] if ends and ends[0] == ends[1] else None


@lru_cache(maxsize=1 << 16)  # there are few different tallies, so equal ones are stored once
def added(tally: Tally, entry: Mark) -> Tally:
    """Return the tally with one more instance."""
    more: dict[str, Any] = {entry.verdict: getattr(tally, entry.verdict) + 1}
    return tally._replace(low=tally.low + entry.low, high=tally.high + entry.high, **more)


def combined(one: Tally, other: Tally) -> Tally:
    """Return the tally of the instances of both."""
    return Tally._make(x + y for x, y in zip(one, other, strict=True))


def tally(marks: Iterable[Mark]) -> Tally:
    """Return the tally of an item's marks."""
    return reduce(added, marks, NOTHING)


def counts(tallies: Tallies) -> dict[str, int]:
    """Return how many instances got each verdict."""
    return {
        verdict: sum(getattr(tally, verdict) * times for tally, times in tallies.items())
        for verdict in map(str, Verdict)
    }


def tsr(table: TallyTable) -> dict[str, int]:
    """Return TSR@(t,k) for each item t: the number of its correct instances."""
    return {item: tally.correct for item, tally in table.items()}


def completely_skipped(tallies: Tallies) -> int:
    """Return how many items have all their instances skipped."""
    return sum(times for tally, times in tallies.items() if tally.skipped == tally.k)


def partly_skipped(tallies: Tallies) -> int:
    """Return how many items have some, but not all, of their instances skipped."""
    return sum(times for tally, times in tallies.items() if 0 < tally.skipped < tally.k)


# Contributions of items to each figure; scoring/figures.py aggregates them.


def rs(tallies: Tallies) -> Parts:
    """Return RS@k, the reliability score: the sum over items of the item's mean points.

    With one k for all items it is (1/k) * sum of points over all instances (the DIA paper, equation 1).
    """
    return tuple(
        Part(Fraction(tally.low) / tally.k, Fraction(tally.high) / tally.k, 1, times)
        for tally, times in tallies.items()
    )


def conf(tallies: Tallies) -> Parts:
    """Return Conf@k, the confidence index: the share of items whose instances are all correct."""
    return _by_item(tallies, lambda correct, k: int(correct == k))


def nms(tallies: Tallies) -> Parts:
    """Return NMS@k, the near miss score: the number of items with 0.8 k <= TSR < k; none if k is below five."""
    return _by_item(tallies, lambda correct, k: int(4 * k <= 5 * correct and correct < k), rises=False)


def pass_at(tallies: Tallies, tries: int | None = None) -> Parts:
    """Return Pass@j: the probability that one of j instances of an item is correct; by default, j is the item's k.

    For j < k it is the unbiased estimator 1 - C(k-c, j)/C(k, j) (Chen et al. 2021). Items with k < j are left out.
    """

    def share(correct: int, k: int) -> Fraction:
        j = k if tries is None else tries
        return 1 - Fraction(comb(k - correct, j), comb(k, j))

    return _by_item(_long_enough(tallies, tries), share)


def pass_hat(tallies: Tallies, tries: int | None = None) -> Parts:
    """Return Pass^j: the probability that j of j instances of an item are correct.

    It is C(c, j)/C(k, j) (Yao et al. 2024).
    """

    def share(correct: int, k: int) -> Fraction:
        j = k if tries is None else tries
        return Fraction(comb(correct, j), comb(k, j))

    return _by_item(_long_enough(tallies, tries), share)


def ladder(tallies: Tallies) -> list[int]:
    """Return the j for which Pass@j and Pass^j are worth printing: 1 to 10, some above, and the largest k."""
    most = max((tally.k for tally in tallies), default=0)
    return [j for j in (*range(1, 11), 20, 50, 100) if j < most] + ([most] if most else [])


@dataclass(frozen=True, slots=True, eq=False)
class VerdictMean:
    """A mean over questions of a value for each verdict; an error may still become any other verdict."""

    worths: Mapping[Verdict, int]  # verdicts that are not here are worth 0

    def __call__(self, tallies: Tallies) -> Parts:
        """Return the contributions of items."""
        ends = [self.worths.get(verdict, 0) for verdict in Verdict if verdict is not Verdict.ERROR]
        worst, best = min(ends), max(ends)
        parts = []
        for tally, times in tallies.items():
            total = sum(worth * getattr(tally, verdict) for verdict, worth in self.worths.items())
            parts.append(Part(total + worst * tally.error, total + best * tally.error, tally.k, times))
        return tuple(parts)


def accuracy_answered(tallies: Tallies) -> Parts:
    """Return the share of correct answers among the questions that were not skipped."""
    return tuple(
        Part(tally.correct, tally.correct + tally.error, tally.k - tally.skipped, times)
        for tally, times in tallies.items()
    )


def mean_share(shares: Shares) -> Parts:
    """Return the mean share of full marks, for questions whose answers declare one."""
    return tuple(Part(total, total, size, times) for (total, size), times in shares.items())


def _long_enough(tallies: Tallies, tries: int | None) -> Tallies:
    return {tally: times for tally, times in tallies.items() if tries is None or tally.k >= tries}


def _by_item(tallies: Tallies, worth: Callable[[int, int], Exact], rises: bool = True) -> Parts:
    """Return the lowest and the highest value of each item, over all possible outcomes of its errors.

    A value that does not only `rises` with the number of correct instances is computed for every number.
    """
    parts = []
    for tally, times in tallies.items():
        possible = range(tally.correct, tally.correct + tally.error + 1)
        worths = [worth(number, tally.k) for number in ((possible[0], possible[-1]) if rises else possible)]
        parts.append(Part(min(worths), max(worths), 1, times))
    return tuple(parts)

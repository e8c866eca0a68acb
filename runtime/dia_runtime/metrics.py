"""Figures from verdicts, exact.

A table gives each item the marks of its instances. A figure keeps what each item contributes, so that its
uncertainty can be estimated over items. While errors are left it has bounds instead of a value: what it can
still become, from all of them wrong to all of them correct.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import NamedTuple

VERDICTS = ("correct", "skipped", "wrong", "unparsed", "error")
Exact = int | Fraction
Range = tuple[int, int]


class Mark(NamedTuple):
    """A verdict and its points: one value, or the two ends while the verdict is `error`."""

    verdict: str
    low: Exact
    high: Exact


Table = Mapping[str, Sequence[Mark]]


class Part(NamedTuple):
    """What an item contributes to a figure: the lowest and highest sum, and over how many values."""

    low: Exact
    high: Exact
    size: int


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over all values of its parts, or the sum of the parts."""

    parts: tuple[Part, ...]
    is_sum: bool = False

    @property
    def bounds(self) -> tuple[Fraction, Fraction] | None:
        """The lowest and the highest value that the figure may have; None for a mean of nothing."""
        number = 1 if self.is_sum else sum(part.size for part in self.parts)
        if not number:
            return None
        ends = sum(part.low for part in self.parts), sum(part.high for part in self.parts)
        return Fraction(ends[0]) / number, Fraction(ends[1]) / number

    @property
    def value(self) -> Fraction | None:
        """The figure itself; None while errors leave it open."""
        ends = self.bounds
        return ends[0] if ends and ends[0] == ends[1] else None


def mark(verdict: str, points: Mapping[str, Exact]) -> Mark:
    """The mark of a verdict; `unparsed` has the points of `wrong`, `error` any from wrong to correct."""
    if verdict == "error":
        worth = (points["wrong"], points["correct"])
        return Mark(verdict, min(worth), max(worth))
    value = points["wrong" if verdict == "unparsed" else verdict]
    return Mark(verdict, value, value)


def counts(table: Table) -> dict[str, int]:
    """How many instances got each verdict."""
    found = dict.fromkeys(VERDICTS, 0)
    for marks in table.values():
        for entry in marks:
            found[entry.verdict] += 1
    return found


def tsr(table: Table) -> dict[str, int]:
    """TSR@(t,k): item -> how many of its instances are correct."""
    return {item: _correct(marks) for item, marks in table.items()}


def rs(table: Table) -> Figure:
    """RS@k, the reliability score: the sum over items of the item's mean points.

    With one k for all items it is (1/k) * sum of points over all instances (the DIA paper, equation 1).
    """
    return Figure(tuple(map(_mean_points, table.values())), is_sum=True)


def conf(table: Table) -> Figure:
    """Conf@k, the confidence index: the share of items whose instances are all correct."""
    return Figure(_item_by_item(table, lambda correct, k: int(correct == k)))


def nms(table: Table) -> Figure:
    """NMS@k, the near miss score: how many items have 0.8 k <= TSR < k."""
    is_near = _item_by_item(table, lambda correct, k: int(4 * k <= 5 * correct and correct < k))
    return Figure(is_near, is_sum=True)


def pass_at(table: Table, tries: int | None = None) -> Figure:
    """Pass@j: the chance that one of j instances of an item is correct; j is the item's own k unless given.

    For j < k it is the unbiased estimator 1 - C(k-c, j)/C(k, j) (Chen et al. 2021). Items with k < j are
    left out.
    """

    def share(correct: int, k: int) -> Fraction:
        j = k if tries is None else tries
        return 1 - Fraction(comb(k - correct, j), comb(k, j))

    return Figure(_item_by_item(_long_enough(table, tries), share))


def pass_hat(table: Table, tries: int | None = None) -> Figure:
    """Pass^j: the chance that j of j instances of an item are correct, C(c, j)/C(k, j) (Yao et al. 2024)."""

    def share(correct: int, k: int) -> Fraction:
        j = k if tries is None else tries
        return Fraction(comb(correct, j), comb(k, j))

    return Figure(_item_by_item(_long_enough(table, tries), share))


def completely_skipped(table: Table) -> int:
    """How many items have all their instances skipped."""
    return sum(_skipped(marks) == len(marks) for marks in table.values())


def partly_skipped(table: Table) -> int:
    """How many items have some, but not all, of their instances skipped."""
    return sum(0 < _skipped(marks) < len(marks) for marks in table.values())


def trad_score(table: Table) -> Figure:
    """The mean over questions of 1 for correct, else 0."""
    return _question_by_question(table, {"correct": (1, 1), "error": (0, 1)})


def idk_score(table: Table) -> Figure:
    """The mean over questions of +1 for correct, 0 for skipped, -1 for anything else."""
    worth = {"correct": (1, 1), "wrong": (-1, -1), "unparsed": (-1, -1), "error": (-1, 1)}
    return _question_by_question(table, worth)


def idk_freq(table: Table) -> Figure:
    """The share of questions that were skipped."""
    return _question_by_question(table, {"skipped": (1, 1), "error": (0, 1)})


def extract_fail(table: Table) -> Figure:
    """The share of questions from whose reply nothing could be read."""
    return _question_by_question(table, {"unparsed": (1, 1), "error": (0, 1)})


def _correct(marks: Sequence[Mark]) -> int:
    return sum(entry.verdict == "correct" for entry in marks)


def _skipped(marks: Sequence[Mark]) -> int:
    return sum(entry.verdict == "skipped" for entry in marks)


def _long_enough(table: Table, tries: int | None) -> Table:
    return {item: marks for item, marks in table.items() if tries is None or len(marks) >= tries}


def _mean_points(marks: Sequence[Mark]) -> Part:
    low, high = sum(entry.low for entry in marks), sum(entry.high for entry in marks)
    return Part(Fraction(low) / len(marks), Fraction(high) / len(marks), 1)


def _item_by_item(table: Table, worth: Callable[[int, int], Exact]) -> tuple[Part, ...]:
    """The lowest and the highest worth of each item, over what its errors may turn out to be."""
    parts = []
    for marks in table.values():
        correct, errors = _correct(marks), sum(entry.verdict == "error" for entry in marks)
        possible = [worth(number, len(marks)) for number in range(correct, correct + errors + 1)]
        parts.append(Part(min(possible), max(possible), 1))
    return tuple(parts)


def _question_by_question(table: Table, worth: Mapping[str, Range]) -> Figure:
    parts = []
    for marks in table.values():
        ranges = [worth.get(entry.verdict, (0, 0)) for entry in marks]
        parts.append(Part(sum(low for low, _ in ranges), sum(high for _, high in ranges), len(marks)))
    return Figure(tuple(parts))

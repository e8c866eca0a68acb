"""Figures from verdicts, exact.

A tally is what became of an item's instances: how many got each verdict, and their points. Figures are functions of
tallies, each with the number of items that have it, so that a million questions are as quick as their few different
tallies. A figure keeps what each item contributes, so that its uncertainty can be estimated over items. While errors
are left it has bounds instead of a value: what it can still become, from all of them wrong to all of them correct.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from math import comb
from typing import Any, NamedTuple

from dia_runtime.grading.verdicts import Exact, Mark, Verdict

MEAN = "mean:"  # begins the name of a mean of anything, which has no range that is known
Range = tuple[int, int]


class Tally(NamedTuple):
    """How many instances of an item got each verdict, and the lowest and highest sum of their points."""

    correct: int = 0
    skipped: int = 0
    wrong: int = 0
    unparsed: int = 0
    error: int = 0
    low: Exact = 0
    high: Exact = 0

    @property
    def k(self) -> int:
        """How many instances it counts."""
        return self.correct + self.skipped + self.wrong + self.unparsed + self.error


NOTHING = Tally()
Table = Mapping[str, Tally]  # item -> its tally
Tallies = Mapping[Tally, int]  # tally -> how many items have it


class Part(NamedTuple):
    """What an item contributes to a figure: the lowest and highest sum, over how many values; so many items do."""

    low: Exact
    high: Exact
    size: int
    times: int = 1


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over all values of its parts, or the sum of the parts."""

    parts: tuple[Part, ...]
    is_sum: bool = False

    @property
    def bounds(self) -> tuple[Fraction, Fraction] | None:
        """The lowest and the highest value that the figure may have; None for a mean of nothing."""
        number = 1 if self.is_sum else sum(part.size * part.times for part in self.parts)
        if not number:
            return None
        ends = (sum(part.low * part.times for part in self.parts), sum(part.high * part.times for part in self.parts))
        return Fraction(ends[0]) / number, Fraction(ends[1]) / number

    @property
    def value(self) -> Fraction | None:
        """The figure itself; None while errors leave it open."""
        ends = self.bounds
        return ends[0] if ends and ends[0] == ends[1] else None


@lru_cache(maxsize=1 << 16)  # few tallies are different, and equal ones need be kept once only
def added(held: Tally, entry: Mark) -> Tally:
    """The tally with one more instance."""
    more: dict[str, Any] = {entry.verdict: getattr(held, entry.verdict) + 1}
    return held._replace(low=held.low + entry.low, high=held.high + entry.high, **more)


def plus(one: Tally, other: Tally) -> Tally:
    """The tally of the instances of both."""
    counts = {name: getattr(one, name) + getattr(other, name) for name in (*Verdict, "low", "high")}
    return Tally(**counts)


def tally(marks: Iterable[Mark]) -> Tally:
    """The tally of an item's marks."""
    return reduce(added, marks, NOTHING)


def counts(tallies: Tallies) -> dict[str, int]:
    """How many instances got each verdict."""
    return {name: sum(getattr(held, name) * times for held, times in tallies.items()) for name in Verdict}


def tsr(table: Table) -> dict[str, int]:
    """TSR@(t,k): item -> how many of its instances are correct."""
    return {item: held.correct for item, held in table.items()}


def rs(tallies: Tallies) -> Figure:
    """RS@k, the reliability score: the sum over items of the item's mean points.

    With one k for all items it is (1/k) * sum of points over all instances (the DIA paper, equation 1).
    """
    parts = (
        Part(Fraction(held.low) / held.k, Fraction(held.high) / held.k, 1, times) for held, times in tallies.items()
    )
    return Figure(tuple(parts), is_sum=True)


def conf(tallies: Tallies) -> Figure:
    """Conf@k, the confidence index: the share of items whose instances are all correct."""
    return Figure(_item_by_item(tallies, lambda correct, k: int(correct == k)))


def nms(tallies: Tallies) -> Figure:
    """NMS@k, the near miss score: how many items have 0.8 k <= TSR < k."""

    def is_near(correct: int, k: int) -> int:
        return int(4 * k <= 5 * correct and correct < k)

    return Figure(_item_by_item(tallies, is_near, every=True), is_sum=True)


def pass_at(tallies: Tallies, tries: int | None = None) -> Figure:
    """Pass@j: the chance that one of j instances of an item is correct; j is the item's own k unless given.

    For j < k it is the unbiased estimator 1 - C(k-c, j)/C(k, j) (Chen et al. 2021). Items with k < j are
    left out.
    """

    def share(correct: int, k: int) -> Fraction:
        j = k if tries is None else tries
        return 1 - Fraction(comb(k - correct, j), comb(k, j))

    return Figure(_item_by_item(_long_enough(tallies, tries), share))


def pass_hat(tallies: Tallies, tries: int | None = None) -> Figure:
    """Pass^j: the chance that j of j instances of an item are correct, C(c, j)/C(k, j) (Yao et al. 2024)."""

    def share(correct: int, k: int) -> Fraction:
        j = k if tries is None else tries
        return Fraction(comb(correct, j), comb(k, j))

    return Figure(_item_by_item(_long_enough(tallies, tries), share))


def ladder(tallies: Tallies) -> list[int]:
    """The j for which Pass@j and Pass^j are worth printing: 1 to 10, some above, and the largest k."""
    most = max((held.k for held in tallies), default=0)
    return [j for j in (*range(1, 11), 20, 50, 100) if j < most] + ([most] if most else [])


def completely_skipped(tallies: Tallies) -> int:
    """How many items have all their instances skipped."""
    return sum(times for held, times in tallies.items() if held.skipped == held.k)


def partly_skipped(tallies: Tallies) -> int:
    """How many items have some, but not all, of their instances skipped."""
    return sum(times for held, times in tallies.items() if 0 < held.skipped < held.k)


def trad_score(tallies: Tallies) -> Figure:
    """The mean over questions of 1 for correct, else 0."""
    return _question_by_question(tallies, {"correct": (1, 1), "error": (0, 1)})


def idk_score(tallies: Tallies) -> Figure:
    """The mean over questions of +1 for correct, 0 for skipped, -1 for anything else."""
    worth = {"correct": (1, 1), "wrong": (-1, -1), "unparsed": (-1, -1), "error": (-1, 1)}
    return _question_by_question(tallies, worth)


def idk_freq(tallies: Tallies) -> Figure:
    """The share of questions that were skipped."""
    return _question_by_question(tallies, {"skipped": (1, 1), "error": (0, 1)})


def extract_fail(tallies: Tallies) -> Figure:
    """The share of questions from whose reply nothing could be read."""
    return _question_by_question(tallies, {"unparsed": (1, 1), "error": (0, 1)})


def drop(tallies: Tallies) -> Figure:
    """trad_score less idk_score: the share of questions that were answered, and not rightly."""
    return _question_by_question(tallies, {"wrong": (1, 1), "unparsed": (1, 1), "error": (0, 1)})


def coverage(tallies: Tallies) -> Figure:
    """The share of questions that were not skipped."""
    answered = dict.fromkeys(("correct", "wrong", "unparsed"), (1, 1))
    return _question_by_question(tallies, {**answered, "error": (0, 1)})


def accuracy_answered(tallies: Tallies) -> Figure:
    """The share of right ones among the questions that were not skipped."""
    parts = (
        Part(held.correct, held.correct + held.error, held.k - held.skipped, times) for held, times in tallies.items()
    )
    return Figure(tuple(parts))


FIGURES: dict[str, Callable[[Tallies], Figure]] = {
    "rs": rs,
    "conf": conf,
    "nms": nms,
    "pass_at_k": pass_at,
    "trad_score": trad_score,
    "idk_score": idk_score,
    "idk_freq": idk_freq,
    "extract_fail": extract_fail,
    "drop": drop,
    "coverage": coverage,
    "accuracy_answered": accuracy_answered,
}


def _long_enough(tallies: Tallies, tries: int | None) -> Tallies:
    return {held: times for held, times in tallies.items() if tries is None or held.k >= tries}


def _item_by_item(tallies: Tallies, worth: Callable[[int, int], Exact], every: bool = False) -> tuple[Part, ...]:
    """The lowest and the highest worth of items, over what their errors may turn out to be.

    A worth that does not only rise with the number of correct ones needs a look at `every` number.
    """
    parts = []
    for held, times in tallies.items():
        possible = range(held.correct, held.correct + held.error + 1)
        worths = [worth(number, held.k) for number in (possible if every else (possible[0], possible[-1]))]
        parts.append(Part(min(worths), max(worths), 1, times))
    return tuple(parts)


def _question_by_question(tallies: Tallies, worth: Mapping[str, Range]) -> Figure:
    parts = []
    for held, times in tallies.items():
        ranges = [(ends, getattr(held, verdict)) for verdict, ends in worth.items()]
        low, high = (sum(ends[side] * number for ends, number in ranges) for side in (0, 1))
        parts.append(Part(low, high, held.k, times))
    return Figure(tuple(parts))

"""Respondents compared on the same questions: differences, rankings that two figures reverse, shared skips."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TypedDict

import numpy
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.scoring.results import (
    ComparedPair,
    Estimate,
    RankChange,
    RankReversal,
    RankRow,
    SkipAgreement,
    unknown,
)
from dia_runtime.scoring.statistics.ledger import Marks, aligned, have_same_questions, shared_questions
from dia_runtime.scoring.statistics.paired import PairedFigures, Weights
from dia_runtime.scoring.statistics.resample import Intervals, Numbers
from dia_runtime.scoring.statistics.sample import MANY, sample_of
from dia_runtime.scoring.statistics.significance import holm

Pair = tuple[int, int]


class PairOfModels(TypedDict):
    """The two respondents of an entry."""

    models: list[str]
    at: list[int]


@dataclass(frozen=True, slots=True)
class PairComparison:
    """Two respondents, at their positions among those whose figures are paired."""

    paired: PairedFigures
    first: int = 0
    second: int = 1

    @property
    def weights(self) -> Weights:
        """Return the first minus the second."""
        return {self.first: Fraction(1), self.second: Fraction(-1)}

    def values(self, name: str) -> list[float | None]:
        """Return the figure of each; None if it is open."""
        ends = [self.paired.bounds(name, at) if self.paired.rows else None for at in (self.first, self.second)]
        return [float(bounds[0]) if bounds and bounds[0] == bounds[1] else None for bounds in ends]


@dataclass(frozen=True, slots=True)
class Comparison:
    """All pairs of respondents, each over the questions to which both replied."""

    names: Sequence[str]
    marks: Sequence[Marks]
    figures: Sequence[str]
    pairs: Mapping[Pair, PairComparison]

    def head(self, pair: Pair) -> PairOfModels:
        """Return the two respondents of an entry."""
        return {"models": [self.names[at] for at in pair], "at": list(pair)}


def comparison(
    names: Sequence[str], marks: Sequence[Marks], figures: Sequence[str], intervals: Intervals
) -> Comparison:
    """Return the pairs, prepared for comparisons by these figures."""
    pairs = list(combinations(range(len(names)), 2))
    if have_same_questions(marks) and len(pairs) > 1 and len(marks[0]) <= MANY:  # all pairs share their resamples
        paired = PairedFigures(*aligned(marks), figures, intervals)
        compared = {(one, other): PairComparison(paired, one, other) for one, other in pairs}
    else:
        compared = {
            pair: PairComparison(PairedFigures(*aligned([marks[at] for at in pair]), figures, intervals))
            for pair in pairs
        }
    return Comparison(names, marks, figures, compared)


def differences(compared: Comparison) -> list[ComparedPair]:
    """Return every pair by every figure, with p adjusted over the pairs of the figure."""
    entries: list[ComparedPair] = []
    for name in compared.figures:
        pairs = compared.pairs.items()
        tested = [two.paired.tested(name, two.weights) for _, two in pairs]
        adjusted = holm([each["p"] for each in tested])
        entries += [
            {
                "figure": name,
                **compared.head(pair),
                "items": two.paired.items,
                "questions": two.paired.questions,
                "values": two.values(name),
                **difference,
                "p_holm": p_holm,
            }
            for (pair, two), difference, p_holm in zip(pairs, tested, adjusted, strict=True)
        ]
    return entries


def rank_changes(compared: Comparison, values: Sequence[Mapping[str, float | None]]) -> list[RankChange]:
    """Return how each pair of figures changes the ranking; `values` are the figures of each respondent."""
    entries: list[RankChange] = []
    for figures in combinations(compared.figures, 2):
        columns = [ranks([row[name] for row in values]) for name in figures]
        rows: list[RankRow] = [
            {"model": name, "at": at, "ranks": [column[at] for column in columns]}
            for at, name in enumerate(compared.names)
        ]
        changes = [change for pair in compared.pairs if (change := _reversal(compared, pair, figures))]
        entries.append({"figures": list(figures), "ranks": rows, "changes": changes})
    return entries


def ranks(values: Sequence[float | None]) -> list[int | None]:
    """Return the rank of each value, the largest first; equal values share the better rank.

    >>> ranks([0.5, None, 0.75, 0.5])
    [2, None, 1, 2]
    """
    present = [value for value in values if value is not None]
    return [None if value is None else 1 + sum(other > value for other in present) for value in values]


def _reversal(compared: Comparison, pair: Pair, figures: tuple[str, str]) -> RankReversal | None:
    """Return the pair if the figures reverse its order, the leader by the first figure first."""
    two = compared.pairs[pair]
    gaps = [None if first is None or second is None else first - second for first, second in map(two.values, figures)]
    if not gaps[0] or not gaps[1] or (gaps[0] > 0) == (gaps[1] > 0):
        return None
    leads = gaps[0] > 0
    first, second = (two.paired.replicates(name, two.weights) * (1 if leads else -1) for name in figures)
    head = compared.head(pair if leads else (pair[1], pair[0]))
    if not len(first):
        return {**head, "order": [None, None], "both": None}
    # a tie counts half, as in `differences`
    holds_first, holds_second = numpy.heaviside(first, 0.5), numpy.heaviside(-second, 0.5)
    shares: list[float | None] = [float(holds_first.mean()), float(holds_second.mean())]
    return {**head, "order": shares, "both": float((holds_first * holds_second).mean())}


def skip_agreement(compared: Comparison, intervals: Intervals) -> list[SkipAgreement]:
    """Return phi of the skips of each pair, with the items resampled; errors are left out."""
    return [_skip_agreement(compared, pair, intervals) for pair in compared.pairs]


def _skip_agreement(compared: Comparison, pair: Pair, intervals: Intervals) -> SkipAgreement:
    items = (
        [
            (first.verdict is Verdict.SKIPPED, second.verdict is Verdict.SKIPPED)
            for first, second in item
            if Verdict.ERROR not in (first.verdict, second.verdict)
        ]
        for item in shared_questions([compared.marks[at] for at in pair])
    )
    return {**compared.head(pair), **shared_skips(items, intervals)}


class SharedSkips(TypedDict):
    """Numbers of questions that two respondents skip, and the correlation of their skips."""

    items: int
    both: int
    first: int
    second: int
    neither: int
    phi: Estimate


def shared_skips(items: Iterable[Sequence[tuple[bool, bool]]], intervals: Intervals) -> SharedSkips:
    """Return phi of the skips of two respondents, with the items resampled.

    `items` says for each question of an item whether the first and the second respondent skip it.
    """
    rows: Counter[tuple[int, ...]] = Counter()
    for questions in filter(None, items):
        skips = Counter(questions)
        rows[skips[True, True], skips[True, False], skips[False, True], skips[False, False]] += 1
    both, first, second, neither = cells = [sum(row[at] * times for row, times in rows.items()) for at in range(4)]
    sample = sample_of(rows.items()) if rows else None
    if sample is not None and all(cells):
        estimate = sample.estimate(phi, intervals)
    else:  # resamples cannot show what no item shows, so an interval would be far too narrow
        estimate = {**unknown(), "value": sample.point(phi) if sample else None}
    return {
        "items": rows.total(),
        "both": both,
        "first": first,
        "second": second,
        "neither": neither,
        "phi": estimate,
    }


def phi(sums: Numbers) -> Numbers:
    """Return the correlation of two binary columns from the counts of both, only first, only second and neither."""
    both, first, second, none = sums.T
    square = (both + first) * (second + none) * (both + second) * (first + none)
    correlations: Numbers = (both * none - first * second) / numpy.sqrt(square)
    return correlations

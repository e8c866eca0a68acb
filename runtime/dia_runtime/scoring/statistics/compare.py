"""Respondents compared on the same questions: differences, orders that two figures reverse, shared skips."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.scoring.statistics.figures import NOWHERE
from dia_runtime.scoring.statistics.ledger import Marks, beside, is_same, shared
from dia_runtime.scoring.statistics.paired import Side, Weights
from dia_runtime.scoring.statistics.resample import Intervals, Numbers
from dia_runtime.scoring.statistics.sample import MANY, sample_of
from dia_runtime.scoring.statistics.significance import holm

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Two:
    """Two respondents at their places among those that are put side by side."""

    side: Side
    first: int = 0
    second: int = 1

    @property
    def weights(self) -> Weights:
        """The first less the second."""
        return {self.first: Fraction(1), self.second: Fraction(-1)}

    def values(self, name: str) -> list[float | None]:
        """The figure of each; None where it is open."""
        ends = [self.side.bounds(name, at) if self.side.rows else None for at in (self.first, self.second)]
        return [float(bounds[0]) if bounds and bounds[0] == bounds[1] else None for bounds in ends]


@dataclass(slots=True)
class Comparison:
    """All pairs of respondents, each over the questions to which both replied."""

    names: list[str]
    marks: list[Marks]
    figures: tuple[str, ...]
    pairs: dict[Pair, Two]

    def head(self, pair: Pair) -> dict[str, Any]:
        """Whom an entry is about."""
        return {"models": [self.names[at] for at in pair], "at": list(pair)}


def comparison(names: Sequence[str], marks: Sequence[Marks], figures: Sequence[str], way: Intervals) -> Comparison:
    """The pairs, ready to be compared by these figures."""
    found = list(combinations(range(len(names)), 2))
    if is_same(marks) and len(found) > 1 and len(marks[0]) <= MANY:  # all side by side are resampled at once
        whole = Side(*beside(list(marks)), figures, way)
        pairs = {(one, other): Two(whole, one, other) for one, other in found}
    else:
        pairs = {pair: Two(Side(*beside([marks[at] for at in pair]), figures, way)) for pair in found}
    return Comparison(list(names), list(marks), tuple(figures), pairs)


def differences(held: Comparison) -> list[dict[str, Any]]:
    """Every pair by every figure, with p adjusted over the pairs of the figure."""
    found = []
    for name in held.figures:
        entries = []
        for pair, two in held.pairs.items():
            head = {"figure": name, **held.head(pair), "items": two.side.items, "questions": two.side.questions}
            tested = two.side.tested(name, two.weights) if two.side.rows else UNTESTED
            entries.append({**head, "values": two.values(name), **tested})
        found += adjusted(entries)
    return found


UNTESTED: dict[str, Any] = {"difference": NOWHERE, "p": None, "order": None}


def adjusted(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries with `p_holm` beside `p`."""
    chances = holm([entry["p"] for entry in entries])
    return [{**entry, "p_holm": chance} for entry, chance in zip(entries, chances, strict=True)]


def rank_changes(held: Comparison, values: Sequence[dict[str, float | None]]) -> list[dict[str, Any]]:
    """What each two of the figures change in the order; `values` are the figures of each respondent."""
    found = []
    for figures in combinations(held.figures, 2):
        columns = [ranks([own[name] for own in values]) for name in figures]
        rows = [
            {"model": name, "at": at, "ranks": [column[at] for column in columns]} for at, name in enumerate(held.names)
        ]
        changes = [change for pair, two in held.pairs.items() if (change := _change(held, pair, two, figures))]
        found.append({"figures": list(figures), "ranks": rows, "changes": changes})
    return found


def ranks(values: Sequence[float | None]) -> list[int | None]:
    """The rank of each value, the largest first; equal ones share the better rank.

    >>> ranks([0.5, None, 0.75, 0.5])
    [2, None, 1, 2]
    """
    known = [value for value in values if value is not None]
    return [None if value is None else 1 + sum(other > value for other in known) for value in values]


def _change(held: Comparison, pair: Pair, two: Two, figures: tuple[str, str]) -> dict[str, Any] | None:
    """The pair whose order the figures reverse, the leader by the first figure before that by the second."""
    gaps = [None if None in values else values[0] - values[1] for values in map(two.values, figures)]  # type: ignore[operator]
    if not gaps[0] or not gaps[1] or (gaps[0] > 0) == (gaps[1] > 0):
        return None
    leads = gaps[0] > 0
    drawn = [two.side.replicates(name, two.weights) * (1 if leads else -1) for name in figures]
    shown: dict[str, Any] = {"order": [None, None], "both": None}
    if len(drawn[0]):
        first, second = drawn
        shares = [float((first > 0).mean()), float((second < 0).mean())]
        shown = {"order": shares, "both": float(((first > 0) & (second < 0)).mean())}
    return {**held.head(pair if leads else (pair[1], pair[0])), **shown}


def skip_agreement(held: Comparison, way: Intervals) -> list[dict[str, Any]]:
    """For each pair how far they skip the same questions: phi, with the items resampled; errors are left out."""
    return [{**held.head(pair), **_agreement([held.marks[at] for at in pair], way)} for pair in held.pairs]


def _agreement(marks: list[Marks], way: Intervals) -> dict[str, Any]:
    rows: Counter[tuple[int, ...]] = Counter()
    for together in shared(marks):
        known = [pair for pair in together if all(entry.verdict is not Verdict.ERROR for entry in pair)]
        skips = Counter(tuple(entry.verdict is Verdict.SKIPPED for entry in pair) for pair in known)
        if known:
            rows[skips[True, True], skips[True, False], skips[False, True], skips[False, False]] += 1
    cells = [sum(row[at] * times for row, times in rows.items()) for at in range(4)]
    counts = {"items": rows.total(), **dict(zip(("both", "first", "second", "neither"), cells, strict=True))}
    sample = sample_of(rows.items()) if rows else None
    value = sample.point(phi) if sample else None
    if sample is None or not all(cells):  # what no item shows, no resample shows: an interval would be far too narrow
        return {**counts, "phi": {**NOWHERE, "value": value}}
    return {**counts, "phi": {"value": value, "se": sample.standard_error(phi), "ci": sample.interval(phi, way)}}


def phi(sums: Numbers) -> Numbers:
    """The correlation of two yes-or-no columns from the counts of both, first alone, second alone and neither."""
    both, first, second, none = sums.T
    square = (both + first) * (second + none) * (both + second) * (first + none)
    found: Numbers = (both * none - first * second) / numpy.sqrt(square)
    return found

"""Respondents grouped by a label: the mean of each group, and the differences between groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from dia_runtime.scoring.statistics.compare import adjusted
from dia_runtime.scoring.statistics.ledger import Marks, beside
from dia_runtime.scoring.statistics.paired import Side, Weights
from dia_runtime.scoring.statistics.resample import Intervals

UNLABELLED = "none"


class Respondents:
    """Respondents over the questions to which all of them replied, to be grouped by one label after another."""

    def __init__(
        self, names: Sequence[str], marks: Sequence[Marks], figures: Sequence[str], intervals: Intervals
    ) -> None:
        self.names, self.figures = list(names), tuple(figures)
        self.side = Side(*beside(list(marks)), figures, intervals)

    def by(self, values: Sequence[str | None]) -> dict[str, Any]:
        """The groups of respondents with the same value, and the differences of each two groups."""
        members: dict[str, list[int]] = {}
        for at, value in enumerate(values):
            members.setdefault(UNLABELLED if value is None else value, []).append(at)
        ordered = {value: members[value] for value in sorted(members)}
        return {
            "items": self.side.items,
            "questions": self.side.questions,
            "groups": [self._group(value, held) for value, held in ordered.items()],
            "differences": [entry for name in self.figures for entry in self._differences(name, ordered)],
        }

    def _group(self, value: str, members: list[int]) -> dict[str, Any]:
        found = {name: self.side.estimate(name, _mean(members)) for name in self.figures} if self.side.rows else {}
        return {"value": value, "models": [self.names[at] for at in members], "at": members, "figures": found}

    def _differences(self, name: str, members: Mapping[str, list[int]]) -> list[dict[str, Any]]:
        entries = []
        for one, other in combinations(members, 2):
            if self.side.rows:
                weights = {**_mean(members[one]), **{at: -part for at, part in _mean(members[other]).items()}}
                entries.append({"figure": name, "groups": [one, other], **self.side.tested(name, weights)})
        return adjusted(entries)


def _mean(members: Sequence[int]) -> Weights:
    return {at: Fraction(1, len(members)) for at in members}

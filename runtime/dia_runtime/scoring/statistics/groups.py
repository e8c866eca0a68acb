"""Respondents grouped by a label: the mean of each group, and the differences between groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from dia_runtime.scoring.results import GroupDifference, RespondentGroup, RespondentGroups
from dia_runtime.scoring.statistics.ledger import Marks, aligned
from dia_runtime.scoring.statistics.paired import PairedFigures, Weights
from dia_runtime.scoring.statistics.resample import Intervals
from dia_runtime.scoring.statistics.significance import holm

UNLABELLED = "none"
Members = Mapping[str, Sequence[int]]  # value of the label -> the positions of the respondents that have it


class Respondents:
    """Respondents over the questions to which all of them replied, to be grouped by one label after another."""

    def __init__(
        self, names: Sequence[str], marks: Sequence[Marks], figures: Sequence[str], intervals: Intervals
    ) -> None:
        self.names = list(names)
        self.paired = PairedFigures(*aligned(marks), figures, intervals)

    def by(self, values: Sequence[str | None]) -> RespondentGroups:
        """Return the groups of respondents with equal values, and the differences of each pair of groups."""
        members: dict[str, list[int]] = {}
        for at, value in enumerate(values):
            members.setdefault(UNLABELLED if value is None else value, []).append(at)
        ordered = {value: members[value] for value in sorted(members)}
        return {
            "items": self.paired.items,
            "questions": self.paired.questions,
            "groups": [self._group(value, places) for value, places in ordered.items()],
            "differences": [entry for name in self.paired.figures for entry in self._differences(name, ordered)],
        }

    def _group(self, value: str, places: Sequence[int]) -> RespondentGroup:
        names = self.paired.figures if self.paired.rows else ()
        figures = {name: self.paired.estimate(name, _mean(places)) for name in names}
        return {"value": value, "models": [self.names[at] for at in places], "at": list(places), "figures": figures}

    def _differences(self, name: str, members: Members) -> list[GroupDifference]:
        pairs = list(combinations(members, 2)) if self.paired.rows else []
        tested = [self.paired.tested(name, _difference(members[one], members[other])) for one, other in pairs]
        adjusted = holm([each["p"] for each in tested])
        return [
            {"figure": name, "groups": list(pair), **difference, "p_holm": p_holm}
            for pair, difference, p_holm in zip(pairs, tested, adjusted, strict=True)
        ]


def _mean(places: Sequence[int]) -> Weights:
    return {at: Fraction(1, len(places)) for at in places}


def _difference(places: Sequence[int], others: Sequence[int]) -> Weights:
    return {**_mean(places), **{at: -weight for at, weight in _mean(others).items()}}

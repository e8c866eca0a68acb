"""Which wrong replies the named mistakes explain, so that the shares add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import sqrt
from typing import Any

from dia_runtime.scoring.metrics import Figure, Part
from dia_runtime.scoring.statistics.figures import NOWHERE, figures_json
from dia_runtime.scoring.statistics.resample import Intervals
from dia_runtime.scoring.statistics.sample import WIDTH

EXPLAINED = ("one", "several", "none")


class Explained:
    """Wrong replies, counted by how many named mistakes explain each."""

    def __init__(self) -> None:
        self.kinds: dict[str, Counter[str]] = {}
        self.names: dict[str, Counter[str]] = {}
        self.items: dict[str, tuple[int, int]] = {}

    def add(self, template: str, item: str, mistakes: Mapping[str, bool]) -> None:
        """Takes one wrong reply, and which mistakes it is and is not."""
        number = sum(mistakes.values())
        self.kinds.setdefault(template, Counter())[EXPLAINED[2] if not number else EXPLAINED[number > 1]] += 1
        if mistakes:
            self.names.setdefault(template, Counter()).update({name: int(is_it) for name, is_it in mistakes.items()})
        wrong, explained = self.items.get(item, (0, 0))
        self.items[item] = (wrong + 1, explained + (number > 0))

    def as_json(self, intervals: Intervals) -> dict[str, Any]:
        """The counts of all wrong replies, and template by template those of each mistake."""
        rows = Counter(self.items.values())
        parts = tuple(Part(explained, explained, wrong, times) for (wrong, explained), times in rows.items())
        whole: Counter[str] = sum(self.kinds.values(), Counter())
        return {
            **_kinds(whole),
            "explained": figures_json({"explained": Figure(parts)}, intervals)["explained"],
            "templates": {name: self._template(name, intervals) for name in self.names},
        }

    def _template(self, name: str, intervals: Intervals) -> dict[str, Any]:
        wrong = self.kinds[name].total()
        found = sorted(self.names[name].items())
        named = {mistake: {"count": n, "share": share(n, wrong, intervals)} for mistake, n in found}
        return {**_kinds(self.kinds[name]), "mistakes": named}

    def shares(self) -> dict[str, dict[str, float]]:
        """Template -> mistake -> share of the template's wrong replies that are this mistake."""
        return {
            template: {name: number / self.kinds[template].total() for name, number in sorted(found.items())}
            for template, found in self.names.items()
        }


def _kinds(counts: Mapping[str, int]) -> dict[str, int]:
    return {"wrong": sum(counts.values()), **{kind: counts.get(kind, 0) for kind in EXPLAINED}}


def share(number: int, wrong: int, intervals: Intervals) -> dict[str, Any]:
    """The share of a template's wrong replies with the interval of Wilson (1927), which holds for few replies.

    A template's instances are drawn independently of each other, so that here the reply is the unit.
    """
    if not wrong:
        return dict(NOWHERE)
    value = number / wrong
    found = {"value": value, "se": sqrt(value * (1 - value) / wrong), "ci": None}
    if intervals.method == "none":
        return found
    scale = 1 + WIDTH**2 / wrong
    middle = (value + WIDTH**2 / (2 * wrong)) / scale
    reach = WIDTH / scale * sqrt(value * (1 - value) / wrong + WIDTH**2 / (4 * wrong**2))
    return {**found, "ci": [max(0.0, middle - reach), min(1.0, middle + reach)]}

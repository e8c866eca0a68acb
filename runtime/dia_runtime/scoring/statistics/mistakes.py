"""Which wrong replies are explained by named mistakes, counted so that the shares add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import sqrt

from dia_runtime.scoring.metrics import Aggregate, Part, equal_rows
from dia_runtime.scoring.results import Estimate, Explained, Mistake, MistakeShares, TemplateMistakes, unknown
from dia_runtime.scoring.statistics.estimates import estimate
from dia_runtime.scoring.statistics.resample import Intervals
from dia_runtime.scoring.statistics.sample import WIDTH


class MistakeTally:
    """Wrong replies, counted by how many named mistakes explain each."""

    def __init__(self) -> None:
        self.kinds: dict[str, Counter[str]] = {}
        self.names: dict[str, Counter[str]] = {}
        self.items: dict[str, tuple[int, int]] = {}

    def add(self, template: str, item: str, mistakes: Mapping[str, bool]) -> None:
        """Add one wrong reply, with the mistakes that it is and is not."""
        number = sum(mistakes.values())
        self.kinds.setdefault(template, Counter())["none" if not number else "several" if number > 1 else "one"] += 1
        if mistakes:
            self.names.setdefault(template, Counter()).update({name: int(is_it) for name, is_it in mistakes.items()})
        wrong, explained = self.items.get(item, (0, 0))
        self.items[item] = (wrong + 1, explained + (number > 0))

    def result(self, intervals: Intervals) -> MistakeShares:
        """Return the counts of all wrong replies, and by template those of each mistake."""
        rows = equal_rows(self.items.values())
        parts = tuple(Part(explained, explained, wrong, times) for (wrong, explained), times in rows.items())
        return {
            **_explained(sum(self.kinds.values(), Counter[str]())),
            "explained": estimate(Aggregate(parts), intervals),
            "templates": {name: self._template(name, intervals) for name in self.names},
        }

    def _template(self, name: str, intervals: Intervals) -> TemplateMistakes:
        wrong = self.kinds[name].total()
        mistakes: dict[str, Mistake] = {
            mistake: {"count": number, "share": share(number, wrong, intervals)}
            for mistake, number in sorted(self.names[name].items())
        }
        return {**_explained(self.kinds[name]), "mistakes": mistakes}

    def shares(self) -> dict[str, dict[str, float]]:
        """Return template -> mistake -> share of the template's wrong replies that are this mistake."""
        return {
            template: {name: number / self.kinds[template].total() for name, number in sorted(names.items())}
            for template, names in self.names.items()
        }


def _explained(kinds: Counter[str]) -> Explained:
    return {"wrong": kinds.total(), "one": kinds["one"], "several": kinds["several"], "none": kinds["none"]}


def share(number: int, wrong: int, intervals: Intervals) -> Estimate:
    """Return the share of a template's wrong replies with Wilson's interval (1927), which is valid for few replies.

    A template's instances are drawn independently, so the reply is the unit here.
    """
    if not wrong:
        return unknown()
    value = number / wrong
    error = sqrt(value * (1 - value) / wrong)
    if intervals.method == "none":
        return {"value": value, "se": error, "ci": None}
    scale = 1 + WIDTH**2 / wrong
    middle = (value + WIDTH**2 / (2 * wrong)) / scale
    reach = WIDTH / scale * sqrt(value * (1 - value) / wrong + WIDTH**2 / (4 * wrong**2))
    return {"value": value, "se": error, "ci": [max(0.0, middle - reach), min(1.0, middle + reach)]}

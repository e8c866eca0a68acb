"""A question's agreement beside what it took: tokens, and the numbers that its template declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from dia_runtime.grading.sessions.outcome import VALID, Outcome
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.scoring.statistics.correlate import rank_correlation

TOKENS = "tokens"


class Companions:
    """Sums of agreement and of one number beside it, by item, since the instances of an item are not independent."""

    def __init__(self, declared: Iterable[str]) -> None:
        """`declared` are the figures whose values are numbers."""
        self.declared = tuple(declared)
        self.sums: dict[str, dict[str, tuple[Fraction, Fraction, int]]] = {}

    def add(self, item: str, outcome: Outcome) -> None:
        """Takes one question that was valid; what is no number is left out."""
        score = agreement(outcome)
        if score is None:
            return
        for name, value in self._numbers(outcome):
            held = self.sums.setdefault(name, {})
            before = held.get(item, (Fraction(0), Fraction(0), 0))
            held[item] = (before[0] + score, before[1] + value, before[2] + 1)

    def _numbers(self, outcome: Outcome) -> Iterator[tuple[str, Fraction]]:
        if outcome.tokens is not None and TOKENS not in self.declared:
            yield TOKENS, Fraction(outcome.tokens)
        for name in self.declared:
            value = outcome.figures.get(name)
            if isinstance(value, int | Fraction) and not isinstance(value, bool):
                yield name, Fraction(value)

    def as_json(self) -> dict[str, Any]:
        """Number -> Spearman's correlation with agreement, over the means of the items."""
        return {
            name: rank_correlation([(float(score / n), float(value / n)) for score, value, n in held.values()])
            for name, held in self.sums.items()
        }


def agreement(outcome: Outcome) -> Fraction | None:
    """The share of a valid question's decisions or pairs that agree, or whether its grade is correct; else None."""
    if outcome.state != VALID:
        return None
    if outcome.kind == "ranking":
        return None if outcome.order is None else outcome.order.score
    if outcome.kind == "decisions":
        known = [one for one in outcome.decisions if one.is_known]
        return Fraction(sum(one.predicted == one.actual for one in known), len(known)) if known else None
    return None if outcome.verdict is Verdict.SKIPPED else Fraction(outcome.verdict is Verdict.CORRECT)

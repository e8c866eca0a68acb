"""Correlations of a question's agreement with its tokens, and with the numbers that its template declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from dia_runtime.grading.sessions.outcome import VALID, Outcome
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.scoring.results import Correlation
from dia_runtime.scoring.statistics.correlate import rank_correlation

TOKENS = "tokens"


class AgreementCorrelations:
    """Sums of agreement and of each number, by item, because the instances of an item are not independent."""

    def __init__(self, declared: Iterable[str]) -> None:
        """`declared` are the figures whose values are numbers."""
        self.declared = tuple(declared)
        self.sums: dict[str, dict[str, tuple[Fraction, Fraction, int]]] = {}

    def add(self, item: str, outcome: Outcome) -> None:
        """Add one valid question; values that are not numbers are left out."""
        score = agreement(outcome)
        if score is None:
            return
        for name, value in self._numbers(outcome):
            by_item = self.sums.setdefault(name, {})
            scores, values, number = by_item.get(item, (Fraction(0), Fraction(0), 0))
            by_item[item] = (scores + score, values + value, number + 1)

    def _numbers(self, outcome: Outcome) -> Iterator[tuple[str, Fraction]]:
        if outcome.tokens is not None and TOKENS not in self.declared:
            yield TOKENS, Fraction(outcome.tokens)
        for name in self.declared:
            value = outcome.figures.get(name)
            if isinstance(value, int | Fraction) and not isinstance(value, bool):
                yield name, Fraction(value)

    def result(self) -> dict[str, Correlation]:
        """Return Spearman's correlation of each number with agreement, over the means of the items."""
        return {
            name: rank_correlation([(float(score / n), float(value / n)) for score, value, n in by_item.values()])
            for name, by_item in self.sums.items()
        }


def agreement(outcome: Outcome) -> Fraction | None:
    """Return the share of a valid question's decisions or pairs that agree, or 1 for a correct grade; else None."""
    if outcome.state != VALID:
        return None
    if outcome.kind == "ranking":
        return None if outcome.order is None else outcome.order.score
    if outcome.kind == "decisions":
        decisions = [decision for decision in outcome.decisions if decision.is_known]
        agreeing = sum(decision.predicted == decision.actual for decision in decisions)
        return Fraction(agreeing, len(decisions)) if decisions else None
    return None if outcome.verdict is Verdict.SKIPPED else Fraction(outcome.verdict is Verdict.CORRECT)

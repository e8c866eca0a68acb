"""Figures from the outcomes of session questions, with counts of everything that they leave out.

There are three denominators: *all* decisions or questions, those of questions that were *answered* (a reply to every
turn that the truth needs arrived), and those that are *valid* (everything could be read). An unknown value never
agrees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from statistics import median
from typing import Any, NamedTuple, cast

from dia_language.expressions.replies import UNSET
from dia_language.numbers.values import Value
from dia_runtime.grading.sessions.outcome import STATES, VALID, Outcome
from dia_runtime.grading.verdicts import Exact, Verdict
from dia_runtime.scoring.metrics import Aggregate, Part, Range
from dia_runtime.scoring.results import (
    Baselines,
    DecisionCounts,
    DeclaredFigure,
    Denominators,
    Estimate,
    SessionBlock,
    SessionCounts,
)  # fmt: skip
from dia_runtime.scoring.sessions.companions import AgreementCorrelations

DENOMINATORS = ("all", "answered", "valid")
NUMBERS = ("mean", "median")  # summaries of numeric values


class Counts(NamedTuple):
    """The decisions of a question: the four kinds, the unknown ones, and whether all replies arrived."""

    tp: int
    fp: int
    fn: int
    tn: int
    unknown: int
    is_answered: bool

    @property
    def known(self) -> int:
        """Return how many decisions are known on both sides."""
        return self.tp + self.fp + self.fn + self.tn

    @property
    def agreeing(self) -> int:
        """Return the number of correct predictions."""
        return self.tp + self.tn


class SessionTally:
    """The outcomes of the session questions of one template."""

    def __init__(self, stored: Mapping[str, Any], study: str | None = None) -> None:
        """`stored` is the template's truth, as stored in any of its questions; `study` names its study, if any."""
        self.study = study
        self.kind = next(iter(stored["truth"]))
        self.positive = stored["truth"][self.kind].get("positive") if self.kind == "decisions" else None
        self.declared: dict[str, Mapping[str, Any]] = dict(stored.get("figures", {}))
        self.questions = self.errors = self.lost = self.recorded = 0
        self.ledger: Counter[tuple[str, str | None]] = Counter()
        self.verdicts: Counter[tuple[Verdict, str, bool]] = Counter()
        self.decisions: Counter[Counts] = Counter()
        self.orders: Counter[tuple[Fraction | None, bool, bool, bool]] = Counter()
        self.values: dict[str, list[tuple[Value, bool]]] = {name: [] for name in self.declared}
        self.tokens: Counter[int] = Counter()
        self.correlations = AgreementCorrelations(
            name for name, figure in self.declared.items() if figure["summary"] in NUMBERS
        )

    def add_error(self, is_lost: bool = False) -> None:
        """Add a question without a reply, which a retry may provide; a lost one counts as wrong."""
        self.questions += 1
        self.errors += 1
        self.lost += is_lost

    def add(self, outcome: Outcome, item: str | None = None) -> None:
        """Add one question's outcome; without the name of an item, the question is an item of its own."""
        self.questions += 1
        self.correlations.add(str(self.questions) if item is None else item, outcome)
        self.recorded += outcome.is_recorded
        self.ledger[outcome.state, outcome.missing] += 1
        self.verdicts[outcome.verdict, outcome.state, outcome.is_answered] += 1
        self.decisions[decision_counts(outcome)] += 1
        if outcome.kind == "ranking":
            is_exact = outcome.order is not None and outcome.order.score == 1
            score = None if outcome.order is None else outcome.order.score
            self.orders[score, outcome.is_answered, outcome.state == VALID, is_exact] += 1
        for name, value in outcome.figures.items():
            if name in self.values:
                self.values[name].append((value, outcome.is_answered))
        if outcome.tokens is not None:
            self.tokens[outcome.tokens] += 1

    def result(self, estimated: Callable[[Mapping[str, Aggregate]], dict[str, Estimate]]) -> SessionBlock:
        """Return the figures for `dia score --json`; `estimated` adds the uncertainty of aggregates."""
        accuracy, more = self.figures()
        estimates_by_name = estimated({**{f"accuracy/{name}": accuracy[name] for name in DENOMINATORS}, **more})
        facts = cast(
            SessionBlock,
            {
                "truth": self.kind,
                "questions": self.questions,
                "ledger": self.ledger_counts(),
                "accuracy": {name: estimates_by_name[f"accuracy/{name}"] for name in DENOMINATORS},
                **{name: estimates_by_name[name] for name in more},
            },
        )
        if self.kind == "decisions":
            self._add_decisions(facts)
        if declared := self._declared(estimated):
            facts["figures"] = declared
        if self.tokens:
            parts = tuple(Part(number, number, 1, times) for number, times in self.tokens.items())
            facts["tokens"] = estimated({"tokens": Aggregate(parts, range=Range.UNKNOWN)})["tokens"]
        if correlations := self.correlations.result():
            facts["rank_correlations"] = correlations
        facts["recorded"] = self.recorded
        return facts

    def ledger_counts(self) -> SessionCounts:
        """Return how many questions had each outcome; these add up to the number of questions."""
        states = dict.fromkeys(STATES, 0)
        by_reply: dict[str, dict[str, int]] = {}
        for (state, reply), number in sorted(self.ledger.items(), key=str):
            states[state] += number
            if reply is not None:
                of_reply = by_reply.setdefault(reply, {})
                of_reply[state] = of_reply.get(state, 0) + number
        return cast(SessionCounts, {**states, "error": self.errors, "of": by_reply})

    def figures(self) -> tuple[dict[str, Aggregate], dict[str, Aggregate]]:
        """Return the accuracy by denominator, and the further figures by name."""
        if self.kind == "decisions":  # which of them an error belongs to depends on its replies, so it is in none
            return decision_accuracies(self.decisions), decision_figures(self.decisions)
        more: dict[str, Aggregate] = {}
        if self.kind == "ranking":
            accuracy, more["exact"] = ranking_figures(self.orders)
        else:
            accuracy = grade_figures(self.verdicts)
        return {**accuracy, "all": self.with_errors(accuracy["all"])}, more

    def with_errors(self, figure: Aggregate) -> Aggregate:
        """Return the figure over all questions, where those with errors can still have any value."""
        errors = (Part(0, 0, 1, self.lost), Part(0, 1, 1, self.errors - self.lost))
        return Aggregate((*figure.parts, *(part for part in errors if part.times)))

    def _add_decisions(self, facts: SessionBlock) -> None:
        """Add the four counts, the size of each denominator, and the accuracy of constant predictions."""
        counts = totals(self.decisions)
        decided = sum(counts.values())
        positives = counts["tp"] + counts["fn"]
        facts["positive"] = self.positive["name"] if self.positive else None
        facts["counts"] = cast(DecisionCounts, counts)
        units = {name: sum(size for _, size in _units(self.decisions, name)) for name in DENOMINATORS}
        facts["units"] = cast(Denominators, units)
        baselines: Baselines = {
            "always": positives / decided if decided else None,
            "never": (decided - positives) / decided if decided else None,
        }
        facts["baselines"] = baselines

    def _declared(
        self, estimated: Callable[[Mapping[str, Aggregate]], dict[str, Estimate]]
    ) -> dict[str, DeclaredFigure]:
        """Return the declared figures, means first."""
        means: dict[str, Aggregate] = {}
        others: dict[str, DeclaredFigure] = {}
        for name, figure in self.declared.items():
            over, summary = figure.get("over", "valid"), figure["summary"]
            values = [value for value, is_answered in self.values[name] if _counts_in(over, value, is_answered)]
            if summary in ("share", "mean"):
                means[name] = _mean(values, summary == "share")
            elif summary == "count":
                others[name] = {"value": sum(_is_yes(value) for value in values), "of": len(values)}
            elif summary == "median":
                numbers = [value for value in values if _is_number(value)]
                others[name] = {"value": float(median(numbers)) if numbers else None, "of": len(numbers)}
            else:
                others[name] = survival(values)
        return {**cast(dict[str, DeclaredFigure], estimated(means)), **others}


def decision_counts(outcome: Outcome) -> Counts:
    """Return the decisions of a question by kind."""
    kinds = Counter((decision.predicted, decision.actual) for decision in outcome.decisions if decision.is_known)
    unknown = len(outcome.decisions) - sum(kinds.values())
    four = (kinds[True, True], kinds[True, False], kinds[False, True], kinds[False, False])
    return Counts(*four, unknown, outcome.is_answered)


def totals(decisions: Mapping[Counts, int]) -> dict[str, int]:
    """Return the four counts over all questions."""
    return {
        name: sum(getattr(counts, name) * times for counts, times in decisions.items())
        for name in ("tp", "fp", "fn", "tn")
    }


def decision_figures(decisions: Mapping[Counts, int]) -> dict[str, Aggregate]:
    """Return the figures of the positive class; clusters are questions.

    recall TP/(TP+FN), precision TP/(TP+FP), positive rate (TP+FP)/all, F1 2TP/(2TP+FP+FN), over-niceness FN/(FN+FP):
    the share of errors in which the other class was predicted, but the positive one occurred.
    """

    def ratio(top: Callable[[Counts], int], bottom: Callable[[Counts], int]) -> Aggregate:
        return Aggregate(
            tuple(
                Part(top(counts), top(counts), bottom(counts), times)
                for counts, times in decisions.items()
                if bottom(counts)
            )
        )

    return {
        "macro_accuracy": _macro(decisions),
        "recall": ratio(lambda counts: counts.tp, lambda counts: counts.tp + counts.fn),
        "precision": ratio(lambda counts: counts.tp, lambda counts: counts.tp + counts.fp),
        "positive_rate": ratio(lambda counts: counts.tp + counts.fp, lambda counts: counts.known),
        "f1": ratio(lambda counts: 2 * counts.tp, lambda counts: 2 * counts.tp + counts.fp + counts.fn),
        "over_niceness": ratio(lambda counts: counts.fn, lambda counts: counts.fn + counts.fp),
    }


def _units(decisions: Mapping[Counts, int], denominator: str) -> Iterable[tuple[Counts, int]]:
    """Yield the questions in a denominator, each with its number of decisions."""
    for counts, times in decisions.items():
        if denominator == "valid":
            yield counts, counts.known * times
        elif denominator == "all" or counts.is_answered:
            yield counts, (counts.known + counts.unknown) * times


def decision_accuracies(decisions: Mapping[Counts, int]) -> dict[str, Aggregate]:
    """Return the share of decisions that agree, by denominators; clusters are questions."""
    return {
        name: Aggregate(
            tuple(
                Part(counts.agreeing, counts.agreeing, size // decisions[counts], decisions[counts])
                for counts, size in _units(decisions, name)
                if size
            )
        )
        for name in DENOMINATORS
    }


def _macro(decisions: Mapping[Counts, int]) -> Aggregate:
    """Return the mean over questions of the share of their known decisions that agree."""
    shares = ((Fraction(counts.agreeing, counts.known), times) for counts, times in decisions.items() if counts.known)
    return Aggregate(tuple(Part(share, share, 1, times) for share, times in shares))


def ranking_figures(
    orders: Mapping[tuple[Fraction | None, bool, bool, bool], int],
) -> tuple[dict[str, Aggregate], Aggregate]:
    """Return the mean share of correctly ordered pairs by denominators, and the share of exact rankings."""
    parts: dict[str, list[Part]] = {name: [] for name in DENOMINATORS}
    exact: list[Part] = []
    for (score, is_answered, is_valid, is_exact), times in orders.items():
        worth: Exact = score or 0
        takes_in = {"all": True, "answered": is_answered, "valid": is_valid and score is not None}
        for name in DENOMINATORS:
            if takes_in[name]:
                parts[name].append(Part(worth, worth, 1, times))
        if takes_in["valid"]:
            exact.append(Part(int(is_exact), int(is_exact), 1, times))
    return _aggregates(parts), Aggregate(tuple(exact))


def _aggregates(parts: Mapping[str, Iterable[Part]]) -> dict[str, Aggregate]:
    return {name: Aggregate(tuple(of_name)) for name, of_name in parts.items()}


def grade_figures(verdicts: Mapping[tuple[Verdict, str, bool], int]) -> dict[str, Aggregate]:
    """Return the share of questions that were graded correct, by denominators; skipped ones are not valid."""
    parts: dict[str, list[Part]] = {name: [] for name in DENOMINATORS}
    for (verdict, state, is_answered), times in verdicts.items():
        is_right = int(verdict is Verdict.CORRECT)
        takes_in = {"all": True, "answered": is_answered, "valid": state == VALID and verdict is not Verdict.SKIPPED}
        for name in DENOMINATORS:
            if takes_in[name]:
                parts[name].append(Part(is_right, is_right, 1, times))
    return _aggregates(parts)


def _counts_in(over: str, value: Value, is_answered: bool) -> bool:
    """Return whether a question's value counts in a figure."""
    if over == "all":
        return True
    return is_answered if over == "answered" else value is not UNSET


def _mean(values: Iterable[Value], is_share: bool) -> Aggregate:
    """Return the mean; for a share, any value but true counts as no; for a mean, only numbers count."""
    counts = Counter(
        int(_is_yes(value)) if is_share else Fraction(value) for value in values if is_share or _is_number(value)
    )
    parts = tuple(Part(value, value, 1, times) for value, times in counts.items())
    return Aggregate(parts, range=Range.SHARE if is_share else Range.UNKNOWN)


def _is_yes(value: Value) -> bool:
    return value is True


def _is_number(value: Value) -> bool:
    return isinstance(value, bool | int | Fraction)


def survival(values: Iterable[Value]) -> DeclaredFigure:
    """Return the share of questions in which the event has not occurred by each step (product-limit estimator).

    A value is the step (from 0 on) at which the event occurred; none, or a negative number, if it never did. A list of
    the last observed step and whether the event occurred says how long a question without it was observed (Kaplan and
    Meier 1958).
    """
    events: Counter[int] = Counter()
    watched: list[int | None] = []
    for value in values:
        step, came = value if isinstance(value, list) and len(value) == 2 else (value, True)
        is_step = isinstance(step, int) and not isinstance(step, bool) and step >= 0
        if is_step and came is True:
            events[step] += 1
        watched.append(step if is_step else None)
    share, steps = 1.0, []
    last = max((step for step in watched if step is not None), default=-1)
    for step in range(min(last, MOST_STEPS) + 1):
        at_risk = sum(end is None or end >= step for end in watched)
        share *= 1 - events[step] / at_risk if at_risk else 1
        steps.append(share)
    return {"value": steps[-1] if steps else None if not watched else 1.0, "steps": steps, "of": len(watched)}


MOST_STEPS = 1_000

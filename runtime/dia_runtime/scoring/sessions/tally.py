"""Outcomes of session questions added up to figures, with everything that they leave out counted beside them.

Three denominators stand side by side: *all* decisions or questions, those of questions that were *answered* (a reply to
every turn that the truth needs came), and those that are *valid* (all of it could be read). What is not known agrees
with nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from statistics import median
from typing import Any, NamedTuple

from dia_language.expressions.replies import UNSET
from dia_language.numbers.values import Value
from dia_runtime.grading.sessions.outcome import STATES, VALID, Outcome
from dia_runtime.grading.verdicts import Exact, Verdict
from dia_runtime.scoring.metrics import MEAN, Figure, Part
from dia_runtime.scoring.sessions.companions import Companions

DENOMINATORS = ("all", "answered", "valid")
NUMBERS = ("mean", "median")  # summaries of values that are numbers
SUMMARIES = ("share", "mean", "median", "survival", "count")


class Counts(NamedTuple):
    """The decisions of a question: the four kinds, those that are not known, and whether all replies came."""

    tp: int
    fp: int
    fn: int
    tn: int
    unknown: int
    has_come: bool

    @property
    def known(self) -> int:
        """How many decisions have both sides."""
        return self.tp + self.fp + self.fn + self.tn

    @property
    def agreeing(self) -> int:
        """How many foretold what came."""
        return self.tp + self.tn


class SessionTally:
    """What the session questions of one template came to."""

    def __init__(self, stored: Mapping[str, Any], study: str | None = None) -> None:
        """`stored` is the template's truth, as any of its questions has it; `study` names one that it belongs to."""
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
        self.companions = Companions(name for name, figure in self.declared.items() if figure["summary"] in NUMBERS)

    def add_error(self, is_lost: bool = False) -> None:
        """Takes a question that has no reply, which another try may mend; one that is lost counts as wrong."""
        self.questions += 1
        self.errors += 1
        self.lost += is_lost

    def add(self, outcome: Outcome, item: str | None = None) -> None:
        """Takes one question's outcome; without the name of its item the question is one by itself."""
        self.questions += 1
        self.companions.add(str(self.questions) if item is None else item, outcome)
        self.recorded += outcome.is_recorded
        self.ledger[outcome.state, outcome.missing] += 1
        self.verdicts[outcome.verdict, outcome.state, outcome.has_come] += 1
        self.decisions[counted(outcome)] += 1
        if outcome.kind == "ranking":
            is_exact = outcome.order is not None and outcome.order.score == 1
            score = None if outcome.order is None else outcome.order.score
            self.orders[score, outcome.has_come, outcome.state == VALID, is_exact] += 1
        for name, value in outcome.figures.items():
            if name in self.values:
                self.values[name].append((value, outcome.has_come))
        if outcome.tokens is not None:
            self.tokens[outcome.tokens] += 1

    def as_json(self, shown: Callable[[Mapping[str, Figure]], dict[str, Any]]) -> dict[str, Any]:
        """The figures as `dia score --json` has them; `shown` makes the JSON of several figures at once."""
        figures = self.figures()
        flat = {(name, key): one for name, held in figures.items() for key, one in _flat(held)}
        found = shown({"/".join(filter(None, place)): figure for place, figure in flat.items()})
        facts: dict[str, Any] = {"truth": self.kind, "questions": self.questions, "ledger": self.ledger_json()}
        for name, held in figures.items():
            facts[name] = found[name] if isinstance(held, Figure) else {key: found[f"{name}/{key}"] for key in held}
        if self.kind == "decisions":
            facts |= self.decision_facts()
        declared, rest = self.declared_json()
        if declared or rest:
            facts["figures"] = {name.removeprefix(MEAN): held for name, held in shown(declared).items()} | rest
        if self.tokens:
            parts = tuple(Part(held, held, 1, times) for held, times in self.tokens.items())
            facts["tokens"] = shown({f"{MEAN}tokens": Figure(parts)})[f"{MEAN}tokens"]
        beside = self.companions.as_json()
        return facts | ({"rank_correlations": beside} if beside else {}) | {"recorded": self.recorded}

    def ledger_json(self) -> dict[str, Any]:
        """What became of every question: the numbers add up to that of the questions."""
        by_state: dict[str, Any] = dict.fromkeys(STATES, 0) | {"error": self.errors, "of": {}}
        for (state, name), number in sorted(self.ledger.items(), key=str):
            by_state[state] += number
            if name is not None:
                of = by_state["of"].setdefault(name, {})
                of[state] = of.get(state, 0) + number
        return by_state

    def figures(self) -> dict[str, Figure | dict[str, Figure]]:
        """Figure -> what it is made of, some by denominator."""
        if self.kind == "decisions":  # in how many of them an error would come its replies may say, so it is in none
            return dict(decision_figures(self.decisions))
        exact: dict[str, Figure | dict[str, Figure]] = {}
        if self.kind == "ranking":
            accuracy, exact["exact"] = ranking_figures(self.orders)
        else:
            accuracy = grade_figures(self.verdicts)
        return {"accuracy": {**accuracy, "all": self.with_errors(accuracy["all"])}, **exact}

    def with_errors(self, figure: Figure) -> Figure:
        """The figure over all questions, in which those that another try may mend may yet become anything."""
        errors = (Part(0, 0, 1, self.lost), Part(0, 1, 1, self.errors - self.lost))
        return Figure((*figure.parts, *(part for part in errors if part.times)))

    def decision_facts(self) -> dict[str, Any]:
        """The four counts, the size of each denominator, and what constant answers would have reached."""
        counts = totals(self.decisions)
        known = sum(counts.values())
        positives = counts["tp"] + counts["fn"]
        return {
            "positive": self.positive["name"] if self.positive else None,
            "counts": counts,
            "units": {name: sum(size for _, size in _units(self.decisions, name)) for name in DENOMINATORS},
            "baselines": {
                "always": positives / known if known else None,
                "never": (known - positives) / known if known else None,
            },
        }

    def declared_json(self) -> tuple[dict[str, Figure], dict[str, Any]]:
        """The declared figures that are means, and those that are something else, as JSON."""
        means: dict[str, Figure] = {}
        rest: dict[str, Any] = {}
        for name, figure in self.declared.items():
            over, summary = figure.get("over", "valid"), figure["summary"]
            values = [value for value, has_come in self.values[name] if _counts_in(over, value, has_come)]
            if summary in ("share", "mean"):
                means[name if summary == "share" else f"{MEAN}{name}"] = _mean(values, summary == "share")
            elif summary == "count":
                rest[name] = {"value": sum(_is_yes(value) for value in values), "of": len(values)}
            elif summary == "median":
                numbers = [value for value in values if _is_number(value)]
                rest[name] = {"value": float(median(numbers)) if numbers else None, "of": len(numbers)}
            else:
                rest[name] = survival(values)
        return means, rest


def counted(outcome: Outcome) -> Counts:
    """The decisions of a question by their kinds."""
    kinds = Counter((one.predicted, one.actual) for one in outcome.decisions if one.is_known)
    unknown = len(outcome.decisions) - sum(kinds.values())
    four = (kinds[True, True], kinds[True, False], kinds[False, True], kinds[False, False])
    return Counts(*four, unknown, outcome.has_come)


def totals(decisions: Mapping[Counts, int]) -> dict[str, int]:
    """The four counts over all questions."""
    return {
        name: sum(getattr(held, name) * times for held, times in decisions.items()) for name in ("tp", "fp", "fn", "tn")
    }


def decision_figures(decisions: Mapping[Counts, int]) -> dict[str, Figure | dict[str, Figure]]:
    """Accuracy by denominators, and the figures of the positive class; clusters are questions.

    recall TP/(TP+FN), precision TP/(TP+FP), positive rate (TP+FP)/all, F1 2TP/(2TP+FP+FN), over-niceness FN/(FN+FP):
    of the errors those in which the positive class came though the other was foretold.
    """

    def ratio(top: Callable[[Counts], int], bottom: Callable[[Counts], int]) -> Figure:
        parts = (Part(top(held), top(held), bottom(held), times) for held, times in decisions.items() if bottom(held))
        return Figure(tuple(parts))

    return {
        "accuracy": {name: _accuracy(decisions, name) for name in DENOMINATORS},
        "macro_accuracy": _macro(decisions),
        "recall": ratio(lambda held: held.tp, lambda held: held.tp + held.fn),
        "precision": ratio(lambda held: held.tp, lambda held: held.tp + held.fp),
        "positive_rate": ratio(lambda held: held.tp + held.fp, lambda held: held.known),
        "f1": ratio(lambda held: 2 * held.tp, lambda held: 2 * held.tp + held.fp + held.fn),
        "over_niceness": ratio(lambda held: held.fn, lambda held: held.fn + held.fp),
    }


def _units(decisions: Mapping[Counts, int], denominator: str) -> Iterable[tuple[Counts, int]]:
    """The questions that a denominator takes in, each with how many decisions it gives."""
    for held, times in decisions.items():
        if denominator == "valid":
            yield held, held.known * times
        elif denominator == "all" or held.has_come:
            yield held, (held.known + held.unknown) * times


def _accuracy(decisions: Mapping[Counts, int], denominator: str) -> Figure:
    parts = []
    for held, size in _units(decisions, denominator):
        if size:
            parts.append(Part(held.agreeing, held.agreeing, size // decisions[held], decisions[held]))
    return Figure(tuple(parts))


def _macro(decisions: Mapping[Counts, int]) -> Figure:
    """The mean over questions of the share of their known decisions that agree."""
    shares = ((Fraction(held.agreeing, held.known), times) for held, times in decisions.items() if held.known)
    return Figure(tuple(Part(share, share, 1, times) for share, times in shares))


def ranking_figures(
    orders: Mapping[tuple[Fraction | None, bool, bool, bool], int],
) -> tuple[dict[str, Figure], Figure]:
    """The mean share of pairs in the right order by denominators, and the share of rankings that are exact."""
    parts: dict[str, list[Part]] = {name: [] for name in DENOMINATORS}
    exact: list[Part] = []
    for (score, has_come, is_valid, is_exact), times in orders.items():
        worth: Exact = score or 0
        takes_in = {"all": True, "answered": has_come, "valid": is_valid and score is not None}
        for name in DENOMINATORS:
            if takes_in[name]:
                parts[name].append(Part(worth, worth, 1, times))
        if takes_in["valid"]:
            exact.append(Part(int(is_exact), int(is_exact), 1, times))
    return {name: Figure(tuple(held)) for name, held in parts.items()}, Figure(tuple(exact))


def grade_figures(verdicts: Mapping[tuple[Verdict, str, bool], int]) -> dict[str, Figure]:
    """The share of questions that were graded correct, by denominators; skipped ones are not valid."""
    parts: dict[str, list[Part]] = {name: [] for name in DENOMINATORS}
    for (verdict, state, has_come), times in verdicts.items():
        is_right = int(verdict is Verdict.CORRECT)
        takes_in = {"all": True, "answered": has_come, "valid": state == VALID and verdict is not Verdict.SKIPPED}
        for name in DENOMINATORS:
            if takes_in[name]:
                parts[name].append(Part(is_right, is_right, 1, times))
    return {name: Figure(tuple(held)) for name, held in parts.items()}


def _flat(held: Figure | Mapping[str, Figure]) -> Iterable[tuple[str, Figure]]:
    return [("", held)] if isinstance(held, Figure) else held.items()


def _counts_in(over: str, value: Value, has_come: bool) -> bool:
    """Whether a question's value counts in a figure."""
    if over == "all":
        return True
    return has_come if over == "answered" else value is not UNSET


def _mean(values: Iterable[Value], is_share: bool) -> Figure:
    """The mean; in a share whatever is not true counts as no, in a mean what is no number is left out."""
    held = Counter(
        int(_is_yes(value)) if is_share else Fraction(value) for value in values if is_share or _is_number(value)
    )
    return Figure(tuple(Part(value, value, 1, times) for value, times in held.items()))


def _is_yes(value: Value) -> bool:
    return value is True


def _is_number(value: Value) -> bool:
    return isinstance(value, bool | int | Fraction)


def survival(values: Iterable[Value]) -> dict[str, Any]:
    """The share of questions in which the event has not come by each step, by the product-limit estimator.

    A value is the step (from 0 on) at which the event came; none, or a number below 0, where it never did. A list of
    the last step that was seen and whether the event came then tells how far a question without it was watched
    (Kaplan and Meier 1958).
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
        at_risk = sum(seen is None or seen >= step for seen in watched)
        share *= 1 - events[step] / at_risk if at_risk else 1
        steps.append(share)
    return {"value": steps[-1] if steps else None if not watched else 1.0, "steps": steps, "of": len(watched)}


MOST_STEPS = 1_000

"""Predicted and observed success of instances that were chosen by their predicted difficulty."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from dia_runtime.bundle.open import Bundle
from dia_runtime.grading.judge import Judge, Rules
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.store.store import Store

Z = 1.959963984540054
MOST_REFUSED = 200


@dataclass(frozen=True, slots=True)
class SuccessRow:
    """A model on a template's instances (None: on all): mean predicted and observed success, 95 % interval.

    The interval is Wilson's (1927) and assumes independent instances.
    """

    model: str
    template: str | None
    questions: int
    predicted: float
    observed: float
    interval: tuple[float, float]


@dataclass(frozen=True, slots=True)
class PredictedSuccess:
    """The predicted success, the templates without good predictions and why, and the observed success."""

    model: str | None
    success: float
    rows: tuple[SuccessRow, ...]
    refused: tuple[tuple[str, str], ...]


def predicted_success(stores: Sequence[Store], rules: Rules, source: Bundle | None) -> PredictedSuccess | None:
    """Return predicted and observed success; None unless the runs' bundle was compiled for a success."""
    steering = stores[0].facts.get("steering")
    success = _number(steering.get("success")) if isinstance(steering, Mapping) else None
    if success is None or not isinstance(steering, Mapping):
        return None
    rows: list[SuccessRow] = []
    for store in stores:
        for respondent in store.respondents():
            with closing(Judge(store, rules, source)) as judge:
                rows += _rows(respondent.name, judge, respondent.id)
    model = steering.get("model")
    return PredictedSuccess(model if isinstance(model, str) else None, success, tuple(rows), tuple(_refused(steering)))


def _rows(name: str, judge: Judge, respondent: int) -> Iterator[SuccessRow]:
    """Yield the row of all instances, then those of the templates."""
    outcomes: dict[str | None, list[tuple[float, bool]]] = {None: []}
    for entry in judge.judged(respondent):
        predicted = _predicted(entry.question.grading)
        if predicted is None or entry.question.variant is not None or entry.mark.verdict is Verdict.ERROR:
            continue
        outcome = (predicted, entry.mark.verdict is Verdict.CORRECT)
        outcomes[None].append(outcome)
        outcomes.setdefault(entry.question.template, []).append(outcome)
    for template, pairs in outcomes.items():
        if pairs and (template is None or len(outcomes) > 2):
            number, right = len(pairs), sum(is_right for _, is_right in pairs)
            predicted = math.fsum(value for value, _ in pairs) / number
            yield SuccessRow(name, template, number, predicted, right / number, wilson(right, number))


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Return the 95 % interval of a share by Wilson's score (1927).

    >>> tuple(round(end, 4) for end in wilson(81, 263))
    (0.2553, 0.3662)
    """
    share, square = successes / trials, Z * Z
    middle = share + square / (2 * trials)
    half = Z * math.sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    return (middle - half) / (1 + square / trials), (middle + half) / (1 + square / trials)


def _predicted(grading: str | None) -> float | None:
    try:
        record: Any = json.loads(grading or "{}").get("predicted")
        return _number(record.get("success"))
    except (ValueError, RecursionError, AttributeError):  # untrusted text
        return None


def _number(text: Any) -> float | None:
    try:
        value = float(text) if isinstance(text, str) else math.nan
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


def _refused(steering: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    entries = steering.get("refused")
    for entry in entries[:MOST_REFUSED] if isinstance(entries, list) else ():
        if isinstance(entry, Mapping):
            yield str(entry.get("template")), str(entry.get("why"))

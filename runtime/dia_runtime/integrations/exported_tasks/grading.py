"""Grade replies to exported rows exactly as `dia score` grades them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_language.numbers.values import Value, decode
from dia_language.stored.stored_conditions import isolated_condition, isolated_share
from dia_language.workers.pool import SingleWorker
from dia_runtime.bundle.records import is_gradable
from dia_runtime.grading.grader import Condition, Grader, Share
from dia_runtime.grading.judge import worth
from dia_runtime.grading.verdicts import WITH_POINTS, Exact, Verdict, mark

Row = Mapping[str, Any]


class Graded(NamedTuple):
    """The verdict on a reply, the answer that was extracted from it, and the points of the verdict."""

    verdict: Verdict
    extracted: str | None
    points: Exact

    def figures(self) -> dict[str, float]:
        """Return the verdict as numbers that a harness can average."""
        return {
            **{verdict: float(self.verdict is verdict) for verdict in AVERAGED},
            "points": float(self.points),
        }


@dataclass(frozen=True, slots=True)
class _Record:
    """The parts of an answer record that grading needs, decoded once."""

    comparison: str
    truth: Value
    accept: list[Value]
    text: str
    condition: Condition | None
    share: Share | None


AVERAGED = (Verdict.CORRECT, Verdict.SKIPPED, Verdict.UNPARSED)  # verdicts whose shares are printed by harnesses
WORKER = SingleWorker()  # untrusted conditions of answers are evaluated in a process that can be killed


def grade_reply(row: Row, reply: str | None, chain: str = "standard") -> Graded:
    """Return the grade of a reply to the question of an exported row. Raises DiaError for an invalid row.

    A missing reply counts as an empty one, because harnesses do not distinguish it from an error.
    """
    try:
        texts = [str(row[name]) for name in ("format", "grading", "points")]
    except KeyError as error:
        raise unusable_row_error(f"a row has no {error}") from None
    record = _record(texts[1])
    grader = _grader(texts[0], record.comparison, chain)
    grade = grader.grade(record.truth, record.accept, record.text, reply or "", record.condition, record.share)
    return Graded(grade.verdict, grade.extracted, mark(grade.verdict, points_of(texts[2])).low)


@lru_cache(maxsize=1 << 12)
def _record(encoded: str) -> _Record:
    grading = parsed(encoded)
    if not is_gradable(grading | {"mistakes": {}}):
        raise unusable_row_error("a row's `grading` lacks something")
    stored = grading["comparison"].get("accept_if")
    share = grading["comparison"].get("share")
    try:
        return _Record(
            json.dumps(grading["comparison"], sort_keys=True),
            decode(grading["answer"]),
            [decode(form) for form in grading["accept"]],
            grading["text"],
            None if stored is None else isolated_condition(stored, WORKER),
            None if share is None else isolated_share(share, WORKER),
        )
    except ValueError:
        raise unusable_row_error("a row's `grading` contains an invalid value") from None


@lru_cache(maxsize=1 << 12)
def _grader(format: str, comparison: str, chain: str) -> Grader:
    return Grader(parsed(comparison), parsed(format), chain)


@lru_cache(maxsize=64)
def points_of(encoded: str) -> dict[str, Exact]:
    """Return the points of each verdict, from the record of a row."""
    points = parsed(encoded)
    return {name: worth(name, points.get(name)) for name in WITH_POINTS}


def parsed(encoded: str) -> dict[str, Any]:
    """Return the record in a row. Raises DiaError (exit 3) if it is malformed."""
    try:
        record = json.loads(encoded)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise unusable_row_error("a record in a row is not a JSON object")
    return record


def unusable_row_error(message: str) -> DiaError:
    """Return the error for a row that cannot be graded."""
    return DiaError(Diagnostic("E822", visible(message), None, "export the bundle again"), 3)


def points_from_text(text: str) -> Exact:
    """Return the points that a log contains as text."""
    value = Fraction(text)
    return value.numerator if value.denominator == 1 else value

"""Replies to exported rows, graded exactly as `dia score` grades them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from dia_language.diagnostics import DiaError, Diagnostic, visible
from dia_language.numbers.values import Value, decode
from dia_language.stored.stored_conditions import guarded_condition, guarded_share
from dia_language.workers.pool import Servant
from dia_runtime.bundle.records import is_gradable
from dia_runtime.grading.grader import Condition, Grader, Share
from dia_runtime.grading.judge import worth
from dia_runtime.grading.verdicts import WITH_POINTS, Exact, Verdict, mark

Row = Mapping[str, Any]


class Graded(NamedTuple):
    """The verdict on a reply, the answer that was read in it, and the verdict's points."""

    verdict: Verdict
    extracted: str | None
    points: Exact

    def figures(self) -> dict[str, float]:
        """The verdict as numbers that a harness can average."""
        return {
            **{verdict: float(self.verdict is verdict) for verdict in AVERAGED},
            "points": float(self.points),
        }


@dataclass(frozen=True, slots=True)
class _Record:
    """What grading needs of an answer record, decoded once."""

    comparison: str
    truth: Value
    accept: list[Value]
    text: str
    condition: Condition | None
    share: Share | None


AVERAGED = (Verdict.CORRECT, Verdict.SKIPPED, Verdict.UNPARSED)  # verdicts whose shares harnesses print
SERVANT = Servant()  # conditions of answers, which strangers write, are evaluated in a process that can be killed


def graded(row: Row, reply: str | None, chain: str = "strict") -> Graded:
    """The grade of a reply to the question of an exported row. Raises DiaError for a row that holds no such question.

    A reply that is missing is an empty one: no harness tells an error from it.
    """
    try:
        texts = [str(row[name]) for name in ("format", "grading", "points")]
    except KeyError as error:
        raise unfit(f"a row has no {error}") from None
    record = _record(texts[1])
    grader = _grader(texts[0], record.comparison, chain)
    found = grader.grade(record.truth, record.accept, record.text, reply or "", record.condition, record.share)
    return Graded(found.verdict, found.extracted, mark(found.verdict, points_of(texts[2])).low)


@lru_cache(maxsize=1 << 12)
def _record(encoded: str) -> _Record:
    held = parsed(encoded)
    if not is_gradable(held | {"mistakes": {}}):
        raise unfit("a row's `grading` lacks something")
    stored = held["comparison"].get("accept_if")
    share = held["comparison"].get("share")
    try:
        return _Record(
            json.dumps(held["comparison"], sort_keys=True),
            decode(held["answer"]),
            [decode(form) for form in held["accept"]],
            held["text"],
            None if stored is None else guarded_condition(stored, SERVANT),
            None if share is None else guarded_share(share, SERVANT),
        )
    except ValueError:
        raise unfit("a row's `grading` holds no stored value") from None


@lru_cache(maxsize=1 << 12)
def _grader(format: str, comparison: str, chain: str) -> Grader:
    return Grader(parsed(comparison), parsed(format), chain)


@lru_cache(maxsize=64)
def points_of(encoded: str) -> dict[str, Exact]:
    """The points of each verdict, of a row's record."""
    held = parsed(encoded)
    return {name: worth(name, held.get(name)) for name in WITH_POINTS}


def parsed(encoded: str) -> dict[str, Any]:
    """The record in a row. Raises DiaError (exit 3) for what is none."""
    try:
        held = json.loads(encoded)
    except (ValueError, RecursionError):
        held = None
    if not isinstance(held, dict):
        raise unfit("a row holds a record that is no JSON object")
    return held


def unfit(message: str) -> DiaError:
    """The error for a row that cannot be graded."""
    return DiaError(Diagnostic("E822", visible(message), None, "export the bundle again"), 3)


def exact(text: str) -> Exact:
    """The points that stand in a log as text."""
    value = Fraction(text)
    return value.numerator if value.denominator == 1 else value

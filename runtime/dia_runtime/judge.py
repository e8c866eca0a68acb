"""Stored replies to verdicts, with their points, flags and typical mistakes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dia_runtime.bundle.records import is_gradable
from dia_runtime.formats import FORMATS
from dia_runtime.grade import WRONG, Condition, Grade, Share, grade
from dia_runtime.language.answers import Mode, Undecided, Unreadable, answer_type
from dia_runtime.language.answers.base import CHARACTERS, AnswerType
from dia_runtime.language.conditions import condition, guarded_condition, guarded_share
from dia_runtime.language.conditions import share as stored_share
from dia_runtime.language.diagnostics import DiaError, Diagnostic, did_you_mean, visible
from dia_runtime.language.values import Value
from dia_runtime.language.workers import Servant
from dia_runtime.metrics import Exact, Mark, mark
from dia_runtime.store import Store
from dia_runtime.store_schema import StoredQuestion, StoredReply

FLAGS = ("over_context", "refused", "truncated", "skip_malformed", "undecided")
# How providers call the end of a reply -> flag. The first two come without a text, and for good.
ENDINGS = {"over_context": "over_context", "content_filter": "refused", "length": "truncated"}
WORTHS = ("correct", "skipped", "wrong")
# Bounded, because Fraction("1e999999999") does not end.
NUMBER = re.compile(r"[+-]?[0-9]{1,9}(?:/[1-9][0-9]{0,8}|\.[0-9]{1,9})?", re.ASCII)


Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rules:
    """How replies are judged: chain, points that replace the questions' own, what an error counts as."""

    chain: str = "strict"
    points: Mapping[str, Exact] | None = None
    errors: str = "keep"


@dataclass(frozen=True, slots=True)
class Judged:
    """A question, the mark and the flags of its reply, which known mistakes the reply is and is not, and its share."""

    question: StoredQuestion
    mark: Mark
    flags: frozenset[str]
    mistakes: Mapping[str, bool]
    share: Fraction | None = None


def judge(store: Store, respondent: int, rules: Rules, answers: Mapping[str, Record]) -> Iterator[Judged]:
    """The respondent's first replies, judged; `answers` serve where the run itself holds none.

    Conditions of answers are evaluated in a worker that can be killed; one that fails on a reply is a no.
    """
    with closing(Servant()) as servant:
        for question, reply in store.replies(respondent):
            record = answers.get(question.id) or _held(store, question)
            format = _format(store, question)
            holds = _condition(store, record, servant)
            share = _share(store, record, servant)
            found = _found(record, reply, format, rules.chain, holds, share)
            verdict = "wrong" if found.verdict == "error" and rules.errors == "wrong" else found.verdict
            yield Judged(
                question,
                mark(verdict, _points(store, question.points) | dict(rules.points or {})),
                frozenset(found.flags) | _ending(reply),
                _mistakes(record, found, format, rules.chain) if verdict == "wrong" else {},
                _marks(found, verdict, share),
            )


def _marks(found: Grade, verdict: str, share: Share | None) -> Fraction | None:
    """The share of full marks; nothing said or nothing read has none of them, and an error leaves them open."""
    if share is None or verdict == "error":
        return None
    return Fraction(0) if found.share is None else found.share


def _held(store: Store, question: StoredQuestion) -> dict[str, Any]:
    if question.grading is None:
        message = f"`{store.path}` holds no answers"
        raise DiaError(Diagnostic("E808", message, None, "give the bundle that has them with `--bundle`"))
    record = store.record(question.grading)
    if not is_gradable(record):
        raise store.damaged(visible(f"the grading record of `{question.id}` lacks something"))
    return record


def _format(store: Store, question: StoredQuestion) -> dict[str, Any]:
    format = store.parsed(question.format)
    if not isinstance(format, dict):
        raise store.damaged(visible(f"the answer format of `{question.id}` is none"))
    return format


def _condition(store: Store, record: Record, servant: Servant) -> Condition | None:
    """The condition of the answer, or None where it has none. Raises DiaError (exit 3) for one that is no condition."""
    stored = record["comparison"].get("accept_if")
    if stored is None:
        return None
    try:
        condition(stored)  # compiled here and evaluated there
    except (KeyError, TypeError, AttributeError, ValueError, DiaError):
        raise store.damaged("a condition of an answer is none") from None  # a stranger wrote it
    return guarded_condition(stored, servant)


def _share(store: Store, record: Record, servant: Servant) -> Share | None:
    """The share of the answer, or None where it has none. Raises DiaError (exit 3) for one that is no share."""
    stored = record["comparison"].get("share")
    if stored is None:
        return None
    try:
        stored_share(stored)  # compiled here and evaluated there
    except (KeyError, TypeError, AttributeError, ValueError, DiaError):
        raise store.damaged("a share of an answer is none") from None  # a stranger wrote it
    return guarded_share(stored, servant)


def _found(
    record: Record,
    reply: StoredReply,
    format: Mapping[str, Any],
    chain: str,
    holds: Condition | None,
    share: Share | None,
) -> Grade:
    if reply.text is None and reply.error is None:  # the provider's last word: an answer, and not a right one
        return Grade(WRONG, None, None)
    return grade(record, None if reply.error is not None else reply.text, format, chain, holds, share)


def _ending(reply: StoredReply) -> frozenset[str]:
    flag = ENDINGS.get(reply.finish_reason or "")
    return frozenset([flag] if flag else [])


def _mistakes(record: Record, found: Grade, format: Mapping[str, Any], chain: str) -> dict[str, bool]:
    """Which of the known mistakes the wrong answer is, read and compared as the truth is."""
    texts = {name: str(text) for name, text in record["mistakes"].items()}
    form = FORMATS[format["kind"]]
    if found.extracted is None or not texts:
        return dict.fromkeys(texts, False)
    if chain in form.verbatim:
        return {name: form.wrap(text, format) == found.extracted for name, text in texts.items()}
    kind = answer_type(record["comparison"])
    said = _read(kind, found.extracted.strip(), "lenient" if chain == "lenient" else "strict")
    return {name: said is not None and _is(kind, said, text) for name, text in texts.items()}


def _is(kind: AnswerType, said: Value, text: str) -> bool:
    mistake = _read(kind, text, "strict")
    try:
        return mistake is not None and kind.equal(said, mistake)
    except Undecided:
        return False


def _read(kind: AnswerType, text: str, mode: Mode) -> Value | None:
    """The typed value of a text, which is never None; None for a text that is no value of the type."""
    try:
        return kind.read(text, mode) if len(text) <= CHARACTERS else None
    except Unreadable:
        return None


def worth(name: str, value: Any) -> Exact:
    """The points of a verdict. Raises DiaError (exit 2) for anything but an exact number.

    >>> worth("wrong", "-1/2"), worth("wrong", "-2")
    (Fraction(-1, 2), -2)
    """
    if name not in WORTHS:
        help = did_you_mean(name, WORTHS) or "points are given for correct, skipped and wrong"
        raise DiaError(Diagnostic("E811", visible(f"no verdict with points is called `{name}`"), None, help))
    if isinstance(value, bool) or not NUMBER.fullmatch(str(value)):
        message = visible(f"the points of `{name}` are no exact number: {str(value)[:40]}")
        raise DiaError(Diagnostic("E811", message))
    exact = Fraction(str(value))
    return exact.numerator if exact.denominator == 1 else exact  # integers add up much faster


def _points(store: Store, encoded: str) -> dict[str, Exact]:
    try:
        return _parsed_points(encoded)
    except (KeyError, ValueError, TypeError, RecursionError, DiaError):
        raise store.damaged("the points of a question are no numbers") from None


@lru_cache(maxsize=64)
def _parsed_points(encoded: str) -> dict[str, Exact]:
    held = json.loads(encoded)
    return {name: worth(name, held[name]) for name in WORTHS}

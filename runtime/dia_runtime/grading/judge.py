"""Grade stored replies: verdicts with points, flags and named mistakes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from dia_language.answers import Mode, Undecided, Unreadable
from dia_language.answers.base import CHARACTERS, AnswerType
from dia_language.diagnostics import DiaError, Diagnostic, did_you_mean, visible
from dia_language.numbers.values import Value, decode
from dia_language.stored.stored_conditions import condition, isolated_condition, isolated_share
from dia_language.stored.stored_conditions import share as stored_share
from dia_language.workers.pool import SingleWorker
from dia_runtime.bundle.open import Bundle
from dia_runtime.bundle.records import is_gradable
from dia_runtime.formats.base import readable_texts
from dia_runtime.grading.grader import SETTLED, Condition, Grade, Grader, Share, malformed_record
from dia_runtime.grading.sessions.judging import Judgement, Truth, is_of_sessions, judge_transcript, truth_of
from dia_runtime.grading.verdicts import WITH_POINTS, Exact, Mark, Verdict, mark
from dia_runtime.store.endings import FINAL_ENDINGS, reply_flags
from dia_runtime.store.schema import StoredQuestion, StoredReply
from dia_runtime.store.store import Store

# Bounded, because Fraction("1e999999999") does not end.
NUMBER = re.compile(r"[+-]?[0-9]{1,9}(?:/[1-9][0-9]{0,8}|\.[0-9]{1,9})?", re.ASCII)


Record = Mapping[str, Any]
MOST_CACHED = 20_000  # questions whose prepared parts are kept for the next respondent
MOST_CHARACTERS = 10_000  # characters of a cached value
NO_MISTAKES: Mapping[str, bool] = {}


@dataclass(frozen=True, slots=True)
class Rules:
    """How replies are graded: the chain, points that replace those of the questions, errors, and what k counts.

    Over `instances` a question counts by its first attempt, over `attempts` by all of them, as a separate item.
    `preset` names a published study whose way of reading replies is also used if questions of sessions have it.
    """

    chain: str = "standard"
    points: Mapping[str, Exact] | None = None
    errors: str = "keep"
    over: str = "instances"
    preset: str | None = None


class Judged(NamedTuple):
    """A question, the mark and flags of its reply, which named mistakes the reply is and is not, and partial credit.

    `extracted` is the text that was read as the answer, and `step` the step of the chain that found it; of a wrong
    answer, `answer_text` is that text without Markdown that the chain ignores. `reply` is the whole reply, and `truth`
    the canonical text of the correct answer. An abstention would have had the points `abstention_points`.
    `unanswerable` says whether only an abstention is correct; it is None for templates without unanswerable questions.
    """

    question: StoredQuestion
    mark: Mark
    flags: frozenset[str]
    mistakes: Mapping[str, bool]
    share: Fraction | None
    extracted: str | None
    step: str | None
    reply: StoredReply
    truth: str
    abstention_points: Exact
    sessions: Judgement | None = None
    record: Truth | None = None
    unanswerable: bool | None = None
    answer_text: str | None = None


def reading(entry: Judged) -> str | None:
    """Return the answer of a reply for comparisons: all correct answers are equal, a wrong one is its text, or None.

    A skip and an answer differ from each other, even if they are spelled alike.
    """
    if entry.mark.verdict in SETTLED:
        return entry.mark.verdict
    if entry.mark.verdict is not Verdict.WRONG or entry.answer_text is None:
        return None
    return f"wrong: {' '.join(entry.answer_text.split())}"


@dataclass(slots=True)
class _Prepared:
    """The parts of a question that grading needs, decoded once."""

    grader: Grader
    truth: Value
    accept: list[Value]
    text: str
    mistakes: Mapping[str, str]
    condition: Condition | None
    share: Share | None
    marks: Mapping[Verdict, Mark]


@dataclass(frozen=True, slots=True)
class _PreparedSessions:
    """The parts of a question of sessions that grading needs."""

    truth: Truth
    marks: Mapping[Verdict, Mark]


class _Cache(dict[Any, Any]):
    """Values for later questions: at most MOST_CACHED, none of them long."""

    def keep(self, key: Any, value: Any, characters: int) -> None:
        """Keep the value, unless there are too many already or it is too long."""
        if len(self) < MOST_CACHED and characters < MOST_CHARACTERS:
            self[key] = value


class Judge:
    """Grades the replies of one run, and caches what its questions share. Must be closed."""

    def __init__(self, store: Store, rules: Rules, source: Bundle | None = None) -> None:
        """`source` has the answers if the run does not contain them."""
        self.store, self.rules, self.source = store, rules, source
        self.worker = SingleWorker()
        self._prepared, self._types, self._graders, self._marks = _Cache(), _Cache(), _Cache(), _Cache()

    def close(self) -> None:
        """End the worker in which conditions are evaluated."""
        self.worker.close()

    def judged(self, respondent: int) -> Iterator[Judged]:
        """Yield the respondent's graded replies, in the order of the questions."""
        answers = _RecordsInOrder(self.source.answers()) if self.source else None
        attempt = 1 if self.rules.over == "instances" else None
        for question, reply in self.store.replies(respondent, attempt):
            yield self._one(question, reply, answers)

    def judged_one(self, question: StoredQuestion, reply: StoredReply) -> Judged:
        """Grade one reply with the answers in the run."""
        return self._one(question, reply, None)

    def _one(self, question: StoredQuestion, reply: StoredReply, answers: _RecordsInOrder | None) -> Judged:
        prepared: _Prepared | _PreparedSessions | None = self._prepared.get(question.position)
        try:
            if prepared is None:
                prepared = self._prepare(question, answers)
            if isinstance(prepared, _PreparedSessions):
                return self._judge_sessions(question, reply, prepared)
            return self._judge(question, reply, prepared)
        except DiaError as error:
            raise _naming(question, error) from None

    def _judge_sessions(self, question: StoredQuestion, reply: StoredReply, prepared: _PreparedSessions) -> Judged:
        """Grade the reply to a question of sessions, which is a transcript."""
        judgement = (
            None if reply.text is None else judge_transcript(prepared.truth, reply.text, self.rules.chain, self.worker)
        )
        verdict = judgement.outcome.verdict if judgement else Verdict.WRONG if reply.error is None else Verdict.ERROR
        verdict = self._counted(verdict)
        flags, share = (judgement.outcome.flags, judgement.outcome.share) if judgement else (frozenset(), None)
        mark, skipped = prepared.marks[verdict], prepared.marks[Verdict.SKIPPED].low
        return Judged(
            question, mark, flags, NO_MISTAKES, share, None, None, reply, "", skipped, judgement, prepared.truth
        )

    def _judge(self, question: StoredQuestion, reply: StoredReply, prepared: _Prepared) -> Judged:
        grade, grader = self._graded(reply, prepared), prepared.grader
        verdict = self._counted(grade.verdict)
        texts: tuple[str, ...] = ()
        if verdict is Verdict.WRONG and grade.extracted is not None:
            texts = readable_texts(grade.extracted, grader.chain, grader.format)
        return Judged(
            question,
            prepared.marks[verdict],
            grade.flags | reply_flags(reply.text, reply.error, reply.finish_reason),
            self._mistakes(prepared, grade, texts) if verdict is Verdict.WRONG and prepared.mistakes else NO_MISTAKES,
            _share_of_marks(grade, verdict, prepared.share),
            grade.extracted,
            grade.step,
            reply,
            prepared.text,
            prepared.marks[Verdict.CORRECT if grader.is_unanswerable else Verdict.SKIPPED].low,
            unanswerable=grader.is_unanswerable if "unanswerable" in grader.comparison else None,
            answer_text=texts[-1] if texts else None,
        )

    def _counted(self, verdict: Verdict) -> Verdict:
        """Return the verdict, in which errors may count as wrong answers."""
        return Verdict.WRONG if verdict is Verdict.ERROR and self.rules.errors == "wrong" else verdict

    def _graded(self, reply: StoredReply, prepared: _Prepared) -> Grade:
        if reply.text is None and reply.error is None:  # the provider's final refusal counts as a wrong answer
            return Grade(Verdict.WRONG, None, None)
        text = None if reply.error is not None else reply.text
        grade = prepared.grader.grade(
            prepared.truth, prepared.accept, prepared.text, text, prepared.condition, prepared.share
        )
        # A reply that a filter or a refusal has cut contains no answer, but its format is not to blame.
        is_final = grade.verdict is Verdict.UNPARSED and reply.finish_reason in FINAL_ENDINGS
        return grade._replace(verdict=Verdict.WRONG) if is_final else grade

    def _prepare(self, question: StoredQuestion, answers: _RecordsInOrder | None) -> _Prepared | _PreparedSessions:
        record = answers.get(question.id) if answers else None
        if record is None:
            record = _grading_record(self.store, question, self.source)
        if is_of_sessions(record):
            return _PreparedSessions(truth_of(record, self.rules.preset), self.marks(question.points))
        comparison = record["comparison"]
        truth, accept = _decoded(record)
        prepared = _Prepared(
            self._grader(question, comparison),
            truth,
            accept,
            record["text"],
            {name: str(text) for name, text in record["mistakes"].items()},
            _condition(self.store, record, self.worker),
            _share(self.store, record, self.worker),
            self.marks(question.points),
        )
        self._prepared.keep(question.position, prepared, len(question.grading or ""))
        return prepared

    def _grader(self, question: StoredQuestion, comparison: Record) -> Grader:
        key = (question.format, repr(comparison))
        grader: Grader | None = self._graders.get(key)
        if grader is None:
            format = self.store.parsed(question.format)
            if not isinstance(format, dict):
                raise self.store.damaged(visible(f"the answer format of `{question.id}` is invalid"))
            grader = Grader(comparison, format, self.rules.chain, self._types.get(key[1]))
            # In multiple choice each question has its own format, so the type is stored separately.
            self._types.keep(key[1], grader.answer, len(key[1]))
            self._graders.keep(key, grader, len(key[0] + key[1]))
        return grader

    def marks(self, encoded: str) -> Mapping[Verdict, Mark]:
        """Return the marks by verdict, from the points of a question and those that replace them."""
        marks: Mapping[Verdict, Mark] | None = self._marks.get(encoded)
        if marks is None:
            points = stored_points(self.store, encoded) | dict(self.rules.points or {})
            marks = {verdict: mark(verdict, points) for verdict in Verdict}
            self._marks.keep(encoded, marks, len(encoded))
        return marks

    def _mistakes(self, prepared: _Prepared, grade: Grade, texts: tuple[str, ...]) -> dict[str, bool]:
        """Return which named mistakes the wrong answer is, compared in the same way as the correct answer."""
        grader = prepared.grader
        if grader.is_verbatim:
            wrapped = ((name, grader.form.wrap(text, grader.format)) for name, text in prepared.mistakes.items())
            return {name: text == grade.extracted for name, text in wrapped}
        values = [value for text in texts if (value := _read(grader.answer, text, grader.mode)) is not None]
        return {
            name: any(_is_mistake(grader.answer, value, text) for value in values)
            for name, text in prepared.mistakes.items()
        }


class _RecordsInOrder:
    """Finds records by ids that are requested in file order, without keeping all records in memory."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._records = iter(records)

    def get(self, id: str) -> Record | None:
        """Return the record, or None if there is none."""
        return next((record for record in self._records if record["id"] == id), None)


def _naming(question: StoredQuestion, error: DiaError) -> DiaError:
    """Return the error, with the id of the question if its record cannot be graded."""
    entry = error.diagnostics[0]
    if entry.code not in ("E821", "E822"):
        return error
    return DiaError(replace(entry, message=visible(f"`{question.id}`: {entry.message}")), error.exit_code)


def _decoded(record: Record) -> tuple[Value, list[Value]]:
    try:
        return decode(record["answer"]), [decode(form) for form in record["accept"]]
    except ValueError:
        raise malformed_record("an answer record contains an invalid value") from None


def _share_of_marks(grade: Grade, verdict: Verdict, share: Share | None) -> Fraction | None:
    """Return the partial credit: zero if nothing was answered or parsed, None for an error."""
    if share is None or verdict is Verdict.ERROR:
        return None
    return Fraction(0) if grade.share is None else grade.share


def _grading_record(store: Store, question: StoredQuestion, source: Bundle | None) -> dict[str, Any]:
    if question.grading is None:
        message = f"`{store.path}` has no answers"
        if source is not None and source.is_sealed:
            message = visible(f"{message}, and `{source.path}` is sealed")
            raise DiaError(
                Diagnostic("E808", message, None, "name the bundle restored by `dia unseal` with `--bundle`")
            )
        raise DiaError(Diagnostic("E808", message, None, "name the bundle that has them with `--bundle`"))
    record = store.record(question.grading)
    if not is_gradable(record):
        raise store.damaged(visible(f"the grading record of `{question.id}` is incomplete"))
    return record


def _condition(store: Store, record: Record, worker: SingleWorker) -> Condition | None:
    """Return the condition of the answer, or None. Raises DiaError (exit 3) if it is malformed."""
    stored = _compiled(store, record, "accept_if", "condition", condition)
    return None if stored is None else isolated_condition(stored, worker)


def _share(store: Store, record: Record, worker: SingleWorker) -> Share | None:
    """Return the function for partial credit, or None. Raises DiaError (exit 3) if it is malformed."""
    stored = _compiled(store, record, "share", "share", stored_share)
    return None if stored is None else isolated_share(stored, worker)


def _compiled(store: Store, record: Record, key: str, name: str, compiled: Callable[[Any], object]) -> Any:
    """Return the stored code of the comparison. It is compiled once as a check; the worker compiles it again."""
    stored = record["comparison"].get(key)
    if stored is not None:
        try:
            compiled(stored)
        except (KeyError, TypeError, AttributeError, ValueError, DiaError):
            raise store.damaged(f"a {name} of an answer is invalid") from None  # untrusted code
    return stored


def _is_mistake(kind: AnswerType, value: Value, text: str) -> bool:
    mistake = _read(kind, text, "strict")
    try:
        return mistake is not None and kind.equal(value, mistake)
    except Undecided:
        return False


def _read(kind: AnswerType, text: str, mode: Mode) -> Value | None:
    """Return the typed value of a text; None if it is not a value of the type."""
    try:
        return kind.read(text, mode) if len(text) <= CHARACTERS else None
    except Unreadable:
        return None


def worth(name: str, value: Any) -> Exact:
    """Return the points of a verdict. Raises DiaError (exit 2) for anything except an exact number.

    >>> worth("wrong", "-1/2"), worth("wrong", "-2")
    (Fraction(-1, 2), -2)
    """
    if name not in WITH_POINTS:
        help = did_you_mean(name, WITH_POINTS) or "points can be set for correct, skipped and wrong"
        raise DiaError(Diagnostic("E811", visible(f"`{name}` is not a verdict with points"), None, help))
    if isinstance(value, bool) or not NUMBER.fullmatch(str(value)):
        message = visible(f"the points of `{name}` are not an exact number: {str(value)[:40]}")
        raise DiaError(Diagnostic("E811", message, None, "write an integer, a decimal or a fraction: -1, 0.5 or -1/2"))
    exact = Fraction(str(value))
    return exact.numerator if exact.denominator == 1 else exact  # integers are added much faster


def stored_points(store: Store, encoded: str) -> dict[str, Exact]:
    """Return the points that a question states. Raises DiaError (exit 3) if they are malformed."""
    try:
        return _parsed_points(encoded)
    except (KeyError, ValueError, TypeError, RecursionError, DiaError):
        raise store.damaged("the points of a question are not numbers") from None


@lru_cache(maxsize=64)
def _parsed_points(encoded: str) -> dict[str, Exact]:
    points = json.loads(encoded)
    return {name: worth(name, points[name]) for name in WITH_POINTS}

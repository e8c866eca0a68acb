"""Grade the transcript of a session question by the truth in its answer record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dia_language.diagnostics import DiaError, LanguageError
from dia_language.expressions.replies import SessionReply
from dia_language.workers.pool import SingleWorker
from dia_runtime.grading.grader import malformed_record
from dia_runtime.grading.sessions.evaluate import KINDS, evaluate_truth, evaluated_truths, is_unread
from dia_runtime.grading.sessions.outcome import ABSENT, BROKEN, UNREAD, VALID, Outcome
from dia_runtime.grading.sessions.typed_replies import TypedReplies, typed_replies
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.store.endings import FINAL_FLAGS
from dia_runtime.store.transcripts import TranscriptSession, read_transcript

Stored = Mapping[str, Any]
SESSIONS = "sessions"  # the type of comparison of a session question
TRUTH = ("truth", "figures", "replies")
STUDY_CHAIN = "compat"
NO_JUDGEMENT = frozenset({"no_judgement"})


def is_of_sessions(record: Stored) -> bool:
    """Return whether the answer record is that of a session question."""
    return bool(record["comparison"].get("type") == SESSIONS)


@dataclass(frozen=True, slots=True)
class Truth:
    """What grading a session question needs: its truth, and that of a study if a preset requires it."""

    stored: Stored
    study: Stored | None = None
    study_name: str | None = None
    chain: str = STUDY_CHAIN

    @property
    def kind(self) -> str:
        return str(next(iter(self.stored["truth"])))


def truth_of(record: Stored, preset: str | None = None) -> Truth:
    """Return the truth of an answer record. Raises DiaError (exit 3) if the record has none."""
    try:
        stored = {name: record.get(name, {}) for name in TRUTH}
        preset_record = record.get("presets", {}).get(preset)
        truths = [stored["truth"], *([preset_record["truth"]] if preset_record and "truth" in preset_record else [])]
        if not all(len(truth) == 1 and KINDS.keys() >= truth.keys() for truth in truths):
            raise KeyError("truth")
        if not all({"session", "format"} <= reply.keys() for reply in stored["replies"].values()):
            raise KeyError("replies")
        if preset_record is None:
            return Truth(stored)
        figures = {**stored["figures"], **preset_record.get("figures", {})}
        study = {**stored, "figures": figures, "truth": preset_record.get("truth", stored["truth"])}
        return Truth(stored, study, preset_record.get("study"), preset_record.get("chain", STUDY_CHAIN))
    except (KeyError, TypeError, AttributeError, ValueError):
        raise malformed_record("an answer record has no grading of sessions") from None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The outcome by our truth, and by that of a study if there is one."""

    outcome: Outcome
    published: Outcome | None = None


def judge_transcript(truth: Truth, text: str, chain: str = "standard", worker: SingleWorker | None = None) -> Judgement:
    """Return the judgement of a transcript; its untrusted truth is evaluated by the worker if one is given.

    A text that is not a transcript is a separate outcome: it could not be parsed.
    """
    try:
        sessions, recorded = read_transcript(text), _recorded(text)
    except ValueError:
        unread = Outcome(Verdict.UNPARSED, UNREAD, kind=truth.kind)
        return Judgement(unread, unread if truth.study else None)
    if truth.study is None:
        return Judgement(_outcome(truth.stored, sessions, chain, False, recorded, worker))
    ours = _outcome(truth.stored, sessions, truth.chain, False, recorded, worker)
    return Judgement(ours, _outcome(truth.study, sessions, truth.chain, True, recorded, worker))


def _recorded(text: str) -> Stored:
    """Return what a log contains in addition to the replies."""
    recorded = json.loads(text).get("recorded")
    return recorded if isinstance(recorded, dict) else {}


def _outcome(
    stored: Stored,
    sessions: list[TranscriptSession],
    chain: str,
    is_logged: bool,
    recorded: Stored,
    worker: SingleWorker | None,
) -> Outcome:
    try:
        replies = typed_replies(stored["replies"], sessions, chain, is_logged)
    except (ValueError, ArithmeticError, LanguageError, DiaError):
        return Outcome(Verdict.UNPARSED, UNREAD)
    try:
        if worker is None:
            outcome = evaluate_truth(stored, replies.scope, recorded)
        else:
            outcome = worker.call(evaluated_truths, stored, replies.scope, recorded)
    except (LanguageError, DiaError) as error:
        if getattr(error, "code", None) == "E822":
            raise malformed_record(str(error)) from None
        outcome = Outcome(Verdict.WRONG, BROKEN)  # on these replies, an expression exceeded its budget
    return _with_replies(outcome, replies)


def _with_replies(outcome: Outcome, replies: TypedReplies) -> Outcome:
    """Return the outcome with facts about how the replies arrived; a final refusal is wrong, not unparsed."""
    is_refused = (
        outcome.verdict is Verdict.UNPARSED
        and not replies.flags.isdisjoint(FINAL_FLAGS)
        and not _has_text(replies.scope.get(outcome.missing or ""))
    )
    if outcome.verdict is Verdict.SKIPPED and outcome.state == VALID and replies.cut_off is not None:
        outcome = replace(outcome, state=ABSENT, missing=replies.cut_off)
    verdict = Verdict.WRONG if is_refused else outcome.verdict
    has_judgement = verdict is not Verdict.UNPARSED or outcome.missing not in replies.of_other_roles
    return replace(
        outcome,
        verdict=verdict,
        flags=outcome.flags | replies.flags | (frozenset() if has_judgement else NO_JUDGEMENT),
        steps=replies.steps,
        token_counts=replies.token_counts,
        tokens=replies.tokens,
        is_recorded=replies.is_recorded,
        mismatches=replies.mismatches,
        unread=tuple(name for name, reply in replies.scope.items() if is_unread(reply)),
    )


def _has_text(reply: Any) -> bool:
    if isinstance(reply, list):
        return all(map(_has_text, reply))
    return isinstance(reply, SessionReply) and reply.text is not None

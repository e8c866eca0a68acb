"""The transcript of a session question, judged by the truth that its answer record holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, LanguageError, visible
from dia_language.expressions.replies import SessionReply
from dia_language.workers.pool import SingleWorker
from dia_runtime.grading.sessions.evaluate import KINDS, weigh, weighed
from dia_runtime.grading.sessions.outcome import BROKEN, UNREAD, Outcome
from dia_runtime.grading.sessions.typed_replies import Heard, heard
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.store.transcripts import TranscriptSession, read_transcript

Stored = Mapping[str, Any]
SESSIONS = "sessions"  # the type of comparison of a session question
TRUTH = ("truth", "figures", "replies")
STUDY_CHAIN = "compat"


def is_of_sessions(record: Stored) -> bool:
    """Whether the answer record is that of a session question."""
    return bool(record["comparison"].get("type") == SESSIONS)


@dataclass(frozen=True, slots=True)
class Truth:
    """What judging a session question needs: its own truth, and that of a study where a preset asks for it."""

    stored: Stored
    study: Stored | None = None
    study_name: str | None = None
    chain: str = STUDY_CHAIN

    @property
    def kind(self) -> str:
        """The kind of the truth."""
        return str(next(iter(self.stored["truth"])))


def truth_of(record: Stored, preset: str | None = None) -> Truth:
    """The truth of an answer record. Raises DiaError (exit 3) for a record that holds none."""
    try:
        stored = {name: record.get(name, {}) for name in TRUTH}
        found = record.get("presets", {}).get(preset)
        truths = [stored["truth"], *([found["truth"]] if found and "truth" in found else [])]
        if not all(len(truth) == 1 and KINDS.keys() >= truth.keys() for truth in truths):
            raise KeyError("truth")
        if not all({"session", "format"} <= reply.keys() for reply in stored["replies"].values()):
            raise KeyError("replies")
        if found is None:
            return Truth(stored)
        figures = {**stored["figures"], **found.get("figures", {})}
        study = {**stored, "figures": figures, "truth": found.get("truth", stored["truth"])}
        return Truth(stored, study, found.get("study"), found.get("chain", STUDY_CHAIN))
    except (KeyError, TypeError, AttributeError, ValueError):
        raise DiaError(Diagnostic("E822", "an answer record holds no truth of sessions"), 3) from None


@dataclass(frozen=True, slots=True)
class Found:
    """The outcome by our truth, and by that of a study where there is one."""

    outcome: Outcome
    published: Outcome | None = None


def judge_transcript(truth: Truth, text: str, chain: str = "strict", worker: SingleWorker | None = None) -> Found:
    """What a transcript comes to; the truth is evaluated by the worker where one is given, for strangers wrote it.

    A text that is no transcript is an outcome of its own: nothing could be read.
    """
    try:
        sessions, recorded = read_transcript(text), _recorded(text)
    except ValueError:
        unread = Outcome(Verdict.UNPARSED, UNREAD, kind=truth.kind)
        return Found(unread, unread if truth.study else None)
    if truth.study is None:
        return Found(_outcome(truth.stored, sessions, chain, False, recorded, worker))
    ours = _outcome(truth.stored, sessions, truth.chain, False, recorded, worker)
    return Found(ours, _outcome(truth.study, sessions, truth.chain, True, recorded, worker))


def _recorded(text: str) -> Stored:
    """What a log tells beside the replies."""
    found = json.loads(text).get("recorded")
    return found if isinstance(found, dict) else {}


def _outcome(
    stored: Stored,
    sessions: list[TranscriptSession],
    chain: str,
    is_logged: bool,
    recorded: Stored,
    worker: SingleWorker | None,
) -> Outcome:
    try:
        said = heard(stored["replies"], sessions, chain, is_logged)
    except (ValueError, ArithmeticError, LanguageError, DiaError):
        return Outcome(Verdict.UNPARSED, UNREAD)
    try:
        if worker is None:
            found = weigh(stored, said.scope, recorded)
        else:
            found = worker.call(weighed, stored, said.scope, recorded)
    except (LanguageError, DiaError) as error:
        if getattr(error, "code", None) == "E822":
            raise DiaError(Diagnostic("E822", visible(str(error))), 3) from None
        found = Outcome(Verdict.WRONG, BROKEN)  # the replies made an expression run beyond its budget
    return _told(found, said)


def _told(found: Outcome, said: Heard) -> Outcome:
    """The outcome with what is known of how the replies came; what was refused for good is wrong, not unread."""
    is_refused = found.verdict is Verdict.UNPARSED and said.flags and not _has_text(said.scope.get(found.missing or ""))
    verdict = Verdict.WRONG if is_refused else found.verdict
    return replace(
        found,
        verdict=verdict,
        flags=found.flags | said.flags,
        steps=said.steps,
        tokens=said.tokens,
        is_recorded=said.is_recorded,
        mismatches=said.mismatches,
    )


def _has_text(found: Any) -> bool:
    if isinstance(found, list):
        return all(map(_has_text, found))
    return isinstance(found, SessionReply) and found.text is not None

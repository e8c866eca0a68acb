"""The interface through which sessions ask and store, and the reasons why a turn is not asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from dia_language.diagnostics import DiaError, LanguageError
from dia_language.expressions.replies import Unset
from dia_runtime.respondents.respondent import Reply
from dia_runtime.respondents.turn_request import TurnRequest
from dia_runtime.store.schema import StoredTurn
from dia_runtime.store.transcripts import TranscriptReply

Variables: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Why a question cannot be finished now: an error that a retry may fix, or (None) the run has ended.

    `is_open` means that a person still has to reply.
    """

    error: str | None = None
    is_open: bool = False


class SessionUnfinished(Exception):
    """Stops a session that cannot continue now."""

    def __init__(self, unfinished: Unfinished) -> None:
        super().__init__(unfinished.error)
        self.unfinished = unfinished


class SessionBackend(Protocol):
    """What sessions need to ask models and to store turns."""

    @property
    def scope(self) -> str:
        """Return the key under which the question's own turns are stored."""
        ...

    def model(self, role: str) -> str | None: ...

    def stored_turns(self, scope: str) -> Sequence[StoredTurn]:
        """Return the turns that were stored before."""
        ...

    async def ask(self, role: str, turn: TurnRequest) -> Reply | Unfinished:
        """Return the reply to a turn; a remaining error is a reply too."""
        ...

    async def store_turn(self, turn: StoredTurn) -> None:
        """Store the turn; it is on disk when this returns."""
        ...

    def exclusive(self, scope: str) -> AbstractAsyncContextManager[bool]:
        """Hold a lock on what questions share; False if the run has ended."""
        ...


class TurnSkipped(Exception):
    """Why a turn is never asked."""

    def __init__(self, kind: str, message: str, finish_reason: str | None = None) -> None:
        super().__init__(message)
        self.kind, self.message, self.finish_reason = kind, message[:1000], finish_reason

    def reply(self, name: str | None, turn: int, step: int | None = None) -> TranscriptReply:
        """Return the value for a missing reply."""
        error = {"kind": self.kind, "message": self.message}
        return TranscriptReply(name, turn, step, finish_reason=self.finish_reason, error=error)


def skipped_by(error: LanguageError | DiaError) -> TurnSkipped:
    """Return why a turn that cannot be computed is not asked."""
    if isinstance(error, DiaError):
        return TurnSkipped("language", error.diagnostics[0].message)
    return TurnSkipped("unset" if isinstance(error, Unset) else "language", error.message)

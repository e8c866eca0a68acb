"""What a respondent is, what it returns, how it fails, and what a baseline may know of the answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from dia_runtime.store.schema import Reply as Reply


class Respondent(Protocol):
    """A model with its settings: prompt in, text out."""

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...

    def reply(self, question: Mapping[str, Any]) -> Reply:
        """The reply to a question record."""
        ...


@dataclass(frozen=True, slots=True)
class Truth:
    """What a baseline knows of the questions, handed to it by the run.

    `record` gives a question's grading record by its id, `texts` an item's canonical answers by instance,
    `wrap` puts a text in an answer format, and `is_wrong` asks the grader.
    """

    seed: str
    record: Callable[[str], Mapping[str, Any]]
    texts: Callable[[str], Mapping[int, str]]
    wrap: Callable[[str, Mapping[str, Any]], str]
    is_wrong: Callable[[Mapping[str, Any], str, Mapping[str, Any]], bool]


ErrorKind = Literal["rate_limit", "timeout", "server", "network", "request", "fatal", "later"]
# A retry may succeed after these; a bad request stays bad, and what is fatal ends the respondent.
RETRYABLE: frozenset[ErrorKind] = frozenset({"rate_limit", "timeout", "server", "network"})


class RequestError(Exception):
    """No reply came back.

    `kind` says what may be done: try again (RETRYABLE), leave this question as an error (`request`), leave it open
    without one (`later`: a person has not replied yet), or stop asking this respondent (`fatal`: a refused key, a
    model that does not exist). `wait` is what the endpoint asked for in seconds.
    """

    def __init__(self, kind: ErrorKind, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.kind, self.message, self.wait = kind, message, wait


class AsyncRespondent(Protocol):
    """A model with its settings, asked over a network or as a program.

    It may have more: `at_once`, the most questions it takes at a time; `is_billed`, whether its replies cost money;
    `request(question)`, what it would send, by which a cache recognises a question; `takes_prefill`, False where it
    cannot continue a reply that is begun for it; `no_sessions_reason`, why it takes part in no conversation; and
    `whole(question, attempt)`, a recorded conversation that it gives back unchanged.
    """

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def provider(self) -> str:
        """Whose limits it shares: respondents of one provider slow down together."""
        ...

    async def ask(self, question: Mapping[str, Any], attempt: int) -> Reply:
        """The reply to a question record. Raises RequestError."""
        ...

    async def close(self) -> None:
        """Ends connections and programs."""
        ...


@runtime_checkable
class NeedsAnswers(Protocol):
    """A respondent that needs to know the answers."""

    def know(self, truth: Truth) -> None:
        """Takes them, once, before the first question."""
        ...


class LocalRespondent:
    """A respondent that is its own provider, and has nothing to end."""

    def __init__(self, name: str, model: str) -> None:
        self.name, self.model = name, model

    @property
    def settings(self) -> Mapping[str, Any]:
        """What its replies depend on besides the questions."""
        return {}

    @property
    def provider(self) -> str:
        """The respondent itself, because it shares no limits."""
        return self.model

    async def close(self) -> None:
        """There is nothing to end."""


class Interrupted(Exception):
    """An interrupt from the keyboard within a respondent that blocks; as a plain error it ends the asking in order."""


class BlockingAdapter:
    """Makes a respondent that blocks an asynchronous one: it takes one question after the other."""

    at_once: ClassVar[int] = 1

    def __init__(self, respondent: Respondent) -> None:
        self.respondent = respondent
        self.name, self.model, self.settings = respondent.name, respondent.model, respondent.settings
        self.provider = f"here {self.name}"
        self.no_sessions_reason: str | None = getattr(respondent, "no_sessions_reason", None)

    async def ask(self, question: Mapping[str, Any], attempt: int) -> Reply:
        """The respondent's reply. Raises Interrupted."""
        await asyncio.sleep(0)  # so that an interrupt is heard
        try:
            return self.respondent.reply(question)
        except KeyboardInterrupt:
            raise Interrupted from None

    async def close(self) -> None:
        """Do nothing, because there is nothing to close."""

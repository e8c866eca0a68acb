"""The interfaces of respondents, their errors, and the answers that baselines use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from dia_runtime.store.schema import Reply as Reply


class Respondent(Protocol):
    """A model with its settings, which replies to prompts."""

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...

    def reply(self, question: Mapping[str, Any]) -> Reply:
        """Return the reply to a question record."""
        ...


@dataclass(frozen=True, slots=True)
class Truth:
    """What a run lets a baseline know about the questions.

    `record` gives a question's grading record by its id, `texts` an item's canonical answers by instance,
    `wrap` puts a text in an answer format, and `is_wrong` asks the grader.
    """

    seed: str
    record: Callable[[str], Mapping[str, Any]]
    texts: Callable[[str], Mapping[int, str]]
    wrap: Callable[[str, Mapping[str, Any]], str]
    is_wrong: Callable[[Mapping[str, Any], str, Mapping[str, Any]], bool]


ErrorKind = Literal["rate_limit", "timeout", "server", "network", "request", "fatal", "later"]
# A retry may succeed after these. A rejected request is never retried, and a fatal error ends the respondent.
RETRYABLE: frozenset[ErrorKind] = frozenset({"rate_limit", "timeout", "server", "network"})


class RequestError(Exception):
    """No reply came back.

    `kind` says what to do: retry (RETRYABLE), record an error for this question (`request`), leave the question open
    (`later`: a person has not replied yet), or stop asking this respondent (`fatal`: a rejected key, a model that does
    not exist). `wait` is the number of seconds that the endpoint asked dia to wait, `status` its HTTP status if it
    refused the request. `is_unconnected` says that no connection to the endpoint could be opened.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        wait: float | None = None,
        status: int | None = None,
        is_unconnected: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind, self.message, self.wait, self.status = kind, message, wait, status
        self.is_unconnected = is_unconnected


class AsyncRespondent(Protocol):
    """A model with its settings, asked over a network or as a program.

    Optional attributes: `at_once`, the maximum number of parallel questions; `is_billed`, whether replies cost money;
    `request(question)`, what it would send, which is the key of the cache; `takes_prefill`, False if it cannot continue
    the beginning of a reply; `has_preflight`, whether its first question is asked alone; `no_sessions_reason`, why it
    cannot take part in conversations; `undeliverable(asset)`, why an asset of a question cannot be sent to it, or None;
    `reason_not_asked`, a function that says why a question is not to be asked, or None if all are; and
    `whole(question, attempt)`, a recorded conversation to return unchanged.
    """

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def provider(self) -> str:
        """Return the provider whose rate limits it shares: respondents of one provider slow down together."""
        ...

    async def ask(self, question: Mapping[str, Any], attempt: int) -> Reply:
        """Return the reply to a question record. Raises RequestError."""
        ...

    async def close(self) -> None:
        """Close connections and end programs."""
        ...


@runtime_checkable
class NeedsAnswers(Protocol):
    """A respondent that needs to know the answers."""

    def know(self, truth: Truth) -> None:
        """Receive the answers, once, before the first question."""
        ...


class LocalRespondent:
    """A respondent on this machine, without a provider or connections."""

    def __init__(self, name: str, model: str) -> None:
        self.name, self.model = name, model

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return what its replies depend on in addition to the questions."""
        return {}

    @property
    def provider(self) -> str:
        """Return the respondent itself, because it shares no rate limits."""
        return self.model

    async def close(self) -> None:
        """Do nothing, because there is nothing to close."""


class Interrupted(Exception):
    """A keyboard interrupt in a blocking respondent, as an ordinary error, so that the run ends cleanly."""


class BlockingAdapter:
    """Adapts a blocking respondent to the asynchronous interface: it takes one question at a time."""

    at_once: ClassVar[int] = 1

    def __init__(self, respondent: Respondent) -> None:
        self.respondent = respondent
        self.name, self.model, self.settings = respondent.name, respondent.model, respondent.settings
        self.provider = f"here {self.name}"
        self.no_sessions_reason: str | None = getattr(respondent, "no_sessions_reason", None)

    async def ask(self, question: Mapping[str, Any], attempt: int) -> Reply:
        """Return the respondent's reply. Raises Interrupted."""
        await asyncio.sleep(0)  # so that an interrupt is heard
        try:
            return self.respondent.reply(question)
        except KeyboardInterrupt:
            raise Interrupted from None

    async def close(self) -> None:
        """Do nothing, because there is nothing to close."""

"""What a model behind an endpoint is to the runtime: it is asked, and answers, or says why it cannot now."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from dia_runtime.respondents.respondent import Reply, Respondent, Truth

ErrorKind = Literal["rate_limit", "timeout", "server", "network", "request", "fatal", "later"]
# Another try may mend these; a bad request stays bad, and what is fatal ends the respondent.
RETRYABLE: frozenset[ErrorKind] = frozenset({"rate_limit", "timeout", "server", "network"})


class RequestError(Exception):
    """No reply came back.

    `kind` says what may be done: try again (MENDABLE), leave this question as an error (`request`), leave it open
    without one (`later`: a person has not replied yet), or stop asking this respondent (`fatal`: a refused key, a
    model that does not exist). `wait` is what the endpoint asked for in seconds.
    """

    def __init__(self, kind: ErrorKind, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.kind, self.message, self.wait = kind, message, wait


class AsyncRespondent(Protocol):
    """A model with its settings, asked over a network or as a program.

    More things may be there: `at_once`, a bound of the questions that it takes at a time; `is_billed`, whether its
    replies cost money; `request(question)`, what it would send, by which a cache knows a question again;
    `takes_prefill`, False where it cannot continue a reply that is begun for it; `speechless`, why it takes part in no
    conversation; and `whole(question, attempt)`, a whole conversation that it gives back as it was.
    """

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def provider(self) -> str:
        """Whose limits it shares: askers of one provider slow down together."""
        ...

    async def ask(self, question: Mapping[str, Any], attempt: int) -> Reply:
        """The reply to a question record. Raises Trouble."""
        ...

    async def close(self) -> None:
        """Ends connections and programs."""
        ...


@runtime_checkable
class NeedsAnswers(Protocol):
    """An asker that needs to know the answers."""

    def know(self, truth: Truth) -> None:
        """Takes them, once, before the first question."""
        ...


class Interrupted(Exception):
    """An interrupt from the keyboard within a respondent that blocks; as a plain error it ends the asking in order."""


class BlockingAdapter:
    """A respondent that blocks until it has answered, as an asker: one question after the other."""

    at_once: ClassVar[int] = 1

    def __init__(self, respondent: Respondent) -> None:
        self.respondent = respondent
        self.name, self.model, self.settings = respondent.name, respondent.model, respondent.settings
        self.provider = f"here {self.name}"
        self.speechless: str | None = getattr(respondent, "speechless", None)

    async def ask(self, question: Mapping[str, Any], attempt: int) -> Reply:
        """The respondent's reply. Raises Interrupted."""
        await asyncio.sleep(0)  # so that an interrupt is heard
        try:
            return self.respondent.reply(question)
        except KeyboardInterrupt:
            raise Interrupted from None

    async def close(self) -> None:
        """Nothing; there is nothing to end."""

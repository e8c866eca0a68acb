"""The budget of a run: money, tokens, requests."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from dia_runtime.respondents.respondent import Reply


@dataclass(slots=True)
class Budget:
    """Limits (None for none), and what this call has spent so far; earlier calls do not count.

    Requests in progress when money or tokens run out are still completed and paid for.
    """

    usd: Decimal | None = None
    tokens: int | None = None
    requests: int | None = None
    spent_usd: Decimal = Decimal(0)
    spent_tokens: int = 0
    requests_started: int = 0

    def start_request(self) -> bool:
        """Return whether one more request may start; if so, it is counted."""
        is_spent = (
            (self.requests is not None and self.requests_started >= self.requests)
            or (self.usd is not None and self.spent_usd >= self.usd)
            or (self.tokens is not None and self.spent_tokens >= self.tokens)
        )
        self.requests_started += not is_spent
        return not is_spent

    def add(self, reply: Reply) -> None:
        """Count the tokens and cost of a reply."""
        self.spent_tokens += (reply.prompt_tokens or 0) + (reply.completion_tokens or 0)
        self.spent_usd += Decimal(reply.cost or 0)

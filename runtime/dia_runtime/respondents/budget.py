"""What may be spent on a run: money, tokens, requests."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from dia_runtime.respondents.respondent import Reply


@dataclass(slots=True)
class Budget:
    """Bounds (None for none), and what is spent so far; what earlier calls of the run have spent does not count.

    Requests that are under way when money or tokens run out are still waited for and paid.
    """

    usd: Decimal | None = None
    tokens: int | None = None
    requests: int | None = None
    spent_usd: Decimal = Decimal(0)
    spent_tokens: int = 0
    requests_started: int = 0

    def start_request(self) -> bool:
        """Whether one more request may begin; it counts from now on."""
        is_spent = (
            (self.requests is not None and self.requests_started >= self.requests)
            or (self.usd is not None and self.spent_usd >= self.usd)
            or (self.tokens is not None and self.spent_tokens >= self.tokens)
        )
        self.requests_started += not is_spent
        return not is_spent

    def add(self, reply: Reply) -> None:
        """Counts what a reply has cost."""
        self.spent_tokens += (reply.prompt_tokens or 0) + (reply.completion_tokens or 0)
        self.spent_usd += Decimal(reply.cost or 0)

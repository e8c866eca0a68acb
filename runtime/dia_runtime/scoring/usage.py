"""What a model's replies used: tokens, time and money."""

from __future__ import annotations

import re
from decimal import Decimal, localcontext

from dia_runtime.grading.judge import Judged
from dia_runtime.grading.verdicts import Verdict
from dia_runtime.respondents.prices import Price
from dia_runtime.scoring.results import Usage, Used
from dia_runtime.store.schema import StoredReply

COUNTS = ("prompt_tokens", "completion_tokens", "reasoning_tokens")
AMOUNTS = ("seconds", "cost")
AMOUNT = re.compile(r"[0-9]{1,15}(\.[0-9]{1,20})?")  # runs may be untrusted
DIGITS = 4  # of the cost of a correct answer


class UsageTally:
    """The sums of tokens, seconds and cost of replies, and how many replies lack each of them."""

    def __init__(self, price: Price | None = None) -> None:
        """`price` is that of replies whose cost the run does not have."""
        self.price = price
        self.replies = self.correct = 0
        self.counts = dict.fromkeys(COUNTS, 0)
        self.amounts = dict.fromkeys(AMOUNTS, Decimal(0))
        self.reported = dict.fromkeys((*COUNTS, *AMOUNTS), 0)

    def add(self, entry: Judged) -> None:
        """Count a judged reply; an error is not a reply, but its known usage counts."""
        reply = entry.reply
        is_reply = reply.error is None
        self.replies += is_reply
        self.correct += entry.mark.verdict is Verdict.CORRECT
        for name in COUNTS:
            count = getattr(reply, name)
            if count is not None and count >= 0:
                self.counts[name] += count
                self.reported[name] += is_reply
        for name in AMOUNTS:
            amount = getattr(reply, name) if name != "cost" else self._cost(reply)
            if amount is not None and AMOUNT.fullmatch(amount):
                self.amounts[name] += Decimal(amount)
                self.reported[name] += is_reply

    def _cost(self, reply: StoredReply) -> str | None:
        prompt_tokens, completion_tokens = reply.prompt_tokens, reply.completion_tokens
        if reply.cost is not None or self.price is None or prompt_tokens is None or completion_tokens is None:
            return reply.cost
        return self.price.cost(max(prompt_tokens, 0), max(completion_tokens, 0))

    def result(self) -> Usage:
        """Return the sums as `dia score --json` has them."""
        prompt, completion, reasoning = (self._count(name) for name in COUNTS)
        seconds, cost = self._amount("seconds"), self._amount("cost")
        return {
            "replies": self.replies,
            "correct": self.correct,
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "reasoning_tokens": reasoning,
            "seconds": {"total": None if seconds is None else float(seconds), "unknown": self._unknown("seconds")},
            "cost": {"total": None if cost is None else f"{cost.normalize():f}", "unknown": self._unknown("cost")},
            "cost_per_correct": self._cost_per_correct(cost),
        }

    def _count(self, name: str) -> Used:
        is_known = self.reported[name] or self.counts[name]
        return {"total": self.counts[name] if is_known else None, "unknown": self._unknown(name)}

    def _amount(self, name: str) -> Decimal | None:
        return self.amounts[name] if self.reported[name] or self.amounts[name] else None

    def _unknown(self, name: str) -> int:
        return self.replies - self.reported[name]

    def _cost_per_correct(self, cost: Decimal | None) -> str | None:
        """Return the cost divided by the number of correct answers; None if some cost is unknown or none is correct."""
        if cost is None or self._unknown("cost") or not self.correct:
            return None
        return money_text(cost / self.correct)


def money_text(amount: Decimal) -> str:
    """Return an amount with four significant digits, or to the cent.

    >>> money_text(Decimal("0.00012345")), money_text(Decimal("1234.567")), money_text(Decimal(0))
    ('0.0001234', '1234.57', '0')
    """
    with localcontext() as context:
        context.prec = max(DIGITS, amount.adjusted() + 3)
        return f"{(+amount).normalize():f}"

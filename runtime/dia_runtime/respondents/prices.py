"""Prices of replies if the provider does not report them: those of the user, or litellm's table as a plain file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dia_language.diagnostics import DiaError, Diagnostic, visible

MILLION = 1_000_000
FILE = "model_prices_and_context_window_backup.json"


@dataclass(frozen=True, slots=True)
class Price:
    """Prices in US dollars for each prompt token, each completion token, and each prompt token from a cache."""

    prompt: Decimal
    completion: Decimal
    cached: Decimal

    def cost(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> str:
        """Return the cost of a reply in US dollars as decimal text."""
        cached_tokens = min(prompt_tokens, cached_tokens)
        prompt_cost = (prompt_tokens - cached_tokens) * self.prompt + cached_tokens * self.cached
        return f"{prompt_cost + completion_tokens * self.completion:f}"


class OwnPrices:
    """Prices that a user gave: for models whose names match a pattern, or for all models."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        """Read prices such as `openai/*=0.15,0.6`, in US dollars for a million prompt and completion tokens.

        Without a pattern, the price is that of every model. Raises DiaError (exit 2) for a malformed one.
        """
        self.prices = [_own_price(text) for text in texts]

    def of(self, *names: str) -> Price | None:
        """Return the first price whose pattern matches a name of the model; None if there is none."""
        fitting = (price for pattern, price in self.prices for name in names if fnmatchcase(name, pattern))
        return next(fitting, None)


def _own_price(text: str) -> tuple[str, Price]:
    pattern, _, amounts = text.rpartition("=")
    try:
        values = [Decimal(amount.strip()) / MILLION for amount in amounts.split(",")]
        if not 2 <= len(values) <= 3 or not all(value.is_finite() and 0 <= value < 1 for value in values):
            raise ValueError
    except (InvalidOperation, ValueError):
        fix = (
            "write `--price 0.15,0.6` or `--price openai/gpt-4o-mini=0.15,0.6`: US dollars for a million prompt tokens "
        )
        fix += "and for a million completion tokens"
        raise DiaError(Diagnostic("E855", visible(f"`--price {text}` is not a price"), None, fix)) from None
    return pattern or "*", Price(values[0], values[1], values[2] if len(values) == 3 else values[0])


def price_of(provider: str, model_id: str) -> Price | None:
    """Return the price of a provider's model in litellm's table; None if it has none."""
    entry = price_table().get(f"{provider}/{model_id}")
    if entry is None:
        alone = price_table().get(model_id)
        entry = alone if isinstance(alone, Mapping) and alone.get("litellm_provider", "openai") == provider else None
    prompt, completion = _number(entry, "input_cost_per_token"), _number(entry, "output_cost_per_token")
    if prompt is None or completion is None:
        return None
    cached = _number(entry, "cache_read_input_token_cost")
    return Price(prompt, completion, prompt if cached is None else cached)


def cost_of(price: Price | None, usage: Any) -> str | None:
    """Return the cost of a reply by the token counts of its provider; None if price or tokens are unknown."""
    prompt_tokens, completion_tokens = (_count(usage, name) for name in ("prompt_tokens", "completion_tokens"))
    if price is None or prompt_tokens is None or completion_tokens is None:
        return None
    cached_tokens = _count(usage.get("prompt_tokens_details"), "cached_tokens")
    return price.cost(prompt_tokens, completion_tokens, cached_tokens or 0)


@cache
def price_table() -> Mapping[str, Any]:
    """Return litellm's table; an empty one if litellm is not installed."""
    package = find_spec("litellm")
    if package is None or package.origin is None:
        return {}
    try:
        prices = json.loads((Path(package.origin).parent / FILE).read_bytes(), parse_float=Decimal)
    except (OSError, ValueError):
        return {}
    return prices if isinstance(prices, dict) else {}


def _number(record: Any, name: str) -> Decimal | None:
    value = record.get(name) if isinstance(record, Mapping) else None
    return Decimal(value) if isinstance(value, (int, Decimal)) and not isinstance(value, bool) and value >= 0 else None


def _count(record: Any, name: str) -> int | None:
    value = _number(record, name)
    return None if value is None else int(value)

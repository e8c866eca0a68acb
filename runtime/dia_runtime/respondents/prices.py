"""Prices of replies if the provider does not report them: litellm's price table, read as a plain file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

FILE = "model_prices_and_context_window_backup.json"


def price(provider: str, model_id: str, usage: Any) -> str | None:
    """Return the cost of a reply in US dollars as decimal text; None if price or tokens are unknown."""
    entry = price_table().get(f"{provider}/{model_id}")
    if entry is None:
        alone = price_table().get(model_id)
        entry = alone if isinstance(alone, Mapping) and alone.get("litellm_provider", "openai") == provider else None
    if not isinstance(entry, Mapping) or not isinstance(usage, Mapping):
        return None
    prompt_tokens, completion_tokens = _number(usage, "prompt_tokens"), _number(usage, "completion_tokens")
    prompt_price, completion_price = _number(entry, "input_cost_per_token"), _number(entry, "output_cost_per_token")
    if prompt_tokens is None or completion_tokens is None or prompt_price is None or completion_price is None:
        return None
    cached_tokens = min(prompt_tokens, _number(usage.get("prompt_tokens_details"), "cached_tokens") or Decimal(0))
    cached_price = _number(entry, "cache_read_input_token_cost")
    cached_cost = cached_tokens * (prompt_price if cached_price is None else cached_price)
    return f"{(prompt_tokens - cached_tokens) * prompt_price + cached_cost + completion_tokens * completion_price:f}"


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

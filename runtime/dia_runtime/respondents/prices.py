"""What a reply costs where the provider does not say: by litellm's table of prices, read as a plain file."""

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
    """The cost of so many tokens in US dollars as decimal text; None where price or tokens are not known."""
    entry = price_table().get(f"{provider}/{model_id}") or (
        price_table().get(model_id) if provider == "openai" else None
    )
    if not isinstance(entry, Mapping) or not isinstance(usage, Mapping):
        return None
    asked, said = _number(usage, "prompt_tokens"), _number(usage, "completion_tokens")
    each, each_said = _number(entry, "input_cost_per_token"), _number(entry, "output_cost_per_token")
    if asked is None or said is None or each is None or each_said is None:
        return None
    known = min(asked, _number(usage.get("prompt_tokens_details"), "cached_tokens") or Decimal(0))
    each_known = _number(entry, "cache_read_input_token_cost")
    return f"{(asked - known) * each + known * (each if each_known is None else each_known) + said * each_said:f}"


@cache
def price_table() -> Mapping[str, Any]:
    """litellm's table; an empty one where litellm is not installed."""
    found = find_spec("litellm")
    if found is None or found.origin is None:
        return {}
    try:
        held = json.loads((Path(found.origin).parent / FILE).read_bytes(), parse_float=Decimal)
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}


def _number(held: Any, name: str) -> Decimal | None:
    value = held.get(name) if isinstance(held, Mapping) else None
    return Decimal(value) if isinstance(value, (int, Decimal)) and not isinstance(value, bool) and value >= 0 else None

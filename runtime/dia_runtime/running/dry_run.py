"""What a run would ask and cost, estimated before anything is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil
from pathlib import Path
from typing import Any

from dia_runtime.bundle.open import Bundle
from dia_runtime.respondents.prices import Price, cost_of, price_of
from dia_runtime.running.jobs import Workload
from dia_runtime.store.store import Store, read_store, require_root

CHARACTERS_PER_TOKEN = 4  # of English text, by OpenAI's rule of thumb
ASSUMED_COMPLETION_TOKENS = 500


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is left to ask of a respondent, and what it would take.

    `requests` is a lower bound if `is_minimum`: conversations may end earlier or go on, and tools cause further
    requests. `per_reply` is the assumed number of completion tokens of a reply, and `basis` says where it comes from.
    `cost` is in US dollars as decimal text; None if the price is unknown.
    """

    respondent: str
    requests: int
    kept: int
    is_minimum: bool
    prompt_tokens: int
    completion_tokens: int
    per_reply: int
    basis: str
    cost: str | None


def estimate(
    bundle: Bundle,
    respondents: Sequence[str],
    model: str,
    path: Path,
    extent: Workload,
    *,
    system: str | None = None,
    max_tokens: int | None = None,
    has_tools: bool = False,
    has_own_url: bool = False,
    own_price: Price | None = None,
) -> list[Estimate]:
    """Return an estimate for each respondent of a model; nothing is sent or written. Raises DiaError for a bad run."""
    if not path.exists():
        return [
            _estimate(bundle, name, model, None, extent, system, max_tokens, has_tools, has_own_url, own_price)
            for name in respondents
        ]
    with read_store(path) as store:
        require_root(store, bundle.questions_root)
        return [
            _estimate(bundle, name, model, store, extent, system, max_tokens, has_tools, has_own_url, own_price)
            for name in respondents
        ]


def _estimate(
    bundle: Bundle, name: str, model: str, store: Store | None, extent: Workload, system: str | None,
    max_tokens: int | None, has_tools: bool, has_own_url: bool, own_price: Price | None,
) -> Estimate:  # fmt: skip
    number = None
    if store is not None:
        number = next((entry.id for entry in store.respondents() if entry.name == name), None)
    requests = characters = stored = 0
    is_minimum = has_tools
    for position, question in enumerate(islice(bundle.questions(), extent.questions)):
        if position not in extent.positions:
            continue
        there = 0
        if store is not None and number is not None:
            there = sum(attempt <= extent.attempts for attempt in store.answered(number, position))
        stored += there
        missing = extent.attempts - there
        sent = list(_requests(question))
        is_minimum = is_minimum or "sessions" in question
        requests += missing * len(sent)
        characters += missing * sum(sent) + missing * len(sent) * len(system or "")
    mean = None if store is None or number is None else store.mean_completion_tokens(number)
    if mean is not None:
        per_reply, basis = ceil(mean), "as in the replies so far"
    elif max_tokens is not None:
        per_reply, basis = max_tokens, "as many as --max-tokens allows"
    else:
        per_reply, basis = ASSUMED_COMPLETION_TOKENS, "assumed"
    prompt_tokens, completion_tokens = ceil(characters / CHARACTERS_PER_TOKEN), per_reply * requests
    provider, _, model_id = model.partition("/")
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
    listed = None if has_own_url else price_of(provider, model_id)
    cost = cost_of(own_price or listed, usage)
    return Estimate(name, requests, stored, is_minimum, prompt_tokens, completion_tokens, per_reply, basis, cost)


def _requests(question: Mapping[str, Any]) -> Iterator[int]:
    """Yield the number of characters of each request that a question takes at least."""
    if "sessions" not in question:
        yield sum(len(str(message["content"])) for message in question["messages"])
        return
    for session in question["sessions"]:
        for turn in session["turns"]:
            yield len(str(turn.get("user") or turn.get("template") or ""))

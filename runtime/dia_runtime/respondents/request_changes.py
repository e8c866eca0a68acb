"""What a client library changed in a request: settings that it set, changed or left out without an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

# Setting -> its names in the requests of providers, as in litellm's folder `llms`
NAMES: Mapping[str, tuple[str, ...]] = {
    "max_tokens": (
        *("max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens", "max_tokens_to_sample"),
        *("maxOutputTokens", "maxTokens", "maxTokenCount", "num_predict"),
    ),
    "temperature": ("temperature",),
    "seed": ("seed", "random_seed"),
}
SETTING_OF = {name: setting for setting, names in NAMES.items() for name in names}
CONTENT = frozenset({"messages", "contents", "system", "systemInstruction", "system_instruction", "tools", "functions"})


def request_changes(
    parameters: Mapping[str, Any], body: Any, most_tokens: int | None = None, is_known: bool = False
) -> str | None:
    """Return how the settings in the body of a request differ from those that were meant; None if they do not.

    `most_tokens` is the number of tokens that a reply of the model can have, None if that is not known. Settings that
    are missing are only reported if the format of the body `is_known`.

    >>> request_changes({"temperature": 0.5}, {"temperature": 0.5, "max_tokens": 5120}, most_tokens=64000)
    'litellm set max_tokens to 5,120 (the model allows 64,000)'
    >>> request_changes({"max_tokens": 9}, {"generationConfig": {"maxOutputTokens": 8}})
    'litellm changed max_tokens from 9 to 8'
    """
    intended, sent = _settings(parameters), _settings(body)
    changes = []
    for name in NAMES:
        before, after = intended.get(name), sent.get(name)
        if before is None and after is not None:
            if name != "max_tokens" or most_tokens is None or after < most_tokens:
                allowed = f" (the model allows {most_tokens:,})" if name == "max_tokens" and most_tokens else ""
                changes.append(f"litellm set {name} to {after:,}{allowed}")
        elif before is not None and after is None and is_known:
            changes.append(f"litellm left out {name}, which was {before:,}")
        elif before is not None and after is not None and before != after:
            changes.append(f"litellm changed {name} from {before:,} to {after:,}")
    return "; ".join(changes) or None


def _settings(body: Any) -> dict[str, float]:
    """Return the settings in the body of a request; those nearer to its top come first."""
    settings: dict[str, float] = {}
    for name, value in _numbers(body):
        settings.setdefault(SETTING_OF[name], value)
    return settings


def _numbers(body: Any) -> Iterator[tuple[str, float]]:
    if not isinstance(body, Mapping):
        return
    for name, value in body.items():
        if name in SETTING_OF and isinstance(value, (int, float)) and not isinstance(value, bool):
            yield name, value
    for name, value in body.items():
        if name not in CONTENT:
            yield from _numbers(value)

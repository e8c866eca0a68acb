"""Options shared by several text-like types: amounts, words from a fixed set, texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dia_language.diagnostics import did_you_mean, first_repeat

from dia_compiler.types.base import OptionFault, bounds_option


def amount_option(
    options: Mapping[str, Any], name: str, default: tuple[int, int], least: int, most: int
) -> tuple[int, int]:
    """Return the bounds of an amount given as a number or as {min, max}; the default if it is absent."""
    if options.get(name) is None:
        return default
    return bounds_option(options, name, least, most)


def one_of_option(options: Mapping[str, Any], name: str, allowed: Sequence[Any], default: Any) -> Any:
    """Return the option as one of the allowed words or numbers; the default if it is absent."""
    value = options.get(name, default)
    if not any(type(value) is type(item) and value == item for item in allowed):
        *first, last = map(str, allowed)
        help = did_you_mean(value, [str(item) for item in allowed]) if isinstance(value, str) else None
        raise OptionFault(name, f"`{name}` must be {', '.join(first)} or {last}", help)
    return value


def some_of_option(options: Mapping[str, Any], name: str, allowed: Sequence[str]) -> tuple[str, ...]:
    """Return the option as one or several of the allowed words, in their own order; all of them if it is absent."""
    values = options.get(name, list(allowed))
    chosen = [
        one_of_option({name: value}, name, allowed, None)
        for value in (values if isinstance(values, list) else [values])
    ]
    if not chosen:
        raise OptionFault(name, f"`{name}` is empty")
    return tuple(word for word in allowed if word in chosen)


def texts_option(options: Mapping[str, Any], name: str, most: int = 10_000) -> list[str] | None:
    """Return the option as a list of different texts, from a text or a list; None if it is absent."""
    value = options.get(name)
    if value is None:
        return None
    texts = value if isinstance(value, list) else [value]
    if not texts or len(texts) > most or not all(isinstance(text, str) and text for text in texts):
        raise OptionFault(name, f"`{name}` must be text or a list of 1 to {most} non-empty texts")
    twice = first_repeat(texts)
    if twice is not None:
        raise OptionFault(name, f"duplicate `{twice[:40]}` in `{name}`")
    return texts

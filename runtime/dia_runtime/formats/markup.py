"""Markdown around an answer, which chat models add and which is no part of the answer (rules 2)."""

from __future__ import annotations

FENCE = "```"
PAIRS = ("**", "__", "`", "$")
STARTS = tuple("*_`$")  # of all marks: most answers have none


def without_markup(text: str) -> str:
    """Return the text without the Markdown that encloses all of it.

    This is a code fence, with or without a language, or any of `**bold**`, `__bold__`, code in backticks and math
    between dollar signs, also inside each other. What encloses only a part of the text stays.

    >>> without_markup("**`131`**")
    '131'
    """
    text = text.strip()
    if not text.startswith(STARTS):
        return text
    if text.startswith(FENCE) and text.endswith(FENCE) and "\n" in text:
        body = text[len(FENCE) : -len(FENCE)].split("\n", 1)[1].strip()
        return text if FENCE in body else body
    for _ in PAIRS:
        inner = next((inner for mark in PAIRS if (inner := _between(mark, text)) is not None), None)
        if inner is None:
            break
        text = inner
    return text


def _between(mark: str, text: str) -> str | None:
    """Return what the two marks enclose; None if they do not enclose the whole text."""
    if len(text) <= 2 * len(mark) or not (text.startswith(mark) and text.endswith(mark)):
        return None
    inner = text[len(mark) : -len(mark)].strip()
    return inner if inner and mark not in inner else None

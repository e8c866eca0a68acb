"""Patterns in text: regular expressions as RE2 reads them, whose time grows with the text alone."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from dia_runtime.language.budgets import charge
from dia_runtime.language.diagnostics import LanguageError
from dia_runtime.language.functions.kinds import Value


def matches(pattern: str, text: str) -> list[Value]:
    """All matches of the RE2 pattern in the text, from left to right without overlaps.

    A match is its text; with one group in the pattern the group's text; with several a list of their texts,
    an unused group's empty. Takes time linear in the text. An error for patterns that RE2 does not have,
    such as look-around and back references. Source: https://github.com/google/re2/wiki/Syntax

    >>> matches(r"\\d+", "7 of 42"), matches(r"(\\w)=(\\d)", "a=1 b=2")
    (['7', '42'], [['a', '1'], ['b', '2']])
    """
    charge(len(text) + len(pattern))
    compiled = _pattern(pattern)
    if not text.isascii():
        return [list(match) if isinstance(match, tuple) else match for match in compiled.findall(text)]
    # The binding counts characters anew at each match of a text; of bytes it does not, and ASCII has one for each
    groups = range(1, compiled.groups + 1) or range(1)
    found = [[match.span(group) for group in groups] for match in compiled.finditer(text.encode("ascii"))]
    parts = [[text[begin:end] for begin, end in spans] for spans in found]  # of an unused group that is -1 to -1
    return parts if len(groups) > 1 else [part for (part,) in parts]


@lru_cache(maxsize=256)
def _pattern(pattern: str) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise LanguageError(f"the pattern is not RE2: {_reason(error)}", "no look-around, no back references") from None


def _reason(error: Exception) -> str:
    held = error.args[0] if error.args else ""
    return held.decode("utf-8", "replace") if isinstance(held, bytes) else str(held)


def escape(text: str) -> str:
    """Pattern that matches the text itself, for `matches`.

    >>> matches(escape("a.b"), "a.b axb")
    ['a.b']
    """
    import re2

    return str(re2.escape(text))

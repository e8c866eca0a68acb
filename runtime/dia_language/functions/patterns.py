"""Regular expressions with RE2 syntax. Matching time is linear in the length of the text."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Value
from dia_language.functions.registry import library_function


@library_function
def matches(pattern: str, text: str) -> list[Value]:
    r"""All non-overlapping matches of the RE2 pattern in `text`, from left to right.

    A pattern is a regular expression (regex). The result lists the text of each match. If the pattern has one group, it
    lists the text of the group instead; if several, a list of their texts, where a group that took no part is empty.
    Raises an error for syntax that RE2 does not support, such as lookaround and backreferences. Source: https://github.com/google/re2/wiki/Syntax

    Examples:
        matches("\\d+", "7 of 42") -> ["7", "42"]
        matches("(\\w)=(\\d)", "a=1 b=2") -> [["a", "1"], ["b", "2"]]
    """
    charge(len(text) + len(pattern))
    compiled = _pattern(pattern)
    if compiled.search is None or not text.isascii():
        return [list(match) if isinstance(match, tuple) else match for match in compiled.regex.findall(text)]
    matched = _spans(compiled.search, text.encode("ascii"))
    if compiled.groups < 2:
        return [text[spans[-1][0] : spans[-1][1]] for spans in matched]
    return [[text[begin:end] for begin, end in spans[1:]] for spans in matched]  # an unused group has the span -1 to -1


# (bytes, start, end) -> the spans of a match and its groups
Search = Callable[[bytes, int, int], list[tuple[int, int]]]


class Pattern(NamedTuple):
    """A pattern, its number of groups, and the engine's search in bytes if the binding exposes it."""

    regex: Any
    groups: int
    search: Search | None


@lru_cache(maxsize=256)
def _pattern(pattern: str) -> Pattern:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        reason = _reason(error)
        is_python = "(?" in reason or "escape" in reason
        help = "RE2 has no lookaround and no backreferences" if is_python else None
        raise LanguageError(f"the pattern is not RE2: {reason}", help) from None
    return Pattern(compiled, compiled.groups, _search(compiled))


def _search(compiled: Any) -> Search | None:
    """The engine's own search; None if this version of the binding does not have it there."""
    import re2

    try:
        return partial(compiled._regexp.Match, re2._Anchor.UNANCHORED)
    except AttributeError:
        return None


def _spans(search: Search, data: bytes) -> list[list[tuple[int, int]]]:
    """The spans of each match and its groups, from left to right; an unused group is -1 to -1.

    Gives the same as `findall` of the binding, whose loop is slower; saves an eighth of the compile time of
    s3_policy and pin_among_decoys.
    """
    result, at, end = [], 0, len(data)
    while at <= end:
        spans = search(data, at, end)
        begin, behind = spans[0]
        if begin < 0:
            break
        result.append(spans)
        at = behind + (behind == at)  # an empty match at the start would otherwise be found forever
    return result


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)


@library_function
def escape(text: str) -> str:
    r"""A pattern that matches exactly `text`, for use with `matches`.

    Examples:
        escape("a.b") -> "a\\.b"
        matches(escape("a.b"), "a.b axb") -> ["a.b"]
    """
    import re2

    return str(re2.escape(text))

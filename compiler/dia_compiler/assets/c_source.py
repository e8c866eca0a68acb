"""What untrusted C source may contain: nothing that reads a file, uses the date, or contains assembly code.

The compiler runs without a sandbox. So the source is tokenised as the compiler does it, and may contain only the
language itself outside strings and comments: no `#include`, no `asm`, and nothing that could assemble such a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST = 100_000
TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<word>[A-Za-z_$][\w$]*)
    |(?P<number>\.?[0-9](?:[eEpP][+-]|[\w.])*)
    |(?P<directive>^[ \t]*\#[ \t]*(?P<named>[a-z_]*))
    |(?P<blank>\n|[ \t]+)
    |(?P<sign>.)""",
    re.DOTALL | re.MULTILINE | re.VERBOSE | re.ASCII,
)
DIRECTIVES = frozenset({"define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif"})
# Reserved names that only compute; all others are rejected.
RESERVED = re.compile(
    r"_Bool|_Static_assert|_Alignas|_Alignof|__int128"
    r"|__builtin_(?:bswap(?:16|32|64)|(?:popcount|clz|ctz|parity)(?:ll?)?|rotate(?:left|right)(?:8|16|32|64))"
    r"|__builtin_(?:(?:add|sub|mul)_overflow|expect|unreachable)"
)
# Before a text, these make the compiler look for another end of it (R"x( ... )x").
RAW = frozenset({"R", "LR", "uR", "UR", "u8R"})
SPLICE = re.compile(r"\\[^\S\n]*\n")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A line of a source, counted from 1, and what is not allowed in it."""

    line: int
    what: str


def refusal(source: str) -> Refusal | None:
    """Return the first thing in the source that is not allowed; None if it may be compiled."""
    if len(source) > LONGEST:
        return Refusal(1, f"more than {LONGEST:,} characters")
    strange = next((place for place, sign in enumerate(source) if not (sign.isprintable() or sign in "\n\t")), None)
    if strange is not None:
        return Refusal(_line(source, strange), "a control character")
    spliced = SPLICE.search(source)
    if spliced:
        return Refusal(_line(source, spliced.start()), "a backslash at the end of a line")
    return next((Refusal(_line(source, place), what) for place, what in _refused(source)), None)


def _line(source: str, place: int) -> int:
    return source.count("\n", 0, place) + 1


def _refused(source: str) -> Iterator[tuple[int, str]]:
    """Yield the positions of what is not allowed, with its name."""
    for token in TOKEN.finditer(source):
        token_text = token[0]
        if token["directive"] is not None:
            if token["named"] not in DIRECTIVES:
                yield token.start(), f"`#{token['named']}`"
        elif token["word"]:
            is_raw = token_text in RAW and source.startswith('"', token.end())
            if (
                is_raw
                or token_text == "asm"
                or (re.match("_[_A-Z]", token_text) and not RESERVED.fullmatch(token_text))
            ):
                yield token.start(), f"`{token_text}`"
        elif token["sign"] and (token_text in "#\\\"'`@" or not token_text.isascii()):
            yield token.start(), f"`{token_text}`"
        elif token["sign"] == "%" and source.startswith("%:", token.start()):
            yield token.start(), "`%:`"

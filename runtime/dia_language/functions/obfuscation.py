"""Source code that is hard to read: Python expressions made of few characters, and renamed identifiers."""

from __future__ import annotations

import re

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.encoding import utf8
from dia_language.functions.registry import library_function
from dia_language.limits import TEXT_LENGTH

WRITTEN = 2_000
REPUNITS = (1111111, 111111, 11111, 1111, 111, 11, 1)
# Not with possessive repetition, which matches a trailing + or , in Python 3.11.0 to 3.11.4 (CPython issue 106052)
FEW_SIGNS = re.compile(r"'((?:%c)*)'%\((1+(?:[+,]1+)*|)\)")
# A word, or a quoted text, which ends with its line if the closing quote is missing
WORD_OR_QUOTED = re.compile(r"""(\w++|'(?:[^'\\\n]|\\.)*+'?+|"(?:[^"\\\n]|\\.)*+"?+)""")


@library_function
def to_pyfuck(text: str) -> str:
    """A Python expression whose value is `text`, written with the eight characters ' % c ( 1 + , ) only.

    The expression is a format string of %c directives, filled with code points that are sums of 1, 11, 111 and so on,
    largest first. With `exec` around it, it is a program. At most 2,000 characters, none of them NUL. Modelled on
    PyFuck, which writes Python with few characters.

    Examples:
        to_pyfuck("Ho") -> "'%c%c'%(11+11+11+11+11+11+1+1+1+1+1+1,111)"
    """
    if len(text) > WRITTEN:
        raise LanguageError(f"`to_pyfuck` accepts at most {WRITTEN:,} characters", code="E502")
    if "\0" in text:
        raise LanguageError("`to_pyfuck` cannot write a NUL character")
    utf8(text)
    charge(len(text))
    return f"'{'%c' * len(text)}'%({','.join(_sum(ord(character)) for character in text)})"


@library_function
def from_pyfuck(code: str) -> str:
    """The value, a text, of an expression in the form that `to_pyfuck` writes.

    Accepts any sums of numbers whose digits are all 1. Raises an error for any other expression and if a sum is not a
    valid character code.

    Examples:
        from_pyfuck("'%c%c'%(11+1+11+11+11+1+11+1+11+1+1+1,111)") -> "Ho"
    """
    charge(len(code) // 8)
    match = FEW_SIGNS.fullmatch(code)
    if not match:
        raise LanguageError("the text is not an expression in the form of `to_pyfuck`", "such as '%c'%(11+11+11)")
    sums = match[2].split(",") if match[2] else []
    if len(sums) * 2 != len(match[1]):
        raise LanguageError("the expression needs one number for each %c")
    return "".join(_character(part) for part in sums)


@library_function
def renamed(source: str, old: list[str], new: list[str]) -> str:
    """`source` with each name in `old` replaced by the name at the same index in `new`.

    Text in quotes is not changed (a quoted text ends at the end of its line at the latest); neither are longer words
    that contain a name. Exchanging the two lists restores the source. Raises an error if a name is not a valid
    identifier or occurs twice, or if a new name is already used in the source.

    Examples:
        renamed("def f(n): return n + len('n') + nn", ["f", "n"], ["l1", "lI"])
            -> "def l1(lI): return lI + len('n') + nn"
    """
    charge(len(source) // 4 + len(old) + len(new))
    names = _names(old, new)
    pieces = WORD_OR_QUOTED.split(source)  # words and quoted texts at odd indexes, everything else at even ones
    parts = pieces[1::2]
    conflicts = set(names.values()).intersection(parts).difference(names)
    if conflicts:
        raise LanguageError(f"the source already uses the name `{min(conflicts)}`")
    most = len(source) + len(parts) * max(map(len, new), default=0)
    if most > TEXT_LENGTH < len(source) + sum(len(names[part]) for part in parts if part in names):
        raise LanguageError(f"the result of `renamed` would exceed {TEXT_LENGTH:,} characters", code="E502")
    pieces[1::2] = map(names.get, parts, parts)
    return "".join(pieces)


def _sum(number: int) -> str:
    terms = []
    for repunit in REPUNITS:
        times, number = divmod(number, repunit)
        terms += [str(repunit)] * times
    return "+".join(terms)


def _character(sum_of_ones: str) -> str:
    terms = sum_of_ones.split("+")
    code = sum(map(int, terms)) if max(map(len, terms)) <= len(str(REPUNITS[0])) else 0x110000
    if code >= 0x110000 or 0xD800 <= code < 0xE000:
        raise LanguageError("a sum in the expression is not a character code")
    return chr(code)


def _names(old: list[str], new: list[str]) -> dict[str, str]:
    for name in [*old, *new]:
        if not name.isidentifier():
            raise LanguageError(
                "`renamed` needs valid names",
                "a name consists of letters, digits and _ and does not start with a digit",
            )
    if len(old) != len(new) or len({*old}) < len(old) or len({*new}) < len(new):
        raise LanguageError("`renamed` needs two lists of the same length without duplicate names")
    return dict(zip(old, new, strict=True))

"""Sources that are hard to read: Python of few signs, written and read, and names replaced by others."""

from __future__ import annotations

import re

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.encoding import utf8
from dia_language.functions.registry import library_function
from dia_language.limits import TEXT_LENGTH

WRITTEN = 2_000
REPUNITS = (1111111, 111111, 11111, 1111, 111, 11, 1)
FEW_SIGNS = re.compile(r"'((?:%c)*+)'%\(((?:1++(?:[+,]1++)*+)?+)\)")
# A word, or a text in quotes, to the end of its line where it lacks the second one
WORD_OR_QUOTED = re.compile(r"""(\w++|'(?:[^'\\\n]|\\.)*+'?+|"(?:[^"\\\n]|\\.)*+"?+)""")


@library_function
def to_pyfuck(text: str) -> str:
    """Python expression of the eight signs ' % c ( 1 + , ) whose value is the text.

    A format of as many %c, filled with the code points as sums of 1, 11, 111 and so on, the largest first. With `exec`
    around it, a program. At most 2,000 characters, none of them zero. After PyFuck, a writer of Python of few signs.

    >>> to_pyfuck("Ho")
    "'%c%c'%(11+11+11+11+11+11+1+1+1+1+1+1,111)"
    """
    if len(text) > WRITTEN:
        raise LanguageError(f"`to_pyfuck` takes at most {WRITTEN} characters", code="E502")
    if "\0" in text:
        raise LanguageError("`to_pyfuck` has no way to write a zero character")
    utf8(text)
    charge(len(text))
    return f"'{'%c' * len(text)}'%({','.join(_sum(ord(character)) for character in text)})"


@library_function
def from_pyfuck(code: str) -> str:
    """Text that is the value of an expression as `to_pyfuck` writes it.

    Any sums of numbers whose digits are 1 will do. An error for other expressions, and where a sum is no character.

    >>> from_pyfuck("'%c%c'%(11+1+11+11+11+1+11+1+11+1+1+1,111)")
    'Ho'
    """
    charge(len(code) // 8)
    match = FEW_SIGNS.fullmatch(code)
    if not match:
        raise LanguageError("the text is no expression of `to_pyfuck`", "such as '%c'%(11+11+11)")
    sums = match[2].split(",") if match[2] else []
    if len(sums) * 2 != len(match[1]):
        raise LanguageError("the expression has not as many numbers as it has %c")
    return "".join(_character(part) for part in sums)


@library_function
def renamed(source: str, old: list[str], new: list[str]) -> str:
    """Source with each of the old names replaced by the new one at the same place in its list.

    What stands in quotes stays (it ends with its line), and so do words that hold a name as a part. With the two lists
    exchanged the source comes back. An error for names that are none or occur twice, and for new ones in use.

    >>> renamed("def f(n): return n + len('n') + nn", ["f", "n"], ["l1", "lI"])
    "def l1(lI): return lI + len('n') + nn"
    """
    charge(len(source) // 4 + len(old) + len(new))
    names = _names(old, new)
    pieces = WORD_OR_QUOTED.split(source)  # words and texts in quotes at the odd places, what is between them at others
    parts = pieces[1::2]
    conflicts = set(names.values()).intersection(parts).difference(names)
    if conflicts:
        raise LanguageError(f"the source has the name `{min(conflicts)}` already")
    most = len(source) + len(parts) * max(map(len, new), default=0)
    if most > TEXT_LENGTH < len(source) + sum(len(names[part]) for part in parts if part in names):
        raise LanguageError(f"`renamed` would give more than {TEXT_LENGTH} characters", code="E502")
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
        raise LanguageError("a sum of the expression is no character")
    return chr(code)


def _names(old: list[str], new: list[str]) -> dict[str, str]:
    for name in [*old, *new]:
        if not name.isidentifier():
            raise LanguageError("`renamed` takes names", "letters, digits and _, not a digit first")
    if len(old) != len(new) or len({*old}) < len(old) or len({*new}) < len(new):
        raise LanguageError("`renamed` takes two lists of as many names, none of them twice in a list")
    return dict(zip(old, new, strict=True))

"""How numbers are written in messages and on screens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LONGEST = 15  # digits of a number that is printed in full
ROUNDED_FROM = 10**4  # estimates; smaller ones are printed in full
LONG_BOUND = 10**9  # bounds from here on are rounded


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return the number with its noun, in the plural if necessary.

    >>> counted(1, "item"), counted(12000, "item"), counted(2, "reply", "replies")
    ('1 item', '12,000 items', '2 replies')
    """
    return f"{grouped(number)} {noun if number == 1 else plural or noun + 's'}"


def grouped(number: int) -> str:
    """Return the number with thousands separators, or rounded to two digits if it is long.

    >>> grouped(5251), grouped(85070591730234615865843651857942052864)
    ('5,251', '~8.5e37')
    """
    return f"{number:,}" if abs(number) < 10**LONGEST else rounded(number)


def rounded(number: int) -> str:
    """Return the number rounded to two digits, marked as approximate.

    >>> rounded(7), rounded(7482675), rounded(9_960_000_000)
    ('~7', '~7.5e6', '~1e10')
    """
    if abs(number) < ROUNDED_FROM:
        return f"~{number:,}"
    sign, digits = ("-" if number < 0 else ""), str(abs(number))
    exponent, leading = len(digits) - 1, (int(digits[:3]) + 5) // 10
    if leading == 100:
        exponent, leading = exponent + 1, 10
    mantissa = f"{leading // 10}.{leading % 10}".removesuffix(".0")
    return f"~{sign}{mantissa}e{exponent}"


def freedom_text(degree: Any, estimate: tuple[int, int] | None = None) -> str:
    """Return the degrees of freedom of a template record: a number, a bound or `vast`.

    `estimate` is an estimated number and the number of draws that it comes from. It replaces a bound. A long bound is
    rounded as estimates are.

    >>> freedom_text({"kind": "at_most", "count": "12"}), freedom_text({"kind": "vast", "count": None})
    ('at most 12', 'vast')
    >>> freedom_text({"kind": "at_most", "count": "6482927556"}), freedom_text({"kind": "exact", "count": "64000000"})
    ('at most ~6.5e9', '64,000,000')
    >>> freedom_text({"kind": "at_least", "count": "5251"}, (7_482_675, 400))
    '~7.5e6 (estimated from 400 draws)'
    >>> freedom_text({"kind": "at_least", "count": "0"})
    'unknown'
    """
    if not isinstance(degree, Mapping):
        return "" if degree is None else str(degree)
    kind, count = str(degree.get("kind", "")), degree.get("count")
    if kind != "exact" and estimate is not None:
        return f"{rounded(estimate[0])} (estimated from {counted(estimate[1], 'draw')})"
    if count is None:
        return kind.replace("_", " ")
    if kind == "at_least" and not int(count):
        return "unknown"
    number = int(count)
    if kind == "exact":
        return grouped(number)
    return f"{kind.replace('_', ' ')} {grouped(number) if number < LONG_BOUND else rounded(number)}"

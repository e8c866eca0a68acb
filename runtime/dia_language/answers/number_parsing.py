"""Parsing digits to exact numbers, with one grammar per mode.

| | strict | lenient, beside that |
|---|---|---|
| integer | `[+-]?[0-9]+` | an exponent (`1.5e3`, if the number is whole), one trailing `.0` |
| real | digits with at most one decimal point anywhere, one digit at least | an exponent |
| both | groups of three by the separator that the answer declares, if any | groups by , _ ' or a blank; one of the units that the answer declares, before or behind the number |

Only ASCII digits, the ASCII signs + and -, no blanks but as separators, no words such as nan.
"""  # noqa: E501 - a table

from __future__ import annotations

import re
from fractions import Fraction

from dia_language.answers.base import DIGITS, Mode, Unreadable
from dia_language.numbers.radix import integer_of
from dia_language.numbers.rounding import THOUSANDS
from dia_language.numbers.values import Value, decimal

# All are used with fullmatch and linear: each text has only one match.
WHOLE = re.compile(r"[+-]?[0-9]+")
PLAIN = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?")
EXPONENT = re.compile(r"([^eE]+)[eE]([+-]?[0-9]{1,6})")
GROUPED = {mark: re.compile(rf"[+-]?[0-9]{{1,3}}(?:{re.escape(mark)}[0-9]{{3}})+") for mark in THOUSANDS}


def read_integer(text: str, thousands: str, mode: Mode) -> int:
    """The integer in the text. Raises Unreadable."""
    if WHOLE.fullmatch(text):
        return _integer(text)
    if mode == "lenient":
        if match := EXPONENT.fullmatch(text):
            return _required_whole(_scaled(match[1], int(match[2])))
        text = text.removesuffix(".0")
    digits = _ungrouped(text, thousands, mode)
    if not WHOLE.fullmatch(digits):
        raise Unreadable("not a whole number in digits")
    return _integer(digits)


def read_real(text: str, thousands: str, mode: Mode) -> Value:
    """The integer or decimal in the text. Raises Unreadable."""
    if mode == "lenient" and (match := EXPONENT.fullmatch(text)):
        return _scaled(match[1], int(match[2]))
    head, point, tail = text.partition(".")
    return _scaled(_ungrouped(head, thousands, mode) + point + tail, 0)


def without_unit(text: str, units: tuple[str, ...], mode: Mode) -> str:
    """The number's text without a unit before or after it, which lenient allows."""
    if mode == "strict":
        return text
    for unit in units:
        if text.endswith(unit):
            return text[: -len(unit)].rstrip()
        if text.startswith(unit):
            return text[len(unit) :].lstrip()
    return text


def _integer(digits: str) -> int:
    if len(digits) > DIGITS and len(digits.lstrip("+-")) > DIGITS:
        raise Unreadable("too many digits")
    return integer_of(digits.removeprefix("+"))


def _required_whole(number: Value) -> int:
    if type(number) is not int:
        raise Unreadable("not a whole number")
    return number


def _ungrouped(text: str, thousands: str, mode: Mode) -> str:
    """The text without the separators between its groups of three, if it is so grouped throughout."""
    for mark in THOUSANDS if mode == "lenient" else thousands:
        if mark in text and GROUPED[mark].fullmatch(text):
            return text.replace(mark, "")
    return text


def _scaled(text: str, exponent: int) -> Value:
    """The number of plain digits times a power of ten."""
    match = PLAIN.fullmatch(text)
    if not match or not (match[2] or match[3]):
        raise Unreadable("not a number in digits")
    decimals = match[3] or ""
    digits = match[2] + decimals
    if len(digits) + abs(exponent) > DIGITS:
        raise Unreadable("too many digits")
    number, places = integer_of(digits), len(decimals) - exponent
    signed = -number if match[1] == "-" else number
    return signed * 10**-places if places <= 0 else decimal(Fraction(signed, 10**places))

"""Parsing digits to exact numbers, with one grammar per mode.

| | strict | standard also accepts | lenient also accepts |
|---|---|---|---|
| integer | `[+-]?[0-9]+` | an exponent, if the number is whole (`1.5e3`) | an exponent, one trailing `.0` |
| real | digits with at most one decimal point, at least one digit | an exponent (`1.5e3`, `1.5 × 10^3`) | an exponent (`1.5e3`) |
| both | groups of three with the separator that the answer declares, if any | one of the units that the answer declares, before or after the number; the Unicode minus U+2212; spaces after the sign | groups with , _ ' or a space; one of the declared units |

`standard_lenient` accepts what standard or lenient accepts. Digits are ASCII; words such as nan are not numbers.
"""  # noqa: E501 - a table

from __future__ import annotations

import re

from dia_language.answers.base import DIGITS, LENIENT, Mode, Unreadable
from dia_language.numbers.radix import SAFE_DIGITS, integer_of
from dia_language.numbers.rounding import THOUSANDS
from dia_language.numbers.values import ExactDecimal, Value, decimal

# All are used with fullmatch and linear: each text has only one match.
WHOLE = re.compile(r"[+-]?[0-9]+")
PLAIN = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?")
EXPONENT = re.compile(r"([^eE]+)[eE]([+-]?[0-9]{1,6})")
POWER = re.compile(
    r"([^eE×x*·\s]+)\s*[×x*·]\s*10(?:\s*(?:\^|\*\*)\s*[{(]?([+-]?[0-9]{1,6})[)}]?|([⁺⁻]?[⁰¹²³⁴-⁹]{1,6}))"
)
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
SIGN = re.compile(r"([+-])\s+")
STANDARD: frozenset[Mode] = frozenset({"standard", "standard_lenient"})
GROUPED = {mark: re.compile(rf"[+-]?[0-9]{{1,3}}(?:{re.escape(mark)}[0-9]{{3}})+") for mark in THOUSANDS}


def read_integer(text: str, thousands: str, mode: Mode) -> int:
    """Return the integer in the text. Raises Unreadable."""
    if WHOLE.fullmatch(text):
        return _integer(text)
    text = _with_plain_sign(text, mode)
    if WHOLE.fullmatch(text):
        return _integer(text)
    if scaled := _scientific(text, mode):
        return _required_whole(_scaled(*scaled))
    if mode in LENIENT:
        text = text.removesuffix(".0")
    digits = _ungrouped(text, thousands, mode)
    if not WHOLE.fullmatch(digits):
        raise Unreadable("not an integer in digits")
    return _integer(digits)


def read_real(text: str, thousands: str, mode: Mode) -> Value:
    """Return the integer or decimal in the text. Raises Unreadable."""
    text = _with_plain_sign(text, mode)
    if scaled := _scientific(text, mode):
        return _scaled(*scaled)
    head, point, tail = text.partition(".")
    return _scaled(_ungrouped(head, thousands, mode) + point + tail, 0)


def without_unit(text: str, units: tuple[str, ...], mode: Mode) -> str:
    """Return the number's text without a unit before or after it, which all modes except strict allow."""
    if mode == "strict" or not units:
        return text
    sign = text[:1] if mode in STANDARD and text[:1] in ("+", "-", "−") else ""
    number = text[len(sign) :].lstrip() if sign else text
    for unit in units:
        if number.endswith(unit):
            return sign + number[: -len(unit)].rstrip()
        if number.startswith(unit):
            return sign + number[len(unit) :].lstrip()
    return text


def _with_plain_sign(text: str, mode: Mode) -> str:
    """Return the text with an ASCII sign directly before the digits, where the mode allows others."""
    return SIGN.sub(r"\1", text.replace("−", "-"), count=1) if mode in STANDARD else text


def _scientific(text: str, mode: Mode) -> tuple[str, int] | None:
    """The digits and the exponent of a number in scientific notation; None for other texts and in mode strict."""
    if mode == "strict":
        return None
    if match := EXPONENT.fullmatch(text):
        return match[1], int(match[2])
    match = POWER.fullmatch(text) if mode in STANDARD else None
    return (match[1], int(match[2] or match[3].translate(RAISED))) if match else None


def _integer(digits: str) -> int:
    if len(digits) <= SAFE_DIGITS:
        return int(digits)
    if len(digits) > DIGITS and len(digits.lstrip("+-")) > DIGITS:
        raise Unreadable("too many digits")
    return integer_of(digits.removeprefix("+"))


def _required_whole(number: Value) -> int:
    if type(number) is not int:
        raise Unreadable("not an integer")
    return number


def _ungrouped(text: str, thousands: str, mode: Mode) -> str:
    """Return the text without the separators between its groups of three, if it is so grouped throughout."""
    for mark in THOUSANDS if mode in LENIENT else thousands:
        if mark in text and GROUPED[mark].fullmatch(text):
            return text.replace(mark, "")
    return text


def _scaled(text: str, exponent: int) -> Value:
    """Return the number of plain digits times a power of ten."""
    match = PLAIN.fullmatch(text)
    if not match or not (match[2] or match[3]):
        raise Unreadable("not a number in digits")
    decimals = match[3] or ""
    digits = match[2] + decimals
    if len(digits) + abs(exponent) > DIGITS:
        raise Unreadable("too many digits")
    number, places = integer_of(digits), len(decimals) - exponent
    signed = -number if match[1] == "-" else number
    return signed * 10**-places if places <= 0 else decimal(ExactDecimal(signed, 10**places))

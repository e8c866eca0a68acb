"""Exact rounding: of rationals by integer arithmetic, of symbolic numbers by certain digits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import islice
from typing import Any

from dia_language.counts import counted
from dia_language.diagnostics import LanguageError, did_you_mean
from dia_language.numbers.certified import SPARE_DIGITS, enclosures, equals, has_integral, interval
from dia_language.numbers.radix import integer_text
from dia_language.numbers.values import (
    RATIONAL,
    ExactDecimal,
    Value,
    decimal,
    decimal_scale,
    described,
    is_symbolic,
    normal,
)

MAXIMUM_PLACES = 10_000
# Enclosures to try before a symbolic value is compared exactly with a suspected tie
TRIES = 3

THOUSANDS = {",": "a comma", " ": "a space", "_": "an underscore", "'": "an apostrophe"}
DEFAULT_ZEROS = "strip"


def round_exact(value: Value, places: int, ties: str = "half_even") -> int | ExactDecimal:
    """Return the number rounded to this many decimal places: an integer or a decimal, never through a binary float.

    `ties` is half_even, half_up (ties away from zero) or down (every value towards zero, not only ties).
    Negative places round to tens, hundreds and so on. Symbolic numbers are computed with growing precision
    until the last digit is certain; what may be a tie is decided exactly. Raises LanguageError if that
    fails, with code E504 for what is not a finite real number.

    >>> str(round_exact(Fraction(5, 8), 2)), round_exact(Fraction(-5, 2), 0, "half_up"), round_exact(149, -2)
    ('0.62', -3, 100)
    """
    _require_rule(places, ties)
    return round_normal(normal(value), places, ties)


def round_normal(number: Value, places: int, ties: str) -> int | ExactDecimal:
    """Return the number, which is in normal form, as rounded by `round_exact`, with a rule that has been checked."""
    if is_symbolic(number):
        units = _symbolic_units(number, places, ties)
    elif type(number) in RATIONAL:
        units = _rational_units(number, places, ties)
    else:
        raise LanguageError(f"only a number can be rounded; this is {described(number)}")
    unit: int = 10 ** abs(places)
    if places <= 0:
        return units * unit
    rounded: int | ExactDecimal = decimal(ExactDecimal(units, unit))
    return rounded


def _scale(places: int) -> int | Fraction:
    """Return the number of units of that decimal place in 1."""
    return 10**places if places >= 0 else Fraction(1, 10**-places)


def _require_rule(places: int, ties: str) -> None:
    if type(places) is not int or abs(places) > MAXIMUM_PLACES:
        raise LanguageError(f"`places` must be an integer of at most {MAXIMUM_PLACES:,}")
    if ties not in TIES:
        help = did_you_mean(ties, TIES) if isinstance(ties, str) else None
        raise LanguageError("`ties` must be half_even, half_up or down", help)


def _half_even(whole: int, twice: int, unit: int) -> bool:
    return twice > unit or (twice == unit and whole % 2 == 1)


def _half_up(whole: int, twice: int, unit: int) -> bool:
    return twice >= unit


def _down(whole: int, twice: int, unit: int) -> bool:
    return False


# Whether the absolute value goes up to the next unit, from its whole units and twice the rest, in parts of a unit
TIES: Mapping[str, Callable[[int, int, int], bool]] = {
    "half_even": _half_even,
    "half_up": _half_up,
    "down": _down,
}


def _rational_units(number: int | Fraction, places: int, ties: str) -> int:
    """Return the rational rounded, in units of its last place."""
    unit, top, bottom = 10 ** abs(places), abs(number.numerator), number.denominator
    top, bottom = (top * unit, bottom) if places >= 0 else (top, bottom * unit)
    whole, rest = divmod(top, bottom)
    units: int = whole + TIES[ties](whole, 2 * rest, bottom)
    return -units if number < 0 else units


def _symbolic_units(value: Any, places: int, ties: str) -> int:
    """Return the symbolic number rounded, in units of its last place."""
    rough = None if has_integral(value) else interval(value, SPARE_DIGITS)  # mostly narrow enough
    if rough is not None and (units := _agreed(*rough, places, ties)) is not None:
        return units
    scale = _scale(places)
    narrowing = enclosures(value, places)
    low = high = None
    for low, high in islice(narrowing, TRIES):
        if (units := _agreed(low, high, places, ties)) is not None:
            return units
    if low is None or high is None:
        raise LanguageError("the number needs too many digits to be rounded")
    # Ties and integers are half units apart: this is the doubtful one
    tie = Fraction(_rational_units(low + high, places, "half_even"), 2)
    same = equals(value, tie / scale)
    if same:
        return _rational_units(tie, 0, ties)
    for low, high in islice(narrowing, None if same is False else TRIES):
        if (units := _agreed(low, high, places, ties)) is not None:
            return units
    near = write_number(tie / scale)
    raise LanguageError(
        f"the tie cannot be decided: the value is too close to {near if len(near) < 60 else 'one'}",
        "simplify the expression, or round it to another place",
    )


def _agreed(low: Fraction, high: Fraction, places: int, ties: str) -> int | None:
    """Return the rounded value of both ends if they agree; the value is then rounded to it as well."""
    units = _rational_units(low, places, ties)
    return units if units == _rational_units(high, places, ties) else None


def write_number(value: Value, places: int | None = None, zeros: str = DEFAULT_ZEROS, thousands: str = "") -> str:
    """Return the one declared text of an integer or decimal, never `-0`.

    `zeros` is keep (exactly `places` decimals) or strip (no trailing zeros, no trailing point); without `places` all
    decimals are written. `thousands` separates groups of three digits of the integer part. Raises LanguageError for a
    number with more decimals than `places`, or with infinitely many.

    >>> write_number(Fraction(-2469, 2), 2, "keep", ","), write_number(Fraction(5, 2), 2)
    ('-1,234.50', '2.5')
    """
    if type(value) not in RATIONAL:
        raise LanguageError(f"only an integer or a decimal is written in digits; this is {described(value)}")
    _require_writing(zeros, thousands)
    if type(value) is int and not thousands and not (zeros == "keep" and places and places > 0):
        return integer_text(value)
    whole, decimals = _digits(value)
    if places is not None and len(decimals) > max(places, 0):
        message = f"the number has {counted(len(decimals), 'decimal place')}, more than {max(places, 0)}"
        raise LanguageError(message, "round it first")
    if places is not None and zeros == "keep":
        decimals = decimals.ljust(places, "0")
    sign = "-" if value.numerator < 0 else ""
    return sign + _grouped(whole, thousands) + (f".{decimals}" if decimals else "")


def _require_writing(zeros: str, thousands: str) -> None:
    if zeros not in ("keep", "strip"):
        raise LanguageError("`zeros` must be keep or strip")
    if thousands not in ("", *THOUSANDS):
        raise LanguageError("`thousands` must be a comma, a space, an underscore, an apostrophe or empty")


def _digits(value: int | Fraction) -> tuple[str, str]:
    """Return the digits before and after the point, without trailing zeros.

    Raises LanguageError if there are infinitely many.
    """
    scale = decimal_scale(value.denominator)
    if scale is None:
        help = "add `round` to round the number, or `tolerance`"
        raise LanguageError("the number has no finite decimal form", help)
    places, factor = scale
    digits = integer_text(abs(value.numerator) * factor).rjust(places + 1, "0")
    return (digits[:-places], digits[-places:]) if places else (digits, "")


def _grouped(whole: str, thousands: str) -> str:
    if not thousands:
        return whole
    first = len(whole) % 3 or 3
    return thousands.join([whole[:first], *(whole[at : at + 3] for at in range(first, len(whole), 3))])


def rounding_rule(round: Mapping[str, Any]) -> str:
    """Return the rounding in words, as prompts state it. The text is frozen, because bundles contain it.

    >>> rounding_rule({"places": 0, "ties": "down"})
    'Round towards zero to a whole number: cut off all digits after the decimal point.'
    """
    places, ties = round["places"], round.get("ties", "half_even")
    _require_rule(places, ties)
    return " ".join(filter(None, (_target(places, ties), _writing(places, round))))


def _target(places: int, ties: str) -> str:
    unit = "1" + "0" * -places if places > -7 else f"10^{-places}"
    if places > 0:
        where = f"{places} decimal place{'' if places == 1 else 's'}"
        even, cut = "the one whose last digit is even", "all digits after that"
    elif places == 0:
        where = "a whole number"
        even, cut = "the even one", "all digits after the decimal point"
    else:
        where = f"a multiple of {unit}"
        even, cut = f"the one that is an even multiple of {unit}", "what is left over"
    if ties == "down":
        return f"Round towards zero to {where}: cut off {cut}."
    chosen = even if ties == "half_even" else "the one farther from zero"
    return f"Round to {where}; a value exactly halfway between two candidates goes to {chosen}."


def _writing(places: int, round: Mapping[str, Any]) -> str:
    parts = []
    if places > 0:
        keep = "write exactly that many decimal places, with zeros at the end where needed"
        strip = "leave out trailing zeros after the decimal point, and the point itself if no digits follow it"
        parts.append(keep if round.get("zeros", DEFAULT_ZEROS) == "keep" else strip)
    if round.get("thousands"):
        parts.append(f"put {THOUSANDS[round['thousands']]} between groups of three digits of the whole part")
    text = ", and ".join(parts)
    return text[:1].upper() + text[1:] + "." if text else ""

"""Basic arithmetic: sums and means, signs and roots, rounding, digits and machine integers."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from typing import Any

from dia_language.budgets import charge, require_bits
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Number, Rational, Value
from dia_language.functions.ordering import ascending, compare, is_plain, order
from dia_language.functions.registry import library_function
from dia_language.numbers import operators
from dia_language.numbers.radix import SAFE_DIGITS, digits_of, number_of
from dia_language.numbers.values import ExactDecimal, decimal, is_symbolic, normal

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
WRITTEN = DIGITS.encode().ljust(256)  # the digit for each value, as a byte
FORMATS = {2: "b", 8: "o", 16: "x"}  # Python's format codes for bases that it writes in linear time


@library_function
def abs_(x: Number) -> Number:
    """The absolute value of `x`.

    Examples:
        abs(-3) -> 3
    """
    if is_symbolic(x):
        return abs(x)
    return operators.negate(x) if x < 0 else x


@library_function
def sign(x: Number) -> int:
    """The sign of `x`: -1, 0 or 1.

    Raises an error if `x` contains free symbols.

    Examples:
        sign(-7) -> -1
        sign(0) -> 0
    """
    if operators.less(x, 0):
        return -1
    return 1 if operators.less(0, x) else 0


@library_function
def min_(first: Value, *others: Value) -> Value:
    """The smallest of the values; the first one if several are equal.

    Takes several values or one list. The values must be all numbers or all texts. Raises an error for an empty list.

    Examples:
        min(3, 1, 2) -> 1
        min(["pear", "fig"]) -> "fig"
    """
    values = _values("min", first, others)
    if is_plain(values):
        charge(len(values))
        return min(values)
    return values[order(values)[0]]


@library_function
def max_(first: Value, *others: Value) -> Value:
    """The largest of the values; the first one if several are equal.

    Takes several values or one list. The values must be all numbers or all texts. Raises an error for an empty list.

    Examples:
        max(3, 1, 2) -> 3
        max(["pear", "fig"]) -> "pear"
    """
    values = _values("max", first, others)
    if is_plain(values):
        charge(len(values))
        return max(values)
    greatest = values[order(values)[-1]]
    return next(value for value in values if compare(value, greatest) == 0)


def _values(name: str, first: Value, others: tuple[Value, ...]) -> list[Value]:
    values = [first, *others] if others or not isinstance(first, list) else first
    if not values:
        raise LanguageError(f"`{name}` needs a list that is not empty", code="E504")
    return values


INTEGERS, WHOLE = frozenset({int}), frozenset({int, bool})


@library_function
def sum_(values: list[Number | bool]) -> Number:
    """The sum of the numbers; 0 for an empty list. `true` counts as 1 and `false` as 0.

    Examples:
        sum([1, 2, 3]) -> 6
        sum([true, false, true]) -> 2
    """
    charge(len(values))
    return sum(values) if WHOLE.issuperset(map(type, values)) else reduce(operators.add, values, 0)


@library_function
def product(values: list[Number]) -> Number:
    """The product of the numbers; 1 for an empty list.

    Raises an error if the result exceeds 1,000,000 bits.

    Examples:
        product([2, 3, 7]) -> 42
    """
    charge(len(values))
    if INTEGERS.issuperset(map(type, values)):
        require_bits("product", sum(map(int.bit_length, values)))
        return math.prod(values)
    return reduce(operators.multiply, values, 1)


@library_function
def mean(values: list[Number | bool]) -> Number:
    """The exact arithmetic mean of the numbers. For booleans, the share that is true.

    Raises an error for an empty list.

    Examples:
        mean([1, 2]) -> 3/2
        mean([true, true, false, true]) -> 3/4
    """
    if not values:
        raise LanguageError("`mean` needs a list that is not empty", code="E504")
    return operators.divide(sum_(values), len(values))


@library_function
def median(values: list[Number]) -> Number:
    """The exact median of the numbers: the middle one in sorted order, or the mean of the two middle ones.

    Raises an error for an empty list.

    Examples:
        median([5, 1, 3]) -> 3
        median([1, 2, 3, 4]) -> 5/2
    """
    if not values:
        raise LanguageError("`median` needs a list that is not empty", code="E504")
    ordered = ascending(values)
    low, high = ordered[(len(values) - 1) // 2], ordered[len(values) // 2]
    return high if len(values) % 2 else operators.divide(operators.add(low, high), 2)


@library_function
def floor(x: Number) -> int:
    """The largest integer that is not greater than `x`.

    Raises an error if `x` contains free symbols.

    Examples:
        floor(-7/2) -> -4
    """
    return math.floor(x) if not is_symbolic(x) else _whole("floor", x)


@library_function
def ceil(x: Number) -> int:
    """The smallest integer that is not less than `x`.

    Raises an error if `x` contains free symbols.

    Examples:
        ceil(-7/2) -> -3
    """
    return math.ceil(x) if not is_symbolic(x) else _whole("ceiling", x)


def _whole(name: str, x: Any) -> int:
    import sympy

    rounded = getattr(sympy, name)(x)
    if not rounded.is_Integer:
        raise LanguageError("only a real number without free symbols can be rounded", code="E504")
    return int(rounded)


@library_function
def numerator(x: Rational) -> int:
    """The numerator of `x` in lowest terms; it has the sign of `x`.

    Examples:
        numerator(-6/8) -> -3
    """
    return x.numerator


@library_function
def denominator(x: Rational) -> int:
    """The denominator of `x` in lowest terms; always positive.

    Examples:
        denominator(-6/8) -> 4
    """
    return x.denominator


@library_function
def sqrt(x: Number) -> Number:
    """The exact square root of `x`: a rational number if possible, otherwise a symbolic root such as 2*sqrt(3).

    Raises an error if `x` is negative.

    Examples:
        sqrt(9/4) -> 3/2
        sqrt(12) -> 2*sqrt(3)
    """
    import sympy

    if is_symbolic(x):
        return sympy.sqrt(x)
    if x < 0:
        raise LanguageError("a negative number has no real square root", code="E504")
    top, bottom = math.isqrt(x.numerator), math.isqrt(x.denominator)
    if top * top == x.numerator and bottom * bottom == x.denominator:
        root = Fraction(top, bottom)
        return decimal(root) if isinstance(x, ExactDecimal) else normal(root)
    return sympy.sqrt(operators.symbolic(x))


@library_function
def round_to(x: Number, places: int, ties: str = "half_even") -> Number:
    """`x` rounded to `places` decimal places, as an exact integer or decimal.

    `ties` is half_even (numbers exactly halfway go to the even digit), half_up (they go away from zero) or down (every
    number is cut towards zero). A `places` of -1 rounds to tens, -2 to hundreds. For symbolic numbers, as many
    digits are computed as needed to settle the last one. Raises an error if dia cannot decide whether a symbolic number
    is exactly halfway.

    Examples:
        round_to(5/2, 0) -> 2
        round_to(2/3, 2) -> 0.67
        round_to(5/2, 0, "half_up") -> 3
        round_to(2/3, 2, "down") -> 0.66
    """
    from dia_language.numbers.rounding import round_exact

    return round_exact(x, places, ties)


@library_function
def digits(n: int, base: int = 10) -> list[int]:
    """The digits of `n` in the given base as a list of integers, most significant first; [0] for 0.

    `n` must be 0 or more and `base` 2 or more.

    Examples:
        digits(1729) -> [1, 7, 2, 9]
        digits(6, 2) -> [1, 1, 0]
    """
    _require_digits(n, base)
    return digits_of(n, base)


@library_function
def digit_sum(n: int, base: int = 10) -> int:
    """The sum of the digits of `n` in the given base.

    `n` must be 0 or more and `base` 2 or more.

    Examples:
        digit_sum(1729) -> 19
        digit_sum(255, 2) -> 8
    """
    _require_digits(n, base)
    return sum(digits_of(n, base))


def _require_digits(n: int, base: int) -> None:
    if n < 0 or base < 2:
        raise LanguageError("`digits` needs `n` to be 0 or more and `base` to be 2 or more")
    charge(n.bit_length() // 8)


@library_function
def to_base(n: int, base: int, case: str = "lower") -> str:
    """`n` written in a base from 2 to 36, with a leading minus sign if it is negative.

    `case` is lower or upper and applies to digits above 9.

    Examples:
        to_base(255, 16) -> "ff"
        to_base(-35, 36, "upper") -> "-Z"
    """
    if not 2 <= base <= 36 or case not in ("lower", "upper"):
        raise LanguageError("`to_base` needs a base from 2 to 36, and `case` must be lower or upper")
    charge(n.bit_length() // 8)
    if base in FORMATS:
        text = format(n, FORMATS[base])
    else:
        text = ("-" if n < 0 else "") + bytes(digits_of(abs(n), base)).translate(WRITTEN).decode()
    return text.upper() if case == "upper" else text


LONGEST_EXCERPT = 40  # characters of a text in a message


@library_function
def from_base(text: str, base: int) -> int:
    """The integer that `text` represents in a base from 2 to 36.

    Digits above 9 are letters in either case. The text may start with a minus sign. Raises an error for any other
    character.

    Examples:
        from_base("ff", 16) -> 255
        from_base("-101", 2) -> -5
    """
    if not 2 <= base <= 36:
        raise LanguageError("`from_base` needs a base from 2 to 36")
    body = text.removeprefix("-").lower() if text.isascii() else ""
    if not body or body.strip(DIGITS[:base]):
        excerpt = text if len(text) <= LONGEST_EXCERPT else text[:LONGEST_EXCERPT] + "..."
        last = DIGITS[base - 1]
        digits = f"0 to {last}" if base <= 10 else f"0 to 9 and {' to '.join(sorted({'a', last}))}"
        separators = '`without(text, ", ")` removes commas and spaces'
        help = f"use only the digits {digits}, after an optional minus sign; {separators}"
        raise LanguageError(f"the text `{excerpt}` is not an integer in base {base}", help)
    require_bits("from_base", len(body) * (base.bit_length() - 1))
    charge(len(body))
    is_short = len(body) <= SAFE_DIGITS
    number = int(body, base) if is_short else number_of([DIGITS.index(letter) for letter in body], base)
    return -number if text.startswith("-") else number


@library_function
def bit_length(n: int) -> int:
    """The number of bits in the binary form of the absolute value of `n`; 0 for 0.

    Examples:
        bit_length(255) -> 8
        bit_length(256) -> 9
    """
    return n.bit_length()


@library_function
def int32(n: int) -> int:
    """The signed 32-bit integer with the same lowest 32 bits as `n` (two's complement), from -2**31 to 2**31 - 1.

    This is the value that `n` has after overflow in a signed 32-bit integer of Java, or of C with `-fwrapv`.

    Examples:
        int32(2**31) -> -2147483648
    """
    return (n + 2**31) % 2**32 - 2**31


@library_function
def int64(n: int) -> int:
    """The signed 64-bit integer with the same lowest 64 bits as `n` (two's complement), from -2**63 to 2**63 - 1.

    This is the value that `n` has after overflow in a signed 64-bit integer of Java, or of C with `-fwrapv`.

    Examples:
        int64(2**63) -> -9223372036854775808
    """
    return (n + 2**63) % 2**64 - 2**63

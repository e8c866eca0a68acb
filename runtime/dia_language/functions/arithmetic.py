"""Plain arithmetic: sums and means, signs and roots, rounding, digits and machine integers."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from typing import Any

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Number, Rational, Value
from dia_language.functions.ordering import ascending, compare, is_plain, order
from dia_language.functions.registry import library_function
from dia_language.limits import INTEGER_BITS
from dia_language.numbers import operators
from dia_language.numbers.radix import SAFE_DIGITS, digits_of, number_of
from dia_language.numbers.values import ExactDecimal, decimal, is_symbolic, normal

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
WRITTEN = DIGITS.encode().ljust(256)  # the digit of each value as a byte
FORMATS = {2: "b", 8: "o", 16: "x"}  # of Python, which writes these in linear time


@library_function
def abs_(x: Number) -> Number:
    """Absolute value of the number.

    >>> abs_(-3)
    3
    """
    if is_symbolic(x):
        return abs(x)
    return operators.negate(x) if x < 0 else x


@library_function
def sign(x: Number) -> int:
    """-1, 0 or 1 as the number is negative, zero or positive.

    An error for expressions with free symbols.

    >>> sign(-7), sign(0)
    (-1, 0)
    """
    if operators.less(x, 0):
        return -1
    return 1 if operators.less(0, x) else 0


@library_function
def min_(first: Value, *others: Value) -> Value:
    """Least of the values; the first of them where several are equal.

    Takes several values or one list, all numbers or all texts. An error for an empty list.

    >>> min_(3, 1, 2), min_(["pear", "fig"])
    (1, 'fig')
    """
    values = _values("min", first, others)
    if is_plain(values):
        charge(len(values))
        return min(values)
    return values[order(values)[0]]


@library_function
def max_(first: Value, *others: Value) -> Value:
    """Greatest of the values; the first of them where several are equal.

    Takes several values or one list, all numbers or all texts. An error for an empty list.

    >>> max_(3, 1, 2), max_(["pear", "fig"])
    (3, 'pear')
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
        raise LanguageError(f"an empty list has no {name}", code="E504")
    return values


INTEGERS, WHOLE = frozenset({int}), frozenset({int, bool})


@library_function
def sum_(values: list[Number | bool]) -> Number:
    """Sum of the numbers; true counts as 1 and false as 0, and of no numbers it is 0.

    >>> sum_([1, 2, 3]), sum_([True, False, True])
    (6, 2)
    """
    charge(len(values))
    return sum(values) if WHOLE.issuperset(map(type, values)) else reduce(operators.add, values, 0)


@library_function
def product(values: list[Number]) -> Number:
    """Product of the numbers; of no numbers it is 1.

    The result has at most 1,000,000 bits.

    >>> product([2, 3, 7])
    42
    """
    charge(len(values))
    if INTEGERS.issuperset(map(type, values)):
        _bounded("product", sum(map(int.bit_length, values)))
        return math.prod(values)
    return reduce(operators.multiply, values, 1)


@library_function
def mean(values: list[Number | bool]) -> Number:
    """Arithmetic mean of the numbers, exact; of booleans it is the share that is true.

    An error for an empty list.

    >>> mean([1, 2]), mean([True, True, False, True])
    (Fraction(3, 2), Fraction(3, 4))
    """
    if not values:
        raise LanguageError("an empty list has no mean", code="E504")
    return operators.divide(sum_(values), len(values))


@library_function
def median(values: list[Number]) -> Number:
    """Middle of the sorted numbers, the mean of the two middle ones where their count is even, exact.

    An error for an empty list.

    >>> median([5, 1, 3]), median([1, 2, 3, 4])
    (3, Fraction(5, 2))
    """
    if not values:
        raise LanguageError("an empty list has no median", code="E504")
    ordered = ascending(values)
    low, high = ordered[(len(values) - 1) // 2], ordered[len(values) // 2]
    return high if len(values) % 2 else operators.divide(operators.add(low, high), 2)


@library_function
def floor(x: Number) -> int:
    """Greatest integer that is not above the number.

    An error for expressions with free symbols.

    >>> floor(Fraction(-7, 2))
    -4
    """
    return math.floor(x) if not is_symbolic(x) else _whole("floor", x)


@library_function
def ceil(x: Number) -> int:
    """Least integer that is not below the number.

    An error for expressions with free symbols.

    >>> ceil(Fraction(-7, 2))
    -3
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
    """Numerator of the rational number in lowest terms; it carries the sign.

    >>> numerator(Fraction(-6, 8))
    -3
    """
    return x.numerator


@library_function
def denominator(x: Rational) -> int:
    """Denominator of the rational number in lowest terms, 1 or more.

    >>> denominator(Fraction(-6, 8))
    4
    """
    return x.denominator


@library_function
def sqrt(x: Number) -> Number:
    """Exact square root: a rational number where there is one, else a symbolic root such as 2*sqrt(3).

    An error for negative numbers.

    >>> sqrt(Fraction(9, 4)), sqrt(12)
    (Fraction(3, 2), 2*sqrt(3))
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
    """Number rounded to so many decimal places, exact: an integer or a decimal.

    `ties` is half_even, half_up (away from zero) or down (towards zero). As many digits of symbolic numbers
    are computed as the last one needs; a tie that cannot be decided is an error.

    >>> round_to(Fraction(5, 2), 0), str(round_to(Fraction(2, 3), 2))
    (2, '0.67')
    """
    from dia_language.numbers.rounding import round_exact

    return round_exact(x, places, ties)


@library_function
def digits(n: int, base: int = 10) -> list[int]:
    """Digits of the integer in the base as integers, most significant first; of 0 it is [0].

    `n` is 0 or more and `base` 2 or more.

    >>> digits(1729), digits(6, 2)
    ([1, 7, 2, 9], [1, 1, 0])
    """
    _require_digits(n, base)
    return digits_of(n, base)


@library_function
def digit_sum(n: int, base: int = 10) -> int:
    """Sum of the digits of the integer in the base.

    `n` is 0 or more and `base` 2 or more.

    >>> digit_sum(1729)
    19
    """
    _require_digits(n, base)
    return sum(digits_of(n, base))


def _require_digits(n: int, base: int) -> None:
    if n < 0 or base < 2:
        raise LanguageError("`digits` needs `n` to be 0 or more and `base` to be 2 or more")
    charge(n.bit_length() // 8)


@library_function
def to_base(n: int, base: int, case: str = "lower") -> str:
    """Text of the integer in a base from 2 to 36, with a minus sign where it is negative.

    `case` is lower or upper, for the digits above 9.

    >>> to_base(255, 16), to_base(-35, 36, "upper")
    ('ff', '-Z')
    """
    if not 2 <= base <= 36 or case not in ("lower", "upper"):
        raise LanguageError("`to_base` needs a base from 2 to 36, and lower or upper as `case`")
    charge(n.bit_length() // 8)
    if base in FORMATS:
        text = format(n, FORMATS[base])
    else:
        text = ("-" if n < 0 else "") + bytes(digits_of(abs(n), base)).translate(WRITTEN).decode()
    return text.upper() if case == "upper" else text


@library_function
def from_base(text: str, base: int) -> int:
    """Integer that the text writes in a base from 2 to 36.

    Digits above 9 are letters of either case; a minus sign may lead. Anything else in the text is an error.

    >>> from_base("ff", 16), from_base("-101", 2)
    (255, -5)
    """
    if not 2 <= base <= 36:
        raise LanguageError("`from_base` needs a base from 2 to 36")
    body = text.removeprefix("-").lower() if text.isascii() else ""
    if not body or body.strip(DIGITS[:base]):
        raise LanguageError(f"the text is not an integer in base {base}")
    _bounded("from_base", len(body) * (base.bit_length() - 1))
    charge(len(body))
    is_short = len(body) <= SAFE_DIGITS
    number = int(body, base) if is_short else number_of([DIGITS.index(letter) for letter in body], base)
    return -number if text.startswith("-") else number


@library_function
def bit_length(n: int) -> int:
    """Bits that the absolute value of the integer takes; of 0 it is 0.

    >>> bit_length(255), bit_length(256)
    (8, 9)
    """
    return n.bit_length()


@library_function
def int32(n: int) -> int:
    """Integer that the lowest 32 bits hold in two's complement, from -2**31 to 2**31 - 1.

    What a signed 32-bit integer of C or Java keeps of the number.

    >>> int32(2**31)
    -2147483648
    """
    return (n + 2**31) % 2**32 - 2**31


@library_function
def int64(n: int) -> int:
    """Integer that the lowest 64 bits hold in two's complement, from -2**63 to 2**63 - 1.

    What a signed 64-bit integer of C or Java keeps of the number.

    >>> int64(2**63)
    -9223372036854775808
    """
    return (n + 2**63) % 2**64 - 2**63


def _bounded(name: str, bits: int) -> None:
    if bits > INTEGER_BITS:
        raise LanguageError(f"`{name}` might give more than {INTEGER_BITS} bits", code="E502")

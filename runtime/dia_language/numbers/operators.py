"""The operators of the language: Python's, made exact and bounded, with plain error messages.

Every function takes and returns values of the language and raises LanguageError; sizes are checked before the work is
done, so that `2**10**9` is rejected without being computed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from math import log2
from operator import add as add_
from operator import and_, ge, gt, le, lt, mul, or_, sub, xor
from typing import Any

from dia_language.budgets import SIZE, charge, too_large
from dia_language.diagnostics import LanguageError, names_help
from dia_language.limits import LIST_LENGTH, TEXT_LENGTH
from dia_language.numbers.certified import interval
from dia_language.numbers.values import (
    RATIONAL,
    ExactDecimal,
    Record,
    Value,
    decimal,
    described,
    has_finite_decimals,
    is_symbolic,
    kind_of,
    normal,
    plain,
)

SYMBOLIC_EXPONENT = 10_000


def add(a: Value, b: Value) -> Value:
    """Return the sum of two numbers, or two texts, lists or bytes joined."""
    kind = type(a)
    if kind is int and type(b) is int:
        return a + b
    if kind is type(b) and kind in (str, list, bytes):
        total = a + b
        return total if len(total) <= LIST_LENGTH else _require_length(total)
    return _arithmetic("add", add_, a, b)


def subtract(a: Value, b: Value) -> Value:
    """Return the difference of two numbers."""
    if type(a) is int and type(b) is int:
        return a - b
    return _arithmetic("subtract", sub, a, b)


def multiply(a: Value, b: Value) -> Value:
    """Return the product of two numbers, or a text or list repeated."""
    kind, other_kind = type(a), type(b)
    if kind is int and other_kind is int:
        if a.bit_length() + b.bit_length() > SIZE.bits:
            raise too_large()
        return a * b
    if kind in (str, list, bytes) and other_kind is int:
        return _repeat(a, b)
    if other_kind in (str, list, bytes) and kind is int:
        return _repeat(b, a)
    return _arithmetic("multiply", mul, a, b)


def divide(a: Value, b: Value) -> Value:
    """Return the exact quotient: an integer if it is whole, or else a rational (a decimal among decimals)."""
    if type(a) is int and type(b) is int:
        return normal(Fraction(a, b)) if b else _division_by_zero()
    if is_number(b) and not is_symbolic(b) and b == 0:
        _division_by_zero()
    return _arithmetic("divide", _quotient, a, b)


def _quotient(a: Any, b: Any) -> Any:
    return Fraction(a) / b if isinstance(a, (int, Fraction)) and isinstance(b, (int, Fraction)) else a / b


def floor_divide(a: Value, b: Value) -> Value:
    """Return the quotient rounded down."""
    if type(a) is int and type(b) is int and b:
        return a // b
    if _are_rational(a, b):
        return a // b if b else _division_by_zero()
    raise _type_error("divide", a, b)


def modulo(a: Value, b: Value) -> Value:
    """Return the remainder of the division rounded down; it has the sign of `b`."""
    if type(a) is int and type(b) is int and b:
        return a % b
    if _are_rational(a, b):
        return _in_decimals(a % b, a, b) if b else _division_by_zero()
    raise _type_error("take the remainder of", a, b)


def power(a: Value, b: Value) -> Value:
    """Return the exact power; a root that is not rational stays symbolic."""
    if type(a) is int and type(b) is int and b >= 0 and a.bit_length() * b <= SIZE.bits:
        return a**b
    if not (is_number(a) and is_number(b)):
        raise _type_error("raise", a, b)
    if isinstance(a, (int, Fraction)) and type(b) is int:
        if _bits_of_power(a, b) > SIZE.bits:
            raise LanguageError("exponent too large", too_large().help, "E502")
        if b < 0 and not a:
            _division_by_zero()
        return _in_decimals(Fraction(a) ** b if b < 0 else a**b, a, b)
    if not is_symbolic(b) and abs(b) > SYMBOLIC_EXPONENT:
        raise LanguageError("exponent too large", f"symbolic powers go up to {SYMBOLIC_EXPONENT}", "E502")
    return normal(symbolic(a) ** symbolic(b))


def _bits_of_power(a: int | Fraction, b: int) -> int:
    """Return the bits of a power, which multiplying bit lengths would overestimate by up to a factor of two."""
    largest = max(abs(a.numerator), a.denominator)
    return int(log2(largest) * abs(b)) + 1 if largest > 1 and abs(b) <= SIZE.bits else _bits(a) * abs(b)


def _bits(a: int | Fraction) -> int:
    top, bottom = (a, 1) if type(a) is int else (a.numerator, a.denominator)
    if bottom == 1 and -1 <= top <= 1:
        return 0
    return max(top.bit_length(), bottom.bit_length())


def negate(a: Value) -> Value:
    """Return the negated number."""
    if type(a) is int:
        return -a
    if isinstance(a, ExactDecimal):
        return ExactDecimal(-a)
    if not is_number(a):
        raise LanguageError(f"{described(a)} has no sign")
    return -a


def identity(a: Value) -> Value:
    """Return the number itself (a leading plus)."""
    if not is_number(a):
        raise LanguageError(f"{described(a)} has no sign")
    return a


def bit_and(a: Value, b: Value) -> Value:
    """Return the bits that are set in both integers, or whether both booleans are true."""
    return a & b if type(a) is int and type(b) is int else _combine_bits(and_, a, b)


def bit_or(a: Value, b: Value) -> Value:
    """Return the bits that are set in at least one of the integers, or whether at least one boolean is true."""
    return a | b if type(a) is int and type(b) is int else _combine_bits(or_, a, b)


def bit_xor(a: Value, b: Value) -> Value:
    """Return the bits that are set in exactly one of the integers, or whether exactly one boolean is true."""
    return a ^ b if type(a) is int and type(b) is int else _combine_bits(xor, a, b)


def _combine_bits(operate: Callable[[Any, Any], Any], a: Value, b: Value) -> Value:
    if type(a) is bool and type(b) is bool:
        return bool(operate(a, b))
    raise _type_error("combine", a, b)


def shift_left(a: Value, b: Value) -> Value:
    """Return the integer with this many zero bits appended."""
    if type(a) is not int or type(b) is not int:
        raise _type_error("shift left", a, b)
    if b < 0 or a.bit_length() + b > SIZE.bits:
        raise too_large()
    return a << b


def shift_right(a: Value, b: Value) -> Value:
    """Return the integer without this many of its last bits."""
    if type(a) is not int or type(b) is not int:
        raise _type_error("shift right", a, b)
    if b < 0:
        raise too_large()
    return a >> b


def bit_not(a: Value) -> Value:
    """Return the integer with every bit inverted (two's complement)."""
    if type(a) is not int:
        raise LanguageError(f"`~` needs an integer; this is {described(a)}")
    return ~a


def equal(a: Value, b: Value) -> bool:
    """Return whether two values are the same; symbolic numbers are compared exactly.

    Comparing text with a number is an error, because the result would always be false.
    """
    kind, other_kind = type(a), type(b)
    if kind is other_kind and kind is not list:
        if kind in SIMPLE:
            return a == b  # type: ignore[no-any-return]
        return bool(a == b) if not is_symbolic(a) else _same_symbolic(a, b)
    if kind is list and other_kind is list:
        if len(a) != len(b):
            return False
        if a == b:
            return True
        if UNNESTED.issuperset(map(type, a)) and UNNESTED.issuperset(map(type, b)):
            return False  # as a comparison element by element would
        return all(map(_equal_inside, a, b))
    if {kind, other_kind} & {str, bytes} and (is_number(a) or is_number(b) or {kind, other_kind} == {str, bytes}):
        raise LanguageError(f"{kind_of(a)} and {kind_of(b)} are never equal", _convert(kind, other_kind))
    if is_symbolic(a) or is_symbolic(b):
        return is_number(a) and is_number(b) and _same_symbolic(a, b)
    return bool(a == b)


SIMPLE = frozenset({int, str, bool, bytes})
UNNESTED = SIMPLE | {Fraction, ExactDecimal, type(None)}


def _convert(kind: type, other_kind: type) -> str:
    if bytes in (kind, other_kind):
        return "convert one of the two with `utf8` or `text_of`"
    return "convert one of the two, such as with `str(n)` or `from_base(text, 10)`"


def _equal_inside(a: Value, b: Value) -> bool:
    if type(a) is list or is_symbolic(a) or is_symbolic(b):
        return (type(b) is list or type(a) is not list) and equal(a, b)
    return bool(a == b)


def unequal(a: Value, b: Value) -> bool:
    """Return whether two values differ."""
    if type(a) is type(b) and type(a) in SIMPLE:
        return a != b  # type: ignore[no-any-return]
    return not equal(a, b)


def _same_symbolic(a: Value, b: Value) -> bool:
    if a == b:
        return True
    answer = (symbolic(a) - symbolic(b)).equals(0)
    if answer is None:
        raise LanguageError("cannot decide whether the two expressions are equal")
    return bool(answer)


def _ordered(word: str, compare: Callable[[Any, Any], bool], a: Value, b: Value) -> bool:
    kind, other_kind = type(a), type(b)
    if kind is other_kind and kind in ORDERED:
        return bool(compare(a, b))
    if kind in RATIONAL and other_kind in RATIONAL:
        # Fractions would check an abstract base class of the other number
        return compare(a.numerator * b.denominator, b.numerator * a.denominator)
    if is_number(a) and is_number(b):
        return compare(_sign(a, b), 0)
    raise LanguageError(f"{kind_of(a)} and {kind_of(b)} cannot be ordered ({word})")


ORDERED = frozenset({int, str, bytes, bool, list})


def less(a: Value, b: Value) -> bool:
    """Return whether the first value comes before the second."""
    if type(a) is int and type(b) is int:
        return a < b
    return _ordered("<", lt, a, b)


def less_equal(a: Value, b: Value) -> bool:
    """Return whether the first value comes before the second, or is equal to it."""
    if type(a) is int and type(b) is int:
        return a <= b
    return _ordered("<=", le, a, b)


def greater(a: Value, b: Value) -> bool:
    """Return whether the first value comes after the second."""
    if type(a) is int and type(b) is int:
        return a > b
    return _ordered(">", gt, a, b)


def greater_equal(a: Value, b: Value) -> bool:
    """Return whether the first value comes after the second, or is equal to it."""
    if type(a) is int and type(b) is int:
        return a >= b
    return _ordered(">=", ge, a, b)


def _sign(a: Value, b: Value) -> int:
    """Return the sign of a - b for real symbolic numbers; an error if it cannot be determined."""
    difference = symbolic(a) - symbolic(b)
    if not difference.is_number or difference.is_real is False:
        raise LanguageError("an expression with free symbols or a complex number cannot be ordered")
    low, high = interval(difference, 30) or (0, 0)
    if low > 0 or high < 0:
        return 1 if low > 0 else -1
    if _same_symbolic(a, b):
        return 0
    digits = difference.evalf(60)
    if not digits.is_real or abs(digits) < 10**-50:
        raise LanguageError("two expressions are too close to each other to be ordered")
    return 1 if digits > 0 else -1


def contains(item: Value, container: Value) -> bool:
    """Return whether a list contains the item, a text the substring, a record the name."""
    if type(container) is list and type(item) in SIMPLE:
        return item in container
    if isinstance(container, str):
        if not isinstance(item, str):
            raise LanguageError(f"only text can be part of text; this is {described(item)}", "use `str` or an f-string")
        return item in container
    if isinstance(container, (list, Record)):
        return any(_equal_inside(item, element) for element in container) if is_symbolic(item) else item in container
    if isinstance(container, bytes) and isinstance(item, (bytes, int)):
        return item in container
    raise LanguageError(f"`in` needs a list, text or record; this is {described(container)}")


def lacks(item: Value, container: Value) -> bool:
    """Return whether the item is not in the list, text or record."""
    if type(container) is list and type(item) in SIMPLE:
        return item not in container
    return not contains(item, container)


def item_of(container: Value, place: Value) -> Value:
    """Return the element at an index of a list or text, or the field of a record."""
    if type(place) is not int or type(container) not in PLACED:
        if isinstance(container, Record):
            return field(container, place)
        if type(place) is not int:
            raise LanguageError(f"an index of {described(container)} must be an integer; this is {described(place)}")
        raise LanguageError(f"{described(container)} cannot be indexed")
    try:
        return container[place]
    except IndexError:
        raise LanguageError(f"index {place} is outside {described(container)} of length {len(container)}") from None


PLACED = frozenset({list, str, bytes})
LOOPED = PLACED | {Record}
BOUNDS = frozenset({int, type(None)})


def slice_of(container: Value, start: Value, stop: Value, step: Value) -> Value:
    """Return a part of a list, text or bytes."""
    if step is None and type(start) in BOUNDS and type(stop) in BOUNDS and type(container) in PLACED:
        return container[start:stop]
    if not isinstance(container, (list, str, bytes)):
        raise LanguageError(f"{described(container)} cannot be sliced")
    if not BOUNDS.issuperset((type(start), type(stop), type(step))) or step == 0:
        raise LanguageError("slice bounds must be integers, and the step must not be 0")
    return container[start:stop:step]


def field(container: Value, name: Value) -> Value:
    """Return the named field of a record."""
    try:
        if type(container) is Record:
            return container[name]
    except KeyError:
        pass
    if not isinstance(container, Record):
        elements = "an element of a list is `x[0]`; " if isinstance(container, list) else ""
        help = f"{elements}only records have fields, and there are no methods"
        raise LanguageError(f"{described(container)} has no fields", help)
    if name not in container:
        raise LanguageError(f"the record has no field `{name}`", names_help(str(name), container))
    return container[name]


def record(names: Iterable[str], values: Iterable[Value]) -> Record:
    return Record(zip(names, values, strict=True))


def joined(*parts: Value) -> str:
    """Return the parts of an f-string as one text."""
    text = "".join([part if type(part) is str else plain(part) for part in parts])
    return text if len(text) <= TEXT_LENGTH else str(_require_length(text))


def steps(items: Value) -> Any:
    """Return the items of a loop, charged to the budget of the evaluation."""
    if type(items) not in LOOPED:
        help = "`range(n)` has the integers from 0 to n - 1" if type(items) is int else "loop over a list"
        raise LanguageError(f"cannot loop over {described(items)}", help)
    charge(len(items) + 1)
    return items


def every(values: Iterable[Value]) -> bool:
    """Return whether all values are true; each must be a boolean."""
    return all(map(truth, values))


def some(values: Iterable[Value]) -> bool:
    """Return whether a value is true; each must be a boolean."""
    return any(map(truth, values))


def truth(value: Value) -> bool:
    """Return the boolean itself; other values are errors."""
    if value is True or value is False:
        return value
    help = "use a comparison, such as `length(...) > 0`" if isinstance(value, (list, str)) else "use a comparison"
    raise LanguageError(f"expected true or false; this is {described(value)}", help)


def is_number(value: Value) -> bool:
    """Return whether the value is an exact number (booleans are not)."""
    return type(value) in RATIONAL or (type(value) is not bool and is_symbolic(value))


def symbolic(value: Value) -> Any:
    """Return the number as a sympy number."""
    import sympy

    if isinstance(value, int):
        return sympy.Integer(value)
    if isinstance(value, Fraction):
        return sympy.Rational(value.numerator, value.denominator)
    return value


def _arithmetic(word: str, operate: Callable[[Any, Any], Any], a: Value, b: Value) -> Value:
    a, b = int(a) if type(a) is bool else a, int(b) if type(b) is bool else b
    if type(a) not in RATIONAL or type(b) not in RATIONAL:
        if not (is_number(a) and is_number(b)):
            raise _type_error(word, a, b)
        return normal(operate(symbolic(a), symbolic(b)))
    if _bits(a) + _bits(b) > SIZE.bits:
        raise too_large()
    if operate is not _quotient and type(a) in DECIMALS and type(b) in DECIMALS:
        return decimal(operate(a, b))  # finite, like those of both operands
    return _in_decimals(operate(a, b), a, b)


DECIMALS = frozenset({int, ExactDecimal})


def _in_decimals(result: Any, a: Value, b: Value) -> Value:
    """Return the result as a decimal if an operand was one and the expansion is finite."""
    if type(result) is Fraction and (type(a) is ExactDecimal or type(b) is ExactDecimal):
        return decimal(result) if has_finite_decimals(result) else result
    return normal(result)


def _are_rational(a: Value, b: Value) -> bool:
    return (type(a) is bool or type(a) in RATIONAL) and (type(b) is bool or type(b) in RATIONAL)


def _repeat(container: Any, times: int) -> Any:
    limit = LIST_LENGTH if isinstance(container, list) else TEXT_LENGTH
    if len(container) * max(times, 0) > limit:
        raise LanguageError(f"the result would be {described(container)} longer than {limit:,}", code="E502")
    return container * times


def _require_length(container: Any) -> Any:
    limit = LIST_LENGTH if isinstance(container, list) else TEXT_LENGTH
    if len(container) > limit:
        raise LanguageError(f"the result would be {described(container)} longer than {limit:,}", code="E502")
    return container


def _division_by_zero() -> Any:
    raise LanguageError("division by zero", code="E504")


def _type_error(word: str, a: Value, b: Value) -> LanguageError:
    texts = [value for value in (a, b) if isinstance(value, str)]
    if a is None or b is None:
        help: str | None = "none is a missing value, such as an empty cell: exclude it with a `where`"
        return LanguageError(f"cannot {word} {kind_of(a)} and {kind_of(b)}", help)
    help = _help_for_text(texts[0], word) if len(texts) == 1 else None
    return LanguageError(f"cannot {word} {kind_of(a)} and {kind_of(b)}", help)


def _help_for_text(text: str, word: str) -> str | None:
    """Return how to compute with a text that is a time, a date or a number, or that is joined with a number."""
    if MOMENT.match(text):
        return "a time is text: use `add_seconds` or `add_days`, or `seconds_between` or `days_between`"
    if NUMBER.match(text):
        return "the number is text: convert it, as in `from_base(text, 10)`"
    return "use an f-string to put numbers into text" if word == "add" else None


MOMENT = re.compile(r"\d{4}-\d\d-\d\d(T|\Z)")
NUMBER = re.compile(r"-?\d+\Z")

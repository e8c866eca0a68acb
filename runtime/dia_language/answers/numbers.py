"""The answer types integer, rational and real: parsed and compared as exact numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any

from dia_language.answers.base import (
    DIGITS,
    AnswerType,
    Comparison,
    Mode,
    Types,
    Unreadable,
    unfit,
)
from dia_language.answers.number_parsing import WHOLE, read_integer, read_real, without_unit
from dia_language.answers.options import exact_number, round_faults, tolerance_faults, unit_faults, units_of
from dia_language.diagnostics import LanguageError
from dia_language.numbers.certified import enclosures, equals
from dia_language.numbers.radix import SAFE_DIGITS, integer_text, integer_texts
from dia_language.numbers.rounding import (
    DEFAULT_ZEROS,
    MAXIMUM_PLACES,
    THOUSANDS,
    round_exact,
    round_normal,
    write_number,
)
from dia_language.numbers.values import INTEGERS, RATIONAL, Value, decimal, has_finite_decimals, is_symbolic, normal

# How much more precisely than the tolerance a correct answer is written, and stored
WRITTEN, STORED = 10**3, 10**30


class RoundedAnswer(AnswerType):
    """A number that may be rounded and grouped as `round` declares."""

    options = frozenset({"round", "units"})

    def __init__(self, comparison: Comparison, types: Types) -> None:
        self.units = units_of(comparison)
        self.round: Mapping[str, Any] = comparison.get("round") or {}
        self.thousands: str = self.round.get("thousands", "")

    def rounded(self, value: Value) -> Value:
        """Return the template's number, rounded if the answer declares it."""
        number = number_of(self.name, value)
        if not self.round:
            return number
        return round_normal(number, self.round["places"], self.round.get("ties", "half_even"))

    @property
    def unit(self) -> int:
        """One unit of the last digit kept before the point: 100 for -2 places."""
        return int("1" + "0" * -self.round.get("places", 0))

    @property
    def in_digits(self) -> str:
        """How to write the digits, in words."""
        if self.thousands:
            return f"with {THOUSANDS[self.thousands]} between groups of three digits"
        return "in plain digits, without separators" + ("" if self.units else " or units")


class IntegerAnswer(RoundedAnswer):
    """An integer.

    Strict accepts digits with an optional sign, also in groups of three with the separator that `round` declares under
    `thousands`. It also accepts a Unicode minus sign (U+2212), white space after the sign, an exponent if the number is
    whole (`1.5e3`, `1.5 × 10^3`), and a declared unit. Lenient also accepts a trailing `.0`, and
    groups of three digits separated by commas, spaces, underscores or apostrophes.
    """

    name = "integer"

    @classmethod
    def faults(cls, comparison: Comparison, types: Types) -> list[str]:
        messages = round_faults(comparison.get("round")) + unit_faults(comparison.get("units"))
        if not messages and (comparison.get("round") or {}).get("places", 0) > 0:
            messages.append("an integer cannot be rounded to decimal places; use the type real or `places: 0`")
        return messages

    def settle(self, value: Value) -> Value:
        if type(value) is int and not self.round:
            return value
        number = self.rounded(value)
        if is_symbolic(number):
            candidate = round_exact(number, 0)
            number = candidate if equals(number, Fraction(candidate)) else number
        if type(number) is int:
            return number
        help = "declare `round: {places: 0, ties: half_even}`, or use the type rational or real"
        raise LanguageError("the answer's type is integer, but its value is not an integer", help)

    def holds(self, value: Value) -> bool:
        return type(value) is int

    def write(self, value: Value) -> str:
        if type(value) is int and not self.thousands:
            return few_digits(integer_text(value))
        return few_digits(write_number(value, None, "strip", self.thousands))

    def read(self, text: str, mode: Mode) -> Value:
        text = text.strip()
        return read_integer(without_unit(text, self.units, mode) if self.units else text, self.thousands, mode)

    def settle_all(self, values: list[Value]) -> list[Value]:
        is_settled = INTEGERS.issuperset(map(type, values)) and not self.round
        return values.copy() if is_settled else super().settle_all(values)

    def write_all(self, values: list[Value], separator: str) -> list[str]:
        if not self.thousands and INTEGERS.issuperset(map(type, values)):
            texts = integer_texts(values)
            if max(map(len, texts), default=0) <= DIGITS:
                return texts
        return super().write_all(values, separator)

    def read_all(self, pieces: list[str], mode: Mode) -> list[Value]:
        is_plain = all(map(WHOLE.fullmatch, pieces)) and max(map(len, pieces), default=0) <= SAFE_DIGITS
        return list(map(int, pieces)) if is_plain and not self.units else super().read_all(pieces, mode)

    def describe(self) -> str:
        return f"an integer {self.in_digits}"

    def samples(self) -> list[Value]:
        return [self.unit, 2 * self.unit, 3 * self.unit]


class RationalAnswer(AnswerType):
    """A fraction or an integer, but no decimal. Numerator and denominator are parsed like integer answers."""

    name = "rational"
    options = frozenset({"units"})

    def __init__(self, comparison: Comparison, types: Types) -> None:
        self.units = units_of(comparison)

    @classmethod
    def faults(cls, comparison: Comparison, types: Types) -> list[str]:
        return unit_faults(comparison.get("units"))

    def settle(self, value: Value) -> Value:
        number = number_of(self.name, value)
        if is_symbolic(number):
            raise unfit(self.name, value, "use the type real with `round` or `tolerance`")
        return normal(Fraction(number))

    def holds(self, value: Value) -> bool:
        return type(value) is int or type(value) is Fraction

    def write(self, value: Value) -> str:
        exact = Fraction(value)
        top = few_digits(integer_text(exact.numerator))
        return top if exact.denominator == 1 else f"{top}/{few_digits(integer_text(exact.denominator))}"

    def read(self, text: str, mode: Mode) -> Value:
        top, stroke, bottom = without_unit(text.strip(), self.units, mode).partition("/")
        if not stroke:
            return read_integer(top, "", mode)
        divisor = read_integer(bottom, "", mode)
        if divisor == 0:
            raise Unreadable("a division by zero")
        return normal(Fraction(read_integer(top, "", mode), divisor))

    def describe(self) -> str:
        return "a fraction such as 3/4, or an integer"

    def samples(self) -> list[Value]:
        return [Fraction(1, 2), 3, Fraction(-5, 7)]


class RealAnswer(RoundedAnswer):
    """A number in decimal notation.

    Signs, exponents, units and groups of digits are parsed like those of integers, but the number need not be whole.

    With a tolerance, the correct answer may have infinitely many decimals: a rational number is stored exactly, and a
    symbolic number as a decimal with an error of at most 10**-30 times the tolerance.
    """

    name = "real"
    options = frozenset({"round", "tolerance", "units"})

    def __init__(self, comparison: Comparison, types: Types) -> None:
        super().__init__(comparison, types)
        tolerance = comparison.get("tolerance") or {}
        self.absolute = exact_number(tolerance.get("absolute", 0)) or Fraction(0)
        self.relative = exact_number(tolerance.get("relative", 0)) or Fraction(0)
        self.is_tolerant = bool(self.absolute or self.relative)

    @classmethod
    def faults(cls, comparison: Comparison, types: Types) -> list[str]:
        messages = round_faults(comparison.get("round")) + tolerance_faults(comparison.get("tolerance"))
        return messages + unit_faults(comparison.get("units"))

    def settle(self, value: Value) -> Value:
        number = self.rounded(value)
        if self.round:
            return number  # an integer or a decimal
        if is_symbolic(number):
            size = _size(number)
            margin = self._required_margin(size or Fraction(1))
            return _near(number, margin / STORED) if size else 0
        if type(number) is not Fraction or has_finite_decimals(number):
            return decimal(number)
        self._required_margin(abs(number))
        return Fraction(number)

    def _required_margin(self, size: Fraction) -> Fraction:
        margin = self.margin(size)
        if not margin:
            help = "declare `round` (rounds the answer) or `tolerance` (how far a reply may differ)"
            raise LanguageError("the answer's type is real, but its value has no finite decimals", help)
        return margin

    def margin(self, truth: Fraction) -> Fraction:
        """Return how far a reply may be from the correct answer."""
        size = truth if truth >= 0 else -truth
        return max(self.absolute, self.relative * size)

    def holds(self, value: Value) -> bool:
        return type(value) in RATIONAL

    def write(self, value: Value) -> str:
        if type(value) is Fraction and not has_finite_decimals(value):
            value = _near(value, self._required_margin(Fraction(value)) / WRITTEN)
        zeros = self.round.get("zeros", DEFAULT_ZEROS)
        return few_digits(write_number(value, self.round.get("places"), zeros, self.thousands))

    def read(self, text: str, mode: Mode) -> Value:
        return read_real(without_unit(text.strip(), self.units, mode), self.thousands, mode)

    def equal(self, reply: Value, truth: Value) -> bool:
        if reply == truth:
            return True
        return self.is_tolerant and bool(abs(reply - truth) <= self.margin(truth))

    def key(self, value: Value) -> Hashable | None:
        return None if self.is_tolerant else Fraction(value)

    def describe(self) -> str:
        example = self.write(self.samples()[0])
        if "." not in example:
            return f"an integer {self.in_digits}"
        return f"a decimal number such as {example}, {self.in_digits}"

    def samples(self) -> list[Value]:
        numbers = (Fraction(314, 100), Fraction(15, 2), Fraction(-1))
        return [decimal(Fraction(self.rounded(number * self.unit))) for number in numbers]


def number_of(name: str, value: Value) -> Value:
    """Return the template's number in normal form. Raises LanguageError for any other kind of value."""
    number = normal(value)
    if type(number) in RATIONAL or getattr(number, "is_number", False):
        return number
    if isinstance(value, (bool, list)):
        own_type = "boolean" if isinstance(value, bool) else "list"
        raise unfit(name, value, f"give a number, or use the type {own_type}")
    convert = "give a number"
    if isinstance(value, str):
        convert = "leave out what makes it a text, such as `decimal`, convert it, such as with `from_base(text, 10)`"
    raise unfit(name, value, f"{convert}, or declare another `type`")


def few_digits(text: str) -> str:
    """Return the text of a number. Raises LanguageError if a reply could not contain that many digits."""
    if len(text) > DIGITS and sum(map(str.isdigit, text)) > DIGITS:
        raise LanguageError(f"the answer has more than {DIGITS:,} digits; replies are only read up to that")
    return text


def _size(number: Any) -> Fraction:
    """Return a number slightly below the absolute value of the symbolic number; 0 for zero.

    If terms nearly cancel, an enclosure can be wide relative to the number, or contain 0; then narrower ones are tried.
    """
    for low, high in enclosures(number, 0):
        least, most = sorted((abs(low), abs(high)))
        if (low > 0 or high < 0) and most <= 2 * least:
            return least
        if low <= 0 <= high and equals(number, Fraction(0)):
            return Fraction(0)
    raise LanguageError(f"the answer has more than {DIGITS:,} digits; replies are only read up to that")


def _near(number: Value, margin: Fraction) -> Value:
    """Return a decimal within the given distance of the number, with as few places as possible."""
    places = 0
    while Fraction(1, 2 * 10**places) > margin:
        places += 1
        if places > MAXIMUM_PLACES:
            raise LanguageError("the tolerance is too narrow for this number", "declare `round` instead")
    return round_exact(number, places)

"""Values as text in a chosen form: English words, fixed decimals, grouped digits, JSON."""

from __future__ import annotations

from fractions import Fraction
from json.encoder import encode_basestring

from dia_language.budgets import charge, require_characters
from dia_language.diagnostics import LanguageError, unknown_name
from dia_language.functions.argument_types import Number, Value
from dia_language.functions.registry import library_function
from dia_language.numbers.radix import integer_text
from dia_language.numbers.values import TEXTS, ExactDecimal, Record, decimal_text, kind_of

ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SIZES = (
    (10**15, "quadrillion"),
    (10**12, "trillion"),
    (10**9, "billion"),
    (10**6, "million"),
    (1000, "thousand"),
    (100, "hundred"),
)

# JSON layout -> the space after a colon (and after a comma on the same line), and the indentation per level
LAYOUTS = {"spaced": (" ", ""), "compact": ("", ""), "indented": (" ", "  ")}
JSON_WORDS = {True: "true", False: "false", None: "null"}


@library_function
def in_words(n: int) -> str:
    """The integer `n` in English words, such as "one hundred twenty-one" (short scale, without "and").

    `n` must be from -10**15 to 10**15.

    Examples:
        in_words(1042) -> "one thousand forty-two"
    """
    if abs(n) > 10**15:
        raise LanguageError("`in_words` needs `n` to be from -10**15 to 10**15", code="E502")
    return "minus " + _words(-n) if n < 0 else _words(n)


def _words(n: int) -> str:
    for size, word in SIZES:
        if n >= size:
            rest = n % size
            return f"{_words(n // size)} {word}" + (f" {_words(rest)}" if rest else "")
    if n < 20:
        return ONES[n]
    return TENS[n // 10] + (f"-{ONES[n % 10]}" if n % 10 else "")


@library_function
def decimal(x: Number, places: int, ties: str = "half_even") -> str:
    """`x` rounded to `places` decimal places, as text that keeps trailing zeros.

    `ties` is half_even (numbers exactly halfway go to the even digit), half_up (they go away from zero) or down (every
    number is cut towards zero). `places` must be from 0 to 100,000.

    Examples:
        decimal(1/3, 4) -> "0.3333"
        decimal(2, 2) -> "2.00"
    """
    from dia_language.numbers.rounding import round_exact

    if not 0 <= places <= 100_000:
        raise LanguageError("`decimal` needs `places` from 0 to 100,000", code="E501" if places < 0 else "E502")
    scaled = Fraction(round_exact(x, places, ties)) * 10**places
    digits = integer_text(abs(scaled.numerator)).rjust(places + 1, "0")
    sign = "-" if scaled < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


@library_function
def grouped(n: Number, separator: str = ",") -> str:
    """The integer or decimal `n` as text, with `separator` between groups of three digits.

    Raises an error for other numbers and for a separator that contains digits.

    Examples:
        grouped(1234567) -> "1,234,567"
        grouped(-1000, " ") -> "-1 000"
    """
    if any(character.isdigit() for character in separator):
        raise LanguageError("`grouped` needs a separator without digits")
    whole, point, rest = _digits("grouped", n).partition(".")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    start = len(digits) % 3 or 3
    groups = [digits[:start], *(digits[at : at + 3] for at in range(start, len(digits), 3))]
    return sign + separator.join(groups) + point + rest


def _digits(name: str, n: Number) -> str:
    if type(n) is int:
        return integer_text(n)
    if isinstance(n, ExactDecimal):
        return decimal_text(n)
    raise LanguageError(f"`{name}` needs an integer or a decimal; this is a {kind_of(n)}", "round it with `round_to`")


@library_function
def json(value: Value, layout: str = "spaced") -> str:
    """The value as JSON text.

    The value is a text, integer, decimal, boolean, none, list or record. Non-ASCII characters are not escaped. `layout`
    is spaced (a space after commas and colons), compact (no spaces) or indented (each element on its own line, indented
    by two spaces). Source: RFC 8259.

    Examples:
        json(["GET", true, 1]) -> '["GET", true, 1]'
        json({"path": "/", "size": 2}) -> '{"path": "/", "size": 2}'
        json([1, 2], "compact") -> "[1,2]"
    """
    if layout not in LAYOUTS:
        raise unknown_name("layout of `json`", layout, LAYOUTS)
    text = _json(value, *LAYOUTS[layout])
    require_characters("json", len(text))
    return text


def _json(value: Value, blank: str, indent: str, depth: int = 1) -> str:
    charge(1)
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, bool) or value is None:
        return JSON_WORDS[value]
    if isinstance(value, list):
        if TEXTS.issuperset(map(type, value)):
            charge(len(value))
            return _within("[]", list(map(encode_basestring, value)), blank, indent, depth)
        return _within("[]", [_json(element, blank, indent, depth + 1) for element in value], blank, indent, depth)
    if isinstance(value, Record):
        fields = [
            f"{encode_basestring(name)}:{blank}{_json(element, blank, indent, depth + 1)}"
            for name, element in value.items()
        ]
        return _within("{}", fields, blank, indent, depth)
    if isinstance(value, (int, ExactDecimal)):
        return _digits("json", value)
    raise LanguageError(
        f"JSON has no {kind_of(value)}", "round numbers with `round_to`, convert bytes with `hex` or `to_base64`"
    )


def _within(marks: str, parts: list[str], blank: str, indent: str, depth: int) -> str:
    if not indent or not parts:
        return marks[0] + f",{blank}".join(parts) + marks[1]
    begin, end = "\n" + indent * depth, "\n" + indent * (depth - 1)
    require_characters("json", sum(map(len, parts)) + len(parts) * len(begin))
    return marks[0] + begin + f",{begin}".join(parts) + end + marks[1]

"""The values of the language: exact numbers, text, bytes, lists, records and catalog entries.

A value is None, bool, int, Fraction (an ExactDecimal if it is written in decimals), a symbolic sympy expression, str,
bytes, a list of values, a Record or an Entry. There are no floats.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

from dia_language.diagnostics import LanguageError
from dia_language.numbers.radix import integer_of, integer_text, integer_texts

Value: TypeAlias = Any
SAFE_INTEGER = 2**53


class ExactDecimal(Fraction):
    """A rational that is written in decimals: 0.10 is ExactDecimal(1, 10) and prints as 0.1."""

    __slots__ = ()

    def __str__(self) -> str:
        return decimal_text(self)

    def __format__(self, specification: str) -> str:
        """Format as text, because newer versions of Python format fractions as `1/2`."""
        return format(str(self), specification)


class Record(dict[str, Value]):
    """A value with named fields; `record.field` in the language is record["field"]."""

    __slots__ = ()


# `isinstance(1, Fraction)` checks an abstract base class, which takes three times as long
RATIONAL = frozenset({int, Fraction, ExactDecimal})
UNSYMBOLIC = frozenset({int, str, bool, bytes, list, Record, Fraction, ExactDecimal, type(None)})


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a catalog with its values drawn."""

    catalog: str
    name: str
    values: Record


def is_symbolic(value: Value) -> bool:
    """Return whether the value is a sympy object (asked without importing sympy)."""
    if type(value) in UNSYMBOLIC:
        return False
    sympy = sys.modules.get("sympy")
    return sympy is not None and isinstance(value, (sympy.Basic, sympy.MatrixBase))


def normal(value: Value) -> Value:
    """Return the value in its only normal form: a whole Fraction is an int, sympy's numbers are Python's.

    Raises LanguageError for infinities and for values that are not numbers, which answers cannot be.
    """
    if type(value) is Fraction or type(value) is ExactDecimal:
        return value.numerator if value.denominator == 1 else value
    return _normal_symbolic(value) if is_symbolic(value) else value


def _normal_symbolic(value: Value) -> Value:
    import sympy

    if value is sympy.true or value is sympy.false:
        return bool(value)
    if value.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo):
        raise LanguageError("the result is infinite or undefined", code="E504")
    if isinstance(value, sympy.Integer):
        return int(value)
    if isinstance(value, sympy.Rational):
        return Fraction(int(value.p), int(value.q))
    if isinstance(value, sympy.Float):
        raise LanguageError("a function returned a rounded binary number; exact values are required")
    return value


def decimal(value: Fraction | int) -> Value:
    """Return the exact rational as a number that prints in decimals; an int if it is whole."""
    if value.denominator == 1:
        return value.numerator
    return value if type(value) is ExactDecimal else ExactDecimal(value)


def has_finite_decimals(value: Fraction) -> bool:
    """Return whether the decimal expansion of the rational is finite."""
    odd = value.denominator >> (value.denominator & -value.denominator).bit_length() - 1
    return without_fives(odd)[1] == 1


FEW_BITS = 1000


def without_fives(number: int) -> tuple[int, int]:
    """Return how often 5 divides the positive integer, and the rest; powers of 5 make this fast for long integers.

    >>> without_fives(375)
    (3, 3)
    """
    fives = 0
    if number.bit_length() < FEW_BITS:
        while number % 5 == 0:
            number, fives = number // 5, fives + 1
        return fives, number
    powers = [5]
    while 2 * powers[-1].bit_length() <= number.bit_length() + 2:
        powers.append(powers[-1] ** 2)
    for place in range(len(powers) - 1, -1, -1):
        quotient, rest = divmod(number, powers[place])
        if not rest:
            number, fives = quotient, fives + (1 << place)
    return fives, number


DECIMAL_PLACES = 100_000


def decimal_text(value: Fraction) -> str:
    """Return the rational's whole decimal expansion, for a denominator of twos and fives only.

    >>> decimal_text(Fraction(-5, 4))
    '-1.25'
    """
    scale = decimal_scale(value.denominator)
    if scale is None or scale[0] > DECIMAL_PLACES:
        raise LanguageError("the decimal expansion does not end")
    places, factor = scale
    digits = integer_text(abs(value.numerator) * factor).rjust(places + 1, "0")
    sign = "-" if value.numerator < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


@lru_cache(maxsize=256)
def decimal_scale(denominator: int) -> tuple[int, int] | None:
    """Return how many decimal places a denominator needs, and the factor from a numerator to all of its digits.

    None if there are infinitely many.
    """
    twos = (denominator & -denominator).bit_length() - 1
    fives, odd = without_fives(denominator >> twos)
    places = max(twos, fives)
    return (places, 10**places // denominator) if odd == 1 else None


def plain(value: Value, level: int = 0) -> str:
    """Return the value as prompts and f-strings print it; `level` counts the lists and records around it.

    Raises LanguageError for values that cannot be printed, and for those of more than PRINTED_LEVELS levels: Python's
    own bound on recursion differs from version to version.
    """
    kind = type(value)
    if kind is str:
        return str(value)
    if kind is int:
        return str(value) if -SAFE_INTEGER < value < SAFE_INTEGER else integer_text(value)
    if isinstance(value, bool) or value is None:
        return {True: "True", False: "False", None: "none"}[value]
    if isinstance(value, ExactDecimal):
        return decimal_text(value)
    if isinstance(value, Fraction):
        return integer_text(value.numerator) if value.denominator == 1 else _quotient_text(value)
    if isinstance(value, bytes):
        raise LanguageError("bytes cannot be printed", "convert them with `hex`, `to_base64` or `text_of`")
    if isinstance(value, list):
        is_short = level < PRINTED_LEVELS and INTEGERS.issuperset(map(type, value))
        return f"[{', '.join(texts_of(value) if is_short else [_inside(item, level) for item in value])}]"
    if isinstance(value, Record):
        return "{" + ", ".join(f"{name}: {_inside(item, level)}" for name, item in value.items()) + "}"
    if isinstance(value, Entry):
        raise LanguageError(f"the entry `{value.name}` cannot be printed", "use one of its faces")
    if is_symbolic(value):
        import sympy

        return polynomial_text(value) or str(sympy.sstr(value))
    raise LanguageError(f"a {kind_of(value)} cannot be printed")


def texts_of(values: list[Value]) -> list[str]:
    """Return each of the values as prompts print it."""
    return integer_texts(values) if INTEGERS.issuperset(map(type, values)) else list(map(plain, values))


def polynomial_text(value: Any) -> str | None:
    """Return the text of `sympy.sstr` for a sum of rational multiples of powers of one symbol; None for anything else.

    `sympy.sstr` looks at the assumptions on every term, which took a quarter of the compile time of `derivative`.
    """
    terms = [_term_of(part) for part in value.args] if getattr(value, "is_Add", False) else [None]
    monomials = [term for term in terms if term is not None]
    if len(monomials) < len(terms) or len({name for _, name, _ in monomials if name}) != 1:
        return None
    monomials.sort(key=lambda term: -term[2])
    texts = [_signed_term(*term) for term in monomials]
    if len(texts) == 2 and not monomials[1][1] and texts[0].startswith(" - ") and texts[1].startswith(" + "):
        texts.reverse()  # sympy prints 1 - 2*x, but -2*x**2 + x
    text = "".join(texts)
    return text.removeprefix(" + ") if text.startswith(" + ") else f"-{text.removeprefix(' - ')}"


def _term_of(part: Any) -> tuple[Any, str, int] | None:
    """Return the coefficient, the symbol (none of a constant) and its power; None for any other expression."""
    if part.is_Rational:
        return part, "", 0
    coefficient, power = part.args if part.is_Mul and len(part.args) == 2 else (None, part)
    base, exponent = power.args if power.is_Pow else (power, None)
    is_symbol = base.is_Symbol and not (base.is_Dummy or base.is_Wild)
    is_coefficient = coefficient is None or coefficient.is_Rational
    is_power = exponent is None or (exponent.is_Integer and exponent.p > 1)
    if not (is_symbol and is_coefficient and is_power):
        return None
    return coefficient, base.name, 1 if exponent is None else exponent.p


def _signed_term(coefficient: Any, name: str, power: int) -> str:
    """Return a term as sympy prints it, after its sign: 3*x**2/4."""
    top, bottom = (1, 1) if coefficient is None else (coefficient.p, coefficient.q)
    symbol = f"{name}**{power}" if power > 1 else name
    number = "" if name and abs(top) == 1 else str(abs(top))
    product = f"{number}*{symbol}" if number and name else number or symbol
    return f"{' - ' if top < 0 else ' + '}{product}{f'/{bottom}' if bottom > 1 else ''}"


TEXTS, INTEGERS = frozenset({str}), frozenset({int})
PRINTED_LEVELS = 100


def _quotient_text(value: Fraction) -> str:
    return f"{integer_text(value.numerator)}/{integer_text(value.denominator)}"


def _inside(value: Value, level: int) -> str:
    if level >= PRINTED_LEVELS:
        raise LanguageError(
            f"a value nested too deeply cannot be printed: more than {PRINTED_LEVELS} levels", code="E502"
        )
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else plain(value, level + 1)


def kind_of(value: Value) -> str:
    """Return the word for the value's kind in messages."""
    for kind, word in KINDS:
        if isinstance(value, kind):
            return word
    if value is None:
        return "none"
    return "symbolic expression" if is_symbolic(value) else type(value).__name__


def described(value: Value) -> str:
    """Return the value's kind with its article: `an integer`, `a list`, `text`."""
    word = kind_of(value)
    if word in ("text", "bytes", "none"):
        return word
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


KINDS: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    (ExactDecimal, "decimal"),
    (Fraction, "rational"),
    (str, "text"),
    (bytes, "bytes"),
    (list, "list"),
    (Record, "record"),
    (Entry, "entry"),
)


def encode(value: Value) -> Any:
    """Return the value as JSON that contains only text, integers below 2**53, lists and objects.

    Other values are objects with one key that names their type: `{"integer": "9007199254740993"}`, `{"rational":
    "3/4"}`, `{"decimal": "0.75"}`, `{"bytes": "00ff"}`, `{"record": {...}}`, `{"entry": {...}}`, `{"expression":
    "sqrt(2)"}`.
    """
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int:
        return value if -SAFE_INTEGER < value < SAFE_INTEGER else {"integer": integer_text(value)}
    if kind is list:
        kinds = set(map(type, value))
        is_plain = kinds == TEXTS or (kinds == INTEGERS and min(value) > -SAFE_INTEGER and max(value) < SAFE_INTEGER)
        return value if is_plain else [encode(item) for item in value]
    if isinstance(value, ExactDecimal):
        return {"decimal": decimal_text(value)}
    if isinstance(value, Fraction):
        return {"rational": _quotient_text(value)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, Record):
        return {"record": {name: encode(item) for name, item in value.items()}}
    if isinstance(value, Entry):
        values = {name: encode(item) for name, item in value.values.items()}
        return {"entry": {"catalog": value.catalog, "name": value.name, "values": values}}
    if is_symbolic(value):
        return {"expression": plain(value)}
    raise LanguageError(f"a {kind_of(value)} cannot be stored")


def decode(stored: Any, symbolic: Callable[[str], Value] = str) -> Value:
    """Return the value that `encode` stored; `symbolic` converts the text of a symbolic expression.

    Without `symbolic`, the text is returned. Raises ValueError for JSON that `encode` does not write.
    """
    if stored is None or isinstance(stored, (bool, int, str)):
        return stored
    if isinstance(stored, list):
        return [decode(item, symbolic) for item in stored]
    if isinstance(stored, Mapping) and len(stored) == 1:
        (kind, content), *_ = stored.items()
        if kind in DECODERS:
            try:
                return DECODERS[kind](content, symbolic) if kind in NESTED else DECODERS[kind](content)
            except (ArithmeticError, AttributeError, LookupError, TypeError):
                raise ValueError("not a stored value") from None
    raise ValueError("not a stored value")


def _decode_record(fields: Mapping[str, Any], symbolic: Callable[[str], Value]) -> Record:
    return Record((name, decode(item, symbolic)) for name, item in fields.items())


def _decode_entry(content: Mapping[str, Any], symbolic: Callable[[str], Value]) -> Entry:
    return Entry(content["catalog"], content["name"], _decode_record(content["values"], symbolic))


def _decode_expression(text: str, symbolic: Callable[[str], Value]) -> Value:
    return symbolic(text)


def _decode_rational(text: str) -> Fraction:
    numerator, denominator = map(integer_of, text.split("/"))
    return Fraction(numerator, denominator)


def _decode_decimal(text: str) -> ExactDecimal:
    whole, _, places = text.partition(".")
    return ExactDecimal(integer_of(whole + places), 10 ** len(places))


DECODERS: dict[str, Any] = {
    "integer": integer_of,
    "rational": _decode_rational,
    "decimal": _decode_decimal,
    "bytes": bytes.fromhex,
    "record": _decode_record,
    "entry": _decode_entry,
    "expression": _decode_expression,
}
NESTED = frozenset({"record", "entry", "expression"})

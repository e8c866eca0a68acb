"""Answers: how correct answers are fixed and written, and how replies are parsed and compared with them.

A comparison is a mapping with `type` and the options of that type; a bundle stores it with every answer.
"""

from __future__ import annotations

from dia_language.answers.arithmetic import ArithmeticAnswer
from dia_language.answers.base import (
    CHARACTERS,
    AnswerType,
    Comparison,
    Mode,
    Types,
    Undecided,
    Unreadable,
)
from dia_language.answers.byte_strings import BytesAnswer
from dia_language.answers.choices import ChoiceAnswer
from dia_language.answers.dates import DateAnswer
from dia_language.answers.domains import DomainAnswer
from dia_language.answers.expressions import ExpressionAnswer
from dia_language.answers.ip_addresses import IpAddressAnswer
from dia_language.answers.lists import ListAnswer, TupleAnswer
from dia_language.answers.matrices import MatrixAnswer
from dia_language.answers.numbers import IntegerAnswer, RationalAnswer, RealAnswer
from dia_language.answers.polynomials import PolynomialAnswer
from dia_language.answers.records import RecordAnswer
from dia_language.answers.sets import MultisetAnswer, SetAnswer
from dia_language.answers.text import BooleanAnswer, TextAnswer
from dia_language.diagnostics import LanguageError
from dia_language.numbers.values import Value

__all__ = [
    "ANSWER_TYPES",
    "Comparison",
    "Mode",
    "Undecided",
    "Unreadable",
    "answer_type",
    "describe",
    "equal",
    "read",
    "settle",
    "validate",
    "write",
]

ANSWER_TYPES: dict[str, type[AnswerType]] = {
    "arithmetic": ArithmeticAnswer,
    "boolean": BooleanAnswer,
    "bytes": BytesAnswer,
    "choice": ChoiceAnswer,
    "date": DateAnswer,
    "domain": DomainAnswer,
    "expression": ExpressionAnswer,
    "integer": IntegerAnswer,
    "ip_address": IpAddressAnswer,
    "list": ListAnswer,
    "matrix": MatrixAnswer,
    "multiset": MultisetAnswer,
    "polynomial": PolynomialAnswer,
    "rational": RationalAnswer,
    "real": RealAnswer,
    "record": RecordAnswer,
    "set": SetAnswer,
    "text": TextAnswer,
    "tuple": TupleAnswer,
}
TYPES = Types(ANSWER_TYPES)


def answer_type(comparison: Comparison) -> AnswerType:
    """Return the answer type of a comparison; keep it if many answers share it. Raises LanguageError."""
    if messages := TYPES.faults(comparison):
        raise LanguageError(messages[0], "; ".join(messages[1:]) or None)
    return TYPES.build(comparison)


def validate(comparison: Comparison) -> list[str]:
    """Return one message for each error in the comparison.

    >>> validate({"type": "integer", "case": "fold"})
    ['answers of type integer have no option `case`']
    """
    return TYPES.faults(comparison)


def settle(value: Value, comparison: Comparison) -> Value:
    """Return the typed correct answer for the value of a template, rounded if the comparison says so.

    Raises LanguageError for a value of the wrong kind, or one that no reply could equal.

    >>> from fractions import Fraction
    >>> str(settle(Fraction(7, 3), {"type": "real", "round": {"places": 2, "ties": "half_even"}}))
    '2.33'
    """
    return answer_type(comparison).settle(value)


def write(value: Value, comparison: Comparison) -> str:
    """Return the canonical text of a settled value. Raises LanguageError if no reply could contain it.

    >>> write([1, 2, 3], {"type": "list", "of": {"type": "integer"}})
    '[1, 2, 3]'
    """
    return answer_type(comparison).write(value)


def read(text: str, comparison: Comparison, mode: Mode = "strict") -> Value:
    """Return the typed value of a text. Raises Unreadable if the text is not a value of the type.

    >>> read(" +007 ", {"type": "integer"}), read("1,000", {"type": "integer"}, "lenient")
    (7, 1000)
    """
    kind = answer_type(comparison)
    if len(text) > CHARACTERS:
        raise Unreadable("too many characters")
    return kind.read(text, mode)


def equal(reply: Value, truth: Value, comparison: Comparison) -> bool:
    """Return whether a parsed value equals the correct answer under the comparison.

    >>> equal("Straße", "STRASSE", {"type": "text", "case": "fold"})
    True
    """
    return answer_type(comparison).equal(reply, truth)


def describe(comparison: Comparison) -> str:
    """Return a noun phrase that describes what an answer looks like. Frozen, because prompts contain it.

    >>> describe({"type": "integer"})
    'an integer in plain digits, without separators or units'
    """
    return answer_type(comparison).describe()

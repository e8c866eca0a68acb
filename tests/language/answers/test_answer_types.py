"""Answers: settled, written, read again, compared, described and checked."""

from __future__ import annotations

import ast
import json
import os
import re
import unicodedata
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest
from dia_language.answers import (
    ANSWER_TYPES,
    Mode,
    Undecided,
    Unreadable,
    describe,
    equal,
    read,
    settle,
    validate,
    write,
)
from dia_language.answers.list_parsing import flat
from dia_language.diagnostics import LanguageError
from dia_language.numbers.values import ExactDecimal, Record, decode, encode
from helpers.answer_samples import SAMPLES, settled
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

MODES: tuple[Mode, ...] = ("strict", "lenient")
INTEGER, RATIONAL, REAL = {"type": "integer"}, {"type": "rational"}, {"type": "real"}
TEXT, BOOLEAN = {"type": "text"}, {"type": "boolean"}
CENTS = {"type": "real", "round": {"places": 2, "ties": "half_even", "zeros": "keep", "thousands": ","}}
HUNDREDS = {"type": "integer", "round": {"places": -2, "ties": "half_up", "thousands": " "}}

CHOICE = {"type": "choice", "of": ["GET", "a, b", "[c]", "d'e", 'f "g']}
DATE, BYTES, ADDRESS, DOMAIN = {"type": "date"}, {"type": "bytes"}, {"type": "ip_address"}, {"type": "domain"}
SET, MULTISET = {"type": "set", "of": INTEGER}, {"type": "multiset", "of": RATIONAL}
RECORD = {"type": "record", "of": {"n": INTEGER, "t": TEXT}}
MATRIX, POLYNOMIAL = {"type": "matrix", "of": RATIONAL}, {"type": "polynomial"}
ARITHMETIC, EXPRESSION = {"type": "arithmetic"}, {"type": "expression", "variables": ["x"]}


def _polynomial(coefficients: list[Fraction]) -> Any:
    from sympy import Rational, Symbol

    return sum(Rational(c.numerator, c.denominator) * Symbol("x") ** power for power, c in enumerate(coefficients))


def _tree(operator: str, left: Any, right: Any) -> Record:
    return Record(op=operator, args=[left, right])


integers = st.integers(-(10**40), 10**40)
fractions = st.fractions(max_denominator=10**6)
decimals = st.decimals(allow_nan=False, allow_infinity=False, places=5).map(lambda value: ExactDecimal(Fraction(value)))
texts = st.text(st.sampled_from("ab,;->[](){}\"'\\ \n\tné\u3000\u0301"), max_size=12)
SCALARS: list[tuple[dict[str, Any], st.SearchStrategy[Any]]] = [
    (INTEGER, integers),
    (HUNDREDS, integers),
    (RATIONAL, fractions),
    (REAL, decimals),
    (CENTS, fractions),
    (BOOLEAN, st.booleans()),
    (TEXT, texts.map(str.strip)),
    (CHOICE, st.sampled_from(CHOICE["of"])),
    (DATE, st.dates().map(str)),
    (BYTES, st.binary(max_size=4)),
    (ADDRESS, st.ip_addresses().map(str)),
    (DOMAIN, st.sampled_from(["example.org", "a-b.example", "m\u00fcnchen.example", "xn--mnchen-3ya.example"])),
    (SET, st.sets(integers, max_size=3).map(sorted)),
    (MULTISET, st.lists(fractions, max_size=3).map(sorted)),
    (RECORD, st.builds(lambda n, t: Record(n=n, t=t), integers, texts)),
    (MATRIX, st.lists(st.lists(fractions, min_size=2, max_size=2), min_size=1, max_size=3)),
    (POLYNOMIAL, st.lists(fractions, max_size=4).map(lambda held: _polynomial(held))),
    (ARITHMETIC, st.recursive(integers, lambda inner: st.builds(_tree, st.sampled_from("+-*/"), inner, inner))),
]
SEPARATORS = st.sampled_from([",", ";", " ", "\n", "->", " | "])


@st.composite
def answers(draw: st.DrawFn) -> tuple[dict[str, Any], Any]:
    """A comparison and a solver's value for it, lists up to two levels deep."""
    comparison, values = draw(st.sampled_from(SCALARS))
    for _ in range(draw(st.integers(0, 2))):
        separator = draw(SEPARATORS)
        comparison = {"type": draw(st.sampled_from(["list", "tuple"])), "of": comparison, "separator": separator}
        values = st.lists(values, max_size=4)
    return (comparison, draw(values)) if not validate(comparison) else (INTEGER, 7)


@settings(deadline=None)
@given(answers())
@example(({"type": "list", "of": TEXT}, ["a, b", "", " c ", 'd"e', "f\\", "[g", "h]", "'i"]))
@example(({"type": "list", "of": {"type": "list", "of": TEXT}}, [["[", "]"], [], [")"]]))
@example(({"type": "list", "of": {"type": "list", "of": TEXT}, "separator": ";"}, [["", "["]]))
@example(({"type": "list", "of": {"type": "list", "of": TEXT, "separator": "\n"}, "separator": " "}, [["a", "]"]]))
@example(({"type": "list", "of": {"type": "list", "of": RECORD}}, [[Record(n=0, t=";\n;")]]))
@example(({"type": "matrix", "of": TEXT}, [["a b;\nc"]]))
@example(({"type": "matrix", "of": POLYNOMIAL}, [[_polynomial([Fraction(1), Fraction(-1)])]]))
@example(({"type": "matrix", "of": {"type": "list", "of": BOOLEAN, "separator": ";"}}, [[[True, False]]]))
@example(
    ({"type": "list", "of": {"type": "tuple", "of": [REAL, REAL], "written": "({{ it[1] }}, {{ it[0] }})"}}, [[0, 1]])
)
def test_what_is_written_is_read_again(answer: tuple[dict[str, Any], Any]) -> None:
    comparison, value = answer
    truth = settle(value, comparison)
    text = write(truth, comparison)
    for mode in MODES:
        reply = read(text, comparison, mode)
        assert reply == truth
        assert equal(reply, truth, comparison) and equal(truth, truth, comparison)
    assert settle(truth, comparison) == truth
    assert equal(read(text, comparison), decode(json.loads(json.dumps(encode(truth)))), comparison)
    assert read(f"\n {text} ", comparison) == truth


@pytest.mark.parametrize(("comparison", "value"), SAMPLES, ids=lambda part: str(part)[:60])
def test_samples_of_every_type_are_read_again(comparison: dict[str, Any], value: Any) -> None:
    truth = settled(comparison, value)
    for mode in MODES:
        assert equal(read(write(truth, comparison), comparison, mode), truth, comparison)
    assert equal(truth, decode(json.loads(json.dumps(encode(truth)))), comparison)
    assert describe(comparison) and validate(comparison) == []


@settings(deadline=None)
@given(st.tuples(integers, texts, st.lists(st.booleans(), max_size=3)))
def test_tuples_hold_several_types(value: tuple[int, str, list[bool]]) -> None:
    comparison = {"type": "tuple", "of": [INTEGER, TEXT, {"type": "list", "of": BOOLEAN}]}
    truth = settle(list(value), comparison)
    assert read(write(truth, comparison), comparison) == list(value)


@settings(deadline=None)
@given(st.text(st.sampled_from("0123456789+-.,_ '/eE\u0661\uff11[](){}\"\\;ab\n"), max_size=14), st.sampled_from(MODES))
def test_every_text_is_read_or_unreadable(text: str, mode: Mode) -> None:
    for comparison, _ in SCALARS:
        for kind in (comparison, {"type": "list", "of": comparison, "separator": ";"}):
            try:
                value = read(text, kind, mode)
            except Unreadable:
                continue
            assert equal(value, value, kind)
            truth = settle(value, kind)
            assert read(write(truth, kind), kind, mode) == truth


@settings(deadline=None)
@given(st.text(st.sampled_from("0123456789+-."), max_size=10))
def test_strict_numbers_are_those_of_python(text: str) -> None:
    # Python's own readers take a little more (underscores, exponents), none of which can stand in these texts.
    try:
        expected: Any = Fraction(Decimal(text))
    except ArithmeticError:
        expected = None
    assert _value(text, REAL) == expected
    try:
        expected = int(text)
    except ValueError:
        expected = None
    assert _value(text, INTEGER) == expected


@settings(deadline=None)
@given(st.text(st.sampled_from("0123456789+-.,eE"), max_size=10))
def test_lenient_numbers_are_those_of_python(text: str) -> None:
    exponent = re.fullmatch(r".*[eE][+-]?(\d+)", text)
    assume(exponent is None or len(exponent[1]) <= 4)  # Python would build the number
    is_grouped = re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?", text) is not None
    with localcontext() as context:
        context.prec = 200
        try:
            expected: Any = Fraction(Decimal(text.replace(",", "") if is_grouped else text))
        except ArithmeticError:
            expected = None
    assert _value(text, REAL, "lenient") == expected


def _value(text: str, comparison: dict[str, Any], mode: Mode = "strict") -> Any:
    try:
        return read(text, comparison, mode)
    except Unreadable:
        return None


@settings(deadline=None)
@given(st.lists(st.integers()), st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]))))
def test_lists_of_other_programs_are_read(numbers: list[int], words: list[str]) -> None:
    for text in (json.dumps(numbers), str(numbers), str(tuple(numbers)) if len(numbers) > 1 else "[]"):
        expected = json.loads(json.dumps(numbers)) if text != "[]" else []
        assert read(text, {"type": "list", "of": INTEGER}) == expected
    for ascii_only in (True, False):
        text = json.dumps(words, ensure_ascii=ascii_only)
        if "\\b" not in text and "\\f" not in text:
            assert read(text, {"type": "list", "of": TEXT}) == words


@settings(deadline=None)
@given(st.lists(st.text(st.sampled_from("ab,[](){}\"'\\ \n\t"), min_size=1)))
def test_written_quotes_mean_the_same_to_python(words: list[str]) -> None:
    text = write(words, {"type": "list", "of": TEXT})
    quoted = re.findall(r'"(?:[^"\\]|\\.)*"', text)
    assert [ast.literal_eval(part) for part in quoted] == [word for word in words if f'"{_escaped(word)}"' in quoted]


def _escaped(word: str) -> str:
    return json.dumps(word)[1:-1]


# settling

WRONG_KINDS: list[tuple[dict[str, Any], Any, str]] = [
    (INTEGER, "5", "type is integer, but its value is text"),
    (INTEGER, True, "type is integer, but its value is a boolean"),
    (INTEGER, Fraction(5, 2), "not an integer"),
    (INTEGER, None, "none"),
    (INTEGER, [5], "a list"),
    (RATIONAL, "1/2", "type is rational, but its value is text"),
    (REAL, Fraction(1, 3), "no finite decimals"),
    (REAL, 0.5, "float"),
    (TEXT, 5, "type is text, but its value is an integer"),
    (TEXT, b"x", "bytes"),
    (BOOLEAN, 1, "type is boolean"),
    (BOOLEAN, "True", "type is boolean"),
    ({"type": "list", "of": INTEGER}, 5, "type is list"),
    ({"type": "list", "of": INTEGER}, [1, "2"], "element 2: its type is integer"),
    ({"type": "list", "of": {"type": "list", "of": INTEGER}}, [[1], [2, None]], "element 2: element 2: its type is"),
    ({"type": "list", "of": {"type": "tuple", "of": [INTEGER, TEXT]}}, [[1]], "element 1: it has 1 element, but"),
    ({"type": "record", "fields": {"a": INTEGER}}, Record({"a": "x"}), "field a: its type is integer"),
    ({"type": "tuple", "of": [INTEGER, TEXT]}, [1], "has 1 element, but its type has 2"),
    ({"type": "tuple", "of": INTEGER}, Record({"a": 1}), "a record"),
]


@pytest.mark.parametrize("case", WRONG_KINDS, ids=lambda case: f"{case[0]['type']}-{case[1]!r}"[:40])
def test_values_of_another_kind_are_refused(case: tuple[dict[str, Any], Any, str]) -> None:
    comparison, value, message = case
    with pytest.raises(LanguageError, match=re.escape(message)):
        settle(value, comparison)


def test_truths_come_in_their_normal_form() -> None:
    assert type(settle(Fraction(6, 2), INTEGER)) is int
    assert type(settle(ExactDecimal(3, 4), RATIONAL)) is Fraction
    assert type(settle(Fraction(3, 4), REAL)) is ExactDecimal
    assert type(settle(Fraction(8, 2), REAL)) is int
    assert settle(Fraction(5, 2), {**INTEGER, "round": {"places": 0, "ties": "half_even"}}) == 2
    assert settle(149, HUNDREDS) == 100 and write(12300, HUNDREDS) == "12 300"
    assert write(settle(Fraction(2469, 2), CENTS), CENTS) == "1,234.50"


def test_rounding_reaches_the_elements() -> None:
    rule = {"places": 2, "ties": "half_even", "zeros": "strip"}
    for comparison in (
        {"type": "tuple", "of": {"type": "real", "round": rule}},
        {"type": "tuple", "of": REAL, "round": rule},
        {"type": "tuple", "of": [REAL, REAL], "round": rule},
    ):
        truth = settle([Fraction(7, 40), Fraction(-1, 3)], comparison)
        assert [str(number) for number in truth] == ["0.18", "-0.33"]
        assert write(truth, comparison) == "(0.18, -0.33)"


def test_symbolic_truths_become_numbers() -> None:
    from sympy import Matrix, Symbol, cos, oo, pi, sqrt

    assert settle(sqrt(16), INTEGER) == 4
    assert settle(sqrt(2) + sqrt(3) - sqrt(5 + 2 * sqrt(6)), INTEGER) == 0
    assert settle(2 * cos(pi / 7) - 2 * cos(2 * pi / 7) + 2 * cos(3 * pi / 7), INTEGER) == 1
    several = {"type": "list", "of": CENTS, "separator": ";"}
    assert settle([pi, sqrt(2)], several) == [Fraction(314, 100), Fraction(141, 100)]
    for value, comparison in ((pi, INTEGER), (pi, REAL), (sqrt(2), RATIONAL), (Symbol("x"), CENTS)):
        with pytest.raises(LanguageError):
            settle(value, comparison)
    for value in (oo, Matrix([[1]])):
        with pytest.raises(LanguageError):
            settle(value, CENTS)


# comparing

TOLERANT = {"type": "real", "tolerance": {"absolute": ExactDecimal(1, 100)}}
RELATIVE = {"type": "real", "tolerance": {"relative": {"rational": "1/1000"}}}
BOTH = {"type": "real", "tolerance": {"absolute": {"decimal": "0.5"}, "relative": {"decimal": "0.01"}}}


@pytest.mark.parametrize(
    ("comparison", "truth", "inside", "outside"),
    [
        (TOLERANT, Fraction(1, 3), ["0.3333333333", "0.34333", "0.32334"], ["0.34334", "0.32333", "-0.33"]),
        (TOLERANT, 5, ["5.01", "4.99", "5"], ["5.010000001", "4.98999"]),
        (RELATIVE, 1000, ["1001", "999"], ["1001.0001", "998.9999"]),
        (RELATIVE, -1000, ["-1001", "-999"], ["-1001.0001", "1000"]),
        (RELATIVE, 0, ["0", "-0.0"], ["0.0000001"]),
        (BOTH, 10, ["10.5", "9.5"], ["10.51"]),
        (BOTH, 1000, ["1010", "990"], ["1010.1"]),
    ],
)
def test_tolerances_are_exact_at_their_ends(
    comparison: dict[str, Any], truth: Any, inside: list[str], outside: list[str]
) -> None:
    settled = settle(truth, comparison)
    for text in inside:
        assert equal(read(text, comparison), settled, comparison), text
    for text in outside:
        assert not equal(read(text, comparison), settled, comparison), text


def test_truths_within_a_tolerance_are_written_near_enough() -> None:
    from sympy import pi

    assert write(settle(Fraction(1, 3), TOLERANT), TOLERANT) == "0.33333"
    assert write(settle(Fraction(2000, 3), RELATIVE), RELATIVE) == "666.667"
    near = settle(pi, TOLERANT)
    assert type(near) is ExactDecimal
    assert str(near).startswith("3.1415926535897932384626433832795")  # 30 digits beyond the tolerance
    assert equal(read("3.15", TOLERANT), near, TOLERANT) and not equal(read("3.16", TOLERANT), near, TOLERANT)
    with pytest.raises(LanguageError, match="no finite decimals"):
        settle(Fraction(1, 3), {"type": "real", "tolerance": {"absolute": 0}})


TEXT_OPTIONS: list[tuple[dict[str, str], str, str, bool]] = [
    ({}, "Abc", "Abc", True),
    ({}, " Abc\n", "Abc", True),
    ({}, "abc", "Abc", False),
    ({}, "a  b", "a b", False),
    ({}, "e\u0301", "é", False),
    ({"case": "fold"}, "ABC", "abc", True),
    ({"case": "fold"}, "STRASSE", "straße", True),
    ({"case": "fold"}, "abd", "abc", False),
    ({"whitespace": "fold"}, "a\tb\u00a0c", "a b c", True),
    ({"whitespace": "fold"}, "a  b", "a b", False),
    ({"whitespace": "collapse"}, "a \n\t b", "a b", True),
    ({"whitespace": "collapse"}, "ab", "a b", False),
    ({"whitespace": "ignore"}, " a b\n", "ab", True),
    ({"whitespace": "ignore"}, "a.b", "ab", False),
    ({"unicode": "fold"}, "e\u0301 \ufb01 \uff11", "é fi 1", True),
    ({"unicode": "fold"}, "É", "é", False),
    ({"unicode": "fold", "case": "fold"}, "\u01c4", "dž", True),
    ({"punctuation": "ignore"}, "it's, done!", "its done", True),
    ({"punctuation": "ignore"}, "1+1", "11", False),
    ({"punctuation": "ignore"}, "a - b", "a b", False),
    ({"punctuation": "ignore", "whitespace": "collapse"}, "a - b", "a b", True),
    ({"punctuation": "ignore"}, "(a )", "a", True),
]


@pytest.mark.parametrize("case", TEXT_OPTIONS)
def test_text_is_compared_as_the_options_say(case: tuple[dict[str, str], str, str, bool]) -> None:
    options, reply, truth, expected = case
    comparison = {**TEXT, **options}
    assert equal(read(reply, comparison), truth, comparison) is expected
    assert equal(read(truth, comparison), reply, comparison) is expected


@pytest.mark.parametrize("case", [case for case in TEXT_OPTIONS if case[1] != "(a )"])
def test_elements_are_compared_by_the_options_of_their_list(case: tuple[dict[str, str], str, str, bool]) -> None:
    options, reply, truth, expected = case
    comparison = {"type": "list", "of": TEXT, **options}
    said = read(write([reply.strip()], comparison), comparison)
    assert equal(said, [truth], comparison) is expected


@settings(deadline=None)
@given(st.text(max_size=20), st.text(max_size=20))
def test_folding_is_that_of_the_unicode_tables(reply: str, truth: str) -> None:
    def folded(text: str) -> str:
        return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).strip()

    comparison = {**TEXT, "case": "fold", "unicode": "fold"}
    assert equal(reply, truth, comparison) is (folded(reply) == folded(truth))


def test_outer_blanks_count_in_quotes_alone() -> None:
    comparison = {"type": "list", "of": TEXT}
    assert equal(read("[ a , b ]", comparison), ["a", "b"], comparison)
    assert not equal(read('[" a", b]', comparison), ["a", "b"], comparison)
    assert equal(read('[" a", b]', comparison), [" a", "b"], comparison)


def test_lists_are_equal_in_length_and_order() -> None:
    comparison = {"type": "list", "of": {"type": "real", "tolerance": {"absolute": 1}}}
    assert equal([1, 2], [2, 3], comparison)
    assert not equal([1, 2], [2], comparison) and not equal([], [1], comparison)
    assert not equal([1, 2], [2, 4], comparison)
    assert equal([], [], comparison)
    assert not equal([1, 2], [2, 1], {"type": "list", "of": INTEGER})


# words

PHRASES: list[tuple[dict[str, Any], str]] = [
    (INTEGER, "an integer in plain digits, without separators or units"),
    (HUNDREDS, "an integer with a space between groups of three digits"),
    (RATIONAL, "a fraction such as 3/4, or an integer"),
    (REAL, "a decimal number such as 3.14, in plain digits, without separators or units"),
    ({**REAL, "units": "km"}, "a decimal number such as 3.14, in plain digits, without separators"),
    (CENTS, "a decimal number such as 3.14, with a comma between groups of three digits"),
    (
        {**REAL, "round": {"places": 4, "ties": "down", "zeros": "keep"}},
        "a decimal number such as 3.1400, in plain digits, without separators or units",
    ),
    ({**REAL, "round": {"places": 0, "ties": "down"}}, "an integer in plain digits, without separators or units"),
    (TEXT, "exactly the requested text, without quotes around it"),
    (BOOLEAN, "True or False"),
    ({"type": "list", "of": INTEGER}, "a list such as [1, 2, 3]"),
    ({"type": "list", "of": INTEGER, "length": 2}, "a list such as [1, 2]"),
    ({"type": "set", "of": INTEGER, "length": 4}, "a set such as {1, 2, 3}"),
    ({"type": "list", "of": INTEGER, "length": 7}, "a list such as [1, 2, 3]"),
    ({"type": "list", "of": "boolean", "separator": ";"}, "a list such as [True; False; True]"),
    ({"type": "list", "of": {"type": "list", "of": RATIONAL}}, "a list such as [[1/2, 3], [-5/7, 1/2], [3]]"),
    ({"type": "tuple", "of": REAL}, "a tuple such as (3.14, 7.5, -1)"),
    (
        {"type": "tuple", "of": [INTEGER, TEXT]},
        "a tuple such as (1, a); put text that contains a comma, a bracket or a quote in double quotes",
    ),
    (CHOICE, "one of GET, a, b, [c], d'e, f \"g"),
    (DATE, "a date such as 2026-01-31"),
    (BYTES, "bytes in hexadecimal digits, two per byte, such as 00ff7f"),
    ({**BYTES, "encoding": "base64"}, "bytes in Base64, such as AP9/"),
    (ADDRESS, "an IP address such as 192.0.2.1"),
    (DOMAIN, "a domain name such as example.com"),
    (SET, "a set such as {1, 2, 3}"),
    (MULTISET, "a multiset such as {1/2, 3, -5/7}"),
    ({"type": "record", "of": {"x": "integer", "y": "integer"}}, "a record such as {x: 1, y: 2}"),
    ({"type": "record", "fields": {"x": "integer"}, "written": "<{{ x }}>"}, "a record written as <1>"),
    (
        RECORD,
        "a record such as {n: 1, t: b}; put text that contains a comma, a bracket or a quote in double quotes",
    ),
    ({"type": "tuple", "of": [INTEGER, INTEGER], "written": "{{ it[1] }}:{{ it[0] }}"}, "a tuple written as 2:1"),
    (MATRIX, "a matrix, row by row, such as [[1/2, 3], [-5/7, 1/2]]"),
    (POLYNOMIAL, "a polynomial in x, such as 3*x^2 - 1/2*x + 1"),
    ({"type": "polynomial", "variables": ["x", "y"]}, "a polynomial in x and y, such as 3*x^2 - 1/2*y + 1"),
    (ARITHMETIC, "an expression with integers, parentheses and + - * /, such as (2 + 3) / 4"),
    (EXPRESSION, "an expression in x, such as 2*sqrt(3)*x + 1/2"),
    ({"type": "expression"}, "an expression, such as 2*sqrt(3)*pi + 1/2"),
]


@pytest.mark.parametrize("case", PHRASES, ids=lambda case: str(case[0]["type"]))
def test_answers_are_described_in_these_words(case: tuple[dict[str, Any], str]) -> None:
    comparison, phrase = case
    assert describe(comparison) == phrase
    shown = re.search(r"such as (.*?)(?:[;,] (?:with|without|or|in|put) .*)?$", phrase)
    if shown:
        read(shown[1], comparison)


FAULTS: list[tuple[Any, str]] = [
    ({}, "needs a `type`"),
    (None, "needs a `type`"),
    ({"type": 5}, "needs a `type`"),
    ({"type": "intger"}, "unknown answer type `intger`; did you mean `integer`?"),
    ({"type": "integer", "case": "fold"}, "integer have no option `case`"),
    ({"type": "text", "case": "lower"}, "`case` must be one of"),
    ({"type": "text", "whitespace": ["fold"]}, "`whitespace` must be one of"),
    ({"type": "integer", "round": {"places": 2}}, "cannot be rounded to decimal places"),
    ({"type": "real", "round": 2}, "`round` must be a mapping"),
    ({"type": "real", "round": {}}, "`places`"),
    ({"type": "real", "round": {"places": 2, "ties": "up"}}, "`ties` must be one of"),
    ({"type": "real", "round": {"places": 2, "thousands": "."}}, "`thousands` must be one of"),
    ({"type": "real", "round": {"places": 2, "digits": 3}}, "no option `digits`"),
    ({"type": "real", "tolerance": {}}, "`tolerance` must be a mapping"),
    ({"type": "real", "tolerance": {"absolute": -1}}, "not negative"),
    ({"type": "real", "tolerance": {"absolute": 0.5}}, "exact number"),
    ({"type": "real", "tolerance": {"absolute": {"decimal": "x"}}}, "exact number"),
    ({"type": "real", "tolerance": {"maximum": 1}}, "no option `maximum`"),
    ({"type": "list"}, "need `of`"),
    ({"type": "list", "of": [INTEGER, TEXT]}, "use the type tuple"),
    ({"type": "list", "of": "txt"}, "unknown answer type `txt`; did you mean `text`?"),
    ({"type": "list", "of": {"type": []}}, "needs a `type`"),
    ({"type": "list", "of": INTEGER, "case": "fold"}, "none of the elements has the option `case`"),
    ({"type": "list", "of": INTEGER, "separator": ""}, "not empty"),
    ({"type": "list", "of": INTEGER, "separator": "-"}, "part of a number"),
    ({"type": "list", "of": TEXT, "separator": " and "}, "cannot contain letters"),
    ({"type": "list", "of": TEXT, "separator": "]"}, "brackets"),
    ({"type": "list", "of": CENTS}, "cannot be the same"),
    ({"type": "rational", "units": 7}, "`units` must be a unit or a list"),
    ({"type": "integer", "units": 7}, "`units` must be a unit or a list"),
    ({"type": "integer", "units": ["km", "e3"]}, "cannot be part of a number"),
    ({"type": "integer", "units": " km"}, "cannot be part of a number"),
    ({"type": "choice"}, "need `of`, from 2"),
    ({"type": "choice", "of": ["A"]}, "need `of`, from 2"),
    ({"type": "choice", "of": ["A", "A"]}, "must be different"),
    ({"type": "choice", "of": ["1", 1]}, "must be different"),
    ({"type": "choice", "of": ["A", " B"]}, "each label of `of`"),
    ({"type": "choice", "of": ["A", ""]}, "each label of `of`"),
    ({"type": "choice", "of": {"A": "x", "B": 7}}, "options of `of` must be texts"),
    ({"type": "bytes", "encoding": "base32"}, "`encoding` must be one of"),
    ({"type": "set"}, "need `of`"),
    ({"type": "set", "of": [INTEGER, TEXT]}, "use the type tuple"),
    ({"type": "record"}, "need `of`"),
    ({"type": "record", "of": {"x y": "integer"}}, "names of a record's fields"),
    ({"type": "record", "of": {"x": "intger"}}, "field x: unknown answer type `intger`"),
    ({"type": "record", "of": {"x": "integer"}, "written": "x"}, "every part of the answer once"),
    ({"type": "record", "of": {"x": "integer"}, "written": "{{ x + 1 }}"}, "only contain text and the parts"),
    ({"type": "record", "of": {"x": "integer"}, "written": "{% if x %}{{ x }}"}, "only contain text and the parts"),
    ({"type": "record", "of": {"x": "integer", "y": "integer"}, "written": "{{ x }}{{ y }}"}, "text between its parts"),
    ({"type": "record", "of": {"x": "integer"}, "written": 7}, "`written` must be a text"),
    ({"type": "tuple", "of": INTEGER, "written": "{{ it[0] }}"}, "list the type of every element"),
    ({"type": "tuple", "of": [INTEGER], "written": "{{ x }}"}, "every part of the answer once"),
    ({"type": "list", "of": INTEGER, "written": "{{ it[0] }}"}, "no option `written`"),
    ({"type": "matrix", "of": [INTEGER]}, "all have one type"),
    ({"type": "matrix", "of": "intger"}, "did you mean `integer`?"),
    ({"type": "polynomial", "variable": "x", "variables": ["y"]}, "cannot be combined"),
    ({"type": "polynomial", "variable": "2x"}, "`variable` must be a name"),
    ({"type": "expression", "variables": ["x", "x"]}, "contains a name twice"),
    ({"type": "arithmetic", "operators": []}, "`operators` must be a list"),
    ({"type": "arithmetic", "operators": ["+", "%"]}, "`operators` must be a list"),
    ({"type": "arithmetic", "operators": "+-"}, "`operators` must be a list"),
]


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: str(case[0]))
def test_comparisons_that_do_not_fit_are_told(case: tuple[Any, str]) -> None:
    comparison, message = case
    if comparison == {"type": "list", "of": CENTS}:
        comparison = {**comparison, "separator": ","}
    assert any(message in found for found in validate(comparison)), validate(comparison)
    with pytest.raises(LanguageError):
        settle(1, comparison)


def test_comparisons_that_fit_have_no_faults() -> None:
    fitting = [comparison for comparison, _ in (*PHRASES, *SCALARS, *SAMPLES)]
    fitting += [TOLERANT, RELATIVE, BOTH, {"type": "integer", "accept_if": {"expression": "reply > 1"}}]
    for comparison in fitting:
        assert validate(comparison) == []
    missing = set(ANSWER_TYPES) - {comparison["type"] for comparison in fitting}
    assert not missing, f"add a comparison to SAMPLES in tests/helpers/answer_samples.py for {sorted(missing)}"


@pytest.mark.parametrize("name", ANSWER_TYPES)
def test_every_type_has_its_description_and_the_errors_in_its_options_here(name: str) -> None:
    described = any(comparison["type"] == name for comparison, _ in PHRASES)
    refused = any(isinstance(wrong, dict) and wrong.get("type") == name for wrong, _ in FAULTS)
    lacking = [] if described else ["add what `describe` returns to PHRASES in test_answer_types.py"]
    if "faults" in ANSWER_TYPES[name].__dict__ and not refused:
        lacking.append("add wrong options to FAULTS in test_answer_types.py")
    assert lacking == [], "; ".join(lacking)


def test_nested_lists_have_a_bound() -> None:
    comparison: dict[str, Any] = dict(INTEGER)
    for _ in range(7):
        comparison = {"type": "list", "of": comparison}
    assert validate(comparison) == []
    assert validate({"type": "list", "of": comparison}) == ["lists are nested deeper than 8 levels"]


# limits

BIG = {"type": "list", "of": TEXT}


def hostile_texts(size: int) -> list[str]:
    """Texts of about this many characters that tempt a reader to try again and again."""
    return [
        "[" * (size // 2) + "]" * (size // 2),
        "," * size,
        "'" * size,
        '"' + "\\" * (size - 1),
        "'a'," * (size // 4),
        "(" + "),(" * (size // 3 - 1) + ")",
        "9" * size,
        "1" + ",000" * (size // 4 - 1),
        "7" * 99_999 + "/" + "3" * 99_999,
        " " * (size - 1) + "a",
        "a \n" * (size // 3),
        "a" + "\u0301\u0323" * (size // 2 - 1),
    ]


IS_THOROUGH = os.environ.get("DIA_EXAMPLES") == "all"
HOSTILE = hostile_texts(1_000_000 if IS_THOROUGH else 250_000)
# The same for the types that make more of a text, at lengths that show quadratic time as well
NEWER_HOSTILE = [
    *(text[: 250_000 if IS_THOROUGH else 100_000] for text in HOSTILE),
    "{n: " * 60_000,
    "n: 1, " * 40_000,
    'n: "' + "a\\" * 100_000,
    "[1 2]\n" * 40_000,
    "1 2;" * 60_000,
    "\\begin{pmatrix}" * 15_000,
    "a." * 100_000,
    ":" * 250_000,
    "00" * 100_000,
    "Answer: " * 30_000,
    "-" * 99_999 + "1",
    "(" * 99_999,
    "x+" * 49_999 + "x",
    "x^" * 4_000 + "x",
    "(x+1)^999*(x+2)^999",
    "+".join(f"sqrt({n})" for n in range(2, 190)),
    "sin(" * 50 + "x" + ")" * 50,
    "exp(" * 50 + "x" + ")" * 50,
    "9^" * 50 + "9",
    "1/(x-x)",
    "(1+sqrt(2)+sqrt(3)+sqrt(5)+sqrt(7)+sqrt(x))^200",
    "sin(x/48)^64+sin(x/47)^64+sin(x/46)",
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:6]))
@pytest.mark.long
def test_hostile_texts_are_read_in_linear_time(text: str) -> None:
    import time

    folding = {**TEXT, "unicode": "fold", "case": "fold", "whitespace": "collapse", "punctuation": "ignore"}
    lists = {"type": "list", "of": {"type": "list", "of": INTEGER}}
    for comparison in (INTEGER, RATIONAL, REAL, BOOLEAN, TEXT, folding, BIG, lists):
        start = time.process_time()
        try:
            value = read(text, comparison, "lenient")
            assert equal(value, value, comparison)
        except Unreadable:
            pass
        assert time.process_time() - start < 5


NEWER = (CHOICE, DATE, BYTES, ADDRESS, DOMAIN, SET, MULTISET, RECORD, MATRIX, POLYNOMIAL, ARITHMETIC, EXPRESSION)


@pytest.mark.parametrize("text", NEWER_HOSTILE, ids=lambda text: ascii(text[:6]))
@pytest.mark.long
def test_hostile_texts_of_newer_types_take_no_time(text: str) -> None:
    import time

    for comparison in NEWER:
        start = time.process_time()
        try:
            value = read(text, comparison, "lenient")
            other = read("x+1", comparison) if comparison is EXPRESSION else value
            equal(value, other, comparison)
        except (Unreadable, Undecided):
            pass
        assert time.process_time() - start < 2, comparison


def test_replies_have_limits() -> None:
    assert read("9" * 100_000, INTEGER) % 10**6 == 999_999
    assert read("0." + "3" * 99_999, REAL) < 1
    for text, comparison in (
        ("9" * 100_001, INTEGER),
        ("-" + "9" * 100_001, INTEGER),
        ("0." + "3" * 100_000, REAL),
        ("1/" + "9" * 100_001, RATIONAL),
        ("1," * 100_000 + "1", {"type": "list", "of": INTEGER}),
        ("a," * 100_000 + "a", BIG),
        ("x" * 1_000_001, TEXT),
    ):
        with pytest.raises(Unreadable):
            read(text, comparison)
    assert len(read("1," * 99_999 + "1", {"type": "list", "of": INTEGER})) == 100_000


def test_truths_beyond_what_is_read_are_refused() -> None:
    for value, comparison in (
        (10**100_000, INTEGER),
        (Fraction(1, 10**100_000 + 1), RATIONAL),
        ("x" * 1_000_001, TEXT),
        ([1] * 100_001, {"type": "list", "of": INTEGER}),
        ([10**5000] * 200, {"type": "list", "of": INTEGER}),
    ):
        with pytest.raises(LanguageError):
            write(value, comparison)
    assert read(write(10**100_000 - 1, INTEGER), INTEGER) == 10**100_000 - 1


PLAIN_PIECES = ["7", "-7", "-0", "007", "1\n2", "--1", "-", "1,000", "1_0", "٣", "+5", " 1", "", "9" * 1200]
JSON_PIECES = ["\t2\n", "\xa03", "1e2", "1.0", "NaN", "null", "true", "[1]", '"1"', "{}", "1]", "1] [2", "[" * 2000]
PIECES = st.sampled_from(PLAIN_PIECES + JSON_PIECES)


@given(st.text("ab ,;-\t\n\xa0[)", max_size=9), st.sampled_from([",", ";", ";,"]))
def test_texts_without_quotes_are_split_at_once_as_beside_one_with_quotes(text: str, separator: str) -> None:
    assert flat(text, separator, True) == flat(f'{text}{separator}"a"', separator, True)[:-1]


ROW: dict[str, Any] = {"type": "list", "of": "integer"}


@pytest.mark.parametrize("digits", [15, 62, 90])
def test_a_truth_is_near_enough_to_a_number_whose_terms_nearly_cancel_each_other(digits: int) -> None:
    import mpmath
    import sympy

    with mpmath.workdps(3 * digits + 60):
        cut = int(mpmath.floor(mpmath.sqrt(2) * 10**digits))
        exact = Fraction(str(mpmath.nstr(mpmath.sqrt(2) - mpmath.mpf(cut) / 10**digits, digits + 40)))
    near = {"type": "real", "tolerance": {"relative": ExactDecimal(1, 1000)}}
    found = settle(sympy.sqrt(2) - sympy.Rational(cut, 10**digits), near)
    assert abs(found - exact) <= exact / 1000 / 10**29


def test_what_is_zero_though_it_does_not_look_so_is_zero() -> None:
    import sympy

    near = {"type": "real", "tolerance": {"relative": ExactDecimal(1, 1000)}}
    assert settle(sympy.sqrt(2) + sympy.sqrt(3) - sympy.sqrt(5 + 2 * sympy.sqrt(6)), near) == 0

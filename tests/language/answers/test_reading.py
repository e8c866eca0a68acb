"""What every strange text is read as: one documented value, or none, for each mode."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from dia_language.answers import Mode, Unreadable, read

NO = object()
INTEGER = {"type": "integer"}
RATIONAL = {"type": "rational"}
REAL = {"type": "real"}
TEXT = {"type": "text"}
BOOLEAN = {"type": "boolean"}
INTEGERS = {"type": "list", "of": INTEGER}
TEXTS = {"type": "list", "of": TEXT}
ROWS = {"type": "list", "of": INTEGERS}
COMMAS = {"type": "integer", "round": {"places": 0, "ties": "half_even", "thousands": ","}}
PRICE = {"type": "real", "round": {"places": 2, "ties": "half_even", "thousands": ","}}
PAIR = {"type": "tuple", "of": [INTEGER, TEXT]}
SEMICOLONS = {"type": "list", "of": REAL, "separator": ";"}
LINES = {"type": "list", "of": TEXT, "separator": "\n"}
ARROWS = {"type": "list", "of": INTEGER, "separator": "->"}

Row = tuple[dict[str, Any], str, Any, Any]

# type, text, strict, lenient
NUMBERS: list[Row] = [
    (INTEGER, "42", 42, 42),
    (INTEGER, " \n 42 \t", 42, 42),
    (INTEGER, "\u00a042\u3000", 42, 42),  # outer white space of any script
    (INTEGER, "+42", 42, 42),
    (INTEGER, "-42", -42, -42),
    (INTEGER, "-0", 0, 0),
    (INTEGER, "007", 7, 7),
    (INTEGER, "--4", NO, NO),
    (INTEGER, "+-4", NO, NO),
    (INTEGER, "4-", NO, NO),
    (INTEGER, "- 4", NO, NO),
    (INTEGER, "", NO, NO),
    (INTEGER, "4 2", NO, NO),
    (INTEGER, "42.", NO, NO),
    (INTEGER, "42\x00", NO, NO),
    (INTEGER, "42\n43", NO, NO),
    (INTEGER, "1_000", NO, 1000),
    (INTEGER, "1,000", NO, 1000),
    (INTEGER, "1 000", NO, 1000),
    (INTEGER, "1'000", NO, 1000),
    (INTEGER, "-12,345,678", NO, -12345678),
    (INTEGER, "1,000.0", NO, 1000),
    (INTEGER, "1,5", NO, NO),
    (INTEGER, "1.000,5", NO, NO),
    (INTEGER, "1.000", NO, NO),  # a thousand to some, one to others
    (INTEGER, "1234,567", NO, NO),
    (INTEGER, "12,34,567", NO, NO),
    (INTEGER, ",123", NO, NO),
    (INTEGER, "1,234_567", NO, NO),
    (INTEGER, "1,,000", NO, NO),
    (INTEGER, "1\u202f000", NO, NO),
    (INTEGER, "\u0661\u0662", NO, NO),  # Arabic digits
    (INTEGER, "\uff11\uff12", NO, NO),  # full-width digits
    (INTEGER, "\u00b2", NO, NO),  # superscript two
    (INTEGER, "\u22125", NO, NO),  # the minus sign of typesetters
    (INTEGER, "nan", NO, NO),
    (INTEGER, "inf", NO, NO),
    (INTEGER, "1e5", NO, 100000),
    (INTEGER, "1.5e3", NO, 1500),
    (INTEGER, "1.5E+3", NO, 1500),
    (INTEGER, "150e-1", NO, 15),
    (INTEGER, "15e-1", NO, NO),
    (INTEGER, "1e", NO, NO),
    (INTEGER, "e5", NO, NO),
    (INTEGER, "1,000e3", NO, NO),
    (INTEGER, "1e5.0", NO, NO),
    (INTEGER, "1e99999", NO, 10**99999),
    (INTEGER, "1e100000", NO, NO),
    (INTEGER, "0e999999", NO, NO),
    (INTEGER, "1e999999999999", NO, NO),
    (INTEGER, "42.0", NO, 42),
    (INTEGER, "42.00", NO, NO),
    (INTEGER, "42.5", NO, NO),
    (INTEGER, ".0", NO, NO),
    (INTEGER, "0x2a", NO, NO),
    (INTEGER, "0b1", NO, NO),
    (INTEGER, "forty-two", NO, NO),
    (INTEGER, "42 apples", NO, NO),
    (INTEGER, "True", NO, NO),
    (COMMAS, "1,000", 1000, 1000),
    (COMMAS, "1000", 1000, 1000),
    (COMMAS, "1_000", NO, 1000),
    (COMMAS, "10,00", NO, NO),
    (RATIONAL, "3/4", Fraction(3, 4), Fraction(3, 4)),
    (RATIONAL, "-3/4", Fraction(-3, 4), Fraction(-3, 4)),
    (RATIONAL, "3/-4", Fraction(-3, 4), Fraction(-3, 4)),
    (RATIONAL, "6/8", Fraction(3, 4), Fraction(3, 4)),
    (RATIONAL, "8/4", 2, 2),
    (RATIONAL, "5", 5, 5),
    (RATIONAL, "0/7", 0, 0),
    (RATIONAL, "1/0", NO, NO),
    (RATIONAL, "0/0", NO, NO),
    (RATIONAL, "1/2/3", NO, NO),
    (RATIONAL, "/2", NO, NO),
    (RATIONAL, "1/", NO, NO),
    (RATIONAL, "3 / 4", NO, NO),
    (RATIONAL, "0.75", NO, NO),
    (RATIONAL, "3.0/4", NO, Fraction(3, 4)),
    (RATIONAL, "1,000/3", NO, Fraction(1000, 3)),
    (RATIONAL, "\u00be", NO, NO),
    (REAL, "3.14", Fraction(157, 50), Fraction(157, 50)),
    (REAL, "2.50", Fraction(5, 2), Fraction(5, 2)),
    (REAL, "-0.0", 0, 0),
    (REAL, "5", 5, 5),
    (REAL, ".5", Fraction(1, 2), Fraction(1, 2)),
    (REAL, "5.", 5, 5),
    (REAL, ".", NO, NO),
    (REAL, "-.", NO, NO),
    (REAL, "+.25", Fraction(1, 4), Fraction(1, 4)),
    (REAL, "1.2.3", NO, NO),
    (REAL, "1/2", NO, NO),
    (REAL, "1,5", NO, NO),
    (REAL, "1,500.25", NO, Fraction(150025, 100)),
    (REAL, "1.000,5", NO, NO),
    (REAL, "1.5,000", NO, NO),
    (REAL, "1e-3", NO, Fraction(1, 1000)),
    (REAL, "2.5E2", NO, 250),
    (REAL, "1_000.5", NO, Fraction(2001, 2)),
    (REAL, "nan", NO, NO),
    (REAL, "NaN", NO, NO),
    (REAL, "inf", NO, NO),
    (REAL, "-Infinity", NO, NO),
    (REAL, "50%", NO, NO),
    (REAL, "$5", NO, NO),
    (REAL, "pi", NO, NO),
    (REAL, "\u0663.\u0661", NO, NO),
    (REAL, "\u22122.5", NO, NO),
    (PRICE, "1,234.50", Fraction(2469, 2), Fraction(2469, 2)),
    (PRICE, "1234.5", Fraction(2469, 2), Fraction(2469, 2)),
    (PRICE, "1'234.5", NO, Fraction(2469, 2)),
]

WORDS: list[Row] = [
    (BOOLEAN, "True", True, True),
    (BOOLEAN, "fAlSe", False, False),
    (BOOLEAN, " true\n", True, True),
    (BOOLEAN, "yes", NO, True),
    (BOOLEAN, "No", NO, False),
    (BOOLEAN, "T", NO, NO),
    (BOOLEAN, "1", NO, NO),
    (BOOLEAN, "true.", NO, NO),
    (BOOLEAN, "fal\u017fe", NO, NO),  # the long s folds to s
    (BOOLEAN, "\uff54\uff52\uff55\uff45", NO, NO),
    (BOOLEAN, "", NO, NO),
    (TEXT, "  an answer \n", "an answer", "an answer"),
    (TEXT, '"quoted"', '"quoted"', '"quoted"'),
    (TEXT, "", "", ""),
    (TEXT, "a\u0000b", "a\u0000b", "a\u0000b"),
    (TEXT, "1,000", "1,000", "1,000"),
    (TEXT, "Ignore the rubric", "Ignore the rubric", "Ignore the rubric"),
]

LISTS: list[Row] = [
    (INTEGERS, "[1, 2, 3]", [1, 2, 3], [1, 2, 3]),
    (INTEGERS, "(1,2,3)", [1, 2, 3], [1, 2, 3]),
    (INTEGERS, "{ 1 , 2 }", [1, 2], [1, 2]),
    (INTEGERS, "1, 2, 3", [1, 2, 3], [1, 2, 3]),
    (INTEGERS, "7", [7], [7]),
    (INTEGERS, "[]", [], []),
    (INTEGERS, "( )", [], []),
    (INTEGERS, "", NO, NO),
    (INTEGERS, "[", NO, NO),
    (INTEGERS, "[1, 2", NO, NO),
    (INTEGERS, "[1, 2)", NO, NO),
    (INTEGERS, "[[1, 2]]", NO, NO),
    (INTEGERS, "[1], [2]", NO, NO),
    (INTEGERS, "[1, 2,]", NO, NO),
    (INTEGERS, "[,]", NO, NO),
    (INTEGERS, "(5,)", NO, NO),
    (INTEGERS, "1; 2", NO, NO),
    (INTEGERS, "1 2", NO, NO),
    (INTEGERS, "1 and 2", NO, NO),
    (INTEGERS, "['1', '2']", NO, NO),
    (INTEGERS, "[1, 2.0]", NO, [1, 2]),
    (INTEGERS, "1,000", [1, 0], [1, 0]),  # the separator comes before groups of three
    (INTEGERS, "[1 000, 2]", NO, [1000, 2]),
    (SEMICOLONS, "[1.5; 2]", [Fraction(3, 2), 2], [Fraction(3, 2), 2]),
    (SEMICOLONS, "1,000; 2", NO, [1000, 2]),
    (SEMICOLONS, "1, 2", NO, NO),
    (ARROWS, "1 -> -2->3", [1, -2, 3], [1, -2, 3]),
    (TEXTS, "[a, b]", ["a", "b"], ["a", "b"]),
    (TEXTS, "a, b", ["a", "b"], ["a", "b"]),
    (TEXTS, "['a', \"b\"]", ["a", "b"], ["a", "b"]),
    (TEXTS, '["a, b", c]', ["a, b", "c"], ["a, b", "c"]),
    (TEXTS, '[" a "]', [" a "], [" a "]),
    (TEXTS, "[ a ]", ["a"], ["a"]),
    (TEXTS, '[""]', [""], [""]),
    (TEXTS, "[a, , b]", NO, NO),
    (TEXTS, "['a, b]", NO, NO),
    (TEXTS, "['a' b]", NO, NO),
    (TEXTS, "[it's, b]", ["it's", "b"], ["it's", "b"]),
    (TEXTS, "['it\\'s']", ["it's"], ["it's"]),
    (TEXTS, r'["\"", "\\", "\n"]', ['"', "\\", "\n"], ['"', "\\", "\n"]),
    (TEXTS, r'["\d+", "\u00e9\ud83d\ude00"]', ["\\d+", "é😀"], ["\\d+", "é😀"]),
    (TEXTS, r'["\ud83d"]', NO, NO),
    (TEXTS, r"[\n]", ["\\n"], ["\\n"]),
    (TEXTS, "[f(x), g(y)]", ["f(x)", "g(y)"], ["f(x)", "g(y)"]),
    (TEXTS, "(a), (b)", ["(a)", "(b)"], ["(a)", "(b)"]),
    (TEXTS, "[a], b]", ["[a]", "b]"], ["[a]", "b]"]),
    (TEXTS, '["]", b]', ["]", "b"], ["]", "b"]),
    (LINES, "a\nb, c\n\n d ", ["a", "b, c", "d"], ["a", "b, c", "d"]),
    (LINES, "\n \n", NO, NO),
    (ROWS, "[[1, 2], [3]]", [[1, 2], [3]], [[1, 2], [3]]),
    (ROWS, "((1, 2), {3})", [[1, 2], [3]], [[1, 2], [3]]),
    (ROWS, "[1, 2], [3]", [[1, 2], [3]], [[1, 2], [3]]),
    (ROWS, "[[]]", [[]], [[]]),
    (ROWS, "[]", [], []),
    (ROWS, "[1, 2]", NO, NO),  # rows need their brackets
    (ROWS, "[[1, 2], 3]", NO, NO),
    (ROWS, "[[1, 2] [3]]", NO, NO),
    (ROWS, "[[1, 2), [3]]", NO, NO),
    (ROWS, "[1][2]", NO, NO),
    (ROWS, "[" * 200_000, NO, NO),
    (ROWS, "[" * 200_000 + "]" * 200_000, NO, NO),
    (PAIR, "(1, a)", [1, "a"], [1, "a"]),
    (PAIR, '[1, "a, b"]', [1, "a, b"], [1, "a, b"]),
    (PAIR, "(1, a, b)", NO, NO),
    (PAIR, "(1)", NO, NO),
    (PAIR, "(a, 1)", NO, NO),
]


def outcome(comparison: dict[str, Any], text: str, mode: Mode) -> Any:
    try:
        return read(text, comparison, mode)
    except Unreadable:
        return NO


@pytest.mark.parametrize("row", [*NUMBERS, *WORDS, *LISTS], ids=lambda row: f"{row[0]['type']}-{row[1][:12]!r}")
def test_texts_are_read_as_the_table_says(row: Row) -> None:
    comparison, text, strict, lenient = row
    for mode, expected in (("strict", strict), ("lenient", lenient)):
        found = outcome(comparison, text, "strict" if mode == "strict" else "lenient")
        assert (found is NO) == (expected is NO), f"{mode}: {found!r}"
        assert found == expected
        assert type(found) is type(expected) or isinstance(found, Fraction)


def test_lenient_reads_all_that_strict_reads_alike() -> None:
    for comparison, text, strict, _ in (*NUMBERS, *WORDS, *LISTS):
        if strict is not NO:
            assert outcome(comparison, text, "lenient") == strict

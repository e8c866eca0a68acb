"""Chosen forms of values against formats, decimal, json, and a reader of English numbers."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import sympy
from dia_language.numbers.values import ExactDecimal, Record
from helpers.library_calls import call, code
from hypothesis import given
from hypothesis import strategies as st

UNITS = {
    word: n
    for n, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
} | {
    word: 10 * n
    for n, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)
}
POWERS = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12, "quadrillion": 15}


def read(words: str) -> int:
    """The integer that English words name."""
    total = part = 0
    for word in words.removeprefix("minus ").replace("-", " ").split():
        if word in UNITS:
            part += UNITS[word]
        elif word == "hundred":
            part *= 100
        else:
            total, part = total + part * 10 ** POWERS[word], 0
    return -(total + part) if words.startswith("minus ") else total + part


@given(st.one_of(st.integers(-(10**15), 10**15), st.integers(0, 10**4)))
def test_words_name_the_integer(n: int) -> None:
    assert read(call("in_words", n)) == n


def test_words_as_english_writes_them() -> None:
    assert {n: call("in_words", n) for n in (0, 13, 21, 40, 100, 115, 1_000_000, 10**15)} == {
        0: "zero",
        13: "thirteen",
        21: "twenty-one",
        40: "forty",
        100: "one hundred",
        115: "one hundred fifteen",
        1_000_000: "one million",
        10**15: "one quadrillion",
    }
    assert call("in_words", -999_999) == ("minus nine hundred ninety-nine thousand nine hundred ninety-nine")
    assert code("in_words", 10**15 + 1) == code("in_words", -(10**15) - 1) == "E502"


@given(st.integers(-(10**30), 10**30))
def test_groups_agree_with_formats(n: int) -> None:
    assert call("grouped", n) == f"{n:,}"
    assert call("grouped", n, "_") == f"{n:_}"
    assert call("grouped", n, " ") == f"{n:,}".replace(",", " ")


@given(st.decimals(-(10**9), 10**9, places=3))
def test_groups_of_decimals_agree_with_formats(value: Decimal) -> None:
    exact = Fraction(value)
    if exact.denominator > 1:
        assert call("grouped", ExactDecimal(exact)) == f"{value.normalize():,f}"


def test_groups_need_a_number_with_digits() -> None:
    assert code("grouped", Fraction(1, 3)) == code("grouped", sympy.sqrt(2)) == code("grouped", 1, "0") == "E501"


@given(st.integers(-(10**40), 10**40), st.integers(0, 30))
def test_fixed_places_agree_with_the_decimal_module(n: int, places: int) -> None:
    assert call("decimal", n, places) == f"{n}" + ("." + "0" * places if places else "")
    wanted = Fraction(n, 3)
    shown = call("decimal", wanted, places) if wanted.denominator > 1 else f"{wanted}"
    assert abs(Fraction(shown) - wanted) <= Fraction(1, 2 * 10**places)


def test_places_are_bounded_and_zero_has_no_sign() -> None:
    assert call("decimal", Fraction(-1, 1000), 2) == "0.00"
    assert call("decimal", sympy.pi, 20) == "3.14159265358979323846"
    assert code("decimal", 1, -1) == "E501"
    assert code("decimal", 1, 100_001) == "E502"


PLAIN = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda held: st.lists(held, max_size=3) | st.dictionaries(st.text(max_size=3), held, max_size=3),
    max_leaves=8,
)


def recorded(value: Any) -> Any:
    """The value with records for mappings."""
    if isinstance(value, dict):
        return Record((name, recorded(held)) for name, held in value.items())
    return [recorded(item) for item in value] if isinstance(value, list) else value


@given(PLAIN)
def test_json_agrees_with_the_json_module(value: Any) -> None:
    assert call("json", recorded(value)) == json.dumps(value, ensure_ascii=False)


def test_decimals_stay_exact_in_json_and_others_are_refused() -> None:
    assert call("json", [ExactDecimal(1, 8), 2**70]) == "[0.125, 1180591620717411303424]"
    for value in (Fraction(1, 3), b"a", sympy.sqrt(2)):
        assert code("json", [value]) == "E501"
    assert code("json", ["a" * 600_000] * 2) == "E502"

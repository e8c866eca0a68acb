"""Digits of large integers, and values that hold such, against gmpy2 and Python's own conversion."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from dia_language.numbers.radix import (
    digits_of,
    integer_of,
    integer_text,
    number_of,
)
from dia_language.numbers.values import ExactDecimal, decode, encode, plain
from hypothesis import given
from hypothesis import strategies as st

LARGE = [10**n + d for n in (449, 1233, 3999, 4000, 4299, 4300, 4301, 12_345) for d in (-1, 0, 1)]


@given(st.integers(0, 2**6000), st.integers(2, 300))
def test_digits_fold_back_to_the_number(number: int, base: int) -> None:
    digits = digits_of(number, base)
    assert number_of(digits, base) == number
    assert all(0 <= digit < base for digit in digits)
    assert digits[0] or digits == [0]


@pytest.mark.parametrize("number", LARGE, ids=lambda number: str(number.bit_length()))
def test_decimal_texts_agree_with_gmp(number: int) -> None:
    gmpy2 = pytest.importorskip("gmpy2")
    for signed in (number, -number):
        assert integer_text(signed) == gmpy2.mpz(signed).digits()
        assert integer_of(gmpy2.mpz(signed).digits()) == signed


@given(st.integers())
def test_short_texts_are_pythons(number: int) -> None:
    assert integer_text(number) == str(number)
    assert integer_of(str(number)) == number


@pytest.mark.parametrize("text", ["", "x", "1" * 5000 + "x", "+" + "1" * 5000, "--" + "1" * 5000, "٣" * 5000])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        integer_of(text)


def test_values_print_and_come_back_beyond_pythons_limit_on_digits() -> None:
    large = 7**9000
    values = [
        large,
        -large,
        Fraction(large, 3),
        ExactDecimal(large, 10),
        [ExactDecimal(-large, 4)],
        Fraction(1, large),
    ]
    assert decode(encode(values)) == values
    assert plain(large)[-3:] == str(large % 1000).rjust(3, "0")
    assert plain(Fraction(large, 3)) == plain(large) + "/3"
    assert plain(ExactDecimal(large, 10)) == plain(large)[:-1] + "." + plain(large)[-1]
    assert plain(Fraction(6, 4)) == "3/2"
    assert plain(Fraction(4)) == "4"


@pytest.mark.long
def test_the_longest_integer_prints_in_seconds() -> None:
    began = time.process_time()
    text = integer_text(2**999_999)
    assert len(text) == 301_030
    assert integer_of(text) == 2**999_999
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "stored",
    [
        {"integer": 5},
        {"integer": "x"},
        {"rational": "1"},
        {"rational": "1/0"},
        {"decimal": None},
        {"bytes": 1},
        {"entry": {}},
    ],
)
def test_what_is_no_stored_value_is_told_as_such(stored: object) -> None:
    with pytest.raises(ValueError):
        decode(stored)

"""Plain arithmetic against statistics, numpy, decimal and ctypes."""

from __future__ import annotations

import ctypes
import decimal
import math
import statistics
from fractions import Fraction
from typing import Any

import numpy
from dia_language.numbers.values import ExactDecimal, normal
from helpers.library_calls import call, code
from hypothesis import given, settings
from hypothesis import strategies as st

RATIONALS = st.fractions(max_denominator=10**6).map(normal)
INTEGERS = st.integers(-(2**140), 2**140)


@given(st.lists(RATIONALS, min_size=1))
def test_sums_means_and_extremes_agree_with_statistics(values: list[Any]) -> None:
    assert call("sum", values) == sum(values)
    assert call("product", values) == math.prod(values)
    assert call("mean", values) == statistics.mean(map(Fraction, values))
    assert call("median", values) == statistics.median(map(Fraction, values))
    assert call("min", values) == call("min", *values) == min(values)
    assert call("max", values) == call("max", *values) == max(values)


def test_results_are_in_normal_form_and_decimals_stay_decimals() -> None:
    half, quarter = ExactDecimal(1, 2), ExactDecimal(1, 4)
    assert type(call("mean", [1, 3])) is int
    assert type(call("median", [1, 2, 4, 5])) is int
    assert str(call("sum", [half, quarter])) == "0.75"
    assert str(call("mean", [half, quarter])) == "0.375"
    assert str(call("product", [half, quarter])) == "0.125"
    assert str(call("abs", ExactDecimal(-1, 2))) == "0.5"
    assert str(call("sqrt", quarter)) == "0.5"


def test_booleans_count_and_average() -> None:
    assert call("sum", [True, True, False, 3]) == 5
    assert call("mean", [True, False, False, False]) == Fraction(1, 4)
    assert code("sum", [1, "a"]) == code("mean", ["a"]) == code("median", [True]) == "E501"


def test_the_first_of_equal_values_is_taken() -> None:
    half, decimal_half = Fraction(1, 2), ExactDecimal(1, 2)
    assert type(call("max", half, decimal_half)) is Fraction
    assert type(call("max", decimal_half, half)) is ExactDecimal
    assert type(call("min", decimal_half, half)) is ExactDecimal
    assert call("max", "pear", "fig") == "pear"
    assert call("max", [[1, 2], [1, 3]]) == [1, 3]


def test_empty_lists_have_no_middle_and_no_ends() -> None:
    assert code("mean", []) == code("median", []) == code("min", []) == code("max", []) == "E504"
    assert (call("sum", []), call("product", [])) == (0, 1)
    assert code("max", 1, "a") == "E501"


@given(RATIONALS)
def test_rounding_to_whole_numbers_agrees_with_math(x: Any) -> None:
    assert call("floor", x) == math.floor(x)
    assert call("ceil", x) == math.ceil(x)
    assert call("abs", x) == abs(x)
    assert call("sign", x) == (x > 0) - (x < 0)
    assert Fraction(call("numerator", x), call("denominator", x)) == x
    assert math.gcd(call("numerator", x), call("denominator", x)) == 1


def test_symbolic_numbers_are_placed_exactly() -> None:
    root = call("sqrt", 2)
    assert (call("floor", root), call("ceil", root), call("sign", -root)) == (1, 2, -1)
    assert str(call("abs", root - 2)) == "2 - sqrt(2)"
    assert call("max", [root, 1]) == root
    assert call("min", root, Fraction(3, 2)) == root
    assert call("median", [root, 1, 2]) == root
    symbol = call("symbol", "x")
    assert code("floor", symbol) == "E504"
    assert code("sign", symbol) == "E501"


@given(st.fractions(min_value=0))
def test_roots_square_back(x: Fraction) -> None:
    root = call("sqrt", normal(x * x))
    assert root == x
    assert not isinstance(root, float)
    assert call("sqrt", normal(x)) ** 2 == x


def test_negative_numbers_have_no_real_root() -> None:
    assert code("sqrt", -1) == code("sqrt", Fraction(-1, 4)) == "E504"
    assert str(call("sqrt", 12)) == "2*sqrt(3)"


TIES = {
    "half_even": decimal.ROUND_HALF_EVEN,
    "half_up": decimal.ROUND_HALF_UP,
    "down": decimal.ROUND_DOWN,
}


@settings(deadline=None)
@given(st.decimals(-1000, 1000, places=5), st.integers(0, 4), st.sampled_from(sorted(TIES)))
def test_rounding_agrees_with_the_decimal_module(x: decimal.Decimal, places: int, ties: str) -> None:
    wanted = x.quantize(decimal.Decimal(1).scaleb(-places), TIES[ties])
    found = call("round_to", normal(Fraction(x)), places, ties)
    assert found == Fraction(wanted)
    assert type(found) in (int, ExactDecimal)
    shown = call("decimal", normal(Fraction(x)), places, ties)
    assert shown == (f"{wanted:f}" if wanted else f"{abs(wanted):f}")


@given(st.integers(0, 2**140), st.integers(2, 36))
def test_digits_agree_with_numpy_and_int(n: int, base: int) -> None:
    text = call("to_base", n, base)
    assert int(text, base) == n
    assert call("digits", n, base) == [int(digit, 36) for digit in text]
    assert call("digit_sum", n, base) == sum(int(digit, 36) for digit in text)
    assert call("from_base", text, base) == call("from_base", text.upper(), base) == n
    assert call("to_base", -n, base, "upper") == ("-" if n else "") + text.upper()
    assert call("from_base", call("to_base", -n, base), base) == -n
    if n < 2**63:
        assert text.upper() == numpy.base_repr(n, base)


def test_digits_of_more_than_python_prints() -> None:
    n = 7**20_000
    shown = call("to_base", n, 10)
    assert len(shown) == 16_902
    assert call("from_base", shown, 10) == n
    assert call("digits", n)[-4:] == [int(digit) for digit in str(n % 10**4).rjust(4, "0")]
    assert call("digit_sum", n) % 9 == n % 9


def test_other_texts_and_bases_are_refused() -> None:
    for text in ("", "-", "+1", " 1", "1 ", "1_0", "12", "--1", "٣", "0x1"):
        assert code("from_base", text, 2) == "E501"
    for base in (1, 37, 0, -2):
        assert code("to_base", 5, base) == code("from_base", "1", base) == "E501"
    assert code("to_base", 5, 16, "Upper") == code("digits", -1) == code("digits", 5, 1) == "E501"
    assert code("from_base", "9" * 400_000, 10) == code("product", [2**600_000] * 2) == "E502"


@given(INTEGERS)
def test_machine_integers_agree_with_c(n: int) -> None:
    assert call("int32", n) == ctypes.c_int32(n).value
    assert call("int64", n) == ctypes.c_int64(n).value
    assert call("bit_length", n) == len(bin(abs(n))) - 2 - (n == 0)


def test_a_sum_takes_symbols_and_booleans_beside_an_integer_at_its_end() -> None:
    import sympy

    assert call("sum", [sympy.sqrt(5), True, 1]) == sympy.sqrt(5) + 2
    assert call("sum", [Fraction(1, 2), True, 1]) == Fraction(5, 2)
    assert code("sum", [Fraction(1, 3**150_000 + 2 * i) for i in range(8)] + [1]) == "E502"

"""Polynomials against sympy's own functions and numpy's roots."""

from __future__ import annotations

from typing import Any

import numpy
import sympy
from dia_language.numbers.values import normal
from helpers.examples import examples
from helpers.library_calls import call, code
from hypothesis import given, settings
from hypothesis import strategies as st

x, y = sympy.symbols("x y")
VALUES = st.lists(st.integers(-9, 9), min_size=1, max_size=6)


def of(values: list[int]) -> Any:
    return normal(sum((value * x**power for power, value in enumerate(values)), sympy.Integer(0)))


@settings(deadline=None, max_examples=examples(60))
@given(st.lists(st.tuples(st.integers(-6, 6), st.integers(1, 3)), min_size=1, max_size=4, unique_by=lambda t: t[0]))
def test_a_product_of_linear_factors_has_their_roots(planted: list[tuple[int, int]]) -> None:
    held = sympy.prod([(x - root) ** times for root, times in planted])
    assert call("roots", held, x) == sorted(map(list, planted))
    factors = call("factor_polynomial", held.expand(), x)
    assert sympy.prod([part**exponent for part, exponent in factors]).expand() == held.expand()
    assert sorted(exponent for _, exponent in factors) == sorted(times for _, times in planted)


@settings(deadline=None, max_examples=examples(60))
@given(VALUES, VALUES)
def test_coefficients_degrees_and_division_agree_with_numpy(a: list[int], b: list[int]) -> None:
    trimmed = list(numpy.trim_zeros(a, "b")) or [0]
    assert call("coefficients", of(a), x) == trimmed
    if any(a):
        assert call("degree", of(a), x) == len(trimmed) - 1
    if not any(b):
        assert code("divide_polynomials", of(a), of(b), x) == "E504"
        return
    quotient, remainder = call("divide_polynomials", of(a), of(b), x)
    assert sympy.expand(quotient * of(b) + remainder - of(a)) == 0
    wanted = numpy.polydiv([float(v) for v in a[::-1]], [float(v) for v in numpy.trim_zeros(b, "b")[::-1]])
    found = [float(value) for value in call("coefficients", quotient, x)[::-1]]
    assert numpy.allclose(numpy.trim_zeros(wanted[0], "f"), numpy.trim_zeros(found, "f"))


def test_real_roots_come_first_and_complex_ones_are_kept() -> None:
    found = call("roots", (x**2 + 1) * (x**2 - 2) * (x + 3) ** 2, x)
    assert found[:3] == [[-3, 2], [-sympy.sqrt(2), 1], [sympy.sqrt(2), 1]]
    assert {root for root, _ in found[3:]} == {sympy.I, -sympy.I}
    assert call("roots", 3 * x - 1, x) == [[normal(sympy.Rational(1, 3)), 1]]


def test_factors_over_the_rationals() -> None:
    assert call("factor_polynomial", sympy.expand((2 * x + 1) ** 2 * (x**2 + x + 1) * 3), x) == [
        [3, 1], [2 * x + 1, 2], [x**2 + x + 1, 1]]  # fmt: skip
    assert call("factor_polynomial", x**2 - 2, x) == [[x**2 - 2, 1]]
    assert call("factor_polynomial", 5, x) == [[5, 1]]
    assert call("coefficients", (x + y) ** 2, x) == [y**2, 2 * y, 1]


def test_what_is_no_polynomial_of_a_bounded_size_is_refused() -> None:
    assert code("roots", 7, x) == code("degree", 0, x) == "E504"
    assert code("roots", sympy.sin(x), x) == code("coefficients", 1 / x, x) == code("degree", 2**x, x) == "E504"
    assert code("roots", x**101 - 1, x) == code("factor_polynomial", x**200 + 1, x) == "E502"
    assert code("divide_polynomials", x, (x + 1) ** 5000, x) == "E502"
    assert code("coefficients", x**10_001, x) == code("degree", (x**10_000) ** 10_000, x) == "E502"
    assert code("coefficients", (x + y + 1) ** 900, x) == "E502"
    assert code("roots", y * x + 1, x) == code("degree", x, 3) == "E501"
    assert code("roots", x**5 - x - 1, x) == "E504"

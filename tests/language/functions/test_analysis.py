"""Integrals, series and transforms against scipy, mpmath and sympy's own."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import pytest
import scipy.integrate
import sympy
from dia_language.numbers.values import normal
from helpers.examples import examples
from helpers.library_calls import call, code
from hypothesis import given, settings
from hypothesis import strategies as st

x, t, s = sympy.symbols("x t s")


@settings(deadline=None, max_examples=examples(8))
@given(st.lists(st.integers(1, 500), min_size=4, max_size=4), st.integers(0, 20), st.integers(1, 5))
def test_the_length_of_a_cubic_agrees_with_scipy(values: list[int], low: int, width: int) -> None:
    cubic = sum(value * x**power for power, value in enumerate(values))
    found = call("round_to", call("arc_length", cubic, x, low, low + width), 3)
    _, b, c, d = values
    wanted, _ = scipy.integrate.quad(lambda u: math.hypot(1, b + 2 * c * u + 3 * d * u * u), low, low + width)
    assert abs(float(found) - wanted) <= 0.0006 + wanted * 1e-10


def test_lengths_that_have_closed_forms() -> None:
    assert call("arc_length", Fraction(4, 3) * x, x, 0, 3) == 5
    parabola = call("arc_length", x**2 / 2, x, 0, 1)
    closed = (sympy.sqrt(2) + sympy.asinh(1)) / 2
    assert str(call("round_to", parabola, 40)) == str(call("round_to", closed, 40))
    half = call("arc_length", Fraction(2, 3) * x ** sympy.Rational(3, 2), x, 3, 8)
    assert str(call("round_to", half, 12)) == str(call("round_to", Fraction(38, 3), 12))


def test_integrals_of_polynomials_are_rational_and_others_keep_their_digits() -> None:
    assert call("definite_integral", 3 * x**2, x, 0, Fraction(1, 2)) == Fraction(1, 8)
    assert call("definite_integral", x, x, 4, 0) == -8
    with mpmath.workdps(40):
        wanted = mpmath.nstr(mpmath.quad(lambda u: mpmath.sqrt(1 + mpmath.sin(u)), [0, 1, 2]), 30)
    found = call("definite_integral", call("sqrt", 1 + call("sin", x)), x, 0, 2)
    assert str(call("round_to", found, 29)) == wanted


def test_integrals_that_are_not_shown_to_exist_are_refused() -> None:
    assert code("definite_integral", 1 / x, x, -1, 1) == code("definite_integral", call("log", x), x, 0, 1) == "E504"
    assert code("definite_integral", x * t, x, 0, 1) == code("definite_integral", x, x, 0, t) == "E501"
    assert code("definite_integral", x, 3, 0, 1) == "E501"
    assert code("arc_length", call("sqrt", x), x, 0, 1) == "E504"


@pytest.mark.parametrize(
    "expression,at", [(sympy.exp(2 * x), 0), (sympy.sin(x), 0), (1 / (1 + x), 2), (sympy.sqrt(x), 1), (x**3 - x, 5)]
)
def test_taylor_coefficients_are_the_derivatives_over_factorials(expression: Any, at: int) -> None:
    wanted = [normal(expression.diff(x, k).subs(x, at) / math.factorial(k)) for k in range(6)]
    assert call("taylor", expression, x, at, 6) == wanted


def test_points_without_a_taylor_series_are_refused() -> None:
    assert call("taylor", call("sin", x) / x, x, 0, 5) == [1, 0, Fraction(-1, 6), 0, Fraction(1, 120)]
    assert code("taylor", 1 / x, x, 0, 3) == code("taylor", call("log", x), x, 0, 3) == "E504"
    assert code("taylor", x, x, 0, 0) == "E501"
    assert code("taylor", x, x, 0, 31) == "E502"


@settings(deadline=None, max_examples=examples(15))
@given(st.integers(1, 10), st.integers(1, 20), st.integers(1000, 10**6))
def test_the_transform_of_t_squared_times_a_decay(a: int, at: int, c: int) -> None:
    assert call("laplace", c * t**2 * call("exp", -a * t), t, at) == normal(sympy.Rational(2 * c, (at + a) ** 3))


def test_transforms_agree_with_the_integral_that_defines_them() -> None:
    assert call("laplace", call("sin", 3 * t), t, s) == 3 / (s**2 + 9)
    assert call("laplace", 5, t, 2) == Fraction(5, 2)
    for expression in (t**3, call("cos", t) * call("exp", -t), call("exp", t / 2)):
        wanted = normal(sympy.integrate(expression * sympy.exp(-2 * t), (t, 0, sympy.oo)))
        assert call("laplace", expression, t, 2) == wanted


@pytest.mark.long
def test_transforms_that_do_not_exist_are_refused() -> None:
    assert code("laplace", call("exp", 3 * t), t, 2) == code("laplace", call("exp", t**2), t, 2) == "E504"
    assert code("laplace", t, t, t) == code("laplace", t, 2, 2) == "E501"

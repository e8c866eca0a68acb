"""Proven bounds of integrals against mpmath's quadrature, which works in another way, and known closed forms."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy
from dia_language.budgets import reset
from dia_language.numbers import operators
from dia_language.numbers.certified import interval
from dia_language.numbers.rounding import round_exact
from helpers.examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

x = sympy.Symbol("x")


def bounds(expression: Any, low: Any, high: Any, digits: int = 20) -> tuple[Fraction, Fraction] | None:
    reset()
    return interval(sympy.Integral(expression, (x, low, high)), digits)


def as_mpf(value: Fraction) -> Any:
    return mp.mpf(value.numerator) / value.denominator


SMOOTH = [
    (sympy.exp(-(x**2)), 0, 3),
    (sympy.sin(x) / x, 1, 10),
    (sympy.log(x) * sympy.tan(x / 10), 1, 5),
    (sympy.sqrt(1 + sympy.cos(x) ** 2), -1, 7),
    (sympy.sqrt(1 + (3 * x**2 + 14 * x + 5) ** 2), 0, 50),
    (1 / (1 + x**2), -5, 5),
    (x ** sympy.Rational(-5, 3) + x ** sympy.Rational(2, 7), 2, 3),
    ((x**2 - 2) ** 7 * sympy.exp(x), -2, 2),
    (sympy.pi * sympy.exp(sympy.sqrt(2) * x) / sympy.E, 0, sympy.pi),
    (sympy.exp(sympy.sin(x)) ** 3, 4, 1),
]


@pytest.mark.parametrize("expression,low,high", SMOOTH)
def test_the_bounds_hold_what_another_quadrature_finds(expression: Any, low: Any, high: Any) -> None:
    found = bounds(expression, low, high)
    assert found is not None
    with mp.workdps(40):
        points = [sympy.N(low + (high - low) * sympy.Rational(step, 16), 40) for step in range(17)]
        wanted = mp.quad(sympy.lambdify(x, expression, "mpmath"), [mp.mpf(point) for point in points])
        width = as_mpf(found[1] - found[0])
        assert as_mpf(found[0]) - mp.mpf(10) ** -25 <= wanted <= as_mpf(found[1]) + mp.mpf(10) ** -25
        assert width <= abs(wanted) * mp.mpf(10) ** -17


@settings(deadline=None, max_examples=examples(25))
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=6), st.integers(-4, 4), st.integers(-4, 4))
def test_the_bounds_hold_the_integral_of_a_polynomial(values: list[int], low: int, high: int) -> None:
    expression = sum((value * x**power for power, value in enumerate(values)), sympy.Integer(0))
    exact = sum(
        Fraction(value * (high ** (power + 1) - low ** (power + 1)), power + 1) for power, value in enumerate(values)
    )
    found = bounds(expression, low, high)
    assert found is not None
    assert found[0] <= exact <= found[1]
    assert found[1] - found[0] < Fraction(1, 10**12)


def test_more_digits_narrow_the_bounds_around_a_known_number() -> None:
    narrow, wide = bounds(4 / (1 + x**2), 0, 1, 50), bounds(4 / (1 + x**2), 0, 1, 20)
    assert narrow is not None and wide is not None
    assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]
    assert str(sympy.N(sympy.Rational(narrow[0].numerator, narrow[0].denominator), 49)) == str(sympy.N(sympy.pi, 49))


@pytest.mark.parametrize(
    "expression,low,high",
    [(1 / x, -1, 1), (sympy.sqrt(x), 0, 1), (sympy.log(x), 0, 1), pytest.param(sympy.tan(x), 1, 2, marks=pytest.mark.long), (sympy.sqrt(x), -2, -1),
     (sympy.Abs(x), -1, 2), (sympy.gamma(x), 1, 2), (x**sympy.Symbol("n"), 1, 2)],
)  # fmt: skip
def test_what_is_not_smooth_has_no_bounds(expression: Any, low: int, high: int) -> None:
    assert bounds(expression, low, high) is None


def test_integrals_are_rounded_and_ordered_by_their_bounds() -> None:
    reset()
    held = sympy.Integral(sympy.exp(-(x**2)), (x, 0, 1))
    assert str(round_exact(held, 30)) == "0.746824132812427025399467436132"
    assert str(round_exact(2 * sympy.pi * held + 1, 3)) == "5.692"
    assert operators.less(held, Fraction(747, 1000))
    assert not operators.less(held, Fraction(746, 1000))
    assert operators.less(sympy.Integral(sympy.exp(-x), (x, 0, 1)), held)

"""Sums of monomials are what sympy makes of them, and are printed as sympy prints them."""

from __future__ import annotations

from fractions import Fraction

import sympy
from dia_language.numbers.monomials import sum_of_monomials
from dia_language.numbers.values import polynomial_text
from hypothesis import given
from hypothesis import strategies as st

SYMBOLS = [sympy.Symbol(name) for name in ("y", "x", "a1")]
COEFFICIENTS = st.fractions(max_denominator=7) | st.integers(-(10**20), 10**20) | st.sampled_from([0, 1, -1])
MONOMIALS = st.dictionaries(st.tuples(*[st.integers(0, 12)] * 3), COEFFICIENTS, max_size=8)


@given(MONOMIALS)
def test_the_sum_is_in_the_normal_form_of_sympy(monomials: dict[tuple[int, ...], Fraction | int]) -> None:
    rows = [(value, list(zip(SYMBOLS, powers, strict=True))) for powers, value in monomials.items()]
    made = sympy.sympify(sum_of_monomials(rows))
    terms = [sympy.Rational(value) * sympy.prod(s**n for s, n in powers) for value, powers in rows]
    expected = sympy.Add(*terms)
    assert sympy.srepr(made) == sympy.srepr(expected) and str(made) == str(expected)
    assert made == expected and hash(made) == hash(expected)
    assert made.is_commutative and made.expand() == expected.expand()


@given(st.dictionaries(st.integers(0, 12), COEFFICIENTS, max_size=6))
def test_a_polynomial_in_one_symbol_is_printed_as_sympy_prints_it(coefficients: dict[int, Fraction | int]) -> None:
    x = sympy.Symbol("x")
    total = sympy.Add(*[sympy.Rational(value) * x**power for power, value in coefficients.items()])
    assert polynomial_text(total) == (sympy.sstr(total) if total.is_Add else None)


def test_other_expressions_are_left_to_sympy() -> None:
    x, y = sympy.symbols("x y")
    others = [x, 3 * x, x + y, x + 1 / x, sympy.sqrt(x) + 1, x + sympy.sqrt(2), x + sympy.I, x**y + 1, x + sympy.oo]
    assert [polynomial_text(other) for other in [*others, sympy.Dummy("x") + 1, sympy.Matrix([x])]] == [None] * 11

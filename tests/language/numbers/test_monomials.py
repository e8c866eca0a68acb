"""Sums of monomials are what sympy makes of them."""

from __future__ import annotations

from fractions import Fraction

import sympy
from dia_language.numbers.monomials import sum_of_monomials
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

"""What is put together without sympy's operators is what they make: the same parts in the same order."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any

import sympy
from dia_language.numbers.irrationals import LARGEST, difference, product, quotient, root, total
from dia_language.numbers.operators import symbolic
from dia_language.numbers.values import ExactDecimal, normal
from hypothesis import assume, given, settings
from hypothesis import strategies as st

RATIONALS = st.one_of(
    st.integers(-20, 20),
    st.integers(-(10**12), 10**12),
    st.fractions(-50, 50, max_denominator=60),
    st.decimals(-99, 99, places=2).map(ExactDecimal),
).map(lambda number: number.numerator if number.denominator == 1 else number)
SMOOTH = st.lists(st.sampled_from([2, 2, 2, 3, 3, 5, 7, 1021, 1031, 1033]), min_size=1, max_size=9)
WHOLE = st.one_of(
    st.integers(2, 100),
    st.integers(2, LARGEST - 1),
    SMOOTH.map(lambda factors: int(sympy.prod(factors)) % LARGEST + 2 * (int(sympy.prod(factors)) >= LARGEST)),
)
KERNELS = st.one_of(st.just(sympy.pi), WHOLE.map(sympy.sqrt))
MULTIPLES = st.builds(lambda factor, kernel: symbolic(factor) * kernel, RATIONALS, KERNELS)


def same(made: Any, expected: Any) -> bool:
    """Whether both are alike in all their parts; None stands for leaving it to sympy."""
    wanted = normal(expected)
    return made is None or (sympy.srepr(made) == sympy.srepr(wanted) and hash(made) == hash(wanted))


@settings(deadline=None)
@given(RATIONALS, st.one_of(KERNELS, MULTIPLES))
def test_operators_make_what_sympy_makes(rational: Any, number: Any) -> None:
    known = symbolic(rational)
    assert same(product(rational, number), known * number) and same(product(number, rational), number * known)
    assert same(total(rational, number), known + number) and same(total(number, rational), number + known)
    assert same(difference(rational, number), known - number)
    assert same(difference(number, rational), number - known)
    if rational:
        assert same(quotient(number, rational), number / known)
    assert (product(rational, number) is None) == number.is_Rational


@settings(deadline=None)
@given(WHOLE, st.integers(1, 1000))
def test_roots_are_those_of_sympy(number: int, bottom: int) -> None:
    for value in (Fraction(number), Fraction(number, bottom**2), Fraction(number, bottom)):
        assume(isqrt(value.numerator) ** 2 != value.numerator)
        assert same(root(value), sympy.sqrt(symbolic(value)))
    assert root(number) is not None


def test_other_numbers_are_left_to_sympy() -> None:
    for other in (sympy.pi**2, sympy.E, sympy.sqrt(2) + 1, sympy.sqrt(2) * sympy.pi, sympy.I, sympy.Symbol("x")):
        assert product(2, other) is total(other, 2) is difference(2, other) is quotient(other, 2) is None
    assert product(sympy.pi, sympy.pi) is total(sympy.pi, sympy.pi) is quotient(1, sympy.pi) is None
    assert root(LARGEST + 1) is root(Fraction(1, 2)) is None

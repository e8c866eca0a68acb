"""Intervals of whole numbers hold what exact fractions give, are hardly wider, and agree with those of mpmath."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from dia_language.numbers.interval_arithmetic import (
    NOTHING,
    Ends,
    NotFinite,
    dot,
    ends_of,
    intervals_of,
    quotient,
    times_whole,
)
from hypothesis import given
from hypothesis import strategies as st
from mpmath import iv

BITS = 60
WHOLE = st.integers(-9, 9) | st.integers(-(2**90), 2**90)
EXPONENTS = st.integers(-40, 40) | st.integers(-3_000, 3_000)
ENDS = st.tuples(WHOLE, WHOLE, EXPONENTS).map(lambda drawn: (*sorted(drawn[:2]), drawn[2]))


def fractions(ends: Ends) -> tuple[Fraction, Fraction]:
    low, high, exponent = ends
    return low * Fraction(2) ** exponent, high * Fraction(2) ** exponent


def products(a: Ends, b: Ends) -> list[Fraction]:
    return [one * other for one in fractions(a) for other in fractions(b)]


@given(st.lists(st.tuples(ENDS, ENDS, st.integers(-99, 99)), max_size=6), st.booleans())
def test_sums_of_products_hold_the_exact_ones_and_are_hardly_wider(
    drawn: list[tuple[Ends, Ends, int]], is_weighted: bool
) -> None:
    weights = [weight if is_weighted else 1 for _, _, weight in drawn]
    found = dot([a for a, _, _ in drawn], [b for _, b, _ in drawn], BITS, weights if is_weighted else None)
    exact = [[weight * one for one in products(a, b)] for (a, b, _), weight in zip(drawn, weights, strict=True)]
    low, high = sum(map(min, exact), Fraction(0)), sum(map(max, exact), Fraction(0))
    last = max((abs(one) for parts in exact for one in parts), default=Fraction(0)) / 2 ** (BITS - 1)
    least, most = fractions(found)
    assert low - len(drawn) * last <= least <= low <= high <= most <= high + len(drawn) * last


@given(ENDS, ENDS)
def test_quotients_hold_the_exact_ones_and_are_hardly_wider(ends: Ends, divisor: Ends) -> None:
    if divisor[0] <= 0 <= divisor[1]:
        with pytest.raises(NotFinite):
            quotient(ends, divisor, BITS)
        return
    exact = [one / other for one in fractions(ends) for other in fractions(divisor)]
    last = max(map(abs, exact)) / 2 ** (BITS - 2)
    low, high = fractions(quotient(ends, divisor, BITS))
    assert min(exact) - last <= low <= min(exact) <= max(exact) <= high <= max(exact) + last


@given(ENDS, st.integers(1, 10**6))
def test_a_multiple_is_exact(ends: Ends, number: int) -> None:
    assert fractions(times_whole(ends, number)) == tuple(number * one for one in fractions(ends))


@given(ENDS, EXPONENTS)
def test_what_comes_from_mpmath_goes_back_to_it(ends: Ends, apart: int) -> None:
    iv.prec, before = 200, iv.prec
    try:
        [held] = intervals_of([ends], iv)
        assert fractions(ends_of(held, BITS + 200)) == fractions(ends)
        wide = iv.mpf([-1, 1]) * iv.mpf(2) ** apart + iv.mpf([0, 1])
        least, most = fractions(ends_of(wide, BITS))
        assert least <= -(Fraction(2) ** apart) and most >= 1 + Fraction(2) ** apart - Fraction(1, 2**190)
        assert most - least <= (1 + 2 * Fraction(2) ** apart) * (1 + Fraction(1, 2 ** (BITS - 4)))
    finally:
        iv.prec = before


@pytest.mark.parametrize("number", [iv.mpf(["-inf", 1]), iv.mpf([0, "inf"])])
def test_an_interval_without_an_end_is_refused(number: Any) -> None:
    with pytest.raises(NotFinite):
        ends_of(number, BITS)


def test_nothing_is_zero() -> None:
    assert dot([], [], BITS) == dot([(0, 0, 5)], [(1, 2, 3)], BITS) == NOTHING
    assert ends_of(iv.mpf(0), BITS) == (0, 0, 0)

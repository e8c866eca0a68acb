"""Orders, primitive roots and quadratic residues against sympy and counting."""

from __future__ import annotations

import math

import pytest
import sympy.ntheory as known
from helpers.library_calls import call, code
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.functions.combinatorial.numbers import jacobi_symbol

MERSENNE = 2**127 - 1


@pytest.mark.parametrize("modulus", range(1, 121))
def test_orders_and_primitive_roots_agree_with_counting(modulus: int) -> None:
    units = [a for a in range(1, modulus + 1) if math.gcd(a, modulus) == 1]
    generators = [a for a in units if len({pow(a, k, modulus) for k in range(len(units))}) == len(units)]
    for a in units:
        order = next(k for k in range(1, modulus + 1) if pow(a, k, modulus) == 1 % modulus)
        assert call("multiplicative_order", a, modulus) == order
        assert call("is_primitive_root", a, modulus) is (a in generators)
    if generators:
        assert call("primitive_root", modulus) == generators[0]
    else:
        assert code("primitive_root", modulus) == "E504"


@settings(deadline=None)
@given(st.integers(2, 10**9), st.integers(3, 10**6))
def test_large_orders_agree_with_sympy(a: int, modulus: int) -> None:
    if math.gcd(a, modulus) == 1:
        assert call("multiplicative_order", a, modulus) == known.n_order(a, modulus)
    else:
        assert code("multiplicative_order", a, modulus) == "E504"
        assert not call("is_primitive_root", a, modulus)


@given(st.integers(-(10**9), 10**30), st.integers(0, 10**20).map(lambda n: 2 * n + 1))
def test_jacobi_symbols_agree_with_sympy(a: int, n: int) -> None:
    assert call("jacobi", a, n) == jacobi_symbol(a, n)


@settings(deadline=None)
@given(st.integers(0, 10**40), st.sampled_from([2, 3, 7, 17, 41, 97, 65537, 2**61 - 1, MERSENNE]))
def test_square_roots_square_to_what_was_squared(a: int, prime: int) -> None:
    root = call("sqrt_mod", a * a, prime)
    assert root in (a % prime, -a % prime)
    assert 2 * root <= prime or prime == 2
    if prime > 2 and jacobi_symbol(a, prime) == -1:
        assert code("sqrt_mod", a, prime) == "E504"


def test_arguments_out_of_range_are_refused() -> None:
    assert code("jacobi", 3, 8) == code("jacobi", 3, -7) == code("sqrt_mod", 4, 15) == "E501"
    assert code("multiplicative_order", 2, 0) == code("primitive_root", 0) == "E501"
    assert code("jacobi", 2, 2**9000 + 1) == code("multiplicative_order", 2, 2**9000 + 1) == "E502"
    assert call("primitive_root", 2**61 - 1) == known.primitive_root(2**61 - 1)

"""Divisors and remainders against gmpy2 and counting."""

from __future__ import annotations

import math

import pytest
from helpers.library_calls import call, code
from hypothesis import assume, given
from hypothesis import strategies as st

INTEGERS = st.integers(-(2**130), 2**130)


@given(INTEGERS, INTEGERS)
def test_divisors_and_multiples_agree_with_gmp(a: int, b: int) -> None:
    gmpy2 = pytest.importorskip("gmpy2")
    assert call("gcd", a, b) == call("gcd", [a, b]) == gmpy2.gcd(a, b)
    assert call("lcm", a, b) == call("lcm", [a, b]) == gmpy2.lcm(a, b)


def test_several_integers_or_one_list_but_not_both() -> None:
    assert call("gcd", 12, 18, 27) == call("gcd", [12, 18, 27]) == 3
    assert call("lcm", 4, 6, 10) == call("lcm", [4, 6, 10]) == 60
    assert (call("gcd", []), call("lcm", []), call("gcd", 7), call("gcd", 0, 0)) == (0, 1, 7, 0)
    assert code("gcd", [1], 2) == code("lcm", 2, [1]) == "E501"


@given(INTEGERS, st.integers(0, 2**64), st.integers(1, 2**130))
def test_powers_agree_with_python(base: int, exponent: int, modulus: int) -> None:
    assert call("mod_pow", base, exponent, modulus) == pow(base, exponent, modulus)


@given(INTEGERS, st.integers(2, 2**130), st.integers(1, 50))
def test_inverses_undo_the_product(a: int, modulus: int, power: int) -> None:
    assume(math.gcd(a, modulus) == 1)
    found = call("mod_inverse", a, modulus)
    assert 0 < found < modulus
    assert a * found % modulus == 1
    assert call("mod_pow", a, -power, modulus) == pow(found, power, modulus)


def test_remainders_agree_with_counting() -> None:
    for first in range(1, 9):
        for second in range(1, 9):
            pairs = {(n % first, n % second): n for n in reversed(range(math.lcm(first, second)))}
            for a in range(first):
                for b in range(second):
                    if (a, b) in pairs:
                        assert call("crt", [a, b], [first, second]) == pairs[a, b]
                    else:
                        assert code("crt", [a, b], [first, second]) == "E504"
    assert call("crt", [], []) == 0
    assert call("crt", [-1, 12], [3, 5]) == 2


@pytest.mark.parametrize("modulus", [5, 9, 23, 31, 97, 60])
def test_logarithms_agree_with_counting(modulus: int) -> None:
    for base in range(2, modulus):
        if math.gcd(base, modulus) != 1:
            assert code("discrete_log", modulus, 1, base) == "E501"
            continue
        powers = {pow(base, exponent, modulus): exponent for exponent in reversed(range(modulus))}
        for value in range(1, modulus):
            if value in powers:
                assert call("discrete_log", modulus, value, base) == powers[value]
            else:
                assert code("discrete_log", modulus, value, base) == "E504"


def test_a_larger_logarithm_is_found() -> None:
    prime = 281474976710597
    found = call("discrete_log", prime, 12345678901, 2)
    assert pow(2, found, prime) == 12345678901


def test_bounds_and_missing_answers() -> None:
    assert code("mod_inverse", 4, 6) == code("mod_pow", 2, -1, 4) == "E504"
    assert code("mod_inverse", 4, 0) == code("mod_pow", 4, 2, -3) == code("crt", [1], [0]) == "E501"
    assert code("crt", [1, 2], [3]) == "E501"
    assert code("lcm", 2**600_000, 2**600_001 - 1) == "E502"
    assert code("crt", [0, 1], [2**600_000, 2**600_001 - 1]) == "E502"
    assert code("mod_pow", 3, 2**100_000, 2**100_000 - 1) == "E502"
    assert code("discrete_log", 2**8192, 1, 3) == "E502"
    assert code("mod_inverse", 3, 2**200_000) == code("gcd", [2**900_000 - 1] * 5) == "E502"
    assert call("gcd", 2**900_000 - 1, 2**600_000 - 1) == 2**300_000 - 1
    assert call("mod_inverse", 3, 1) == 0

"""Number theory against gmpy2, the `factor` command, and brute force."""

from __future__ import annotations

import math
import shutil
import subprocess
import time
from fractions import Fraction

import pytest
from helpers.examples import examples
from helpers.library_calls import call, code
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.ntheory import nextprime

SIEVED = [n for n in range(2, 2000) if all(n % d for d in range(2, math.isqrt(n) + 1))]


def test_small_primes_are_those_that_no_smaller_number_divides() -> None:
    assert [n for n in range(-5, 2000) if call("is_prime", n)] == SIEVED
    assert call("primes_between", 1, 1999) == SIEVED
    assert call("primes_between", 13, 13) == [13]
    assert call("primes_between", 24, 28) == []
    assert [call("next_prime", n) for n in range(-3, 1990)] == [
        next(p for p in SIEVED if p > n) for n in range(-3, 1990)
    ]
    assert [call("previous_prime", n) for n in range(3, 2000)] == [
        max(p for p in SIEVED if p < n) for n in range(3, 2000)
    ]


@pytest.mark.parametrize("size", [2**14, 2**20])
def test_primes_that_are_kept_join_those_that_are_not(size: int) -> None:
    gmpy2 = pytest.importorskip("gmpy2")
    near = range(size - 60, size + 60)
    assert [call("next_prime", n) for n in near] == [gmpy2.next_prime(n) for n in near]
    found = [n for n in near if gmpy2.is_prime(n, 40)]
    assert [call("primes_between", size - 60, n) for n in near] == [[p for p in found if p <= n] for n in near]
    assert [call("primes_between", n, size + 59) for n in near] == [[p for p in found if p >= n] for n in near]


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(2**40, 2**300))
def test_large_primes_agree_with_gmp(n: int) -> None:
    gmpy2 = pytest.importorskip("gmpy2")
    assert call("is_prime", n) == gmpy2.is_prime(n, 40)
    following = call("next_prime", n)
    assert following == gmpy2.next_prime(n) == nextprime(n)
    assert call("previous_prime", following + 1) == following
    assert call("primes_between", n, following) == ([n, following] if gmpy2.is_prime(n, 40) else [following])


def test_strong_pseudoprimes_are_not_taken_for_primes() -> None:
    # Jaeschke, Mathematics of Computation 61 (1993): the least that pass the tests with the first bases
    for n in (2047, 1373653, 25326001, 3215031751, 2152302898747, 3474749660383, 341550071728321):
        assert not call("is_prime", n)


@pytest.mark.skipif(shutil.which("factor") is None, reason="needs the command factor of coreutils")
def test_factors_agree_with_coreutils() -> None:
    numbers = [*range(1, 400), 2**64 - 1, 10**15 + 37, 3**30, 600851475143, 2**61 - 1]
    told = subprocess.run(["factor", *map(str, numbers)], capture_output=True, text=True, check=True).stdout
    for n, line in zip(numbers, told.splitlines(), strict=True):
        primes = [int(word) for word in line.split(":")[1].split()]
        assert call("factor", n) == [[prime, primes.count(prime)] for prime in sorted(set(primes))]
        assert call("prime_factors", n) == sorted(set(primes))


def test_divisors_and_totient_agree_with_counting() -> None:
    for n in range(1, 300):
        assert call("divisors", n) == [d for d in range(1, n + 1) if n % d == 0]
        assert call("totient", n) == sum(math.gcd(n, k) == 1 for k in range(1, n + 1))


@given(st.fractions())
def test_continued_fractions_fold_back_to_the_number(x: Fraction) -> None:
    terms = call("continued_fraction", int(x) if x.denominator == 1 else x)
    value = Fraction(terms[-1])
    for term in reversed(terms[:-1]):
        value = term + 1 / value
    assert value == x
    assert all(term > 0 for term in terms[1:])
    assert len(terms) == 1 or terms[-1] > 1


@given(st.integers(0, 2**200))
def test_whole_roots_agree_with_gmp(n: int) -> None:
    gmpy2 = pytest.importorskip("gmpy2")
    assert call("isqrt", n) == gmpy2.isqrt(n)
    assert call("is_square", n) == gmpy2.is_square(n)
    assert call("is_square", n * n)


def test_factorials_binomials_and_fibonacci_numbers_agree_with_gmp() -> None:
    gmpy2 = pytest.importorskip("gmpy2")
    for n in [*range(60), 1000, 68_403]:
        assert call("factorial", n) == gmpy2.fac(n)
    for n in [*range(25), 1000]:
        assert [call("binomial", n, k) for k in range(n + 1)] == [gmpy2.comb(n, k) for k in range(n + 1)]
    for n in [*range(60), 1000, 12345]:
        assert call("fibonacci", n) == gmpy2.fib(n)
    assert call("binomial", 5, 6) == call("binomial", 5, -1) == 0


def test_the_greatest_arguments_are_those_whose_results_fit() -> None:
    assert call("factorial", 68_403).bit_length() <= 1_000_000 < math.factorial(68_404).bit_length()
    below, at = call("fibonacci", 1_440_420), call("fibonacci", 1_440_421)
    assert at.bit_length() <= 1_000_000 < (below + at).bit_length()


def test_results_that_would_be_too_large_are_refused_at_once() -> None:
    began = time.perf_counter()
    for name, *arguments in (
        ("factorial", 10**8),
        ("factorial", 68_404),
        ("fibonacci", 1_440_422),
        ("binomial", 10**7, 5 * 10**6),
        ("binomial", 10**6, 5 * 10**5),
        ("is_prime", 2**8192),
        ("next_prime", 2**8192),
        ("previous_prime", 2**8192),
        ("factor", 2**8192),
        ("primes_between", 1, 10**9),
        ("primes_between", 2**8192, 2**8192 + 1),
        ("divisors", math.prod(SIEVED[:20])),
    ):
        assert code(name, *arguments) == "E502"
    assert time.perf_counter() - began < 1


def test_arguments_without_an_answer_are_refused() -> None:
    for name, argument in (
        ("factor", 0),
        ("divisors", -4),
        ("totient", 0),
        ("factorial", -1),
        ("fibonacci", -1),
    ):
        assert code(name, argument) == "E501"
    assert code("previous_prime", 2) == "E501"
    assert code("binomial", -1, 0) == "E501"
    assert code("isqrt", -1) == "E504"
    assert call("is_square", -4) is False


def test_primes_are_counted_and_numbered() -> None:
    assert [call("prime_count", n) for n in (-5, 1, 2, 100, 10**5)] == [0, 0, 1, 25, 9592]
    assert [call("nth_prime", n) for n in (1, 2, 25, 10_000)] == [2, 3, 97, 104_729]
    assert code("nth_prime", 0) == "E501"
    assert code("nth_prime", 100_001) == code("prime_count", 10**9) == "E502"


@given(st.integers(-5, 10**7), st.integers(-3, 500))
def test_primes_between_are_those_of_sympy(low: int, span: int) -> None:
    from sympy import primerange

    assert call("primes_between", low, low + span) == list(primerange(max(low, 2), low + span + 1))

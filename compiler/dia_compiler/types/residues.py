"""Arithmetic modulo a prime for parameter types: factors of p - 1, and square roots."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from math import gcd
from typing import Any

from dia_compiler.types.numbers import is_prime, primes_below

SMALL = 1 << 16
EARLY = 257
STEPS = 1 << 19
BATCH = 128


@cache
def power() -> Callable[[int, int, int], Any]:
    """pow for three integers, gmpy2's if installed: the same results, several times faster."""
    try:
        from gmpy2 import powmod
    except ImportError:
        return pow
    return lambda base, exponent, modulus: int(powmod(base, exponent, modulus))


@lru_cache(maxsize=256)
def prime_factors(number: int) -> tuple[int, ...] | None:
    """Return the distinct prime factors, ascending; None if they cannot be found within a second.

    The cofactor after small primes must be prime, or be factored by Pollard's rho in 2**19 steps in total, fewer for
    numbers beyond 128 bits: all factors but the largest have to be below about 2**36.
    """
    factors = set()
    for prime in primes_below(SMALL):
        if prime * prime > number or (prime == EARLY and is_prime(number)):
            break  # finishes early for a safe prime minus 1, instead of after 6,542 divisions
        while number % prime == 0:
            factors.add(prime)
            number //= prime
    waiting = [number] if number > 1 else []
    budget = [STEPS * 128 // max(128, number.bit_length())]
    while waiting:
        part = waiting.pop()
        if part < SMALL * SMALL or is_prime(part):
            factors.add(part)
            continue
        factor = _factor(part, budget)
        if factor is None:
            return None
        waiting += [factor, part // factor]
    return tuple(sorted(factors))


def _factor(number: int, budget: list[int]) -> int | None:
    """A divisor other than 1 and the number, by Pollard's rho (1975) as Brent runs it (1980); None if none turns up."""
    for constant in (1, 3, 5, 7):
        factor = _walked(number, constant, budget)
        if factor not in (1, number):
            return factor
        if factor == 1:
            return None
    return None


def _walked(number: int, constant: int, budget: list[int]) -> int:
    """The result of one walk: a divisor; the number itself if all factors appeared at once; 1 if none appeared."""
    y = saved = x = 2
    length, product = 1, 1
    while budget[0] > 0:
        x = y
        for _ in range(length):
            y = (y * y + constant) % number
        walked = 0
        while walked < length and budget[0] > 0:
            saved = y
            for _ in range(min(BATCH, length - walked)):
                y = (y * y + constant) % number
                product = product * (x - y) % number
            walked += BATCH
            budget[0] -= 2 * BATCH
            factor = gcd(product, number)
            if factor == number:
                return _single_steps(number, constant, x, saved)
            if factor > 1:
                return factor
        length *= 2
    return 1


def _single_steps(number: int, constant: int, x: int, y: int) -> int:
    """Return the first divisor that the steps after `y` give, which may be the number itself."""
    while True:
        y = (y * y + constant) % number
        factor = gcd(x - y, number)
        if factor > 1:
            return factor


def is_square(number: int, prime: int) -> bool:
    """Return whether the number is a square modulo the odd prime, including 0 (Euler's criterion)."""
    return number % prime == 0 or power()(number % prime, prime >> 1, prime) == 1


def square_root(number: int, prime: int) -> int:
    """Return a square root of a square modulo the odd prime.

    Uses Cipolla's algorithm (1903) if the prime is 1 modulo 4: its cost does not grow with the powers of two in
    p - 1, unlike that of Tonelli's algorithm.
    """
    number %= prime
    if prime % 4 == 3:
        return int(power()(number, (prime + 1) // 4, prime))
    if number == 0:
        return 0
    shift = next(a for a in range(prime) if not is_square(a * a - number, prime))
    return _cipolla(shift, (shift * shift - number) % prime, prime)


def _cipolla(shift: int, surd: int, prime: int) -> int:
    """(shift + w) ** ((prime + 1) / 2), where w * w = surd; the part with w vanishes."""
    real, imaginary = 1, 0
    for bit in bin((prime + 1) // 2)[2:]:
        real, imaginary = (real * real + imaginary * imaginary * surd) % prime, 2 * real * imaginary % prime
        if bit == "1":
            real, imaginary = (real * shift + imaginary * surd) % prime, (real + imaginary * shift) % prime
    return real

"""Multiplicative orders, primitive roots and quadratic residues."""

from __future__ import annotations

import math

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.number_theory import factor, is_prime, prime_factors
from dia_language.functions.registry import library_function
from dia_language.limits import PRIME_BITS


@library_function
def multiplicative_order(a: int, modulus: int) -> int:
    """The smallest positive exponent such that a**exponent is 1 modulo `modulus`.

    Raises an error if `a` and `modulus` are not coprime. The modulus, and each of its prime factors
    minus 1, are factored: the limits are those of `factor`.

    Examples:
        multiplicative_order(2, 7) -> 3
        multiplicative_order(10, 97) -> 96
    """
    _modulus("multiplicative_order", modulus)
    if math.gcd(a, modulus) != 1:
        raise LanguageError("no power has remainder 1, because the two numbers are not coprime", code="E504")
    order = _exponent(modulus)
    for prime in prime_factors(order):
        charge(1 + modulus.bit_length() // 64)
        while order % prime == 0 and pow(a, order // prime, modulus) == 1 % modulus:
            order //= prime
    return order


def _exponent(modulus: int) -> int:
    """A multiple of every order: Carmichael's function, or twice its value for some powers of 2."""
    return math.lcm(*((prime - 1) * prime ** (times - 1) for prime, times in factor(modulus)))


@library_function
def is_primitive_root(g: int, modulus: int) -> bool:
    """Whether the powers of `g` include every residue that is coprime to the modulus.

    The limits are those of `multiplicative_order`.

    Examples:
        is_primitive_root(3, 7) -> True
        is_primitive_root(2, 7) -> False
    """
    _modulus("is_primitive_root", modulus)
    if math.gcd(g, modulus) != 1:
        return False
    count = math.prod((prime - 1) * prime ** (times - 1) for prime, times in factor(modulus))
    return bool(multiplicative_order(g, modulus) == count)


@library_function
def primitive_root(modulus: int) -> int:
    """The smallest positive primitive root of the modulus.

    Raises an error if there is none; only 1, 2, 4, powers of an odd prime and twice these have one. The limits are
    those of `multiplicative_order`.

    Examples:
        primitive_root(7) -> 3
        primitive_root(10007) -> 5
    """
    _modulus("primitive_root", modulus)
    factors = [[prime, times] for prime, times in factor(modulus) if prime != 2]
    if len(factors) > 1 or (modulus % 4 == 0 and modulus != 4):
        raise LanguageError(f"the modulus {_modulus_text(modulus)} has no primitive root", code="E504")
    count = math.prod((prime - 1) * prime ** (times - 1) for prime, times in factors) * (2 if modulus == 4 else 1)
    exponents = [count // prime for prime in prime_factors(count)]
    root = 1
    while math.gcd(root, modulus) != 1 or any(pow(root, power, modulus) == 1 % modulus for power in exponents):
        charge(len(exponents) * (1 + modulus.bit_length() // 64))
        root += 1
    return root


@library_function
def jacobi(a: int, n: int) -> int:
    """The Jacobi symbol of `a` over `n`: -1, 0 or 1.

    For a prime `n` this is the Legendre symbol: 1 for quadratic residues, -1 for non-residues, 0 for multiples of n.
    `n` must be odd and positive, with at most 8,192 bits.

    Examples:
        [jacobi(a, 7) for a in range(7)] -> [0, 1, 1, -1, 1, -1, -1]
    """
    _modulus("jacobi", n)
    if n % 2 == 0:
        raise LanguageError("`jacobi` needs an odd `n`")
    a, symbol = a % n, 1
    while a:
        charge(1 + n.bit_length() // 512)
        twos = (a & -a).bit_length() - 1
        a >>= twos
        if twos % 2 and n % 8 in (3, 5):
            symbol = -symbol
        if a % 4 == 3 and n % 4 == 3:
            symbol = -symbol
        a, n = n % a, a
    return symbol if n == 1 else 0


@library_function
def sqrt_mod(a: int, prime: int) -> int:
    """The smaller of the two square roots of `a` modulo `prime`, from 0 to prime - 1.

    The other root is `prime` minus this one; 0 has only the root 0. Raises an error if there is none or if the modulus
    is not prime. Source: Tonelli (1891), Shanks (1973).

    Examples:
        sqrt_mod(2, 7) -> 3
        sqrt_mod(5, 41) -> 13
    """
    _modulus("sqrt_mod", prime)
    if not is_prime(prime):
        raise LanguageError("`sqrt_mod` needs a prime as its modulus")
    a %= prime
    if prime == 2 or a == 0:
        return a
    if jacobi(a, prime) != 1:
        raise LanguageError("no square has this remainder", code="E504")
    root = _tonelli_shanks(a, prime)
    return min(root, prime - root)


def _tonelli_shanks(a: int, prime: int) -> int:
    odd, twos = prime - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    other = next(value for value in range(2, prime) if jacobi(value, prime) == -1)
    root, left, step = pow(a, (odd + 1) // 2, prime), pow(a, odd, prime), pow(other, odd, prime)
    while left != 1:
        charge(1 + prime.bit_length() // 64)
        height, power = 0, left
        while power != 1:
            height, power = height + 1, power * power % prime
        for _ in range(twos - height - 1):
            step = step * step % prime
        root, step, twos = root * step % prime, step * step % prime, height
        left = left * step % prime
    return root


def _modulus(name: str, modulus: int) -> None:
    if modulus < 1:
        raise LanguageError(f"`{name}` needs a modulus that is 1 or more")
    if modulus.bit_length() > PRIME_BITS:
        raise LanguageError(f"`{name}` accepts a modulus of at most {PRIME_BITS:,} bits", code="E502")


def _modulus_text(modulus: int) -> str:
    return str(modulus) if modulus.bit_length() < 64 else "given"

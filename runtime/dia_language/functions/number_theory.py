"""Number theory: primes, divisors, integer roots, continued fractions, factorials and Fibonacci numbers.

sympy tests primality and factors integers; it uses gmpy2 if installed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import compress

from dia_language.budgets import charge, require_bits, require_items
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Rational
from dia_language.functions.registry import library_function
from dia_language.limits import INTEGER_BITS, PRIME_BITS

# The largest arguments whose results have at most INTEGER_BITS bits
FACTORIAL_MAXIMUM = 68_403
FIBONACCI_MAXIMUM = 1_440_421
PRIMES_COUNTED = 100_000
GROUP = 500  # number of small primes tested with one division
SIEVED = 10**12  # up to here a sieve is faster than testing each number, unless there are few


@library_function
def is_prime(n: int) -> bool:
    """Whether `n` is prime.

    At most 8,192 bits. Below 2**64 the result is proven; above, it is that of the Baillie-PSW test, for which no
    counterexample is known. Source: Baillie and Wagstaff, Mathematics of Computation 35 (1980).

    Examples:
        is_prime(2**61 - 1) -> True
    """
    from sympy.ntheory import isprime

    return bool(isprime(_small_enough("is_prime", n)))


@library_function
def next_prime(n: int) -> int:
    """The smallest prime greater than `n`.

    `n` has at most 8,192 bits; primality is tested as in `is_prime`.

    Examples:
        next_prime(2**64) -> 18446744073709551629
    """
    return int(_following_prime()(max(_small_enough("next_prime", n), 1)))


@cache
def _following_prime() -> Callable[[int], int]:
    """Return GMP's function, or sympy's, which makes the same test without GMP's sieve."""
    try:
        from gmpy2 import next_prime as following
    except ImportError:
        from sympy.ntheory import nextprime as following
    return following  # type: ignore[no-any-return]


@library_function
def previous_prime(n: int) -> int:
    """The largest prime less than `n`.

    `n` has at most 8,192 bits; primality is tested as in `is_prime`. Raises an error if `n` is 2 or less.

    Examples:
        previous_prime(2**64) -> 18446744073709551557
    """
    from sympy.ntheory import prevprime

    if n <= 2:
        raise LanguageError("there is no prime below 2", "`previous_prime` needs an integer greater than 2")
    return int(prevprime(_small_enough("previous_prime", n)))


@library_function
def primes_between(low: int, high: int) -> list[int]:
    """The primes from `low` to `high`, both included, in ascending order.

    Costs one step for each integer in the range. At most 8,192 bits.

    Examples:
        primes_between(10, 19) -> [11, 13, 17, 19]
    """
    charge(max(0, _small_enough("primes_between", high) - low + 1))
    low = max(low, 2)
    if high <= SIEVED and math.isqrt(max(high, 0)) < 10_000 + 10 * (high - low):
        return _sieved(low, high) if low <= high else []
    from sympy.ntheory import primerange

    return [int(prime) for prime in primerange(low, high + 1)]


def _sieved(low: int, high: int) -> list[int]:
    """The primes in a range, from a sieve."""
    odd = range(max(low, 3) | 1, high + 1, 2)
    return [2] * (low <= 2 <= high) + list(compress(odd, _marks(odd)))


def _marks(odd: range) -> bytearray:
    """For each odd number of a range from 3 on, 1 if it is prime, else 0 (sieve of Eratosthenes)."""
    left = bytearray(b"\x01") * len(odd)
    root = math.isqrt(odd[-1]) if odd else 0
    for prime in _odd_primes(root.bit_length()) if root >= 3 else ():
        if prime > root:
            break
        first = max(prime * prime, (-(-odd.start // prime) | 1) * prime)
        place = (first - odd.start) // 2
        left[place::prime] = bytes(len(range(place, len(left), prime)))
    return left


@lru_cache(maxsize=24)
def _odd_primes(bits: int) -> list[int]:
    """The odd primes with up to the given number of bits, for sieving. Cached, because there are few such lists."""
    return _sieved(3, (1 << bits) - 1)


@library_function
def prime_count(n: int) -> int:
    """The number of primes from 2 to `n`.

    Costs one step for each integer; with the default budget `n` can be at most 2,000,000.

    Examples:
        prime_count(100) -> 25
        prime_count(1) -> 0
    """
    return len(primes_between(2, n))


@library_function
def nth_prime(n: int) -> int:
    """The prime with index `n`, counted from 1: 2, 3, 5, 7 and so on.

    `n` must be from 1 to 100,000.

    Examples:
        nth_prime(1) -> 2
        nth_prime(1000) -> 7919
    """
    from sympy import sieve

    if not 1 <= n <= PRIMES_COUNTED:
        raise LanguageError(f"`nth_prime` needs `n` from 1 to {PRIMES_COUNTED:,}", code="E501" if n < 1 else "E502")
    charge(n)
    return int(sieve[n])


@library_function
def factor(n: int) -> list[list[int]]:
    """The prime factorisation of `n`: a list of [prime, exponent] in ascending order.

    `n` must be 1 or more (1 gives an empty list) and have at most 8,192 bits. Numbers with two prime factors above
    2**80 take longer than the time limit of an evaluation.

    Examples:
        factor(360) -> [[2, 3], [3, 2], [5, 1]]
    """
    from sympy.ntheory import factorint

    _positive("factor", n)
    exponents, rest = _small_factors(_small_enough("factor", n))
    try:
        exponents |= {int(prime): int(exponent) for prime, exponent in factorint(rest).items()}
    except OverflowError:  # from a float in sympy's search for bounds
        raise LanguageError(
            "the integer has two large prime factors, which cannot be found in time", code="E502"
        ) from None
    return [[prime, exponents[prime]] for prime in sorted(exponents)]


def _small_factors(n: int) -> tuple[dict[int, int], int]:
    """The prime factors below 2**20 of an integer with more than 64 bits, and the remaining cofactor.

    The general method is slow if there are many such factors.
    """
    exponents: dict[int, int] = {}
    if n.bit_length() <= 64:
        return exponents, n
    for product, primes in _small_primes():
        if math.gcd(product, n) == 1:
            continue
        for prime in primes:
            while n % prime == 0:
                exponents[prime] = exponents.get(prime, 0) + 1
                n //= prime
    return exponents, n


@cache
def _small_primes() -> list[tuple[int, tuple[int, ...]]]:
    """The primes below 2**20 in groups with their products, so that one division tests many of them."""
    primes = (2, *_odd_primes(20))
    groups = [primes[at : at + GROUP] for at in range(0, len(primes), GROUP)]
    return [(math.prod(group), group) for group in groups]


@library_function
def prime_factors(n: int) -> list[int]:
    """The distinct prime factors of `n` in ascending order.

    The limits are those of `factor`.

    Examples:
        prime_factors(360) -> [2, 3, 5]
    """
    return [prime for prime, _ in factor(n)]


@library_function
def divisors(n: int) -> list[int]:
    """The positive divisors of `n` in ascending order.

    `n` must be 1 or more. The limits are those of `factor`, with at most 1,000,000 divisors.

    Examples:
        divisors(28) -> [1, 2, 4, 7, 14, 28]
    """
    _positive("divisors", n)
    factors = factor(n)
    charge(require_items("divisors", math.prod(exponent + 1 for _, exponent in factors)))
    products = [1]
    for prime, exponent in factors:
        products = [divisor * prime**power for power in range(exponent + 1) for divisor in products]
    return sorted(products)


@library_function
def totient(n: int) -> int:
    """Euler's totient: the number of integers from 1 to `n` that are coprime to `n`.

    `n` must be 1 or more. The limits are those of `factor`.

    Examples:
        totient(36) -> 12
    """
    _positive("totient", n)
    return math.prod((prime - 1) * prime ** (exponent - 1) for prime, exponent in factor(n))


@library_function
def continued_fraction(x: Rational) -> list[int]:
    """The terms of the simple continued fraction of `x`.

    The last term is greater than 1 unless it is the only one.

    Examples:
        continued_fraction(415/93) -> [4, 2, 6, 7]
    """
    numerator, denominator, terms = x.numerator, x.denominator, list[int]()
    while denominator:
        charge(1 + denominator.bit_length() // 64)
        term, rest = divmod(numerator, denominator)
        terms.append(term)
        numerator, denominator = denominator, rest
    return terms


@library_function
def isqrt(n: int) -> int:
    """The square root of `n`, rounded down to an integer.

    Raises an error if `n` is negative.

    Examples:
        isqrt(99) -> 9
    """
    if n < 0:
        raise LanguageError("a negative integer has no real square root", code="E504")
    return math.isqrt(n)


@library_function
def is_square(n: int) -> bool:
    """Whether `n` is the square of an integer.

    Examples:
        is_square(144) -> True
        is_square(-4) -> False
    """
    return n >= 0 and math.isqrt(n) ** 2 == n


@library_function
def factorial(n: int) -> int:
    """The factorial of `n`; factorial(0) is 1.

    `n` must be from 0 to 68,403, so that the result has at most 1,000,000 bits.

    Examples:
        factorial(20) -> 2432902008176640000
    """
    _natural("factorial", n, FACTORIAL_MAXIMUM)
    return math.factorial(n)


@library_function
def binomial(n: int, k: int) -> int:
    """The binomial coefficient: the number of ways to choose k of n items; 0 if k is negative or exceeds n.

    `n` must be 0 or more. Raises an error if the result could exceed 1,000,000 bits.

    Examples:
        binomial(49, 6) -> 13983816
    """
    if n < 0:
        raise LanguageError("`binomial` needs `n` to be 0 or more")
    if not 0 <= k <= n:
        return 0
    smaller = min(k, n - k)
    bits = min(n, smaller * n.bit_length())
    require_bits("binomial", bits)
    charge(bits * bits // 100_000)
    return math.comb(n, smaller)


@library_function
def fibonacci(n: int) -> int:
    """The Fibonacci number with index `n`: 0, 1, 1, 2, 3, 5 and so on from index 0.

    `n` must be from 0 to 1,440,421, so that the result has at most 1,000,000 bits. Computed by index doubling.

    Examples:
        [fibonacci(n) for n in range(8)] -> [0, 1, 1, 2, 3, 5, 8, 13]
    """
    _natural("fibonacci", n, FIBONACCI_MAXIMUM)
    current, following = 0, 1
    for bit in bin(n)[2:]:
        current, following = current * (2 * following - current), current * current + following * following
        if bit == "1":
            current, following = following, current + following
    return current


def _small_enough(name: str, n: int) -> int:
    if n.bit_length() > PRIME_BITS:
        raise LanguageError(f"`{name}` accepts integers of at most {PRIME_BITS:,} bits", code="E502")
    return n


def _positive(name: str, n: int) -> None:
    if n < 1:
        raise LanguageError(f"`{name}` needs `n` to be 1 or more")


def _natural(name: str, n: int, most: int) -> None:
    if n < 0:
        raise LanguageError(f"`{name}` needs `n` to be 0 or more")
    if n > most:
        raise LanguageError(
            f"`{name}` needs `n` to be at most {most:,}", f"results can have at most {INTEGER_BITS:,} bits", "E502"
        )

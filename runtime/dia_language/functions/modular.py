"""Common divisors and arithmetic with remainders."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from operator import mul

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.registry import library_function
from dia_language.limits import INTEGER_BITS, PRIME_BITS


@library_function
def gcd(first: int | list[int], *others: int | list[int]) -> int:
    """Greatest common divisor of the integers, never negative.

    Takes several integers or one list; of no integers, and of zeros alone, it is 0.

    >>> gcd(12, 18), gcd([60, 84, 132])
    (6, 12)
    """
    if len(others) == 1 and type(first) is int and type(other := others[0]) is int:
        charge(2 + (first.bit_length() ** 2 + other.bit_length() ** 2) // 1_000_000)
        return math.gcd(first, other)  # in half the time
    numbers = _spread("gcd", (first, *others))
    _charge_for(numbers)
    return math.gcd(*numbers)


@library_function
def lcm(first: int | list[int], *others: int | list[int]) -> int:
    """Least common multiple of the integers, never negative.

    Takes several integers or one list; of no integers it is 1. The integers have at most 1,000,000 bits
    together.

    >>> lcm(4, 6), lcm([2, 3, 4, 5])
    (12, 60)
    """
    numbers = _spread("lcm", (first, *others))
    _bounded_bits("lcm", sum(map(int.bit_length, numbers)))
    _charge_for(numbers)
    return math.lcm(*numbers)


@library_function
def mod_pow(base: int, exponent: int, modulus: int) -> int:
    """Remainder of base**exponent after division by the modulus, from 0 to modulus - 1.

    A negative exponent takes the inverse. An error for a modulus below 1 and where no inverse exists. The
    cost grows with the exponent's bits times the square of the modulus's: 8,192 bits each are within a
    budget.

    >>> mod_pow(3, 200, 13), mod_pow(3, -1, 11)
    (9, 4)
    """
    _positive("mod_pow", modulus)
    charge(exponent.bit_length() * (modulus.bit_length() // 64 + 1) ** 2 // 100)
    if exponent < 0:
        base, exponent = mod_inverse(base, modulus), -exponent
    return int(_power()(base, exponent, modulus))


@cache
def _power() -> Callable[[int, int, int], int]:
    """Python's `pow`, or gmpy2's where it is installed: the same remainders. Saves a third of rsa_oaep's compile."""
    try:
        from gmpy2 import powmod
    except ImportError:
        return pow
    return powmod  # type: ignore[no-any-return]


@library_function
def mod_inverse(a: int, modulus: int) -> int:
    """Number from 0 to modulus - 1 that times `a` leaves the remainder 1.

    An error for a modulus below 1, and where the two have a divisor in common.

    >>> mod_inverse(3, 11)
    4
    """
    _positive("mod_inverse", modulus)
    charge(modulus.bit_length() ** 2 // 10_000)
    try:
        return pow(a, -1, modulus)
    except ValueError:
        help = "test first whether gcd(a, modulus) is 1"
        raise LanguageError("there is no inverse: `a` and `modulus` have a common divisor", help, "E504") from None


@library_function
def crt(remainders: list[int], moduli: list[int]) -> int:
    """Smallest number from 0 on that leaves each remainder after division by its modulus.

    Chinese remainder theorem; the moduli may have common divisors. An error where no number fits, for lists
    of different length, for a modulus below 1, and for moduli of more than 1,000,000 bits together.

    >>> crt([2, 3, 2], [3, 5, 7])
    23
    """
    if len(remainders) != len(moduli):
        raise LanguageError(f"`crt` has {len(remainders)} remainders for {len(moduli)} moduli")
    charge(len(moduli))
    _bounded_bits("crt", sum(modulus.bit_length() for modulus in moduli))
    solution, period = 0, 1
    for remainder, modulus in zip(remainders, moduli, strict=True):
        _positive("crt", modulus)
        solution, period = _merged(solution, period, remainder, modulus)
    return solution


def _merged(solution: int, period: int, remainder: int, modulus: int) -> tuple[int, int]:
    common = math.gcd(period, modulus)
    gap, rest = divmod(remainder - solution, common)
    if rest:
        raise LanguageError("no number leaves these remainders: they contradict each other", code="E504")
    step = modulus // common
    charge(step.bit_length() ** 2 // 10_000)
    times = gap * pow(period // common, -1, step) % step
    return solution + times * period, period * step


@library_function
def discrete_log(modulus: int, value: int, base: int) -> int:
    """Smallest exponent from 0 on for which base**exponent leaves the value after division by the modulus.

    An error where there is none. The time grows with the square root of the largest prime divisor of the
    order of the base: 64 bits take seconds. Source: Pohlig and Hellman, IEEE Transactions on Information
    Theory 24 (1978).

    >>> discrete_log(41, 15, 7)
    3
    """
    from sympy.ntheory import discrete_log as logarithm

    if modulus.bit_length() > PRIME_BITS:
        raise LanguageError(f"`discrete_log` takes a modulus of at most {PRIME_BITS} bits", code="E502")
    if modulus < 2 or math.gcd(base, modulus) != 1:
        raise LanguageError("`discrete_log` needs a modulus above 1 that has no divisor in common with the base")
    try:
        return int(logarithm(modulus, value % modulus, base % modulus))
    except ValueError:
        raise LanguageError("no power of the base leaves this value", code="E504") from None


def _spread(name: str, arguments: tuple[int | list[int], ...]) -> list[int]:
    if len(arguments) == 1 and isinstance(arguments[0], list):
        return arguments[0]
    numbers = [argument for argument in arguments if not isinstance(argument, list)]
    if len(numbers) < len(arguments):
        raise LanguageError(f"`{name}` takes several integers or one list, not both")
    return numbers


def _charge_for(numbers: list[int]) -> None:
    bits = list(map(int.bit_length, numbers))
    charge(len(numbers) + sum(map(mul, bits, bits)) // 1_000_000)


def _positive(name: str, modulus: int) -> None:
    if modulus < 1:
        raise LanguageError(f"`{name}` needs a modulus of 1 or more")


def _bounded_bits(name: str, bits: int) -> None:
    if bits > INTEGER_BITS:
        raise LanguageError(f"`{name}` might give more than {INTEGER_BITS} bits", code="E502")

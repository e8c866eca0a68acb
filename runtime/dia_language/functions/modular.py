"""Common divisors and modular arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from operator import mul

from dia_language.budgets import charge, require_bits
from dia_language.diagnostics import LanguageError
from dia_language.functions.registry import library_function
from dia_language.limits import PRIME_BITS


@library_function
def gcd(first: int | list[int], *others: int | list[int]) -> int:
    """The greatest common divisor of the integers, never negative.

    Takes several integers or one list. The result is 0 for an empty list and if all integers are 0.

    Examples:
        gcd(12, 18) -> 6
        gcd([60, 84, 132]) -> 12
    """
    if len(others) == 1 and type(first) is int and type(other := others[0]) is int:
        charge(2 + (first.bit_length() ** 2 + other.bit_length() ** 2) // 1_000_000)
        return math.gcd(first, other)  # takes half the time of the general case
    numbers = _spread("gcd", (first, *others))
    _charge_for(numbers)
    return math.gcd(*numbers)


@library_function
def lcm(first: int | list[int], *others: int | list[int]) -> int:
    """The least common multiple of the integers, never negative.

    Takes several integers or one list; 1 for an empty list. The integers can have at most 1,000,000 bits in total.

    Examples:
        lcm(4, 6) -> 12
        lcm([2, 3, 4, 5]) -> 60
    """
    numbers = _spread("lcm", (first, *others))
    require_bits("lcm", sum(map(int.bit_length, numbers)))
    _charge_for(numbers)
    return math.lcm(*numbers)


@library_function
def mod_pow(base: int, exponent: int, modulus: int) -> int:
    """base**exponent modulo `modulus`, from 0 to modulus - 1.

    A negative exponent uses the inverse of `base`. Raises an error if `modulus` is below 1 or if the inverse does not
    exist. The cost grows with the bits of the exponent times the square of the bits of the modulus; 8,192 bits each fit
    into the budget of an evaluation.

    Examples:
        mod_pow(3, 200, 13) -> 9
        mod_pow(3, -1, 11) -> 4
    """
    _positive("mod_pow", modulus)
    charge(exponent.bit_length() * (modulus.bit_length() // 64 + 1) ** 2 // 100)
    if exponent < 0:
        base, exponent = mod_inverse(base, modulus), -exponent
    return int(_power()(base, exponent, modulus))


@cache
def _power() -> Callable[[int, int, int], int]:
    """Python's `pow`, or gmpy2's if installed, with the same results. Saves a third of the compile time of rsa_oaep."""
    try:
        from gmpy2 import powmod
    except ImportError:
        return pow
    return powmod  # type: ignore[no-any-return]


@library_function
def mod_inverse(a: int, modulus: int) -> int:
    """The inverse of `a` modulo `modulus`, from 0 to modulus - 1.

    Raises an error if `modulus` is below 1 or if the two numbers are not coprime.

    Examples:
        mod_inverse(3, 11) -> 4
    """
    _positive("mod_inverse", modulus)
    charge(modulus.bit_length() ** 2 // 10_000)
    try:
        return pow(a, -1, modulus)
    except ValueError:
        help = "test first whether gcd(a, modulus) is 1"
        raise LanguageError("there is no inverse: `a` and `modulus` are not coprime", help, "E504") from None


@library_function
def crt(remainders: list[int], moduli: list[int]) -> int:
    """The smallest non-negative number that leaves remainder remainders[i] when divided by moduli[i], for every i.

    Uses the Chinese remainder theorem; the moduli need not be coprime. Raises an error if there is no such number, if
    the lists differ in length, if a modulus is below 1, or if the moduli have more than 1,000,000 bits in total.

    Examples:
        crt([2, 3, 2], [3, 5, 7]) -> 23
    """
    if len(remainders) != len(moduli):
        raise LanguageError(
            f"`crt` needs two lists of the same length; these have {len(remainders)} and {len(moduli)} entries"
        )
    charge(len(moduli))
    require_bits("crt", sum(modulus.bit_length() for modulus in moduli))
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
    """The smallest exponent, 0 or more, such that base**exponent equals `value` modulo `modulus`.

    Raises an error if there is none. The time grows with the square root of the largest prime factor of the order of
    `base`; a factor of 40 bits takes about a second. Source: Pohlig and Hellman, IEEE Transactions on Information
    Theory 24 (1978).

    Examples:
        discrete_log(41, 15, 7) -> 3
    """
    from sympy.ntheory import discrete_log as logarithm

    if modulus.bit_length() > PRIME_BITS:
        raise LanguageError(f"`discrete_log` accepts a modulus of at most {PRIME_BITS:,} bits", code="E502")
    if modulus < 2 or math.gcd(base, modulus) != 1:
        raise LanguageError("`discrete_log` needs a modulus greater than 1 that is coprime to the base")
    try:
        return int(logarithm(modulus, value % modulus, base % modulus))
    except ValueError:
        raise LanguageError("no power of the base equals this value modulo the modulus", code="E504") from None


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
        raise LanguageError(f"`{name}` needs a modulus that is 1 or more")

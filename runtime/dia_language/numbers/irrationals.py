"""Numbers a + b pi and a + b sqrt(c) in the form that sympy gives them, put together in a tenth of its time.

sympy asks of each new number what it might ever be asked of it. Here a and b are rational and c is whole; what is made
has the parts, in their order, that sympy's own operators make.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import gcd, isqrt, prod
from typing import Any

from dia_language.numbers.values import RATIONAL

LARGEST = 1 << 30  # below it a number without factors up to SMALL has two prime factors at most
SMALL = 1 << 10

Rational = int | Fraction


def product(a: Any, b: Any) -> Any | None:
    """The product of a rational and pi, a square root or a multiple of one; None for any other factors.

    >>> import sympy
    >>> product(Fraction(2, 3), 3 * sympy.pi), product(sympy.pi, sympy.pi)
    (2*pi, None)
    """
    rational, other = (b, a) if type(b) in RATIONAL else (a, b)
    if type(rational) not in RATIONAL:
        return None
    parts = _parts(other)
    return None if parts is None else _multiple(rational * parts[0], parts[1])


def total(a: Any, b: Any) -> Any | None:
    """The sum of a rational and pi, a square root or a multiple of one; None for any other terms.

    >>> import sympy
    >>> total(sympy.sqrt(2), Fraction(1, 2)), total(sympy.pi, sympy.pi)
    (1/2 + sqrt(2), None)
    """
    import sympy

    rational, other = (b, a) if type(b) in RATIONAL else (a, b)
    if type(rational) not in RATIONAL or _parts(other) is None:
        return None
    return sympy.Add._from_args([_made(rational), other], True) if rational else other


def difference(a: Any, b: Any) -> Any | None:
    """The first number without the second, as `total` gives it.

    >>> import sympy
    >>> difference(1, sympy.sqrt(2) / 3)
    1 - sqrt(2)/3
    """
    turned = -b if type(b) in RATIONAL else product(-1, b)
    return None if turned is None else total(a, turned)


def quotient(a: Any, b: Any) -> Any | None:
    """The first number divided by a rational one, as `product` gives it.

    >>> import sympy
    >>> quotient(sympy.pi, 4), quotient(4, sympy.pi)
    (pi/4, None)
    """
    return product(a, 1 / Fraction(b)) if type(b) in RATIONAL and b else None


def root(number: Rational) -> Any | None:
    """The square root of a positive number that is no square; None where it takes more than small factors to find.

    >>> root(12), root(Fraction(5, 4)), root(Fraction(1, 2))
    (2*sqrt(3), sqrt(5)/2, None)
    """
    import sympy

    bottom = isqrt(number.denominator)
    if number.numerator >= LARGEST or bottom * bottom != number.denominator:
        return None
    times, rest = _square_part(number.numerator)
    kernel = sympy.Expr.__new__(sympy.Pow, sympy.Integer(rest), sympy.S.Half)
    kernel.is_commutative = True
    return _multiple(Fraction(times, bottom), kernel)


def _parts(value: Any) -> tuple[Rational, Any] | None:
    """The rational factor and the number without it, if that is pi or the root of a whole number."""
    import sympy

    if type(value) is not sympy.Mul:
        return (1, value) if _is_kernel(value) else None
    first, *others = value.args
    if len(others) != 1 or not first.is_Rational or not _is_kernel(others[0]):
        return None
    return (first.p if first.q == 1 else Fraction(first.p, first.q)), others[0]


def _is_kernel(value: Any) -> bool:
    import sympy

    if type(value) is not sympy.Pow:
        return value is sympy.pi
    base, exponent = value.args
    return exponent is sympy.S.Half and type(base) is sympy.Integer and 1 < base.p < LARGEST


def _multiple(factor: Rational, kernel: Any) -> Any:
    import sympy

    if factor == 1 or not factor:
        return kernel if factor else 0
    return sympy.Mul._from_args([_made(factor), kernel], True)


def _made(rational: Rational) -> Any:
    """The number as sympy's."""
    import sympy

    if rational.denominator == 1:
        return sympy.Integer(rational.numerator)
    return sympy.Rational.from_coprime_ints(rational.numerator, rational.denominator)


def _square_part(number: int) -> tuple[int, int]:
    """The largest number whose square divides the given one below LARGEST, and the quotient by that square.

    >>> _square_part(2**3 * 3**4 * 1031**2), _square_part(1031 * 1033)
    ((18558, 2), (1, 1065023))
    """
    times, rest = 1, 1
    level = gcd(number, _small_primes())
    while level > 1:  # the product of the small primes that divide the number once more
        number //= level
        following = gcd(number, level)
        rest *= level // following
        number //= following
        times *= following
        level = gcd(number, following)
    large = isqrt(number)
    return (times * large, rest) if large * large == number else (times, rest * number)


@cache
def _small_primes() -> int:
    """The product of all primes up to SMALL."""
    return prod(n for n in range(2, SMALL + 1) if all(n % divisor for divisor in range(2, isqrt(n) + 1)))

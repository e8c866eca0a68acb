"""Symbolic real numbers enclosed between rationals, as narrowly as a decision needs.

Arb (python-flint) also has certified arithmetic. It proves the same digits, and computes an integral in a tenth of the
time. It is not a dependency, for three reasons. As soon as python-flint can be imported, sympy uses its numbers and
polynomials for everything, so the arithmetic of every symbolic spec would depend on it. It computes integrals that the
language rejects (the square root from 0 to 1), and it counts no steps for the limits of a template. And it would add 27
MB to an installation to save about 300 lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from operator import add, mul
from typing import Any

from dia_language.budgets import charge, left
from dia_language.diagnostics import LanguageError
from dia_language.numbers.quadrature import enclosed_integral

MAXIMUM_DIGITS = 100_000
MAXIMUM_BITS = 332_000  # before the point; no longer number is ever computed
SMALLEST_BITS = 1_000_000  # after the point; smaller numbers are only known to be between two such bounds
SPARE_DIGITS = 20  # in addition to the requested ones
CACHED_INTEGRALS = 4  # cached enclosures of integrals
SPARE_BITS = 10  # of the digits that a computed number claims to be certain
# What mpmath and sympy raise for a number that they cannot enclose: then another method is tried, or an error reported
FAILURES = (ArithmeticError, AttributeError, NotImplementedError, RecursionError, TypeError, ValueError)

Enclosure = tuple[Fraction, Fraction]


def enclosures(value: Any, places: int) -> Iterator[Enclosure]:
    """Yield ever narrower pairs of rationals that enclose the symbolic real number.

    The first is narrow enough for the given decimal place, each further one has twice the digits. Numbers made of
    rationals, pi, square roots and definite integrals are enclosed by interval arithmetic, which proves the bounds; for
    others every pair rests on two computations at different precisions that agree. Raises LanguageError (E504) for
    numbers that are not real or not finite.
    """
    proven = interval(value, SPARE_DIGITS)
    if proven is not None:
        is_narrow = proven[1] - proven[0] < Fraction(1, 10 ** (max(0, places) + 2))
        if is_narrow and has_integral(value):
            yield proven  # mostly enough, and further digits of an integral take long
        yield from _proven_enclosures(value, proven, places)
        return
    _require_closed(value)
    digits = max(1, _magnitude(value) + places) + SPARE_DIGITS
    while digits <= MAXIMUM_DIGITS:
        rough, fine = _approximate_enclosure(value, digits), _approximate_enclosure(value, 2 * digits)
        if rough[0] <= fine[1] and fine[0] <= rough[1]:
            yield fine
        digits *= 2


def _proven_enclosures(value: Any, rough: Enclosure, places: int) -> Iterator[Enclosure]:
    spare = SPARE_DIGITS // 2 if has_integral(value) else SPARE_DIGITS
    digits = max(1, _digits_before_point(rough) + places) + spare
    while digits <= MAXIMUM_DIGITS:
        bounds = interval(value, digits)
        if bounds is not None:
            yield bounds
        digits *= 2


def has_integral(value: Any) -> bool:
    """Return whether the expression contains an integral."""
    import sympy

    return isinstance(value, sympy.Integral) or any(map(has_integral, getattr(value, "args", ())))


def interval(value: Any, digits: int) -> Enclosure | None:
    """Return proven bounds of a symbolic number; None for others, and for integrals of functions that are not smooth.

    It may consist of rationals, pi, sums, products, integer powers, square roots and integrals.

    >>> import sympy
    >>> low, high = interval(sympy.sqrt(2) * sympy.pi, 30)
    >>> low < high and high - low < Fraction(1, 10**29)
    True
    """
    import sympy

    if not isinstance(value, sympy.Expr):
        return None
    if (value, digits) in _INTEGRALS:
        steps, bounds = _INTEGRALS[value, digits]
        charge(steps)  # the cost does not depend on earlier computations
        return bounds
    before = left()
    bounds = _evaluate_interval(value, digits)
    if has_integral(value):  # expensive, and requested by the solver and again when the answer is rounded
        while len(_INTEGRALS) >= CACHED_INTEGRALS:
            del _INTEGRALS[next(iter(_INTEGRALS))]
        _INTEGRALS[value, digits] = before - left(), bounds
    return bounds


_INTEGRALS: dict[tuple[Any, int], tuple[int, Enclosure | None]] = {}


def _evaluate_interval(value: Any, digits: int) -> Enclosure | None:
    from mpmath import iv

    before, iv.prec = iv.prec, digits * 10 // 3 + SPARE_BITS
    try:
        bounds = _interval(value, iv)
        return None if bounds is None else (_rational(bounds.a), _rational(bounds.b))
    finally:
        iv.prec = before


def _interval(value: Any, iv: Any) -> Any:
    if value.is_Rational:
        return iv.mpf(int(value.p)) if value.q == 1 else iv.mpf(int(value.p)) / int(value.q)
    if value.is_Add or value.is_Mul:
        parts = [_interval(part, iv) for part in value.args]
        if any(part is None for part in parts):
            return None
        return reduce(mul if value.is_Mul else add, parts)
    if value.is_Pow and value.exp.is_Rational:
        return _power(_interval(value.base, iv), value.exp, iv)
    import sympy

    if isinstance(value, sympy.Integral):
        return _interval_of_integral(value, iv)
    return iv.pi if value is sympy.pi else None


def _interval_of_integral(value: Any, iv: Any) -> Any:
    if len(value.limits) != 1 or len(value.limits[0]) != 3:
        return None
    low, high = (_interval(end, iv) for end in value.limits[0][1:])
    return None if low is None or high is None else enclosed_integral(value, (low, high), iv)


def _power(base: Any, exponent: Any, iv: Any) -> Any:
    """Return an integer power or a square root; None if it is neither, or might not be real."""
    if base is None or exponent.q > 2 or abs(exponent.p) > 64 or (exponent.p < 0 and base.a <= 0 <= base.b):
        return None
    if exponent.q == 2:
        if base.a < 0:
            return None
        base = iv.sqrt(base)
    return base ** int(exponent.p)


def _rational(end: Any) -> Fraction:
    sign, mantissa, exponent, _ = end._mpi_[0]
    signed, places = -int(mantissa) if sign else int(mantissa), int(exponent)
    return Fraction(signed << places) if places >= 0 else Fraction(signed, 1 << -places)


def equals(value: Any, candidate: Fraction) -> bool | None:
    """Return whether the symbolic number is exactly the rational; None if sympy cannot decide it."""
    import sympy

    try:
        difference = value - sympy.Rational(candidate.numerator, candidate.denominator)
        if difference == 0 or difference.is_zero:
            return True
        answer = difference.equals(0)
    except FAILURES:
        return None
    return None if answer is None else bool(answer)


def _require_closed(value: Any) -> None:
    import sympy

    unsolved = (sympy.Integral, sympy.Derivative, sympy.Sum, sympy.Product, sympy.Limit, sympy.Subs)
    if isinstance(value, sympy.MatrixBase) or not isinstance(value, sympy.Expr):
        raise LanguageError("only a number can be rounded; this is another symbolic object")
    if value.free_symbols:
        names = ", ".join(sorted(f"`{symbol}`" for symbol in value.free_symbols))
        raise LanguageError(f"the expression contains the unknown {names}, so it is not a number")
    if value.has(sympy.Float):
        raise LanguageError("the expression contains a rounded binary number; exact values are required")
    if value.has(*unsolved):
        raise LanguageError("the expression has no closed form: part of it is unevaluated")
    # sympy may take hours to decide whether a sum of complex roots is real: such sums are computed numerically.
    is_real = None if value.has(sympy.I) else value.is_real
    if is_real is False or (is_real and value.is_finite is False):
        raise _not_real()
    if is_real is not True:
        _require_no_imaginary_part(value)


def _magnitude(value: Any) -> int:
    """Return the approximate number of digits before the decimal point; negative for small numbers."""
    return _digits_before_point(_approximate_enclosure(value, SPARE_DIGITS))


def _digits_before_point(bounds: Enclosure) -> int:
    largest = max(map(abs, bounds))
    bits = largest.numerator.bit_length() - largest.denominator.bit_length()
    return bits * 30103 // 100_000 + 1 if largest else 0


def _require_no_imaginary_part(value: Any) -> None:
    import sympy

    for digits in (SPARE_DIGITS, 4 * SPARE_DIGITS, 16 * SPARE_DIGITS):
        imaginary = _evaluate(value, digits)[1]
        low, high = _enclosure_of(imaginary)
        if low > 0 or high < 0:
            raise _not_real()
        if imaginary == 0:
            return
    if not equals(sympy.im(value), Fraction(0)):
        raise LanguageError("the number cannot be proven to be real", code="E504")


def _approximate_enclosure(value: Any, digits: int) -> Enclosure:
    return _enclosure_of(_evaluate(value, digits)[0])


def _evaluate(value: Any, digits: int) -> tuple[Any, Any]:
    """Return the real and the imaginary part as sympy's numbers."""
    import sympy

    try:
        number = value.evalf(digits)
    except FAILURES:
        raise _not_computable() from None
    if number.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo):
        raise _not_real()
    real, imaginary = number.as_real_imag()
    return real, imaginary


def _enclosure_of(number: Any) -> Enclosure:
    """Return the rationals that enclose a computed number with this many certain bits."""
    import sympy

    if isinstance(number, sympy.Rational):
        exact = Fraction(int(number.p), int(number.q))
        return exact, exact
    if not isinstance(number, sympy.Float):
        raise _not_computable()
    sign, mantissa, exponent, bits = number._mpf_
    if exponent + bits > MAXIMUM_BITS:
        raise LanguageError(f"the number has more than {MAXIMUM_DIGITS:,} digits")
    if exponent + bits < -SMALLEST_BITS:
        smallest = Fraction(1, 2**SMALLEST_BITS)
        return -smallest, smallest
    middle = Fraction(-int(mantissa) if sign else int(mantissa)) * Fraction(2) ** int(exponent)
    error = abs(middle) * Fraction(2) ** (SPARE_BITS - int(number._prec))
    return middle - error, middle + error


def _not_computable() -> LanguageError:
    return LanguageError("the expression cannot be computed as a number", code="E504")


def _not_real() -> LanguageError:
    return LanguageError("no finite real number: the value is complex, infinite or undefined", code="E504")

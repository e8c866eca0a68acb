"""Proven bounds of definite integrals: Taylor series in interval arithmetic, on adaptively halved panels.

On a panel, the integral of the series at its middle is known, and the last coefficient over the whole panel bounds the
remainder (Moore, Interval Analysis, 1966, chapter 8).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from dia_language.budgets import charge
from dia_language.numbers.interval_arithmetic import SPARE_BITS as ENDS_BITS
from dia_language.numbers.interval_arithmetic import Ends, NotFinite, dot, ends_of, intervals_of, quotient, times_whole

PANELS = 2_000
SMALLEST_PANEL = 2.0**-20  # of the whole range; if smaller ones are needed, the expression is not smooth there
SPARE_BITS = 30
WHOLE_POWER = 64  # exponents of powers that products compute
PART_OF_POWER = 10_000  # of numerator and denominator of a rational exponent
Series = list[Any]  # coefficients, the constant first; missing ones at the end are 0


class NotSmooth(ArithmeticError):
    """The bounds do not show that the series exists on the panel."""


def enclosed_integral(integral: Any, bounds: tuple[Any, Any], iv: Any) -> Any:
    """Return an interval that contains the integral between the bounds (also intervals).

    It is as narrow as the precision of `iv` allows. None if the expression is not proven to be smooth on the whole
    range, bounds included.
    """
    precision, order = iv.prec, 2 * (iv.prec // 5) + 8
    iv.prec = precision + SPARE_BITS
    try:
        return _Panels(integral.function, integral.variables[0], bounds, order, iv).total(precision)
    except (NotSmooth, NotFinite):
        return None
    finally:
        iv.prec = precision


class _Panels:
    """The range of an integral, mapped to the numbers from -1 to 1 and cut into panels."""

    def __init__(self, expression: Any, variable: Any, bounds: tuple[Any, Any], order: int, iv: Any) -> None:
        self.expression, self.variable, self.order, self.iv = expression, variable, order, iv
        self.middle, self.radius = (bounds[0] + bounds[1]) / 2, (bounds[1] - bounds[0]) / 2

    def total(self, precision: int) -> Any:
        """Return the sum over panels, each with this many certain bits relative to the largest possible one."""
        waiting, total, panels = [(self.iv.mpf(0), 1.0)], self.iv.mpf(0), 0
        enough = self.scale() * self.iv.mpf(2) ** -precision
        while waiting:
            at, size = waiting.pop()
            panels += 1
            charge(self.order * self.order // 20)
            part = self.panel(at, size, enough)
            if part is not None:
                total += part
            elif size < SMALLEST_PANEL or panels > PANELS:
                raise NotSmooth
            else:
                waiting += [(at - size / 2, size / 2), (at + size / 2, size / 2)]
        return total

    def scale(self) -> Any:
        """Return the approximate size of the integral, from the expression at a few points."""
        total = self.iv.mpf(0)
        for step in range(-7, 8, 2):
            value = _Expansion({self.variable: [self.middle + self.radius * step / 8]}, 0, self.iv).of(self.expression)
            total += abs(value[0].b)
        return total * abs(self.radius) / 4

    def panel(self, at: Any, size: float, enough: Any) -> Any:
        """Return the integral over the panel; None if its bounds are too wide."""
        middle, radius = self.middle + self.radius * at, self.radius * size
        unit = self.iv.mpf([-1, 1])
        try:
            wide = self.series([middle + radius * unit, radius])
            rest = (wide[self.order] if len(wide) > self.order else self.iv.mpf(0)) * unit / (self.order + 1)
            if rest.delta * abs(radius) > enough * size:
                return None
            series = self.series([middle, radius])
        except (NotSmooth, NotFinite):
            return None
        even = (term / _whole(self.iv, k + 1) for k, term in enumerate(series[: self.order]) if k % 2 == 0)
        return 2 * radius * (sum(even) + rest)

    def series(self, variable: Series) -> Series:
        return _Expansion({self.variable: variable}, self.order, self.iv).of(self.expression)


class _Expansion:
    """Taylor series of an expression, each of its parts computed once."""

    def __init__(self, series: dict[Any, Series], order: int, iv: Any) -> None:
        self.computed_coefficients, self.order, self.iv = series, order, iv

    def of(self, value: Any) -> Series:
        if value not in self.computed_coefficients:
            self.computed_coefficients[value] = self.computed(value)
        return self.computed_coefficients[value]

    def computed(self, value: Any) -> Series:
        import sympy

        if value.is_Rational:
            return [self.iv.mpf(int(value.p)) / int(value.q)]
        if value is sympy.pi or value is sympy.E:
            return [self.iv.pi if value is sympy.pi else self.iv.exp(1)]
        if value.is_Add:
            return self.sum([self.of(part) for part in value.args])
        if value.is_Mul:
            product = self.of(value.args[0])
            for part in value.args[1:]:
                product = self.times(product, self.of(part))
            return product
        if value.is_Pow and value.exp.is_Rational and value.base is not sympy.E:
            return self.power(self.of(value.base), value.exp)
        if isinstance(value, sympy.exp):
            return self.exponential(self.of(value.args[0]))
        if isinstance(value, sympy.log):
            return self.logarithm(self.of(value.args[0]))
        if isinstance(value, (sympy.sin, sympy.cos, sympy.tan)):
            return self.circular(value)
        raise NotSmooth

    def sum(self, parts: list[Series]) -> Series:
        longest = max(parts, key=len)
        total = list(longest)
        for part in parts:
            if part is not longest:
                for at, term in enumerate(part):
                    total[at] = total[at] + term
        return total

    def times(self, a: Series, b: Series) -> Series:
        """Return the product, truncated after the last requested coefficient."""
        size, one, other = min(len(a) + len(b) - 1, self.order + 1), self.ends(a), self.ends(b)[::-1]
        starts = ((k, max(0, k - len(b) + 1)) for k in range(size))
        return intervals_of(
            (dot(one[low : k + 1], other[len(b) - 1 - k + low :], self.bits) for k, low in starts), self.iv
        )

    @property
    def bits(self) -> int:
        """Return the bits, of which at most the last is lost when products are summed."""
        return int(self.iv.prec) + ENDS_BITS

    def ends(self, series: Series) -> list[Ends]:
        """Return the coefficients in the form in which sums of products are fast."""
        bits = self.bits
        return [ends_of(term, bits) for term in series]

    def power(self, base: Series, exponent: Any) -> Series:
        """Return a rational power; small integer ones by products, for which the base may be zero."""
        if exponent.is_Integer and 0 < exponent <= WHOLE_POWER and (exponent <= 4 or 0 in base[0]):
            half = self.power(base, exponent // 2) if exponent > 1 else base
            square = half if exponent == 1 else self.times(half, half)
            return self.times(square, base) if exponent % 2 and exponent > 1 else square
        if 0 in base[0] or (not exponent.is_Integer and not base[0].a > 0):
            raise NotSmooth
        p, q = int(exponent.p), int(exponent.q)
        if abs(p) > PART_OF_POWER or q > PART_OF_POWER:
            raise NotSmooth
        start = base[0] ** (self.iv.mpf(p) / q) if q > 1 else base[0] ** p
        return self.recurrence(start, (p + q, -q), base, q * base[0])

    def recurrence(self, start: Any, factors: tuple[int, int], inner: Series, divisor: Any) -> Series:
        """g with n g[n] divisor = the sum of (a k + b n) inner[k] g[n - k] over k = 1 to n, the factors being a, b."""
        (a, b), parts, coefficients, bits = factors, self.ends(inner), self.ends([start]), self.bits
        below, places = ends_of(divisor, bits), range(1, len(inner))
        for n in range(1, self.order + 1):
            weights = [a * k + b * n for k in places]
            total = dot(parts[1 : n + 1], coefficients[: -len(parts) : -1], bits, weights)
            coefficients.append(quotient(total, times_whole(below, n), bits))
        return [start, *intervals_of(coefficients[1:], self.iv)]

    def exponential(self, inner: Series) -> Series:
        return self.recurrence(self.iv.exp(inner[0]), (1, 0), inner, _whole(self.iv, 1))

    def logarithm(self, inner: Series) -> Series:
        if not inner[0].a > 0:
            raise NotSmooth
        slope = self.times(self.derivative(inner), self.power(inner, _minus_one()))
        return [self.iv.log(inner[0]), *self.raised(slope)]

    def derivative(self, inner: Series) -> Series:
        return [term * _whole(self.iv, n) for n, term in enumerate(inner[1:], 1)] or [self.iv.mpf(0)]

    def raised(self, slope: Series) -> Series:
        return [term / _whole(self.iv, n) for n, term in enumerate(slope[: self.order], 1)]

    def circular(self, value: Any) -> Series:
        """Return sine and cosine together: each is the other's derivative, except for a sign."""
        import sympy

        inner = self.of(value.args[0])
        slopes, bits = [times_whole(term, max(k, 1)) for k, term in enumerate(self.ends(inner))], self.bits
        sines, cosines = self.ends([self.iv.sin(inner[0])]), self.ends([self.iv.cos(inner[0])])
        for n in range(1, self.order + 1):
            both = [dot(slopes[1 : n + 1], others[: -len(inner) : -1], bits) for others in (cosines, sines)]
            risen, fallen = (quotient(total, (n, n, 0), bits) for total in both)
            sines.append(risen)
            cosines.append((-fallen[1], -fallen[0], fallen[2]))
        sine, cosine = intervals_of(sines, self.iv), intervals_of(cosines, self.iv)
        if isinstance(value, sympy.tan):
            return self.times(sine, self.power(cosine, _minus_one()))
        return sine if isinstance(value, sympy.sin) else cosine


@lru_cache(maxsize=1_024)
def _whole(iv: Any, number: int) -> Any:
    """Return the number as an interval, which takes mpmath several times as long as a product."""
    return iv.mpf(number)


def _minus_one() -> Any:
    import sympy

    return sympy.Integer(-1)

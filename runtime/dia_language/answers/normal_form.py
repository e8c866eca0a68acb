"""Whether an expression is identically zero, shown by a normal form: a quotient of polynomials in atoms.

Atoms are variables, pi, roots, exponentials, logarithms, sines and cosines, each with the one relation that it
satisfies: `root**q = base`, `sin**2 = 1 - cos**2`. Roots of numbers are those of primes; exponentials, sines and
cosines of sums are expanded, down to the smallest fraction of each angle that occurs. Every rule holds wherever both
sides have a real value, so an expression that is zero here is zero there; other expressions may still be zero.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dia_language.answers.formulas import Node
from dia_language.answers.rational_functions import (
    ONE,
    UNIT,
    Field,
    Finer,
    Ratio,
    Terms,
    TooMuch,
    constant,
    content_of,
    negated,
    number_of,
)

RESTARTS, PRIMES = 8, 1_000


def is_zero(node: Node) -> bool | None:
    """Return whether the normal form is zero; True proves that the expression is zero. None if it takes too long."""
    finest: dict[int, int] = {}
    for _ in range(RESTARTS):
        try:
            return not _Form(finest).ratio(node).top
        except Finer:
            continue
        except (TooMuch, RecursionError):
            return None
    return None


class _Form(Field):
    """One attempt at the normal form of an expression."""

    def ratio(self, node: Node) -> Ratio:
        """Return the normal form of an expression."""
        kind = node[0]
        if kind == "number":
            return constant(node[1])
        if kind in ("symbol", "pi"):
            return self.symbol(node[1] if kind == "symbol" else " pi")
        if kind == "call":
            return CALLS[node[1]](self, self.ratio(node[2]))
        parts = [self.ratio(part) for part in node[1:]]
        if kind == "**":
            return self.general_power(*parts)
        result = parts[0]
        for part in parts[1:]:
            result = self.add(result, part) if kind == "+" else self.multiply(result, part)
        return result

    def general_power(self, base: Ratio, exponent: Ratio) -> Ratio:
        """Return a power: with an integer or rational exponent, or by the exponential function."""
        number = number_of(exponent)
        if number is None:
            return self.exponential(self.multiply(exponent, self.logarithm(base)))
        if number.denominator == 1:
            return self.raise_(base, int(number))
        return self.root(base, number)

    def root(self, base: Ratio, exponent: Fraction) -> Ratio:
        """Return a rational power: of primes, of factors known to be positive, and of the rest as one atom."""
        if not base.top:
            return base
        content, rest = content_of(base)
        result = self.root_of_number(content, exponent)
        if rest != constant(ONE):
            number = number_of(rest)
            if number is not None and number < 0:
                raise TooMuch
            result = self.multiply(result, self.root_of_roots(rest, exponent) or self.root_atom(rest, exponent))
        return result

    def root_of_roots(self, value: Ratio, exponent: Fraction) -> Ratio | None:
        """Return a rational power of a product of nonnegative roots and exponentials; None for other expressions."""
        (above, *more), (below, *others) = value.top, value.bottom
        factors = [*above, *((place, -power) for place, power in below)]
        is_product = not more and not others and value.top[above] == value.bottom[below] == ONE
        if not is_product or not all(self.atoms[place].kind in ("root", "exp") for place, _ in factors):
            return None
        result = constant(ONE)
        for place, power in factors:
            atom, times = self.atoms[place], exponent * power / self.finest[place]
            if atom.kind == "root":
                part = self.root_atom(atom.of, times)
            else:
                part = self.exponential(self.multiply(constant(times), atom.of))
            result = self.multiply(result, part)
        return result

    def root_of_number(self, number: Fraction, exponent: Fraction) -> Ratio:
        """Return a rational power of a positive rational number."""
        result = constant(ONE)
        for whole, sign in ((number.numerator, 1), (number.denominator, -1)):
            for prime, times in _factors(whole):
                result = self.multiply(result, self.root_atom(constant(Fraction(prime)), exponent * times * sign))
        return result

    def root_atom(self, base: Ratio, exponent: Fraction) -> Ratio:
        """Return a rational power of something whose root is an atom."""
        place = self.atom("root", base, exponent.denominator)
        parts = self.finest[place]
        whole, rest = divmod(int(exponent * parts), parts)
        result = self.raise_(base, whole)
        return self.multiply(result, Ratio({((place, rest),): ONE}, UNIT)) if rest else result

    def exponential(self, value: Ratio) -> Ratio:
        """Return exp of a sum, as a product."""
        result = constant(ONE)
        for factor, unit in self.units(value):
            argument = self.logarithm_in(unit)
            if argument is not None:
                result = self.multiply(result, self.general_power(argument, constant(factor)))
                continue
            place = self.atom("exp", unit, factor.denominator)
            result = self.multiply(result, self.monomial(place, int(factor * self.finest[place])))
        return result

    def units(self, value: Ratio) -> list[tuple[Fraction, Ratio]]:
        """Return the terms of a sum as rational multiples of units; a single one if it is not a sum."""
        if value.bottom == UNIT:
            return [(factor, Ratio({one: ONE}, UNIT)) for one, factor in value.top.items()]
        content, rest = content_of(value)
        for place, atom in enumerate(self.atoms):
            if atom.kind in ("exp", "cos") and self.are_equal(atom.of, Ratio(negated(rest.top), rest.bottom)):
                return [(-content, self.atoms[place].of)]
        return [(content, rest)]

    def logarithm_in(self, unit: Ratio) -> Ratio | None:
        """Return what the unit is the logarithm of, if it is one."""
        one = next(iter(unit.top))
        if unit.bottom != UNIT or len(one) != 1 or one[0][1] != 1 or self.atoms[one[0][0]].kind != "log":
            return None
        return self.atoms[one[0][0]].of

    def monomial(self, place: int, exponent: int) -> Ratio:
        """Return an integer power of an atom, which may be negative."""
        if abs(exponent) > 500:
            raise TooMuch
        terms: Terms = {((place, abs(exponent)),): ONE} if exponent else UNIT
        return Ratio(terms, UNIT) if exponent >= 0 else Ratio(UNIT, terms)

    def logarithm(self, value: Ratio) -> Ratio:
        """Return log of a product of factors known to be positive, and of the rest as one atom."""
        if not value.top:
            raise TooMuch
        content, rest = content_of(value)
        result = constant(Fraction(0))
        for whole, sign in ((content.numerator, 1), (content.denominator, -1)):
            for prime, times in _factors(whole):
                result = self.add(result, self.multiply(constant(Fraction(times * sign)), self.log_atom(prime)))
        if number_of(rest) == 1:
            return result
        if len(rest.top) == 1 and set(rest.top.values()) == {ONE} and (inner := self.positive(rest)) is not None:
            return self.add(result, inner)
        if rest.top == UNIT:
            flipped = self.logarithm(Ratio(rest.bottom, UNIT))
            return self.add(result, self.multiply(constant(-ONE), flipped))
        place = self.atom("log", rest)
        return self.add(result, Ratio({((place, 1),): ONE}, UNIT))

    def log_atom(self, prime: int) -> Ratio:
        """Return the logarithm of a prime."""
        return Ratio({((self.atom("log", constant(Fraction(prime))), 1),): ONE}, UNIT)

    def positive(self, value: Ratio) -> Ratio | None:
        """Return the logarithm of a product of exponentials and roots of numbers; None for others."""
        (above,), below = value.top, value.bottom
        if len(below) != 1 or set(below.values()) != {ONE}:
            return None
        (under,) = below
        result = constant(Fraction(0))
        for place, exponent in (*above, *((place, -exponent) for place, exponent in under)):
            atom = self.atoms[place]
            number = number_of(atom.of)
            if atom.kind == "exp":
                inner = atom.of
            elif atom.kind == "root" and number is not None and number > 0:
                inner = self.log_atom(int(number))
            else:
                return None
            part = self.multiply(constant(Fraction(exponent, self.finest[place])), inner)
            result = self.add(result, part)
        return result

    def turn(self, value: Ratio) -> tuple[Ratio, Ratio]:
        """Return cosine and sine of a sum of angles."""
        result = constant(ONE), constant(Fraction(0))
        for factor, unit in self.units(value):
            pair = self.special(factor) if self.is_pi(unit) else None
            result = self.turned(result, pair or self.angle(factor, unit))
        return result

    def is_pi(self, unit: Ratio) -> bool:
        """Return whether the unit is pi itself."""
        return unit == self.symbol(" pi")

    def special(self, factor: Fraction) -> tuple[Ratio, Ratio] | None:
        """Return cosine and sine of a multiple of a twelfth of pi; None for other angles."""
        twelfths = factor * 12
        return self.twelfth(int(twelfths)) if twelfths.denominator == 1 else None

    def twelfth(self, number: int) -> tuple[Ratio, Ratio]:
        """Return cosine and sine of n twelfths of pi: those of 3 n quarters minus 2 n thirds."""
        return self.turned(self.pair(QUARTERS[number * 3 % 8]), self.pair(THIRDS[-number * 2 % 6]))

    def pair(self, exact: tuple[tuple[Fraction, int], tuple[Fraction, int]]) -> tuple[Ratio, Ratio]:
        """Return two numbers, each a rational times a square root."""
        first, second = (
            self.multiply(constant(factor), self.root_of_number(Fraction(under), Fraction(1, 2)))
            for factor, under in exact
        )
        return first, second

    def angle(self, factor: Fraction, unit: Ratio) -> tuple[Ratio, Ratio]:
        """Return cosine and sine of a rational multiple of a unit."""
        place = self.atom("cos", unit, factor.denominator)
        sine = self.atom("sin", unit)
        if sine != place + 1:
            raise TooMuch
        count = int(factor * self.finest[place])
        if abs(count) > 64:
            raise TooMuch
        once = Ratio({((place, 1),): ONE}, UNIT), Ratio({((sine, 1),): Fraction(1 if count >= 0 else -1)}, UNIT)
        result = constant(ONE), constant(Fraction(0))
        for _ in range(abs(count)):
            result = self.turned(result, once)
        return result

    def turned(self, left: tuple[Ratio, Ratio], right: tuple[Ratio, Ratio]) -> tuple[Ratio, Ratio]:
        """Return cosine and sine of the sum of two angles."""
        minus = constant(-ONE)
        cosine = self.add(self.multiply(left[0], right[0]), self.multiply(minus, self.multiply(left[1], right[1])))
        return cosine, self.add(self.multiply(left[0], right[1]), self.multiply(left[1], right[0]))

    def odd(self, kind: str, value: Ratio) -> Ratio:
        """Return an odd function as an atom: for a value and its negative, it differs only in sign."""
        if not value.top:
            return value
        for place, atom in enumerate(self.atoms):
            if atom.kind == kind and self.are_equal(atom.of, Ratio(negated(value.top), value.bottom)):
                return Ratio({((place, 1),): -ONE}, UNIT)
        return Ratio({((self.atom(kind, value), 1),): ONE}, UNIT)

    def is_number_of_roots(self, value: Ratio) -> bool:
        """Return whether the quotient consists of rationals and roots of numbers only."""
        places = {place for terms in value for one in terms for place, _ in one}
        return all(self.atoms[place].kind == "root" and number_of(self.atoms[place].of) for place in places)

    def inverse(self, kind: str, value: Ratio) -> Ratio:
        """Return asin or atan: a rational multiple of pi if it is a well-known one, or else an atom."""
        for twelfths in range(-6, 7) if self.is_number_of_roots(value) else ():
            if kind == "atan" and abs(twelfths) == 6:
                continue
            cosine, sine = self.twelfth(twelfths)
            ratio = sine if kind == "asin" else self.multiply(sine, self.raise_(cosine, -1))
            if self.are_equal(ratio, value):
                return self.multiply(constant(Fraction(twelfths, 12)), self.symbol(" pi"))
        return self.odd(kind, value)


HALF = Fraction(1, 2)
# Cosine and sine of the quarters of pi, and of the thirds, as rationals times square roots
QUARTERS = tuple(
    ((Fraction(c), 2 if abs(c) == HALF else 1), (Fraction(s), 2 if abs(s) == HALF else 1))
    for c, s in ((1, 0), (HALF, HALF), (0, 1), (-HALF, HALF), (-1, 0), (-HALF, -HALF), (0, -1), (HALF, -HALF))
)
THIRDS = tuple(
    ((Fraction(c), 1), (Fraction(s), 3 if s else 1))
    for c, s in ((1, 0), (HALF, HALF), (-HALF, HALF), (-1, 0), (-HALF, -HALF), (HALF, -HALF))
)

CALLS: dict[str, Callable[[_Form, Ratio], Ratio]] = {
    "exp": _Form.exponential,
    "log": _Form.logarithm,
    "cos": lambda form, value: form.turn(value)[0],
    "sin": lambda form, value: form.turn(value)[1],
    "asin": lambda form, value: form.inverse("asin", value),
    "atan": lambda form, value: form.inverse("atan", value),
    "acos": lambda form, value: form.add(
        form.multiply(constant(HALF), form.symbol(" pi")),
        form.multiply(constant(-ONE), form.inverse("asin", value)),
    ),
}


def _factors(number: int) -> list[tuple[int, int]]:
    """Return the prime factors of a number with exponents; a cofactor without small factors counts as prime."""
    factors: list[tuple[int, int]] = []
    for prime in range(2, PRIMES):
        times = 0
        while number % prime == 0:
            number, times = number // prime, times + 1
        if times:
            factors.append((prime, times))
    return [*factors, (number, 1)] if number > 1 else factors

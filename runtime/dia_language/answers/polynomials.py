"""The answer type polynomial: rational coefficients, equal if all coefficients are equal."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from operator import add
from typing import Any, TypeAlias

from dia_language.answers.base import Comparison, Mode, Types, Undecided, Unreadable, unfit, within
from dia_language.answers.formula_parser import LENGTH, parse_formula
from dia_language.answers.options import variable_faults, variables_of
from dia_language.answers.text import WordAnswer
from dia_language.diagnostics import LanguageError
from dia_language.numbers.monomials import sum_of_monomials
from dia_language.numbers.radix import integer_of, integer_text
from dia_language.numbers.values import Value, is_symbolic, normal

DEGREE, TERMS, WORK, BITS = 1_000, 2_000, 400_000, 20_000
TOO_LARGE = "a polynomial of too high a degree, or of coefficients with too many digits"
LATEST = 32  # expressions whose terms are kept

ZERO = Fraction(0)
# Exponents of the variables, in the order of their declaration -> coefficient, never 0
Terms: TypeAlias = dict[tuple[int, ...], Fraction]


class TermsBuilder:
    """Builds polynomials from formulas. Raises Unreadable for other formulas, and if the work would be too much."""

    def __init__(self, variables: Sequence[str]) -> None:
        self.variables = variables
        self.constant = (0,) * len(variables)
        self.work = 0

    def number(self, digits: str) -> Terms:
        whole, _, places = digits.partition(".")
        if len(digits) > BITS // 4:
            raise Unreadable("too many digits")
        return self.rational(Fraction(integer_of(whole + places), 10 ** len(places)))

    def rational(self, value: Fraction) -> Terms:
        """Return a constant polynomial."""
        return {self.constant: value} if value else {}

    def name(self, name: str) -> Terms:
        if name not in self.variables:
            raise Unreadable("an unknown variable")
        place = self.variables.index(name)
        return {tuple(int(at == place) for at in range(len(self.variables))): Fraction(1)}

    def call(self, name: str, arguments: list[Terms]) -> Terms:
        if name in self.variables and len(arguments) == 1:  # x(x + 1)
            return self.binary("*", self.name(name), arguments[0])
        raise Unreadable("a function in a polynomial")

    def negative(self, value: Terms) -> Terms:
        return {powers: -factor for powers, factor in value.items()}

    def binary(self, operator: str, left: Terms, right: Terms) -> Terms:
        if operator in "+-":
            return self._sum(left, right if operator == "+" else self.negative(right))
        if operator == "*":
            return self._product(left, right)
        if set(right) - {self.constant}:
            raise Unreadable("a division, or a power, by a polynomial")
        number = right.get(self.constant, ZERO)
        if operator == "**":
            return self._power(left, number)
        if not number:
            raise Unreadable("a division by zero")
        return self._product(left, {self.constant: 1 / number})

    def _sum(self, left: Terms, right: Terms) -> Terms:
        """Return the sum, accumulated in the larger polynomial, which has no other references."""
        terms, rest = (left, right) if len(left) >= len(right) else (right, left)
        self.work += len(rest)
        for powers, factor in rest.items():
            total = terms.pop(powers, ZERO) + factor
            if total:
                terms[powers] = total
            self._check(powers, total)
        if len(terms) > TERMS or self.work > WORK:
            raise Unreadable("a polynomial of too many terms")
        return terms

    def _product(self, left: Terms, right: Terms) -> Terms:
        self.work += len(left) * len(right)
        if self.work > WORK:
            raise Unreadable("a polynomial that takes too long")
        if len(left) == len(right) == 1:  # most products are of a number and a power
            ((powers, factor),), ((others, other),) = left.items(), right.items()
            both = tuple(map(add, powers, others))
            return self._bounded({both: other if factor == 1 else factor if other == 1 else factor * other})
        terms: Terms = {}
        for powers, factor in left.items():
            for others, other in right.items():
                both = tuple(map(sum, zip(powers, others, strict=True)))
                terms[both] = terms.get(both, ZERO) + factor * other
        return self._bounded({powers: factor for powers, factor in terms.items() if factor})

    def _power(self, base: Terms, exponent: Fraction) -> Terms:
        if exponent.denominator != 1 or not 0 <= exponent <= DEGREE:
            raise Unreadable("a power that is not an integer, or is too large")
        if len(base) == 1:
            return self._term_power(base, int(exponent))
        result, square, rest = self.rational(Fraction(1)), base, int(exponent)
        while rest:
            if rest & 1:
                result = self._product(result, square)
            rest >>= 1
            square = self._product(square, square) if rest else square
        return result

    def _term_power(self, base: Terms, exponent: int) -> Terms:
        """Return a power of a single term, within the same limits as by repeated multiplication."""
        self.work += exponent.bit_length() + exponent.bit_count()
        if self.work > WORK:
            raise Unreadable("a polynomial that takes too long")
        ((powers, factor),) = base.items()
        bits = max(factor.numerator.bit_length(), factor.denominator.bit_length())
        if (bits - 1) * exponent > BITS:  # a number with n bits is 2^(n - 1) or more: do not calculate too long a power
            raise Unreadable(TOO_LARGE)
        return self._bounded({tuple(n * exponent for n in powers): factor if factor == 1 else factor**exponent})

    def _bounded(self, terms: Terms) -> Terms:
        if len(terms) > TERMS:
            raise Unreadable("a polynomial of too many terms")
        for powers, factor in terms.items():
            self._check(powers, factor)
        return terms

    @staticmethod
    def _check(powers: tuple[int, ...], factor: Fraction) -> None:
        if sum(powers) > DEGREE or max(factor.numerator.bit_length(), factor.denominator.bit_length()) > BITS:
            raise Unreadable(TOO_LARGE)


class PolynomialAnswer(WordAnswer):
    """A polynomial in `variable` (by default x) or in several `variables`, with rational coefficients.

    The canonical form is `3*x^2 - 1/2*x + 1`, highest powers first. Strict and lenient accept any formula of numbers,
    variables, the operators + - * /, brackets and integer powers (^ or **) that expands to a polynomial. Lenient also
    accepts products without an operator (2x), typographic operators and LaTeX.
    """

    name = "polynomial"
    options = frozenset({"variable", "variables"})

    def __init__(self, comparison: Comparison, types: Types) -> None:
        self.variables = variables_of(comparison) or ("x",)
        self._latest: dict[Any, Terms] = {}

    @classmethod
    def faults(cls, comparison: Comparison, types: Types) -> list[str]:
        return variable_faults(comparison)

    def settle(self, value: Value) -> Value:
        try:
            return self._value(self.terms(value))
        except Unreadable as error:
            if not is_symbolic(value) and not isinstance(value, int | Fraction):
                raise unfit(self.name, value, "give an expression, such as `polynomial([1, 2])`") from None
            names = ", ".join(self.variables)
            message = f"the answer's type is polynomial, but its value is not a polynomial in {names}: {error}"
            raise LanguageError(message, "declare its `variable`, or another `type`") from None

    def terms(self, value: Value) -> Terms:
        """The terms of a polynomial given as a sympy object, a number, or in the stored form. Do not change them.

        Raises Unreadable.
        """
        # a compile writes, reads and compares the same few expressions again and again
        if is_symbolic(value) and (parts := self._latest.get(value)) is not None:
            return parts
        builder = TermsBuilder(self.variables)
        value = normal(value)
        if type(value) is str:
            terms: Terms = parse_formula(value, builder, "strict")
            return terms
        if not is_symbolic(value):
            return _terms(value, builder)
        return self._remember(value, _terms(value, builder))

    def _remember(self, value: Value, terms: Terms) -> Terms:
        if len(self._latest) >= LATEST:
            self._latest.clear()
        self._latest[value] = terms
        return terms

    def _value(self, terms: Mapping[tuple[int, ...], Fraction]) -> Value:
        import sympy

        symbols = [sympy.Symbol(name) for name in self.variables]
        terms = {powers: factor for powers, factor in terms.items() if factor}
        value = sum_of_monomials((factor, list(zip(symbols, powers, strict=True))) for powers, factor in terms.items())
        if is_symbolic(value):
            self._remember(value, terms)
        return value

    def holds(self, value: Value) -> bool:
        try:
            return not isinstance(value, bool) and bool(self.terms(value) or True)
        except Unreadable:
            return False

    def write(self, value: Value) -> str:
        terms = sorted(self.terms(value).items(), key=lambda term: (sum(term[0]), term[0]), reverse=True)
        parts = [self._term(powers, factor, not at) for at, (powers, factor) in enumerate(terms)]
        return within("".join(parts) or "0", LENGTH)

    def _term(self, powers: Sequence[int], factor: Fraction, is_first: bool) -> str:
        sign = ("-" if is_first else " - ") if factor < 0 else "" if is_first else " + "
        size = abs(factor)
        factors = [
            f"{name}^{power}" if power > 1 else name
            for name, power in zip(self.variables, powers, strict=True)
            if power
        ]
        below = f"/{integer_text(size.denominator)}" if size.denominator > 1 else ""
        number = [integer_text(size.numerator) + below] if size != 1 or not factors else []
        return sign + "*".join([*number, *factors])

    def read(self, text: str, mode: Mode) -> Value:
        return self._value(parse_formula(text, TermsBuilder(self.variables), mode))

    def equal(self, reply: Value, truth: Value) -> bool:
        try:
            return self.terms(reply) == self.terms(truth)
        except Unreadable as error:
            raise Undecided(f"two polynomials cannot be compared: {error}") from None

    def key(self, value: Value) -> Hashable | None:
        return frozenset(self.terms(value).items())

    def describe(self) -> str:
        return f"a polynomial in {' and '.join(self.variables)}, such as {self.write(self.samples()[0])}"

    def samples(self) -> list[Value]:
        first, last = self.variables[0], self.variables[-1]
        return [f"3*{first}**2 - 1/2*{last} + 1", f"{first} + 1", f"{last}**3"]


def _terms(value: Any, builder: TermsBuilder) -> Terms:
    """Return the terms of a sympy object, read part by part; sympy never parses text."""
    if isinstance(value, bool):
        raise Unreadable("not a number")
    if isinstance(value, int | Fraction):
        return builder.rational(Fraction(value))
    if not is_symbolic(value):
        raise Unreadable("not an expression")
    if value.is_Rational:
        return builder.rational(Fraction(int(value.p), int(value.q)))
    if value.is_Symbol:
        return builder.name(value.name)
    if value.is_Pow and value.exp.is_Integer:
        return builder.binary("**", _terms(value.base, builder), builder.rational(Fraction(int(value.exp))))
    if value.is_Add or value.is_Mul:
        parts = [_terms(part, builder) for part in value.args]
        terms = parts[0]
        for part in parts[1:]:
            terms = builder.binary("+" if value.is_Add else "*", terms, part)
        return terms
    raise Unreadable("something that is not a polynomial with rational coefficients")

"""Parameter types of algebra: tuple, vector, polynomial."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import prod
from typing import Any

from dia_language.counts import counted
from dia_language.diagnostics import LanguageError
from dia_language.functions.calculus import SYMBOL
from dia_language.numbers.values import Value, described, is_symbolic, normal

from dia_compiler.types.base import (
    Choose,
    Domain,
    OptionFault,
    ParameterType,
    bounds_option,
    length_option,
    option,
    written,
)
from dia_compiler.types.lists import Lists, capped_power
from dia_compiler.types.ranks import COUNT_CAP

DEGREE = 200


class Tuples(Domain):
    """Lists of a fixed length; each position has its own domain."""

    __slots__ = ("of",)

    def __init__(self, of: list[Domain]) -> None:
        self.of = of

    def draw(self, choose: Choose) -> Value:
        return [domain.draw(choose) for domain in self.of]

    def contains(self, value: Value) -> bool:
        if not isinstance(value, list) or len(value) != len(self.of):
            return False
        return all(domain.contains(item) for domain, item in zip(self.of, value, strict=True))

    def refusal(self, value: Value) -> str | None:
        if not isinstance(value, list):
            return f"{written(value)} is not a list"
        if len(value) != len(self.of):
            return f"it has {counted(len(value), 'element')}, not {len(self.of)}"
        for number, (domain, item) in enumerate(zip(self.of, value, strict=True), 1):
            if not domain.contains(item):
                return f"element {number}: {domain.refusal(item) or f'{written(item)} is not allowed'}"
        return None

    @property
    def count(self) -> int:
        return prod(domain.count for domain in self.of)

    @property
    def is_counted(self) -> bool:  # type: ignore[override]
        return all(domain.is_counted for domain in self.of)

    def boundary(self) -> list[Value]:
        edges = [domain.boundary() for domain in self.of]
        return [[values[place] for values in edges] for place in (0, -1)] if all(edges) else []


class TupleType(ParameterType):
    summary = "a list in which each position has its own type"
    options = {"of": option("types", "the type of each position", required=True)}

    def domain(self, options: Mapping[str, Any]) -> Domain:
        if not options["of"]:
            raise OptionFault("of", "`of` is empty")
        return Tuples(options["of"])


class VectorType(ParameterType):
    summary = "a vector, as a list of its components"
    options = {
        "length": option("data", "number of components, or {min, max}", required=True),
        "of": option("type", "the type of its components", required=True),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        low, high = length_option(options)
        return Lists(options["of"], low, high, False)


class Polynomials(Domain):
    """Polynomials in one variable; the degree is drawn first, then the coefficients, the leading one not 0."""

    __slots__ = ("high", "low", "of", "variable")

    def __init__(self, variable: str, low: int, high: int, of: Domain) -> None:
        self.variable, self.low, self.high, self.of = variable, low, high, of

    def draw(self, choose: Choose) -> Value:
        degree = choose.between(self.low, self.high)
        leading = choose.where(self._coefficient, lambda number: number != 0)
        return self._value([leading, *(self._coefficient(choose) for _ in range(degree))])

    def _coefficient(self, choose: Choose) -> Value:
        number = self.of.draw(choose)
        if not _is_number(number):
            raise LanguageError(f"a coefficient must be a number, not {described(number)}", code="E403")
        return number

    def _value(self, coefficients: list[Value]) -> Value:
        """Return the polynomial with these coefficients, leading one first; a number if it is constant."""
        import sympy

        x, top = sympy.Symbol(self.variable), len(coefficients) - 1
        numbers = [sympy.Rational(number.numerator, number.denominator) for number in coefficients]
        return normal(sympy.Add(*(number * x ** (top - place) for place, number in enumerate(numbers))))

    def contains(self, value: Value) -> bool:
        terms = self._terms(value)
        if not terms or not self.low <= max(terms) <= self.high or terms[max(terms)] == 0:
            return False
        return all(self.of.contains(terms.get(power, 0)) for power in range(max(terms) + 1))

    def _terms(self, value: Value) -> dict[int, Value]:
        """Return the coefficient of each power in an expanded polynomial; None for anything else."""
        import sympy

        if _is_number(value):
            return {0: value}
        if not is_symbolic(value) or not isinstance(value, sympy.Expr):
            return {}
        pairs = [term.as_coeff_exponent(sympy.Symbol(self.variable)) for term in sympy.Add.make_args(value)]
        terms = {int(power): normal(number) for number, power in pairs if power.is_Integer and power >= 0}
        return terms if len(terms) == len(pairs) and all(map(_is_number, terms.values())) else {}

    @property
    def count(self) -> int:
        leading = self.of.count - int(self.of.contains(0))
        total = 0
        for degree in range(self.low, self.high + 1):
            total += leading * capped_power(self.of.count, degree)
        return min(COUNT_CAP, total)

    @property
    def is_counted(self) -> bool:  # type: ignore[override]
        return self.of.is_counted

    def boundary(self) -> list[Value]:
        """Return the polynomials of lowest and highest degree all of whose coefficients are one edge."""
        edges = [edge for edge in self.of.boundary() if _is_number(edge) and edge != 0]
        degrees = dict.fromkeys((self.low, self.high))
        return [self._value([edge] * (degree + 1)) for degree in degrees for edge in (edges[:1] + edges[1:][-1:])]


def _is_number(value: Value) -> bool:
    return type(value) is not bool and isinstance(value, (int, Fraction))


class PolynomialType(ParameterType):
    summary = "a polynomial in one variable, as an expression"
    options = {
        "variable": option("data", "the variable's name (default x)"),
        "degree": option("data", "the degree, or {min, max}", required=True),
        "coefficients": option("type", "the type of the coefficients; the leading one is never 0", required=True),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        variable = options.get("variable", "x")
        if not isinstance(variable, str) or not SYMBOL.fullmatch(variable):
            help = "a name consists of letters and digits and starts with a letter"
            raise OptionFault("variable", "`variable` must be a name", help)
        low, high = bounds_option(options, "degree", 0, DEGREE)
        domain = Polynomials(variable, low, high, options["coefficients"])
        if not all(map(_is_number, domain.of.boundary())):
            raise OptionFault("coefficients", "coefficients must be numbers")
        if domain.of.is_counted and domain.count < 1:
            raise OptionFault("coefficients", "the leading coefficient can only be 0")
        return domain

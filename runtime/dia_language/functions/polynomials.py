"""Polynomial algebra: roots with multiplicity, factorisation, coefficients, division."""

from __future__ import annotations

from typing import Any

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions import calculus
from dia_language.functions.argument_types import Expression, Number, Symbol
from dia_language.functions.registry import library_function
from dia_language.numbers import operators
from dia_language.numbers.values import normal

FACTORED_DEGREE = 100
DEGREE = 10_000


@library_function
def roots(polynomial: Expression, symbol: Symbol) -> list[list[Number]]:
    """The complex roots of the polynomial as a list of [root, multiplicity]: real ones first, in ascending order.

    Coefficients must be rational and the degree from 1 to 100. Raises an error if a root has no closed form.

    Examples:
        roots((symbol("x") - 1)**2 * (symbol("x") + 3), symbol("x")) -> [[-3, 1], [1, 2]]
        roots(symbol("x")**2 - 2, symbol("x")) -> [[-sqrt(2), 1], [sqrt(2), 1]]
    """
    import sympy

    rational = _rational("roots", polynomial, symbol)
    if rational.degree() < 1:
        raise LanguageError("a constant polynomial has no roots to list", code="E504")
    times = {normal(root): count for root, count in sympy.roots(rational).items()}
    return [[root, int(times[root])] for root in calculus.solve(rational.as_expr(), symbol)]


@library_function
def factor_polynomial(polynomial: Expression, symbol: Symbol) -> list[list[Expression]]:
    """The irreducible factors of the polynomial over the rational numbers, as a list of [factor, exponent].

    A constant factor other than 1 comes first. The other factors have coprime integer coefficients and a positive
    leading coefficient; they are sorted by degree, then by exponent. Coefficients must be rational and the degree at
    most 100.

    Examples:
        factor_polynomial(2 * symbol("x")**4 - 2, symbol("x")) -> [[2, 1], [x - 1, 1], [x + 1, 1], [x**2 + 1, 1]]
    """
    content, factors = _rational("factor_polynomial", polynomial, symbol).factor_list()
    first = [[normal(content), 1]] if content != 1 else []
    return first + [[normal(part.as_expr()), int(exponent)] for part, exponent in factors]


@library_function
def degree(polynomial: Expression, symbol: Symbol) -> int:
    """The degree of the polynomial in `symbol`.

    At most 10,000. Raises an error for 0, which has no degree, and if the expression is not a polynomial.

    Examples:
        degree((symbol("x")**2 + 1) * (symbol("x") - 3), symbol("x")) -> 3
        degree(7, symbol("x")) -> 0
    """
    poly = _polynomial("degree", polynomial, symbol)
    if poly.is_zero:
        raise LanguageError("the polynomial 0 has no degree", code="E504")
    return int(poly.degree())


@library_function
def coefficients(polynomial: Expression, symbol: Symbol) -> list[Expression]:
    """The coefficients of the polynomial in `symbol`, constant first; [0] for 0.

    The inverse of the function `polynomial`. The degree is at most 10,000. Raises an error if the expression is not
    a polynomial.

    Examples:
        coefficients((symbol("x") + 1)**2 * symbol("x"), symbol("x")) -> [0, 1, 2, 1]
    """
    return [normal(value) for value in reversed(_polynomial("coefficients", polynomial, symbol).all_coeffs())]


@library_function
def divide_polynomials(a: Expression, b: Expression, symbol: Symbol) -> list[Expression]:
    """The quotient and remainder of the polynomial division of `a` by `b`, as [quotient, remainder].

    The remainder has a lower degree than `b`. Coefficients must be rational and degrees at most 100. Raises an error if
    `b` is 0.

    Examples:
        divide_polynomials(symbol("x")**3 + 1, symbol("x")**2 - 1, symbol("x")) -> [x, x + 1]
    """
    dividend, divisor = (_rational("divide_polynomials", value, symbol) for value in (a, b))
    if divisor.is_zero:
        raise LanguageError("division by the polynomial 0", code="E504")
    return [normal(part.as_expr()) for part in dividend.div(divisor)]


def _rational(name: str, polynomial: Expression, symbol: Symbol) -> Any:
    """The polynomial, checked to have rational coefficients and a degree that can be factored."""
    poly = _polynomial(name, polynomial, symbol, FACTORED_DEGREE)
    if not (poly.domain.is_ZZ or poly.domain.is_QQ):
        raise LanguageError(f"`{name}` needs a polynomial with rational coefficients in one symbol")
    return poly.set_domain("QQ")


def _polynomial(name: str, expression: Expression, symbol: Symbol, most: int = DEGREE) -> Any:
    import sympy

    formula = operators.symbolic(expression)
    if not formula.is_polynomial(symbol):
        raise LanguageError(f"`{name}` needs a polynomial in `{symbol}`", code="E504")
    bound = _degree(formula, symbol)
    if bound > most:
        raise LanguageError(f"`{name}` takes polynomials up to degree {most:,}", code="E502")
    charge(bound)
    return sympy.Poly(operators.symbolic(calculus.expand(formula)), symbol)


def _degree(expression: Any, symbol: Any) -> int:
    """An upper bound for the degree, without expanding."""
    if expression == symbol:
        return 1
    parts = [_degree(part, symbol) for part in expression.args]
    if expression.is_Mul:
        return sum(parts)
    if expression.is_Pow and parts[0]:
        return parts[0] * abs(int(expression.exp))
    return max(parts, default=0)

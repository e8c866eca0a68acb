"""Algebra of polynomials: roots with their multiplicities, factors, coefficients, division."""

from __future__ import annotations

from typing import Any

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions import calculus
from dia_language.functions.argument_types import Expression, Number
from dia_language.functions.closed_forms import require_symbol
from dia_language.functions.registry import library_function
from dia_language.numbers import operators
from dia_language.numbers.values import normal

FACTORED_DEGREE = 100
DEGREE = 10_000


@library_function
def roots(polynomial: Expression, symbol: Expression) -> list[list[Number]]:
    """Complex roots of the polynomial as a list of [root, multiplicity], the real ones in ascending order first.

    The coefficients are rational, the degree is from 1 to 100. An error where a root has no closed form.

    >>> from dia_language.functions.calculus import symbol
    >>> x = symbol("x")
    >>> roots((x - 1) ** 2 * (x + 3), x), roots(x**2 - 2, x)
    ([[-3, 1], [1, 2]], [[-sqrt(2), 1], [sqrt(2), 1]])
    """
    import sympy

    rational = _rational("roots", polynomial, symbol)
    if rational.degree() < 1:
        raise LanguageError("a constant has no list of roots", code="E504")
    times = {normal(root): count for root, count in sympy.roots(rational).items()}
    return [[root, int(times[root])] for root in calculus.solve(rational.as_expr(), symbol)]


@library_function
def factor_polynomial(polynomial: Expression, symbol: Expression) -> list[list[Expression]]:
    """Irreducible factors of the polynomial over the rational numbers as a list of [factor, exponent].

    A constant other than 1 comes first; the other factors have integer coefficients without a common divisor and a
    positive leading one, and stand by degree, then by exponent. The coefficients are rational, the degree at most 100.

    >>> from dia_language.functions.calculus import symbol
    >>> x = symbol("x")
    >>> factor_polynomial(2 * x**4 - 2, x)
    [[2, 1], [x - 1, 1], [x + 1, 1], [x**2 + 1, 1]]
    """
    content, factors = _rational("factor_polynomial", polynomial, symbol).factor_list()
    first = [[normal(content), 1]] if content != 1 else []
    return first + [[normal(part.as_expr()), int(exponent)] for part, exponent in factors]


@library_function
def degree(polynomial: Expression, symbol: Expression) -> int:
    """Degree of the polynomial in the symbol.

    At most 10,000. An error for 0, which has none, and for what is no polynomial.

    >>> from dia_language.functions.calculus import symbol
    >>> x = symbol("x")
    >>> degree((x**2 + 1) * (x - 3), x), degree(7, x)
    (3, 0)
    """
    poly = _polynomial("degree", polynomial, symbol)
    if poly.is_zero:
        raise LanguageError("the polynomial 0 has no degree", code="E504")
    return int(poly.degree())


@library_function
def coefficients(polynomial: Expression, symbol: Expression) -> list[Expression]:
    """Coefficients of the polynomial in the symbol, the constant first; of 0 it is [0].

    The inverse of `polynomial`. The degree is at most 10,000; an error for what is no polynomial.

    >>> from dia_language.functions.calculus import symbol
    >>> x = symbol("x")
    >>> coefficients((x + 1) ** 2 * x, x)
    [0, 1, 2, 1]
    """
    return [normal(value) for value in reversed(_polynomial("coefficients", polynomial, symbol).all_coeffs())]


@library_function
def divide_polynomials(a: Expression, b: Expression, symbol: Expression) -> list[Expression]:
    """Quotient and remainder of dividing the polynomial `a` by `b`: a = quotient * b + remainder.

    The remainder is of lower degree than `b`. The coefficients are rational, the degrees at most 100; an error
    where `b` is 0.

    >>> from dia_language.functions.calculus import symbol
    >>> x = symbol("x")
    >>> divide_polynomials(x**3 + 1, x**2 - 1, x)
    [x, x + 1]
    """
    dividend, divisor = (_rational("divide_polynomials", value, symbol) for value in (a, b))
    if divisor.is_zero:
        raise LanguageError("division by the polynomial 0", code="E504")
    return [normal(part.as_expr()) for part in dividend.div(divisor)]


def _rational(name: str, polynomial: Expression, symbol: Expression) -> Any:
    """The polynomial with rational coefficients, of a degree that can be factored."""
    poly = _polynomial(name, polynomial, symbol, FACTORED_DEGREE)
    if not (poly.domain.is_ZZ or poly.domain.is_QQ):
        raise LanguageError(f"`{name}` needs a polynomial with rational coefficients in one symbol")
    return poly.set_domain("QQ")


def _polynomial(name: str, expression: Expression, symbol: Expression, most: int = DEGREE) -> Any:
    import sympy

    formula = operators.symbolic(expression)
    if not formula.is_polynomial(require_symbol(symbol)):
        raise LanguageError(f"`{name}` needs a polynomial in `{symbol}`", code="E504")
    bound = _degree(formula, symbol)
    if bound > most:
        raise LanguageError(f"`{name}` takes polynomials up to degree {most}", code="E502")
    charge(bound)
    return sympy.Poly(operators.symbolic(calculus.expand(formula)), symbol)


def _degree(expression: Any, symbol: Any) -> int:
    """Upper bound on the degree, without multiplying out."""
    if expression == symbol:
        return 1
    parts = [_degree(part, symbol) for part in expression.args]
    if expression.is_Mul:
        return sum(parts)
    if expression.is_Pow and parts[0]:
        return parts[0] * abs(int(expression.exp))
    return max(parts, default=0)

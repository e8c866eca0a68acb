"""Symbolic algebra and calculus with sympy. Expressions are built with `symbol`; text is never parsed by sympy."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import reduce
from typing import Any

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Endpoint, Expression, Number, Symbol
from dia_language.functions.closed_forms import attempted, closed, no_closed_form
from dia_language.functions.ordering import order
from dia_language.functions.registry import library_function
from dia_language.limits import INTEGER_BITS
from dia_language.numbers import operators
from dia_language.numbers.monomials import sum_of_monomials
from dia_language.numbers.values import normal

TERMS = 10_000
SYMBOL = re.compile(r"[A-Za-z][A-Za-z0-9]*")


@library_function
def symbol(name: str) -> Expression:
    """The symbol called `name`, used to build expressions.

    The name must start with a letter and contain only letters and digits.

    Examples:
        symbol("x")**2 + 1 -> x**2 + 1
    """
    import sympy

    if not SYMBOL.fullmatch(name):
        raise LanguageError("the name of a symbol must start with a letter and contain only letters and digits")
    return sympy.Symbol(name)


@library_function
def exp(x: Number) -> Expression:
    """The exponential function of `x`; `exp(1)` is Euler's number.

    Examples:
        exp(0) -> 1
        exp(symbol("x")) -> exp(x)
    """
    return _elementary("exp", x)


@library_function
def log(x: Number) -> Expression:
    """The natural logarithm of `x`.

    The result is complex if `x` is negative. Raises an error if `x` is 0.

    Examples:
        log(1) -> 0
        log(exp(3)) -> 3
    """
    return _elementary("log", x)


@library_function
def sin(x: Number) -> Expression:
    """The sine of `x`, an angle in radians.

    Examples:
        sin(symbol("x")) -> sin(x)
        sin(0) -> 0
    """
    return _elementary("sin", x)


@library_function
def cos(x: Number) -> Expression:
    """The cosine of `x`, an angle in radians.

    Examples:
        cos(symbol("x")) -> cos(x)
        cos(0) -> 1
    """
    return _elementary("cos", x)


@library_function
def tan(x: Number) -> Expression:
    """The tangent of `x`, an angle in radians.

    Examples:
        tan(symbol("x")) -> tan(x)
        tan(0) -> 0
    """
    return _elementary("tan", x)


@library_function
def atan(x: Number) -> Expression:
    """The angle in radians, between -pi/2 and pi/2, whose tangent is `x`.

    Examples:
        atan(1) -> pi/4
    """
    return _elementary("atan", x)


def _elementary(name: str, x: Number) -> Any:
    import sympy

    return normal(getattr(sympy, name)(operators.symbolic(x)))


@library_function
def expand(expression: Expression) -> Expression:
    """`expression` multiplied out into a sum of products.

    Raises an error if the result could have more than 10,000 terms.

    Examples:
        expand((symbol("x") + 1)**2) -> x**2 + 2*x + 1
    """
    formula = operators.symbolic(expression)
    if (terms := _terms(formula)) > TERMS:
        raise LanguageError(f"the result of `expand` could exceed {TERMS:,} terms", code="E502")
    charge(terms)
    return normal(formula.expand())


def _terms(expression: Any) -> int:
    """An upper bound for the number of terms of the expanded expression."""
    if expression.is_Add:
        return sum(map(_terms, expression.args))
    if expression.is_Mul:
        return math.prod(map(_terms, expression.args))
    if expression.is_Pow and expression.exp.is_Integer:
        terms, power = _terms(expression.base), abs(int(expression.exp))
        return math.comb(min(terms, TERMS) + power - 1, min(power, TERMS)) if terms > 1 else 1
    return max(1, sum(map(_terms, expression.args)))


@library_function
def substitute(expression: Expression, symbol: Symbol, value: Expression) -> Expression:
    """`expression` with `symbol` replaced by `value`.

    Raises an error if a number in the result could exceed 1,000,000 bits.

    Examples:
        substitute(symbol("x")**2 + symbol("x"), symbol("x"), 3) -> 12
    """
    formula, replacement = operators.symbolic(expression), operators.symbolic(value)
    if _bits(formula, symbol, _bits(replacement)) > INTEGER_BITS:
        raise LanguageError(f"a number in the result of `substitute` could exceed {INTEGER_BITS:,} bits", code="E502")
    number = _value_at(formula, symbol, replacement) if replacement.is_Rational else None
    return normal(formula.subs(symbol, replacement) if number is None else number)


def _value_at(expression: Any, symbol: Any, value: Any) -> int | Fraction | None:
    """Return the value of a polynomial in the symbol at a rational number, None for other expressions.

    It must be what `subs` returns, which takes over ten times as long.
    """
    if expression == symbol:
        expression = value
    if expression.is_Rational:
        top, bottom = int(expression.p), int(expression.q)
        return top if bottom == 1 else Fraction(top, bottom)
    is_power = expression.is_Pow and expression.exp.is_Integer and expression.exp > 0
    if not (expression.is_Add or expression.is_Mul or is_power):
        return None
    parts = [part for term in expression.args if (part := _value_at(term, symbol, value)) is not None]
    if len(parts) < len(expression.args):
        return None
    combine: Any = sum if expression.is_Add else math.prod if expression.is_Mul else lambda both: both[0] ** both[1]
    return combine(parts)  # type: ignore[no-any-return]


def _bits(expression: Any, symbol: Any = None, size: int = 0) -> int:
    """An upper bound for the bits of the numbers in the expression if the symbol has `size` bits."""
    if expression.is_Rational:
        return max(int(expression.p).bit_length(), int(expression.q).bit_length())
    if expression == symbol:
        return size
    parts = [_bits(part, symbol, size) for part in expression.args]
    if expression.is_Pow:
        if expression.exp.is_Integer:
            return parts[0] * abs(int(expression.exp))
        return parts[0] * 2 ** min(parts[1], 40) if parts[0] > 1 else parts[0]
    if expression.is_Add or expression.is_Mul:
        return sum(parts) + len(parts)
    return max(parts, default=0)


@library_function
def differentiate(expression: Expression, symbol: Symbol) -> Expression:
    """The derivative of `expression` with respect to `symbol`.

    Examples:
        differentiate(symbol("x")**3 + sin(symbol("x")), symbol("x")) -> 3*x**2 + cos(x)
    """
    return closed("derivative", operators.symbolic(expression).diff(symbol))


@library_function
def integrate(expression: Expression, symbol: Symbol, low: Endpoint = None, high: Endpoint = None) -> Expression:
    """The antiderivative of `expression` without a constant, or, if bounds are given, its definite integral.

    A bound is a number, an expression, `"infinity"` or `"-infinity"`. Both bounds must be given, or neither. Raises an
    error if no closed form is found or if the integral is not finite.

    Examples:
        integrate(symbol("x")**2, symbol("x")) -> x**3/3
        integrate(exp(-symbol("x")), symbol("x"), 0, "infinity") -> 1
    """
    import sympy

    if (low is None) != (high is None):
        raise LanguageError("`integrate` needs both bounds or neither")
    integrand = operators.symbolic(expression)
    integral = rational_integral(integrand, symbol, low, high)
    if integral is not None:
        return integral
    over = symbol if low is None else (symbol, _endpoint(low), _endpoint(high))
    return closed("integral", attempted("integral", lambda: sympy.integrate(integrand, over)))


def rational_integral(integrand: Expression, over: Expression, low: Endpoint, high: Endpoint) -> Expression | None:
    """The integral of a polynomial with rational coefficients, with rational bounds or none. None for anything else.

    The general method gives the same result but takes thirty times as long.
    """
    import sympy

    if not all(end is None or isinstance(end, (int, Fraction)) for end in (low, high)):
        return None
    if not integrand.free_symbols <= {over} or not integrand.is_polynomial(over):
        return None
    polynomial = sympy.Poly(integrand, over)
    if not (polynomial.domain.is_ZZ or polynomial.domain.is_QQ):
        return None
    whole = polynomial.integrate()
    if low is None or high is None:
        return whole.as_expr()
    return whole.eval(operators.symbolic(high)) - whole.eval(operators.symbolic(low))


@library_function
def limit(expression: Expression, symbol: Symbol, target: Endpoint) -> Expression:
    """The limit of `expression` as `symbol` approaches `target`.

    `target` is a number, an expression, `"infinity"` or `"-infinity"`. Raises an error if there is no limit, if the
    limits from the two sides differ, or if the limit is not finite.

    Examples:
        limit(sin(symbol("x")) / symbol("x"), symbol("x"), 0) -> 1
        limit((symbol("x") + 1) / symbol("x"), symbol("x"), "infinity") -> 1
    """
    import sympy

    formula, end = operators.symbolic(expression), _endpoint(target)
    sides = "+" if end.is_infinite else "+-"
    result = attempted("limit", lambda: sympy.limit(formula, symbol, end, sides))
    if result.has(sympy.AccumBounds):
        raise LanguageError("there is no limit: the expression oscillates", code="E504")
    return closed("limit", result)


@library_function
def solve(expression: Expression, symbol: Symbol) -> list[Expression]:
    """The values of `symbol` for which `expression` is 0, each once: real ones first, in ascending order.

    For a polynomial, all complex roots; for any other expression, the real ones. Raises an error if there are
    infinitely many or if no closed form is found.

    Examples:
        solve(symbol("x")**2 - 5 * symbol("x") + 6, symbol("x")) -> [2, 3]
        solve(symbol("x")**2 - 2, symbol("x")) -> [-sqrt(2), sqrt(2)]
    """
    import sympy

    formula = operators.symbolic(expression)
    roots = attempted("solution", lambda: _roots(formula, symbol) or _solutions(formula, symbol))
    solutions = [closed("solution", solution) for solution in sorted(roots, key=sympy.default_sort_key)]
    real = [solution for solution in solutions if _is_real(solution)]
    others = [solution for solution in solutions if not _is_real(solution)]
    return [real[place] for place in order(real)] + others


def _roots(formula: Any, symbol: Any) -> list[Any]:
    """All roots of a polynomial with rational coefficients; an empty list for any other expression."""
    import sympy

    polynomial = formula.as_poly(symbol)
    if polynomial is None or not (polynomial.domain.is_ZZ or polynomial.domain.is_QQ) or polynomial.is_ground:
        return []
    multiplicities = sympy.roots(polynomial)
    if sum(multiplicities.values()) < polynomial.degree():
        raise no_closed_form("solution")
    return list(multiplicities)


def _solutions(formula: Any, symbol: Any) -> list[Any]:
    import sympy

    domain = sympy.S.Complexes if formula.is_polynomial(symbol) else sympy.S.Reals
    solutions = sympy.solveset(formula, symbol, domain)
    if solutions is sympy.S.EmptySet:
        return []
    if not isinstance(solutions, sympy.FiniteSet):
        raise LanguageError("the solutions are not a finite list of closed forms", code="E504")
    return list(solutions)


def _is_real(solution: Expression) -> bool:
    formula = operators.symbolic(solution)
    if formula.is_real is None and not formula.free_symbols:
        raise no_closed_form("solution")  # real, but written with complex roots: Cardano's irreducible case
    return bool(formula.is_real)


@library_function
def polynomial(coefficients: list[Number], symbol: Symbol) -> Expression:
    """The polynomial in `symbol` with the given coefficients, constant first: coefficients[i] belongs to symbol**i.

    At most 10,000 coefficients.

    Examples:
        polynomial([5, 0, 2], symbol("x")) -> 2*x**2 + 5
    """
    import sympy

    if len(coefficients) > TERMS:
        raise LanguageError(f"`polynomial` takes at most {TERMS:,} coefficients", code="E502")
    if all(isinstance(value, int | Fraction) for value in coefficients):
        return sum_of_monomials((value, [(symbol, power)]) for power, value in enumerate(coefficients))
    terms = (operators.symbolic(value) * symbol**power for power, value in enumerate(coefficients))
    return normal(sympy.Add(*terms))


@library_function
def evaluate_polynomial(coefficients: list[Number], x: Number) -> Number:
    """The value at `x` of the polynomial with the given coefficients, constant first.

    Computed with Horner's rule. Raises an error if the result exceeds 1,000,000 bits.

    Examples:
        evaluate_polynomial([5, 0, 2], 3) -> 23
    """
    charge(len(coefficients))
    return reduce(lambda value, part: operators.add(operators.multiply(value, x), part), reversed(coefficients), 0)


@library_function
def polynomial_integral(coefficients: list[Number], low: Number, high: Number) -> Number:
    """The exact integral from `low` to `high` of the polynomial with the given coefficients, constant first.

    Computed from the antiderivative.

    Examples:
        polynomial_integral([0, 0, 3], 0, 2) -> 8
    """
    raised = [0, *(operators.divide(value, power) for power, value in enumerate(coefficients, 1))]
    return operators.subtract(evaluate_polynomial(raised, high), evaluate_polynomial(raised, low))


def _endpoint(value: Endpoint) -> Any:
    import sympy

    if isinstance(value, str):
        return {"infinity": sympy.oo, "-infinity": -sympy.oo}[value]
    return operators.symbolic(value)

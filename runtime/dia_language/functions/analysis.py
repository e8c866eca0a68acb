"""Analysis: integrals with proven digits, arc lengths, Taylor series and Laplace transforms."""

from __future__ import annotations

from typing import Any

from dia_language.diagnostics import LanguageError
from dia_language.functions import calculus
from dia_language.functions.argument_types import Expression, Number, Symbol
from dia_language.functions.closed_forms import attempted, closed
from dia_language.functions.registry import library_function
from dia_language.numbers import operators
from dia_language.numbers.certified import SPARE_DIGITS, interval
from dia_language.numbers.values import normal

TERMS = 30
CHECKED_DIGITS = 5


@library_function
def definite_integral(expression: Expression, symbol: Symbol, low: Number, high: Number) -> Number:
    """The integral of `expression` from `low` to `high` as an exact number, even if it has no closed form.

    The integral of a polynomial with rational coefficients is a rational number. For every other expression, `round_to`
    gives as many proven digits as you ask for, computed with Taylor series and interval arithmetic. The expression may
    contain rational powers, exp, log, sin, cos and tan. Raises an error if it is not smooth on the whole interval,
    including both ends. Use `integrate` for a closed form. Source: Moore, Interval Analysis (1966), chapter 8.

    Examples:
        round_to(definite_integral(exp(-symbol("x")**2), symbol("x"), 0, 1), 10) -> 0.7468241328
        definite_integral(symbol("x")**2, symbol("x"), 0, 3) -> 9
    """
    import sympy

    integrand = operators.symbolic(expression)
    if integrand.free_symbols - {symbol} or any(operators.symbolic(end).free_symbols for end in (low, high)):
        raise LanguageError("`definite_integral` needs an expression and bounds that contain no other symbols")
    exact = calculus.rational_integral(integrand, symbol, low, high)
    if exact is not None:
        return normal(exact)
    integral = sympy.Integral(integrand, (symbol, operators.symbolic(low), operators.symbolic(high)))
    # rounding asks for SPARE_DIGITS first
    if interval(integral, SPARE_DIGITS) is None and interval(integral, CHECKED_DIGITS) is None:
        raise LanguageError(
            "the integral cannot be bounded: the expression could not be proven smooth between the bounds", code="E504"
        )
    return integral


@library_function
def arc_length(expression: Expression, symbol: Symbol, low: Number, high: Number) -> Number:
    """The length of the graph of `expression` from `low` to `high`, as an exact number.

    This is the integral of sqrt(1 + derivative**2). The requirements and the precision are those of
    `definite_integral`.

    Examples:
        round_to(arc_length(symbol("x")**3, symbol("x"), 0, 1), 6) -> 1.547866
        arc_length(3 * symbol("x") / 4, symbol("x"), 0, 8) -> 10
    """
    import sympy

    slope = operators.symbolic(calculus.differentiate(expression, symbol))
    return definite_integral(sympy.sqrt(1 + slope**2), symbol, low, high)


@library_function
def taylor(expression: Expression, symbol: Symbol, at: Number, terms: int) -> list[Expression]:
    """The first `terms` coefficients of the Taylor series of `expression` around `at`, starting with the constant.

    `terms` must be from 1 to 30. Raises an error if the expression has no Taylor series at that point.

    Examples:
        taylor(exp(symbol("x")), symbol("x"), 0, 4) -> [1, 1, 1/2, 1/6]
        taylor(1 / symbol("x"), symbol("x"), 1, 3) -> [1, -1, 1]
    """
    if not 1 <= terms <= TERMS:
        raise LanguageError(f"`taylor` needs `terms` from 1 to {TERMS:,}", code="E501" if terms < 1 else "E502")
    shifted = operators.symbolic(expression).subs(symbol, symbol + operators.symbolic(at))
    series = attempted("Taylor series", lambda: shifted.series(symbol, 0, terms).removeO().expand())
    if not series.is_polynomial(symbol):
        raise LanguageError("the expression has no Taylor series at this point", code="E504")
    return [normal(series.coeff(symbol, power)) for power in range(terms)]


@library_function
def laplace(expression: Expression, symbol: Symbol, s: Expression) -> Expression:
    """The Laplace transform of `expression` with respect to `symbol`, evaluated at `s` (a number or another symbol).

    This is the integral of expression * exp(-s * symbol) from 0 to infinity. Raises an error if the integral does not
    converge or if no closed form is found.

    Examples:
        laplace(symbol("t")**2 * exp(-3 * symbol("t")), symbol("t"), 2) -> 2/125
        laplace(symbol("t"), symbol("t"), symbol("s")) -> s**(-2)
    """
    import sympy

    if operators.symbolic(s) == symbol:
        raise LanguageError("`laplace` needs `s` to be a number or another symbol")
    place = sympy.Dummy("s")
    transform = attempted(
        "Laplace transform", lambda: sympy.laplace_transform(operators.symbolic(expression), symbol, place)
    )
    result, abscissa = _transform(transform)
    point = operators.symbolic(s)
    if not point.free_symbols and not abscissa.free_symbols and not operators.less(normal(abscissa), s):
        raise LanguageError("the Laplace integral does not converge at this `s`", code="E504")
    return closed("Laplace transform", result.subs(place, point))


def _transform(transform: Any) -> tuple[Any, Any]:
    """The transform and the number above which it converges; minus infinity is given as a very small number."""
    import sympy

    if not isinstance(transform, tuple) or transform[0].has(sympy.LaplaceTransform):
        raise LanguageError("no closed form was found for the Laplace transform", code="E504")
    result, abscissa = transform[0], transform[1]
    return result, sympy.Integer(-(10**100)) if abscissa is sympy.S.NegativeInfinity else abscissa

"""Exact statistics of lists of numbers: spread, quantiles, correlation."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError, unknown_name
from dia_language.functions.argument_types import Number, Rational, Value
from dia_language.functions.arithmetic import mean, sqrt, sum_
from dia_language.functions.ordering import ascending
from dia_language.functions.registry import library_function
from dia_language.functions.sets import tally
from dia_language.numbers import operators
from dia_language.numbers.values import normal


@library_function
def modes(items: list[Value]) -> list[Value]:
    """The items that occur most often, in order of first appearance; an empty list for an empty list.

    Examples:
        modes([1, 3, 3, 2, 2]) -> [3, 2]
        modes(["a"]) -> ["a"]
    """
    counts = tally(items)
    most = max((count for _, count in counts), default=0)
    return [item for item, count in counts if count == most]


@library_function
def variance(values: list[Number], of: str = "population") -> Number:
    """The exact variance of the numbers.

    `of` is population (divide by n) or sample (divide by n - 1). Raises an error for an empty list, and for a sample
    with only one number.

    Examples:
        variance([1, 2, 3, 4]) -> 5/4
        variance([1, 2, 3, 4], "sample") -> 5/3
    """
    return covariance(values, values, of)


@library_function
def standard_deviation(values: list[Number], of: str = "population") -> Number:
    """The exact standard deviation of the numbers: the square root of their `variance`.

    `of` is population (divide by n) or sample (divide by n - 1).

    Examples:
        standard_deviation([2, 4, 4, 4, 5, 5, 7, 9]) -> 2
        standard_deviation([1, 2]) -> 1/2
    """
    return sqrt(variance(values, of))


@library_function
def covariance(a: list[Number], b: list[Number], of: str = "population") -> Number:
    """The exact covariance of two lists of the same length.

    `of` is population (divide by n) or sample (divide by n - 1).

    Examples:
        covariance([1, 2, 3], [2, 4, 7]) -> 5/3
    """
    return operators.divide(_products(a, b), _divisor(len(a), of))


@library_function
def correlation(a: list[Number], b: list[Number]) -> Number:
    """The Pearson correlation of two lists of the same length, exact, from -1 to 1.

    Raises an error if all numbers of a list are equal. Source: Pearson (1895).

    Examples:
        correlation([1, 2, 3], [2, 4, 6]) -> 1
        correlation([1, 2, 3], [1, 3, 2]) -> 1/2
    """
    spread = operators.multiply(_products(a, a), _products(b, b))
    if operators.equal(spread, 0):
        raise LanguageError("the correlation is undefined: all numbers of a list are equal", code="E504")
    return operators.divide(_products(a, b), sqrt(spread))


@library_function
def linear_fit(xs: list[Number], ys: list[Number]) -> list[Number]:
    """The slope and intercept of the least-squares line through the points, exact, as [slope, intercept].

    Raises an error if all of `xs` are equal. Source: Legendre (1805).

    Examples:
        linear_fit([0, 1, 2], [1, 3, 5]) -> [2, 1]
        linear_fit([1, 2, 3], [1, 3, 2]) -> [1/2, 1]
    """
    spread = _products(xs, xs)
    if len(xs) == len(ys) and operators.equal(spread, 0):
        raise LanguageError("all `xs` are equal, so there is no line to fit", code="E504")
    slope = operators.divide(_products(xs, ys), spread)
    return [slope, operators.subtract(mean(ys), operators.multiply(slope, mean(xs)))]


@library_function
def quantile(values: list[Number], share: Rational, method: str = "linear") -> Number:
    """The exact quantile of the numbers: the value below which the given share of them lies.

    `share` must be from 0 to 1. `method` says how to choose a value at position h = (n - 1) * share of the sorted
    numbers, counted from 0: linear (interpolate between the neighbours), lower, higher, midpoint, or nearest (if both
    are equally near, the one at the even position). With `inverted`, the result is the smallest x in `values` such
    that at least the given share of the numbers is x or less. Raises an error for an empty list. Source: Hyndman and
    Fan, The American Statistician 50 (1996), types 7 and 1.

    Examples:
        quantile([1, 2, 3, 4], 1/4) -> 7/4
        quantile([1, 2, 3, 4], 1/4, "inverted") -> 1
    """
    if not values or not 0 <= share <= 1:
        raise LanguageError("`quantile` needs a list that is not empty, and a share from 0 to 1")
    if method not in QUANTILES and method != "inverted":
        raise unknown_name("method of `quantile`", method, [*QUANTILES, "inverted"])
    ordered = ascending(values)
    if method == "inverted":
        return ordered[max(0, -(-len(ordered) * share // 1) - 1)]
    whole, rest = divmod(Fraction(share) * (len(ordered) - 1), 1)
    part = normal(QUANTILES[method](int(whole), Fraction(rest)))
    low, high = ordered[int(whole)], ordered[min(int(whole) + 1, len(ordered) - 1)]
    return operators.add(low, operators.multiply(part, operators.subtract(high, low))) if part else low


HALF = Fraction(1, 2)
# The share of the way from the lower to the higher neighbour, from the lower index and the fractional part
QUANTILES: dict[str, Callable[[int, Fraction], Fraction]] = {
    "linear": lambda place, part: part,
    "lower": lambda place, part: Fraction(0),
    "higher": lambda place, part: Fraction(part > 0),
    "midpoint": lambda place, part: HALF if part else part,
    "nearest": lambda place, part: Fraction(part > HALF or (part == HALF and place % 2 == 1)),
}


def _products(a: list[Number], b: list[Number]) -> Number:
    """The sum of the products of the deviations from the two means."""
    if len(a) != len(b):
        raise LanguageError(f"the two lists must have the same length; these have {len(a)} and {len(b)} numbers")
    if not a:
        raise LanguageError("an empty list has no variance, covariance, correlation or fit", code="E504")
    charge(2 * len(a))
    mixed = sum_([operators.multiply(x, y) for x, y in zip(a, b, strict=True)])
    return operators.subtract(mixed, operators.multiply(sum_(a), mean(b)))


def _divisor(count: int, of: str) -> int:
    if of not in ("population", "sample"):
        raise LanguageError("`of` must be population or sample")
    if of == "sample" and count < 2:
        raise LanguageError("a sample needs two or more numbers", code="E504")
    return count if of == "population" else count - 1

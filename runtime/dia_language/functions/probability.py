"""Exact probability: expected values, common distributions, Bayes' rule. A probability is a rational number."""

from __future__ import annotations

from fractions import Fraction

from dia_language.budgets import charge, require_bits
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Number, Rational
from dia_language.functions.arithmetic import sum_
from dia_language.functions.number_theory import binomial, factorial
from dia_language.functions.registry import library_function
from dia_language.numbers import operators
from dia_language.numbers.values import normal

DISTANCE_BITS = 2_000


@library_function
def expected_value(values: list[Number], weights: list[Rational]) -> Number:
    """The exact weighted mean of the values; their expected value if the weights are probabilities.

    The weights must be 0 or more and not all 0; they need not sum to 1.

    Examples:
        expected_value([0, 10], [1/4, 3/4]) -> 15/2
        expected_value([1, 2, 3], [1, 1, 2]) -> 9/4
    """
    _weights("expected_value", len(values), weights)
    charge(len(values))
    total = sum_([operators.multiply(value, weight) for value, weight in zip(values, weights, strict=True)])
    return operators.divide(total, sum_(list(weights)))


@library_function
def bayes(priors: list[Rational], likelihoods: list[Rational]) -> list[Rational]:
    """The posterior probabilities of the causes, from their priors and the likelihood of the observation under each.

    The priors need not sum to 1; the results do. Raises an error if the observation is impossible under every cause.

    Examples:
        bayes([1/100, 99/100], [9/10, 1/10]) -> [1/12, 11/12]
    """
    _weights("bayes", len(likelihoods), priors)
    for likelihood in likelihoods:
        _probability("bayes", likelihood)
    charge(len(priors))
    joint = [Fraction(prior) * likelihood for prior, likelihood in zip(priors, likelihoods, strict=True)]
    if not any(joint):
        raise LanguageError("the observation has probability 0", code="E504")
    return [normal(part / sum(joint)) for part in joint]


@library_function
def binomial_probability(n: int, k: int, p: Rational) -> Rational:
    """The probability of exactly `k` successes in `n` independent trials with success probability `p`.

    The result is 0 if `k` is negative or exceeds `n`. Raises an error if `p` is not from 0 to 1, and if the result
    could exceed 1,000,000 bits.

    Examples:
        binomial_probability(3, 2, 1/2) -> 3/8
    """
    _probability("binomial_probability", p)
    if n < 0:
        raise LanguageError("`binomial_probability` needs `n` to be 0 or more")
    _bounded("binomial_probability", n * (p.denominator.bit_length() + 1))
    if not 0 <= k <= n:
        return 0
    return normal(binomial(n, k) * Fraction(p) ** k * (1 - Fraction(p)) ** (n - k))  # type: ignore[no-any-return]


@library_function
def hypergeometric_probability(population: int, successes: int, draws: int, k: int) -> Rational:
    """The probability of exactly `k` successes among `draws` items drawn without replacement.

    `population` is the number of items and `successes` the number of successes among them. `successes` and `draws` must
    be from 0 to `population`. The result is 0 for an impossible `k`.

    Examples:
        hypergeometric_probability(52, 4, 5, 2) -> 2162/54145
    """
    if not (0 <= successes <= population and 0 <= draws <= population):
        raise LanguageError("`hypergeometric_probability` needs `successes` and `draws` from 0 to `population`")
    if not 0 <= k <= draws:
        return 0
    ways = binomial(successes, k) * binomial(population - successes, draws - k)
    return normal(Fraction(ways, binomial(population, draws)))  # type: ignore[no-any-return]


@library_function
def geometric_probability(k: int, p: Rational) -> Rational:
    """The probability that the first success is in trial `k`, counted from 1.

    `p`, from 0 to 1, is the success probability of each trial. Raises an error if the result could exceed 1,000,000
    bits.

    Examples:
        geometric_probability(3, 1/6) -> 25/216
    """
    _probability("geometric_probability", p)
    _bounded("geometric_probability", k * p.denominator.bit_length())
    return normal((1 - Fraction(p)) ** (k - 1) * p) if k > 0 else 0


@library_function
def poisson_probability(k: int, rate: Rational) -> Number:
    """The probability of exactly `k` events if `rate` are expected (Poisson), as an exact multiple of exp(-rate).

    `rate` must be 0 or more. The result is 0 if `k` is negative. Use `round_to` to get digits.

    Examples:
        poisson_probability(2, 3) -> 9*exp(-3)/2
        round_to(poisson_probability(2, 3), 4) -> 0.224
    """
    import sympy

    if rate < 0:
        raise LanguageError("`poisson_probability` needs `rate` to be 0 or more")
    if k < 0:
        return 0
    _bounded("poisson_probability", k * (rate.numerator.bit_length() + rate.denominator.bit_length()))
    share = operators.symbolic(normal(Fraction(rate) ** k / factorial(k)))
    return normal(share * sympy.exp(-operators.symbolic(rate)))


@library_function
def normal_probability(x: Number, mean: Number = 0, deviation: Number = 1) -> Number:
    """The probability that a normally distributed variable is at most `x`, exact in terms of the error function.

    `deviation` is the standard deviation and must be positive. Use `round_to` to get digits. If the distance from
    the mean in standard deviations is rational, its numerator and denominator can have at most 2,000 bits in total.

    Examples:
        normal_probability(5, 5) -> 1/2
        round_to(normal_probability(130, 100, 15), 4) -> 0.9772
    """
    import sympy

    if not operators.less(0, deviation):
        raise LanguageError("`normal_probability` needs a positive standard deviation")
    distance = operators.symbolic(operators.divide(operators.subtract(x, mean), deviation))
    if distance.is_Rational and int(distance.p).bit_length() + int(distance.q).bit_length() > DISTANCE_BITS:
        raise LanguageError(f"`normal_probability` accepts numbers of at most {DISTANCE_BITS:,} bits", code="E502")
    return normal((1 + sympy.erf(distance / sympy.sqrt(2))) / 2)


def _probability(name: str, p: Rational) -> None:
    if not 0 <= p <= 1:
        raise LanguageError(f"`{name}` needs probabilities from 0 to 1")


def _weights(name: str, count: int, weights: list[Rational]) -> None:
    if len(weights) != count:
        raise LanguageError(
            f"`{name}` needs two lists of the same length; these have {count} and {len(weights)} numbers"
        )
    if not any(weights) or min(weights) < 0:
        raise LanguageError(f"`{name}` needs weights that are 0 or more and not all 0")


def _bounded(name: str, bits: int) -> None:
    require_bits(name, bits)
    charge(max(0, bits) // 100)

"""Distributions against scipy and counting."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
import scipy.stats
from dia_language.numbers.values import normal
from helpers.library_calls import call, code
from hypothesis import given, settings
from hypothesis import strategies as st

SHARES = st.fractions(0, 1, max_denominator=20).map(normal)


@settings(deadline=None)
@given(st.integers(0, 30), st.integers(-1, 31), SHARES)
def test_trials_agree_with_scipy(n: int, k: int, p: Any) -> None:
    assert float(call("binomial_probability", n, k, p)) == pytest.approx(scipy.stats.binom.pmf(k, n, float(p)))
    wanted = scipy.stats.geom.pmf(k, float(p)) if p else 0
    assert float(call("geometric_probability", k, p)) == pytest.approx(wanted)
    assert sum(call("binomial_probability", n, place, p) for place in range(n + 1)) == 1


@given(st.integers(0, 7), st.data())
def test_drawing_without_putting_back_agrees_with_counting(population: int, data: st.DataObject) -> None:
    successes, draws = (data.draw(st.integers(0, population)) for _ in range(2))
    hands = [sum(card < successes for card in hand) for hand in combinations(range(population), draws)]
    for k in range(-1, population + 2):
        found = call("hypergeometric_probability", population, successes, draws, k)
        assert found == Fraction(hands.count(k), len(hands))


@pytest.mark.parametrize("k,rate", [(0, 0), (0, 3), (4, 3), (7, Fraction(5, 2)), (-1, 2)])
def test_rare_events_agree_with_scipy(k: int, rate: Any) -> None:
    found = call("round_to", call("poisson_probability", k, rate), 12)
    assert float(found) == pytest.approx(scipy.stats.poisson.pmf(k, float(rate)), abs=1e-11)


@pytest.mark.parametrize("x,mean,deviation", [(0, 0, 1), (1, 0, 1), (-3, 1, 2), (130, 100, 15), (Fraction(1, 2), 0, 1)])
def test_normal_distributions_agree_with_scipy(x: Any, mean: int, deviation: int) -> None:
    found = call("round_to", call("normal_probability", x, mean, deviation), 12)
    assert float(found) == pytest.approx(scipy.stats.norm.cdf(float(x), mean, deviation), abs=1e-11)


@given(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=5))
def test_what_was_seen_changes_the_odds_by_how_likely_it_was(causes: list[tuple[Any, Any]]) -> None:
    priors, likelihoods = map(list, zip(*causes, strict=True))
    if not any(priors):
        assert code("bayes", priors, likelihoods) == "E501"
    elif not any(prior * likelihood for prior, likelihood in causes):
        assert code("bayes", priors, likelihoods) == "E504"
    else:
        after = call("bayes", priors, likelihoods)
        assert sum(after) == 1
        for (p, seen), (q, other) in combinations(causes, 2):
            i, j = causes.index((p, seen)), causes.index((q, other))
            assert after[i] * q * other == after[j] * p * seen


def test_expected_values() -> None:
    assert call("expected_value", [1, 2, 3, 4, 5, 6], [1] * 6) == Fraction(7, 2)
    assert call("expected_value", [100, -5], [Fraction(1, 20), Fraction(19, 20)]) == Fraction(1, 4)
    assert call("expected_value", [call("sqrt", 2), 0], [1, 1]) * 2 == call("sqrt", 2)


def test_arguments_out_of_range_are_refused() -> None:
    assert code("expected_value", [1], [1, 2]) == code("expected_value", [], []) == "E501"
    assert code("expected_value", [1, 2], [2, -1]) == code("bayes", [1], [2]) == "E501"
    assert code("binomial_probability", 3, 1, 2) == code("binomial_probability", -3, 1, 1) == "E501"
    assert code("hypergeometric_probability", 5, 6, 1, 1) == code("poisson_probability", 1, -1) == "E501"
    assert code("normal_probability", 0, 0, 0) == code("geometric_probability", 1, -1) == "E501"
    assert code("binomial_probability", 10**6, 5, Fraction(1, 3)) == "E502"
    assert code("geometric_probability", 10**9, Fraction(1, 3)) == code("poisson_probability", 10**9, 2) == "E502"


def test_numbers_too_large_for_the_normal_distribution_are_refused() -> None:
    assert code("normal_probability", 10**1000, 0, 1) == "E502"
    assert call("round_to", call("normal_probability", 10**30, 0, 1), 9) == 1

"""Slopes of respondents, compared with a published logistic regression and with another optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from dia_runtime.psychometrics.rasch.respondent_slope import PRIOR, respondent_slope
from scipy.optimize import minimize

TEMPERATURES = [66, 70, 69, 68, 67, 72, 73, 70, 57, 63, 70, 78, 67, 53, 67, 75, 70, 81, 76, 79, 75, 76, 58]
DISTRESS = [0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1]


def test_without_a_prior_it_is_the_logistic_regression_of_the_answers_on_the_difficulties() -> None:
    """The O-rings of 23 flights of the space shuttle (Dalal, Fowlkes and Hoadley 1989).

    R's glm(distress ~ temperature, family = binomial) gives the intercept 15.0429 (standard error 7.3786) and the slope
    -0.2322 (0.1082): https://archive.ics.uci.edu/dataset/92/challenger+usa+space+shuttle+o+ring has the data.
    """
    failed, degrees = np.array(DISTRESS, dtype=float), np.array(TEMPERATURES, dtype=float)
    fit = respondent_slope(failed, degrees, np.ones(23), np.zeros(23, dtype=int), np.array([1e-6]), prior=1e6)
    assert fit is not None
    slope, ability = float(np.exp(fit.log_slope)), float(fit.abilities[0])
    assert slope == pytest.approx(0.2322, abs=5e-5) and slope * fit.log_se == pytest.approx(0.1082, abs=5e-5)
    assert slope * ability == pytest.approx(15.0429, abs=5e-4)
    # the intercept's error, by the derivatives of slope * ability
    variance = fit.errors[0] ** 2 + 2 * ability * fit.covariances[0] + (ability * fit.log_se) ** 2
    assert slope * np.sqrt(variance) == pytest.approx(7.3786, abs=5e-3)


@pytest.mark.parametrize("steep", [0.4, 1.0, 2.5, 50.0])
def test_with_the_prior_it_is_the_maximum_that_another_optimiser_finds(steep: float) -> None:
    draw = np.random.default_rng(5)
    difficulties, scales, templates = draw.normal(0, 1.5, 80), draw.uniform(1, 1.3, 80), np.arange(80) % 3
    spreads = np.array([0.3, 0.5, 0.7, 0.4])  # the last template was not asked
    chances = 1 / (1 + np.exp(np.clip(-steep * (0.7 + templates / 4 - difficulties) / scales, -40, 40)))
    shares = (draw.random((80, 2)) < chances[:, None]).mean(axis=1)  # of two attempts
    fit = respondent_slope(shares, difficulties, scales, templates, spreads)

    def loss(place: np.ndarray) -> float:
        logits = np.exp(place[1]) * (place[0] + place[2:][templates] - difficulties) / scales
        likelihood = shares * np.logaddexp(0, -logits) + (1 - shares) * np.logaddexp(0, logits)
        return float(likelihood.sum() + 0.5 * (place[1] / PRIOR) ** 2 + 0.5 * ((place[2:] / spreads) ** 2).sum())

    best = minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-9}).x
    assert fit is not None
    assert fit.log_slope == pytest.approx(best[1], abs=1e-6)
    assert fit.abilities == pytest.approx(best[0] + np.array([0, *best[2:]]), abs=1e-6)
    assert fit.abilities[4] == fit.abilities[0] and fit.errors[4] == pytest.approx(np.hypot(fit.errors[0], 0.4))


def test_errors_are_those_of_the_inverse_information() -> None:
    """Built here with one column for each parameter, without the elimination of effects."""
    draw = np.random.default_rng(6)
    difficulties, scales, templates = draw.normal(0, 1.5, 60), draw.uniform(1, 1.3, 60), np.arange(60) % 3
    spreads = np.array([0.3, 0.5, 0.7])
    shares = (draw.random(60) < 1 / (1 + np.exp(difficulties))).astype(float)
    fit = respondent_slope(shares, difficulties, scales, templates, spreads)
    assert fit is not None
    slope = np.exp(fit.log_slope)
    logits = slope * (fit.abilities[1:][templates] - difficulties) / scales
    own = (templates[:, None] == np.arange(3)) * (slope / scales)[:, None]
    design = np.column_stack([slope / scales, logits, own])
    weights = np.exp(-np.logaddexp(0, logits) - np.logaddexp(0, -logits))
    information = (design * weights[:, None]).T @ design + np.diag([0, PRIOR**-2, *spreads**-2.0])
    errors = np.linalg.inv(information)
    sums = np.array([[1, 0, 0, 0, 0], [1, 0, 1, 0, 0], [1, 0, 0, 1, 0], [1, 0, 0, 0, 1]])  # abilities in templates
    assert fit.log_se**2 == pytest.approx(errors[1, 1])
    assert fit.errors**2 == pytest.approx(np.diag(sums @ errors @ sums.T))
    assert fit.covariances == pytest.approx((sums @ errors)[:, 1])


def test_respondents_that_solve_all_or_nothing_have_no_slope() -> None:
    one_template = np.zeros(12, dtype=int), np.array([0.5])
    for shares in (np.zeros(12), np.ones(12)):
        assert respondent_slope(shares, np.linspace(-2, 2, 12), np.ones(12), *one_template) is None


def test_intervals_contain_the_slope_about_as_often_as_they_say() -> None:
    """Slopes are drawn from the prior. Of 3,000 intervals from 100 items each, 94 % contain the slope."""
    draw = np.random.default_rng(8)
    difficulties, inside = np.linspace(-3, 3, 100), 0
    for log_slope in draw.normal(0, PRIOR, 150):
        chances = 1 / (1 + np.exp(-np.exp(log_slope) * (draw.normal() - difficulties)))
        shares = (draw.random(100) < chances).astype(float)
        fit = respondent_slope(shares, difficulties, np.ones(100), np.zeros(100, dtype=int), np.array([0.5]))
        assert fit is not None
        inside += bool(abs(fit.log_slope - log_slope) < 1.959964 * fit.log_se)
    assert 0.9 <= inside / 150 <= 0.98  # two standard errors

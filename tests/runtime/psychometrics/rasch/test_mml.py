"""Marginal estimates: the maximum and its curvature by plain integrals, also with given places, and at the bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dia_runtime.psychometrics.rasch import mml as module
from dia_runtime.psychometrics.rasch.counts import counts
from dia_runtime.psychometrics.rasch.mml import mml
from scipy.special import expit
from scipy.stats import norm

ROWS, COLUMNS = 3, 14
GIVEN = np.where(np.arange(COLUMNS) < 4, [0.9, -0.4, 0.2, 1.4] + [0.0] * (COLUMNS - 4), np.nan)


def table(missing: float, seed: int = 3, spread: float = 1.2, columns: int = COLUMNS) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    chances = expit(np.array([-0.7, 0.1, 0.9])[:, None] - generator.normal(0.3, spread, columns))
    trials = np.where(generator.random((ROWS, columns)) < missing, 0, 4).astype(float)
    trials[0] = np.maximum(trials[0], 4)
    return generator.binomial(trials.astype(int), chances).astype(float), trials


def log_likelihood(right: Any, trials: Any, rows: Any, mean: float, deviation: float, anchors: Any) -> float:
    """Columns at known places as they are, the others over 801 points of a normal distribution."""
    locations = mean + np.linspace(-9, 9, 801) * deviation
    prior = norm.pdf(locations, mean, deviation) * (locations[1] - locations[0])
    total = 0.0
    for successes, tried, place in zip(right.T, trials.T, anchors, strict=True):
        at = locations if np.isnan(place) else np.array([place])
        logits = rows[:, None] - at
        log_values = (successes[:, None] * logits - tried[:, None] * np.logaddexp(0, logits)).sum(axis=0)
        total += float(log_values[0]) if len(at) == 1 else float(np.log(np.exp(log_values) @ prior))
    return total


def hessian(function: Any, at: Any, step: float = 1e-3) -> Any:
    size = len(at)
    found, shift = np.empty((size, size)), np.eye(size) * step
    for i in range(size):
        for j in range(size):
            corners = [function(at + a * shift[i] + b * shift[j]) * a * b for a in (1, -1) for b in (1, -1)]
            found[i, j] = sum(corners) / (4 * step**2)
    return found


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("case", ["free", "anchors", "fixed rows", "given prior", "all anchors"])
def test_places_and_errors_are_those_of_plain_integrals(missing: float, case: str) -> None:
    right, trials = table(missing)
    anchors = np.full(COLUMNS, np.nan)
    if case == "anchors":
        anchors = GIVEN
    elif case == "all anchors":
        anchors = np.linspace(-1, 1, COLUMNS)
    free = np.array([True, True, case != "fixed rows"])
    given = (0.4, 1.3) if case == "given prior" else None
    arguments = {"free_rows": free, "rows": np.array([0.0, 0.0, 0.8])} if case == "fixed rows" else {}
    fit = mml(counts(right, trials, anchors), prior=given, **arguments)  # type: ignore[arg-type]
    assert fit.residual <= 1e-9
    assert (fit.prior is None) == (case == "all anchors")
    mean, deviation = fit.prior or (0.0, 1.0)
    whole = np.concatenate([fit.rows, [mean, np.log(deviation)]])
    is_random = case not in ("given prior", "all anchors")
    use = np.concatenate([free, [is_random and case != "free", is_random]])
    if case == "free":
        assert mean == 0.0
    if case == "given prior":
        assert (mean, deviation) == pytest.approx(given)
    if case == "fixed rows":
        assert fit.rows[2] == 0.8

    def value(inside: Any) -> float:
        places = whole.copy()
        places[use] = inside
        return log_likelihood(right, trials, places[:-2], places[-2], float(np.exp(places[-1])), anchors)

    best = whole[use]
    assert fit.log_likelihood == pytest.approx(value(best), abs=1e-7)
    slopes = [(value(best + shift) - value(best - shift)) / 2e-4 for shift in np.eye(len(best)) * 1e-4]
    assert slopes == pytest.approx([0.0] * len(best), abs=1e-5)
    free_size = int(free.sum())
    wanted = np.linalg.inv(-hessian(value, best))[:free_size, :free_size]
    assert fit.covariance[np.ix_(free, free)] == pytest.approx(wanted, rel=2e-3, abs=1e-5)
    assert not fit.covariance[~free].any()


def test_few_terms_give_the_covariance_that_all_points_give(monkeypatch: pytest.MonkeyPatch) -> None:
    data = counts(*table(0.3))
    fits = []
    for most in (0.0, np.inf):
        monkeypatch.setattr(module, "EXACT", dict.fromkeys(module.ORDERS, most))
        fits.append(mml(data))
    assert fits[0].rows == pytest.approx(fits[1].rows, abs=1e-8)
    assert fits[0].covariance == pytest.approx(fits[1].covariance, rel=1.5e-7)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_blocks_change_nothing(missing: float, monkeypatch: pytest.MonkeyPatch) -> None:
    data = counts(*table(missing))
    whole = mml(data)
    monkeypatch.setattr(module, "SIZE_BLOCK", 1)
    blocks = mml(data)
    assert blocks.rows == pytest.approx(whole.rows, abs=1e-9)
    assert blocks.covariance == pytest.approx(whole.covariance, rel=1e-8)


def test_columns_that_nobody_or_everybody_passes_count_too() -> None:
    right, trials = table(0.0)
    right[:, 0], right[:, 1] = 0, 4
    fit = mml(counts(right, trials))
    assert fit.residual <= 1e-9 and fit.prior is not None
    assert fit.log_likelihood == pytest.approx(
        log_likelihood(right, trials, fit.rows, *fit.prior, np.full(COLUMNS, np.nan)), abs=1e-7
    )


def test_far_columns_are_estimated_too() -> None:
    right, trials = table(0.0, seed=4, spread=6.0, columns=40)
    fit = mml(counts(right, trials))
    assert fit.residual <= 1e-9 and fit.prior is not None and fit.prior[1] > 3
    assert fit.log_likelihood == pytest.approx(
        log_likelihood(right, trials, fit.rows, *fit.prior, np.full(40, np.nan)), abs=1e-6
    )


def test_the_deviation_of_columns_that_are_all_alike_is_the_least() -> None:
    right = np.array([[1.0] * 8, [2.0] * 8, [3.0] * 8])
    fit = mml(counts(right, np.full((3, 8), 4.0)))
    assert fit.prior == pytest.approx((0.0, 0.02))
    assert fit.rows == pytest.approx(np.log([1 / 3, 1, 3]), abs=1e-3)


def test_the_deviation_of_columns_in_perfect_order_is_the_largest() -> None:
    fit = mml(counts(np.tril(np.ones((6, 7))), np.ones((6, 7))))
    assert fit.prior == pytest.approx((0.0, 10.0))
    assert fit.rows == pytest.approx(-fit.rows[::-1])

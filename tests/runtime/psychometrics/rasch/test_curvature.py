"""Joint and conditional errors where some places are given: those of the likelihood's numerical curvature."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dia_runtime.psychometrics.rasch.cml import cml
from dia_runtime.psychometrics.rasch.counts import counts
from dia_runtime.psychometrics.rasch.jml import jml, log_likelihood
from scipy.special import expit

ROWS, COLUMNS = 4, 9
FIXED = np.array([0.0, 0.0, 0.0, 0.7])


def table(missing: float) -> tuple[Any, Any]:
    generator = np.random.default_rng(12)
    chances = expit(np.linspace(-1, 1, ROWS)[:, None] - np.linspace(-1, 1.3, COLUMNS))
    trials = np.where(generator.random(chances.shape) < missing, 0, 5).astype(float)
    return generator.binomial(trials.astype(int), chances).astype(float), trials


def hessian(function: Any, at: Any, step: float = 1e-3) -> Any:
    size = len(at)
    found, shift = np.empty((size, size)), np.eye(size) * step
    for i in range(size):
        for j in range(size):
            corners = [function(at + a * shift[i] + b * shift[j]) * a * b for a in (1, -1) for b in (1, -1)]
            found[i, j] = sum(corners) / (4 * step**2)
    return found


def joint(right: Any, trials: Any, rows: Any, columns: Any) -> float:
    logits = rows[:, None] - columns
    return float((right * logits - trials * np.logaddexp(0, logits)).sum())


def conditional(right: Any, trials: Any, rows: Any) -> float:
    """By coefficients of the product over rows of (1 + z e^a)^n."""
    total = float(right.sum(axis=1) @ rows)
    for successes, tried in zip(right.T, trials.T, strict=True):
        product = np.array([1.0])
        for place, number in zip(rows, tried, strict=True):
            for _ in range(int(number)):
                product = np.convolve(product, [1.0, np.exp(place)])
        total -= float(np.log(product[int(successes.sum())]))
    return total


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("case", ["fixed row", "anchors", "both"])
def test_joint_errors_with_given_places(missing: float, case: str) -> None:
    right, trials = table(missing)
    anchors = np.full(COLUMNS, np.nan)
    if case != "fixed row":
        anchors[:3] = [-1.0, 0.4, 0.1]
    free_rows = np.array([True, True, True, case == "anchors"])
    data = counts(right, trials, anchors)
    fit = jml(data, free_rows, FIXED)
    assert fit.columns is not None
    columns = fit.columns[data.of]
    free_columns = np.isnan(anchors)
    assert np.array_equal(columns[~free_columns], anchors[~free_columns])
    assert np.array_equal(fit.rows[~free_rows], FIXED[~free_rows])
    assert fit.log_likelihood == pytest.approx(joint(right, trials, fit.rows, columns))
    assert log_likelihood(data, fit.rows, fit.columns) == pytest.approx(fit.log_likelihood)
    whole, use = np.concatenate([fit.rows, columns]), np.concatenate([free_rows, free_columns])

    def value(inside: Any) -> float:
        places = whole.copy()
        places[use] = inside
        return joint(right, trials, places[:ROWS], places[ROWS:])

    size = int(free_rows.sum())
    wanted = np.linalg.inv(-hessian(value, whole[use]))[:size, :size]
    assert fit.covariance[np.ix_(free_rows, free_rows)] == pytest.approx(wanted, rel=1e-4, abs=1e-6)
    assert not fit.covariance[~free_rows].any()


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("fixed", [False, True])
def test_conditional_errors_with_columns_that_all_or_none_pass(missing: float, fixed: bool) -> None:
    right, trials = table(missing)
    right[:, 0], right[:, 1] = 0, trials[:, 1]
    free = np.array([True, True, True, not fixed])
    fit = cml(counts(right, trials), *((free, FIXED) if fixed else ()))
    assert fit.residual <= 1e-9
    assert fit.log_likelihood == pytest.approx(conditional(right, trials, fit.rows), abs=1e-8)
    if fixed:
        assert fit.rows[3] == 0.7
    else:
        assert fit.rows.mean() == pytest.approx(0, abs=1e-12)
    last = fit.rows[3]
    held = fit.rows[:3]
    wanted = np.linalg.inv(-hessian(lambda inside: conditional(right, trials, np.append(inside, last)), held))
    less = np.eye(3, 4) - np.eye(4)[3]  # places of the first three as seen from the last
    assert less @ fit.covariance @ less.T == pytest.approx(wanted, rel=1e-4, abs=1e-6)


def test_a_joint_estimate_ends_after_few_steps_at_the_tolerance_that_is_asked() -> None:
    data = counts(*table(0.3))
    rough, fine = jml(data, tol=0.5), jml(data, tol=1e-12)
    assert rough.iterations < fine.iterations <= 6 and fine.residual <= 1e-10 < rough.residual <= 0.5


@pytest.mark.parametrize("one", [1e-12, 1.0])
def test_the_tolerance_of_conditional_estimates(one: float) -> None:
    fit = cml(counts(*table(0.3)), tol=one)
    assert fit.residual <= max(one, 1e-10) and fit.iterations <= 6

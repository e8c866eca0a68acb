"""Conditional estimates: the integral along a circle is the elementary symmetric function, whatever the circle."""

from __future__ import annotations

import numpy as np
import pytest
from dia_runtime.psychometrics.rasch import cml as module
from dia_runtime.psychometrics.rasch.cml import cml
from dia_runtime.psychometrics.rasch.counts import counts
from helpers.failures import refusal
from scipy.special import expit


def table(missing: float, trials: int = 2) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(8)
    chances = expit(np.linspace(-2, 2, 9)[:, None] - np.linspace(-1, 1, 40))
    tried = np.where(generator.random(chances.shape) < missing, 0, trials).astype(float)
    return generator.binomial(tried.astype(int), chances).astype(float), tried


def coefficients(rows: np.ndarray, trials: np.ndarray) -> np.ndarray:
    """The coefficients of the product over rows of (1 + z e^a)^n, by multiplying the polynomials out."""
    product = np.array([1.0])
    for place, number in zip(rows, trials, strict=True):
        for _ in range(int(number)):
            product = np.convolve(product, [1.0, np.exp(place)])
    return product


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_totals_given_those_of_the_columns_are_what_is_expected(missing: float) -> None:
    successes, trials = table(missing)
    fit = cml(counts(successes, trials))
    expected = np.zeros(len(fit.rows))
    likelihood = float(successes.sum(axis=1) @ fit.rows)
    for right, tried in zip(successes.T, trials.T, strict=True):
        total = int(right.sum())
        whole = coefficients(fit.rows, tried)[total]
        likelihood -= float(np.log(whole))
        for row, place in enumerate(fit.rows):
            if tried[row]:
                fewer = tried.copy()
                fewer[row] -= 1
                without = coefficients(fit.rows, fewer)
                before = without[total - 1] if total else 0.0
                expected[row] += tried[row] * np.exp(place) * before / whole
    assert expected == pytest.approx(successes.sum(axis=1), abs=1e-7)
    assert fit.log_likelihood == pytest.approx(likelihood, abs=1e-8)
    assert fit.rows.mean() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_blocks_change_nothing(missing: float, monkeypatch: pytest.MonkeyPatch) -> None:
    data = counts(*table(missing))
    whole = cml(data)
    monkeypatch.setattr(module, "CELLS", 1)
    blocks = cml(data)
    assert blocks.rows == pytest.approx(whole.rows, abs=1e-10)
    assert blocks.covariance == pytest.approx(whole.covariance, abs=1e-10)


def test_saddle_points_make_the_expected_totals_the_totals() -> None:
    rows = np.array([-30.0, -2.0, 0.0, 1.0, 25.0])
    trials = np.array([[3.0], [2.0], [5.0], [1.0], [4.0]])
    totals = np.array([1.0, 4.0, 7.0, 10.0, 14.0])
    tilts = module._saddle(rows, trials, totals)
    expected = (trials * expit(rows[:, None] + tilts)).sum(axis=0)
    assert expected == pytest.approx(totals, abs=1e-3)


def test_saddle_points_are_found_in_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []
    original = module.logistic_in_place

    def counted(logits: np.ndarray) -> np.ndarray:
        steps.append(1)
        return np.asarray(original(logits))

    monkeypatch.setattr(module, "logistic_in_place", counted)
    module._saddle(np.linspace(-3, 3, 20), np.ones((20, 1)), np.arange(1.0, 20.0))
    assert 2 <= len(steps) <= 8


def test_tables_that_take_too_long_are_refused_but_classes_of_even_ones_count_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    successes, trials = table(0.0)
    even = counts(successes, trials)
    assert even.is_even and even.classes > 1
    monkeypatch.setattr(module, "WORK", trials[:, 0].sum() * len(successes) ** 2)
    cml(even)
    monkeypatch.setattr(module, "WORK", trials[:, 0].sum() * len(successes) ** 2 - 1)
    refusal("E893", "takes too long\n  help: use `--method mml-items`", lambda: cml(even))
    monkeypatch.undo()
    uneven = counts(*table(0.3))
    monkeypatch.setattr(module, "WORK", trials[:, 0].sum() * len(successes) ** 2)
    refusal("E893", "takes too long\n  help: use `--method mml-items`", lambda: cml(uneven))


def test_booklets_are_what_their_respondents_are_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Respondents of one booklet and total share a class and its circle; alone, each has a circle through its own."""
    generator = np.random.default_rng(4)
    tried = np.zeros((60, 12), dtype=int)
    for booklet in range(3):
        tried[booklet * 20 : booklet * 20 + 20, [(4 * booklet + at) % 12 for at in range(8)]] = 1
    chances = expit(generator.normal(0, 1.5, (60, 1)) - np.linspace(-3, 3, 12))
    scores = np.ascontiguousarray((generator.binomial(tried, chances)).T.astype(float))
    shared = counts(scores, np.ascontiguousarray(tried.T))
    together = cml(shared)
    monkeypatch.setattr("dia_runtime.psychometrics.rasch.counts.FEWER", 0)
    monkeypatch.setattr(module, "REACH", 0.0)
    single = counts(scores, np.ascontiguousarray(tried.T))
    alone = cml(single)
    assert shared.classes <= 27 < single.classes == 60
    assert together.rows == pytest.approx(alone.rows, abs=1e-9)
    assert together.covariance == pytest.approx(alone.covariance, abs=1e-9)
    assert together.log_likelihood == pytest.approx(alone.log_likelihood, abs=1e-9)

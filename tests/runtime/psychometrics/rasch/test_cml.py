"""Conditional estimates: the integral along a circle is the elementary symmetric function, whatever the circle."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from dia_runtime.psychometrics.rasch import cml as module
from dia_runtime.psychometrics.rasch.cml import cml
from dia_runtime.psychometrics.rasch.counts import Counts, counts
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


# Odds of the rows, and the trials of each. The circles have fewer points than there are totals, and share some of them.
DESIGNS = {
    "many trials": ([3, 4, 5, 5, 7], 64),
    "a row apart": ([1, 2, 3, 900_000], 72),
    "very different rows": ([1, 40, 3_000, 10**6, 10**9, 10**15], 24),
    "a wide gap": ([1, 10**18], 14),
    "single trials": ([1 + 2 * at**3 for at in range(90)], 1),
}


def divided(polynomial: list[int], odds: int) -> list[int]:
    """The polynomial divided by (1 + z odds), which leaves no remainder."""
    quotient = [1]
    for coefficient in polynomial[1:-1]:
        quotient.append(coefficient - odds * quotient[-1])
    return quotient


@pytest.mark.parametrize("design", DESIGNS)
def test_moments_are_those_of_exact_polynomials_at_every_total(design: str) -> None:
    odds, times = DESIGNS[design]
    whole = [1]
    for number in odds * times:
        whole = [here + number * before for here, before in zip([*whole, 0], [0, *whole], strict=True)]
    rows = range(0, len(odds), max(1, len(odds) // 5))
    once = {row: divided(whole, odds[row]) for row in rows}
    twice = {(row, other): divided(once[row], odds[other]) for row in rows for other in rows}

    totals = np.arange(1.0, len(odds) * times)
    data = Counts(
        np.zeros(len(odds)), totals, (totals % 9 == 1).astype(float), np.full((len(odds), 1), float(times)),
        np.arange(len(totals)), np.full(len(totals), np.nan),
    )  # fmt: skip
    largest = 0
    for part in module.moments(data, np.log(np.array(odds, dtype=float))):
        largest = max(largest, len(part.classes))
        spread = np.zeros((len(odds), len(odds)))
        for at, total in enumerate(totals[part.classes].astype(int)):
            gamma = whole[total]
            means = [times * odds[row] * once[row][total - 1] for row in rows]
            assert part.log_gamma[at] == pytest.approx(math.log(gamma), abs=1e-11)
            assert part.expected[rows, at] == pytest.approx([mean / gamma for mean in means], abs=1e-10)
            if not data.weights[total - 1]:
                continue
            for row, mean in zip(rows, means, strict=True):
                for other, other_mean in zip(rows, means, strict=True):
                    pairs = (times if row != other else times - 1) * times * odds[row] * odds[other]
                    both = pairs * twice[row, other][total - 2] if pairs and total > 1 else 0
                    alone = mean if row == other else 0
                    spread[row, other] += ((both + alone) * gamma - mean * other_mean) / gamma**2
        assert part.spread[np.ix_(rows, rows)] == pytest.approx(spread[np.ix_(rows, rows)], abs=1e-9)
    assert largest > 5


@pytest.mark.parametrize("design", DESIGNS)
def test_totals_share_a_circle_where_they_are_likely_and_it_has_as_many_points_as_it_needs(design: str) -> None:
    odds, times = DESIGNS[design]
    rows, trials = np.log(np.array(odds, dtype=float)), np.full(len(odds), float(times))
    totals = np.arange(1.0, trials.sum())
    groups = list(module._groups(module._Booklet(np.arange(len(odds)), trials, np.arange(len(totals))), rows, totals))
    assert np.concatenate([classes for classes, _, _ in groups]).tolist() == list(range(len(totals)))
    for classes, tilt, points in groups:
        chances = expit(rows + tilt)
        deviation = np.sqrt(trials @ (chances * (1 - chances)))
        distribution = np.array([1.0])
        for chance in chances.repeat(times):
            distribution = np.convolve(distribution, [1 - chance, chance])
        shares = distribution[totals[classes].astype(int)] / distribution.max()
        assert shares.min() > 0.01
        assert points % 2 and points >= min(trials.sum() + 1, 14 * deviation + 40)
        assert points <= min(trials.sum() + 2, 14 * deviation + 42)


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


@pytest.mark.parametrize(
    ("scores", "trials"),
    [
        ([[0.5, 1.0, 0.0], [0.5, 0.0, 1.0]], [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]),  # totals of columns are whole
        ([[0.5, 0.5, 1.0], [1.0, 0.0, 0.0]], [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]),  # those of rows
        ([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]], [[1.5, 1.0, 1.0], [0.5, 1.0, 1.0]]),
        ([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]], [[1.5, 1.5, 1.0], [1.0, 1.0, 1.0]]),
    ],
)
def test_fractions_are_refused_even_if_their_sums_are_whole(scores: list[Any], trials: list[Any]) -> None:
    refusal("E893", "some scores are fractions", lambda: cml(counts(np.array(scores), np.array(trials))))

"""Splits, partial credit, slopes, plausible values and differences of families, against eRm and published figures."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
from dia_runtime import calibrate
from dia_runtime.psychometrics.rasch.andersen import andersen, martin_loef, wald
from dia_runtime.psychometrics.rasch.differential import differential_templates
from dia_runtime.psychometrics.rasch.fit import likelihood_locations
from dia_runtime.psychometrics.rasch.partial_credit import binomial_tau, column_places, partial_credit
from dia_runtime.psychometrics.rasch.plausible import plausible_values
from dia_runtime.psychometrics.rasch.slopes import group_slopes, item_slopes
from helpers.failures import refusal
from helpers.places import ROOT
from scipy.optimize import minimize

ERM = ROOT / "tests" / "data" / "erm"  # figures.R says how its figures were computed
FIGURES = json.loads((ERM / "figures.json").read_text(encoding="utf-8"))
RIGHT = np.loadtxt(ERM / "right.csv", delimiter=",")
MARKS = np.loadtxt(ERM / "marks.csv", delimiter=",", dtype=int)
# How many of 1,000 persons gave each pattern of replies to five items, from 00000 to 11111: Bock and Lieberman 1970, and
# Bock and Aitkin 1981.
LSAT_6 = [
    3,
    6,
    2,
    11,
    1,
    1,
    3,
    4,
    1,
    8,
    0,
    16,
    0,
    3,
    2,
    15,
    10,
    29,
    14,
    81,
    3,
    28,
    15,
    80,
    16,
    56,
    21,
    173,
    11,
    61,
    28,
    298,
]
LSAT_7 = [
    12,
    19,
    1,
    7,
    3,
    19,
    3,
    17,
    10,
    5,
    3,
    7,
    7,
    23,
    8,
    28,
    7,
    39,
    11,
    34,
    14,
    51,
    15,
    90,
    6,
    25,
    7,
    35,
    18,
    136,
    32,
    308,
]


@pytest.mark.parametrize("split", ["median", "mean"])
def test_splits_give_the_figures_of_erm(split: str) -> None:
    trials = np.ones((len(RIGHT), 1))
    likelihood, difference = andersen(RIGHT, trials, split), martin_loef(RIGHT, trials, split)
    tests = wald(RIGHT, trials, split)
    assert likelihood is not None and difference is not None and tests is not None
    expected = FIGURES[f"andersen_{split}"]
    assert [likelihood.statistic, likelihood.df, likelihood.p] == pytest.approx(expected, abs=1e-5)
    expected = FIGURES[f"martin_loef_{split}"]
    assert [difference.statistic, difference.df, difference.p] == pytest.approx(expected, abs=1e-5)
    assert [entry.z for entry in tests.entries] == pytest.approx(FIGURES[f"wald_{split}"], abs=1e-3)
    assert tests.compared == "items"


def test_booklets_are_split_at_their_own_medians() -> None:
    generator = np.random.default_rng(4)
    chances = 1 / (1 + np.exp(np.linspace(-1, 1, 9) - generator.normal(size=(200, 1))))
    scores, trials = (generator.random((200, 9)) < chances).astype(float), np.ones((200, 9))
    trials[:100, 6:] = trials[100:, :3] = 0
    scores *= trials
    by_hand = np.concatenate([part > np.median(part) for part in (scores[:100].sum(1), scores[100:].sum(1))])
    parts = [calibrate(np.where(trials > 0, scores, np.nan)[side], method="cml") for side in (by_hand, ~by_hand)]
    whole = calibrate(np.where(trials > 0, scores, np.nan), method="cml")
    test = andersen(scores, trials)
    assert test is not None
    expected = 2 * (sum(part.log_likelihood for part in parts) - whole.log_likelihood)
    assert test.statistic == pytest.approx(expected, abs=1e-6)


def cumulative(model: Any, sets: list[int]) -> np.ndarray:
    """The sums of thresholds up to each score, with mean 0 over all items and scores, as eRm has them."""
    sums = np.array([np.cumsum(model.thresholds(row, which)) for row, which in enumerate(sets)])
    scores = np.arange(1, sums.shape[1] + 1)
    return np.asarray(sums - scores * sums.sum() / (scores.sum() * len(sums)))


def test_partial_credit_is_that_of_erm() -> None:
    scores = MARKS.T
    model = partial_credit(scores, np.arange(5)[:, None], np.full(5, 3))
    assert model.log_likelihood == pytest.approx(FIGURES["PCM_log_likelihood"][0], abs=1e-6)
    ours = np.array([model.thresholds(row, row) for row in range(5)]).ravel()
    theirs = np.array(FIGURES["PCM_thresholds"])
    assert ours - ours.mean() == pytest.approx(theirs - theirs.mean(), abs=1e-4)
    places = column_places(model, scores, np.arange(5)[:, None], np.full(5, 3), weighted=False)
    inside = np.isfinite(places.values)
    shift = (theirs - ours).mean()
    assert places.values[inside] + shift == pytest.approx(FIGURES["PCM_persons"], abs=1e-3)
    assert places.errors[inside] == pytest.approx(FIGURES["PCM_person_errors"], abs=1e-3)


def test_the_rating_scale_is_that_of_erm() -> None:
    model = partial_credit(MARKS.T, np.zeros((1, 1), dtype=int), np.array([3]))
    assert model.log_likelihood == pytest.approx(FIGURES["RSM_log_likelihood"][0], abs=1e-6)
    ours = np.array([model.thresholds(row, 0) for row in range(5)]).ravel()
    theirs = np.array(FIGURES["RSM_thresholds"])
    assert ours - ours.mean() == pytest.approx(theirs - theirs.mean(), abs=1e-4)


@pytest.mark.parametrize(
    ("name", "sets", "weights"),
    [
        ("PCM", np.arange(5)[:, None], (3, 2, 1)),  # the mean of the sums of thresholds is 0
        ("RSM", np.zeros((5, 1), dtype=int), (1, 0, 0)),  # the mean of the first thresholds is 0
    ],
)
def test_errors_of_thresholds_are_those_of_erm_for_its_origin(
    name: str, sets: np.ndarray, weights: tuple[int, ...]
) -> None:
    model = partial_credit(MARKS.T, sets, np.full(sets.max() + 1, 3))
    of_rows = np.broadcast_to(sets, (5, 1)).ravel()
    slopes = np.zeros((15, len(model.covariance)))  # of the thresholds, by the parameters
    for row, which in enumerate(of_rows):
        slopes[3 * row : 3 * row + 3, row] = -1
        for step, position in enumerate(model.positions[which]):
            slopes[3 * row + step, position], slopes[3 * row + step + 1, position] = -1, 1
    covariance = slopes @ model.covariance @ slopes.T
    ours = [model.threshold_errors(row, which) for row, which in enumerate(of_rows)]
    assert np.concatenate(ours) == pytest.approx(np.sqrt(np.diag(covariance)), abs=1e-12)
    assert covariance.sum() == pytest.approx(0, abs=1e-9)  # the error of the mean threshold
    shift = np.eye(15) - np.tile(weights, 5) / (5 * sum(weights))
    origin = np.tile(weights, 5) @ np.array(FIGURES[f"{name}_thresholds"])
    assert origin == pytest.approx(0, abs=1e-6)
    assert np.sqrt(np.diag(shift @ covariance @ shift.T)) == pytest.approx(FIGURES[f"{name}_errors"], abs=1e-4)


def test_partial_credit_is_the_conditional_likelihood_by_enumeration() -> None:
    scores = np.random.default_rng(8).integers(0, 3, (3, 16))
    scores[1, 5] = -1
    sets, most = np.array([[0] * 8 + [1] * 8]), np.array([2, 2])
    model = partial_credit(scores, sets, most)

    def log_likelihood(rows: np.ndarray, tau: list[float]) -> float:
        total = 0.0
        for column, cells in enumerate(scores.T):
            used = np.flatnonzero(cells >= 0)
            weights = [[0.0, rows[row] + tau[sets[0, column]], 2 * rows[row]] for row in used]
            every = [
                sum(weight[score] for weight, score in zip(weights, chosen, strict=True))
                for chosen in product(range(3), repeat=len(used))
                if sum(chosen) == cells[used].sum()
            ]
            total += sum(weight[cells[row]] for weight, row in zip(weights, used, strict=True))
            total -= float(np.log(np.exp(every).sum()))
        return total

    tau = [float(values[0]) for values in model.tau]
    best = log_likelihood(model.rows, tau)
    assert model.log_likelihood == pytest.approx(best, abs=1e-9)
    step = 1e-3
    for at in range(3):
        move = step * (np.arange(3) == at)
        assert log_likelihood(model.rows + move, tau) <= best and log_likelihood(model.rows - move, tau) <= best
    ends = [log_likelihood(model.rows, [tau[0] + side * step, tau[1]]) for side in (-1, 1)]
    assert max(ends) <= best


def test_a_threshold_without_a_finite_estimate_is_an_error() -> None:
    scores = np.array([[0, 2, 1, 2, 1], [1, 1, 0, 2, -1], [2, 0, 1, 0, 1]])  # in columns 0 and 1, all scores differ
    error = "partial credit has no finite estimate: a score of an item never occurs"
    refusal("E893", error, lambda: partial_credit(scores, np.array([[0, 0, 1, 1, 1]]), np.array([2, 2])))


def test_counts_of_independent_trials_are_a_case_of_partial_credit() -> None:
    generator = np.random.default_rng(2)
    chances = 1 / (1 + np.exp(generator.normal(size=60) - generator.normal(size=(5, 1))))
    scores = generator.binomial(4, chances)
    model = partial_credit(scores, np.zeros((1, 1), dtype=int), np.array([4]), binomial_tau(np.array([4])))
    counted = calibrate(scores, 4, method="cml", eliminate="items")
    centred = counted.abilities - counted.abilities.mean()
    assert model.rows == pytest.approx(centred, abs=1e-8)


def test_slopes_of_items_are_the_published_ones() -> None:
    # LSAT-6: coef and logLik of ltm(LSAT ~ z1),
    # https://rstudio-pubs-static.s3.amazonaws.com/1049111_d258e411eefe4ba085e3bbc59b32dbeb.html; log likelihood with
    # equal slopes: https://philchalmers.github.io/mirt/reference/LSAT6.html. LSAT-7: coef(mirt(dat)),
    # https://philchalmers.github.io/mirt/reference/LSAT7.html; more digits in tests/testthat/test-09-mirt.model.R of
    # mirt's repository.
    for counts, slopes, distance, log_likelihood_ratio in (
        (LSAT_6, [0.8253715, 0.7229499, 0.8904748, 0.6885502, 0.6574516], 6e-4, 2 * (2466.938 - 2466.653)),
        (LSAT_7, [0.9879254, 1.080885, 1.705801, 0.7651853, 0.735798], 1.7e-3, None),
    ):
        patterns = [[float(bit) for bit in f"{number:05b}"] for number in range(32)]
        scores = np.repeat(patterns, counts, axis=0)
        fit = item_slopes(scores, np.ones((len(scores), 1)))
        assert len(scores) == 1000 and fit is not None and fit.values == pytest.approx(slopes, abs=distance)
        if log_likelihood_ratio is not None:
            assert fit.statistic == pytest.approx(log_likelihood_ratio, abs=2e-3)


def test_the_log_likelihood_of_lsat_6_with_equal_slopes_is_the_published_one() -> None:
    """It is computed here by the trapezoidal rule and scipy's minimiser, without the project's estimators."""
    patterns = np.array([[float(bit) for bit in f"{number:05b}"] for number in range(32)])
    nodes = np.linspace(-8, 8, 401)
    density = np.exp(-(nodes**2) / 2) / np.sqrt(2 * np.pi) * (nodes[1] - nodes[0])

    def minus_log_likelihood(parameters: np.ndarray) -> float:
        slope, intercepts = parameters[0], parameters[1:]
        logits = slope * nodes[:, None] + intercepts
        logs = logits @ patterns.T - np.logaddexp(0, logits).sum(axis=1, keepdims=True)
        return -float(np.array(LSAT_6) @ np.log(density @ np.exp(logs)))

    fit = minimize(minus_log_likelihood, np.ones(6))
    assert fit.fun == pytest.approx(2466.938, abs=5e-4) and fit.x[0] == pytest.approx(0.755, abs=5e-4)
    assert fit.x[1:] == pytest.approx([2.730, 0.999, 0.240, 1.307, 2.100], abs=6e-4)  # as mirt's page prints them


def test_slopes_of_templates_are_detected_and_equal_ones_are_not() -> None:
    generator = np.random.default_rng(7)
    templates = np.repeat(np.arange(30), 10)
    abilities, difficulties = generator.normal(size=(9, 1)), generator.normal(0, 1.2, 300)
    for slopes, is_rejected in ((np.ones(30), False), (np.exp(generator.normal(0, 0.6, 30)), True)):
        chances = 1 / (1 + np.exp(-slopes[templates] * (abilities - difficulties)))
        scores = (generator.random(chances.shape) < chances).astype(float)
        fit = group_slopes(scores, np.ones((9, 1)), templates)
        assert fit is not None and (fit.p < 0.01) == is_rejected and fit.df == 29
    assert np.corrcoef(np.log(fit.values), np.log(slopes))[0, 1] > 0.6 and 0.3 < fit.spread < 0.9


@pytest.mark.parametrize(("models", "items", "method"), [(9, 300, "mml_items"), (400, 12, "mml_persons")])
def test_plausible_values_have_the_errors_and_the_spread(models: int, items: int, method: str) -> None:
    generator = np.random.default_rng(3)
    chances = 1 / (1 + np.exp(generator.normal(0, 1.5, items) - generator.normal(0.4, 1.3, (models, 1))))
    scores = (generator.random(chances.shape) < chances).astype(float)
    fit = calibrate(scores, method=method)
    draws = plausible_values(fit, scores, np.ones((models, 1)), 300, 1)
    assert draws is not None and fit.prior is not None
    for values, errors in ((draws.abilities, fit.ability_se), (draws.difficulties, fit.difficulty_se)):
        assert np.median(values.std(axis=0) / errors) == pytest.approx(1, abs=0.05)
    random = draws.difficulties if method == "mml_items" else draws.abilities
    means = fit.difficulties if method == "mml_items" else fit.abilities
    assert (
        random.var(axis=1).mean() == pytest.approx(fit.prior[1] ** 2, rel=0.05)
        and means.var() < 0.85 * fit.prior[1] ** 2
    )
    assert np.abs(random.mean(axis=0) - means).mean() < 0.1
    again = plausible_values(fit, scores, np.ones((models, 1)), 300, 1)
    assert again is not None and np.array_equal(again.abilities, draws.abilities)
    assert plausible_values(calibrate(scores, method="jml"), scores, np.ones((models, 1)), 3, 1) is None


def test_a_template_that_is_harder_for_a_family_is_detected() -> None:
    generator = np.random.default_rng(5)
    templates, inside = np.repeat(np.arange(20), 20), np.arange(12) < 4
    logits = generator.normal(size=(12, 1)) - generator.normal(size=400)
    logits[np.ix_(inside, templates == 3)] -= 1.5
    scores, trials = (generator.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(float), np.ones((12, 1))
    places = likelihood_locations(calibrate(scores), scores, trials)
    labels = ["new" if new else "old" for new in inside]
    first, second, *others = differential_templates(places, scores, trials, labels, templates)
    assert {first.item, second.item} == {3} and {first.group, second.group} == {"new", "old"}
    assert abs(first.size) == pytest.approx(1.5, abs=2.5 * first.se) and first.size == pytest.approx(-second.size)
    assert first.adjusted < 0.01 and first.detectable == pytest.approx(2.8016 * first.se, abs=1e-3)
    assert sum(entry.p < 0.01 for entry in others) <= 2

"""Estimates against brute force: general optimisers on the likelihoods as they are defined."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from dia_language.diagnostics import DiaError
from dia_runtime import calibrate
from helpers.examples import examples
from helpers.failures import refusal
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm


def panel(seed: int, models: int, items: int, trials: int = 1, missing: float = 0.0) -> tuple[Any, Any]:
    """Counts of a Rasch model, and its trials."""
    generator = np.random.default_rng(seed)
    chances = expit(generator.normal(size=models)[:, None] - generator.normal(0, 1.2, items))
    tried = np.where(generator.random((models, items)) < missing, 0, trials).astype(float)
    return generator.binomial(tried.astype(int), chances).astype(float), tried


def joint(successes: Any, trials: Any, abilities: Any, difficulties: Any) -> float:
    logits = abilities[:, None] - difficulties
    return float((successes * logits - trials * np.logaddexp(0, logits)).sum())


@settings(max_examples=examples(15), deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([(4, 6, 3, 0.0), (6, 4, 2, 0.2), (5, 5, 4, 0.3)]))
def test_joint_estimates_are_the_maximum(seed: int, shape: tuple[int, int, int, float]) -> None:
    successes, trials = panel(seed, *shape)
    if not (trials.sum(axis=1) > 0).all():
        return
    found = _estimated(successes, trials, "jml")
    if found is None:
        return
    rows, columns = (np.array([name == "estimated" for name in side]) for side in (found.ability_status, found.status))
    at = np.ix_(rows, columns)
    best = joint(successes[at], trials[at], found.abilities[rows], found.difficulties[columns])
    assert found.log_likelihood == pytest.approx(best, abs=1e-9)
    size = int(rows.sum())
    start = np.concatenate([found.abilities[rows], found.difficulties[columns]])
    start = start + np.random.default_rng(seed).normal(0, 0.3, len(start))
    other = minimize(lambda x: -joint(successes[at], trials[at], x[:size], x[size:]), start, method="BFGS")
    assert -other.fun <= best + 1e-9 and -other.fun == pytest.approx(best, abs=1e-4)


def _estimated(successes: Any, trials: Any, method: str, **more: Any) -> Any:
    try:
        return calibrate(successes, trials, method=method, **more)
    except DiaError as error:  # all of a small table may be extreme
        assert any(
            text in str(error) for text in ("only correct or only wrong", "no replies", "no models are connected")
        )
        return None


def conditional(successes: Any, trials: Any, abilities: Any) -> float:
    """The log likelihood of each column given its total, by counting all that could have happened."""
    total = 0.0
    for right, tried in zip(successes.T, trials.T, strict=True):
        ways = product(*(range(int(most) + 1) for most in tried))
        weight = [(sum(way), way) for way in ways if sum(way) == right.sum()]
        sums = sum(np.exp(np.dot(way, abilities)) * _choose(tried, way) for _, way in weight)
        total += float(right @ abilities) - float(np.log(sums))
    return total


def _choose(trials: Any, way: Any) -> float:
    from math import comb, prod

    return float(prod(comb(int(most), taken) for most, taken in zip(trials, way, strict=True)))


@settings(max_examples=examples(12), deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([(3, 7, 3, 0.0), (4, 8, 1, 0.0), (4, 9, 2, 0.25)]))
def test_conditional_estimates_are_the_maximum(seed: int, shape: tuple[int, int, int, float]) -> None:
    successes, trials = panel(seed, *shape)
    if not (trials.sum(axis=1) > 0).all():
        return
    found = _estimated(successes, trials, "cml", eliminate="items")
    if found is None:
        return
    rows, columns = (np.array([name == "estimated" for name in side]) for side in (found.ability_status, found.status))
    if rows.sum() < 2:
        return
    at = np.ix_(rows, columns)
    best = conditional(successes[at], trials[at], found.abilities[rows])
    assert found.log_likelihood == pytest.approx(best, abs=1e-8)
    start = np.zeros(int(rows.sum()))
    other = minimize(lambda x: -conditional(successes[at], trials[at], x), start, method="BFGS")
    assert -other.fun <= best + 1e-8 and -other.fun == pytest.approx(best, abs=1e-4)


def marginal(successes: Any, trials: Any, abilities: Any, deviation: float) -> float:
    """The log likelihood with normal difficulties, on a grid of 401 points."""
    locations = np.linspace(-9, 9, 401) * deviation
    weights = norm.pdf(locations / deviation) * (locations[1] - locations[0]) / deviation
    total = 0.0
    for right, tried in zip(successes.T, trials.T, strict=True):
        logits = abilities[:, None] - locations
        total += float(
            np.log(np.exp((right[:, None] * logits - tried[:, None] * np.logaddexp(0, logits)).sum(0)) @ weights)
        )
    return total


@pytest.mark.parametrize("shape", [(3, 20, 1, 0.0), (3, 15, 3, 0.2)])
def test_marginal_estimates_are_the_maximum(shape: tuple[int, int, int, float]) -> None:
    successes, trials = panel(11, *shape)
    found = calibrate(successes, trials, method="mml_items")
    assert found.prior is not None and found.residual <= 1e-10
    raw = found.abilities - found.prior[0]
    best = marginal(successes, trials, raw, found.prior[1])
    assert found.log_likelihood == pytest.approx(best, abs=1e-8)
    start = np.append(raw + 0.2, np.log(found.prior[1]) - 0.2)
    other = minimize(lambda x: -marginal(successes, trials, x[:-1], float(np.exp(x[-1]))), start, method="BFGS")
    assert other.x == pytest.approx(np.append(raw, np.log(found.prior[1])), abs=1e-4)


@pytest.mark.parametrize("method", ["mml_items", "cml", "jml"])
def test_errors_are_those_of_a_numerical_information(method: str) -> None:
    """The spread of abilities about their mean, by differences of the likelihood."""
    successes, trials = panel(5, 4, 40, 2)
    found = calibrate(
        successes, trials, method=method, gauge="mean_ability", **({"eliminate": "items"} if method == "cml" else {})
    )
    if method == "mml_items":
        assert found.prior is not None
        locations, spread = np.append(found.abilities - found.prior[0], np.log(found.prior[1])), found.prior[1]
        likelihood = lambda x: marginal(successes, trials, x[:-1], float(np.exp(x[-1])))  # noqa: E731
        assert spread > 0
    elif method == "cml":
        rows = found.abilities
        inside = np.array([name == "estimated" for name in found.status])
        locations, likelihood = rows, lambda x: conditional(successes[:, inside], trials[:, inside], x)
    else:
        inside = np.array([name == "estimated" for name in found.status])
        size = len(found.abilities)
        locations = np.append(found.abilities, found.difficulties[inside])
        likelihood = lambda x: joint(successes[:, inside], trials[:, inside], x[:size], x[size:])  # noqa: E731
    information = -_hessian(likelihood, locations)
    covariance = np.linalg.pinv(information, rcond=1e-6)[:4, :4]
    centre = np.eye(4) - 0.25
    wanted = np.sqrt(np.diag(centre @ covariance @ centre))
    assert found.ability_se == pytest.approx(wanted, rel=2e-4)


def _hessian(function: Any, at: Any, step: float = 1e-3) -> Any:
    size = len(at)
    found = np.empty((size, size))
    shift = np.eye(size) * step
    for i in range(size):
        for j in range(i + 1):
            corners = [function(at + a * shift[i] + b * shift[j]) * a * b for a in (1, -1) for b in (1, -1)]
            found[i, j] = found[j, i] = sum(corners) / (4 * step**2)
    return found


def test_missing_cells_and_a_full_matrix_of_trials_agree() -> None:
    successes, trials = panel(3, 9, 60, 2)
    some = successes.copy()
    for method in ("mml_items", "cml", "jml"):
        even = calibrate(some, 2, method=method)
        every = trials.copy()
        every[0, 0] = 2.0
        spelled = calibrate(
            np.append(some, np.zeros((9, 1)), axis=1), np.append(every, np.zeros((9, 1)), axis=1), method=method
        )
        assert spelled.status[-1] == "disconnected" and np.isnan(spelled.difficulties[-1])
        assert spelled.abilities == pytest.approx(even.abilities, abs=1e-8)
        assert spelled.ability_se == pytest.approx(even.ability_se, rel=1e-4)
        assert spelled.difficulties[:-1] == pytest.approx(even.difficulties, abs=1e-8)
        assert spelled.log_likelihood == pytest.approx(even.log_likelihood, abs=1e-8)


def test_None_is_a_missing_cell() -> None:
    with_none = calibrate([[1, 0, None, 1], [0, 1, 1, 0], [1, None, 0, 0]], method="jml")
    with_nan = calibrate(np.array([[1, 0, np.nan, 1], [0, 1, 1, 0], [1, np.nan, 0, 0]]), method="jml")
    assert with_none.difficulties == pytest.approx(with_nan.difficulties)


@pytest.mark.parametrize("method", ["mml_items", "mml_persons", "cml", "jml"])
def test_gauges_differ_by_a_shift(method: str) -> None:
    successes, trials = panel(8, 6, 30, 3)
    one, other = (
        calibrate(successes, trials, method=method, gauge=name) for name in ("mean_difficulty", "mean_ability")
    )
    inside = [name == "estimated" for name in one.status]
    assert one.difficulties[inside].mean() == pytest.approx(0, abs=1e-12)
    assert other.abilities[[name == "estimated" for name in other.ability_status]].mean() == pytest.approx(0, abs=1e-12)
    gap = np.concatenate([one.abilities - other.abilities, one.difficulties - other.difficulties])
    assert np.ptp(gap) < 1e-9


@pytest.mark.parametrize("method", ["mml_items", "mml_persons", "cml", "jml"])
def test_anchors_stay_and_place_the_rest(method: str) -> None:
    successes, trials = panel(21, 12, 40, 4)
    free = calibrate(successes, trials, method=method, item_scores="mle")
    anchors = np.where(np.arange(40) < 15, free.difficulties + 2.5, np.nan)
    found = calibrate(successes, trials, method=method, item_scores="mle", gauge="anchors", anchors=anchors)
    assert found.difficulties[:15].tolist() == anchors[:15].tolist()
    assert set(found.status[:15]) == {"anchor"} and found.status[20] == "estimated"
    assert found.abilities - 2.5 == pytest.approx(free.abilities, abs=0.08)
    assert found.difficulties[15:] - 2.5 == pytest.approx(free.difficulties[15:], abs=0.12)


def test_the_correction_shrinks_by_trials() -> None:
    successes, trials = panel(2, 9, 80, 5)
    plain = calibrate(successes, trials, method="jml")
    corrected = calibrate(successes, trials, method="jml", bias_correction="trials")
    assert corrected.abilities == pytest.approx(plain.abilities * 44 / 45)
    assert corrected.difficulty_se == pytest.approx(plain.difficulty_se * 44 / 45)


def test_blocks_are_found_and_the_largest_is_estimated() -> None:
    successes, trials = panel(4, 10, 40, 3)
    trials[:6, 24:], trials[6:, :24] = 0, 0
    successes[trials == 0] = 0
    for method in ("mml_items", "cml", "jml"):
        found = calibrate(successes, trials, method=method)
        assert found.ability_status == ("estimated",) * 6 + ("disconnected",) * 4
        assert all(name == "disconnected" for name in found.status[24:])
        alone = calibrate(successes[:6, :24], trials[:6, :24], method=method)
        assert found.abilities[:6] == pytest.approx(alone.abilities, abs=1e-9)


def test_one_side_that_always_wins_makes_blocks_for_joint_estimates() -> None:
    # The first three models pass all of the easy items, the others none of the hard ones: the gap has no size.
    easy, hard = [[1, 1, 1], [1, 1, 1], [1, 1, 1]], [[1, 0, 1], [0, 1, 1], [1, 0, 0]]
    strong = [a + b for a, b in zip(easy, hard, strict=True)]
    weak = [[*a, 0, 0, 0] for a in ([1, 0, 0], [0, 1, 1], [0, 0, 1])]
    assert "disconnected" in calibrate(strong + weak, method="jml").ability_status
    assert "disconnected" not in calibrate(strong + weak, method="mml_items").ability_status


@pytest.mark.parametrize(
    ("successes", "more", "code", "words"),
    [
        ([[1, 0], [0, 2]], {}, "E891", "model 2 has 2 successes of 1 at item 2"),
        ([[1, 0], [-1, 1]], {}, "E891", "model 2 has -1 successes"),
        ([[1, 0], [float("inf"), 1]], {}, "E891", "model 2 has inf successes"),
        ([[1, 0], [None, None]], {}, "E891", "model 2 has no replies"),
        ([[1, 1], [1, 1]], {}, "E891", "only correct or only wrong"),
        ([[1, 0, 1]], {}, "E891", "at least two models"),
        ([["a", "b"], ["c", "d"]], {}, "E891", "matrix of numbers"),
        ([[1, 0], [0, 1]], {"method": "rasch"}, "E893", "`rasch` is not a method; choose from mml_items, mml_persons,"),
        ([[1, 0], [0, 1]], {"method": "jml", "eliminate": "items"}, "E893", "side\n  help: leave out `eliminate`"),
        ([[1, 0], [0, 1]], {"bias_correction": "trials"}, "E893", "to correct\n  help: leave out `bias_correction`"),
        ([[1, 0], [0, 1]], {"gauge": "anchors"}, "E893", "help: add `--anchors BANK`, or choose another gauge"),
        (
            [[1, 0], [0, 1]],
            {"anchors": [0, None]},
            "E893",
            "must be `anchors`, not `mean_difficulty`\n  help: leave out",
        ),
        ([[1, 0], [0, 1]], {"anchors": [0, 1, 2]}, "E893", "one difficulty for each of the 2 items\n  help: leave it"),
        (
            [[0.5, 0.25], [0.25, 1]],
            {"method": "cml"},
            "E893",
            "some scores are fractions\n  help: use another `--method`",
        ),
        (
            [[1, 0], [0, 1]],
            {"extreme_adjust": 0.9},
            "E893",
            "must be above 0 and at most 0.5, not 0.9\n  help: the usual",
        ),
    ],
)
def test_what_cannot_be_is_told(successes: Any, more: dict[str, Any], code: str, words: str) -> None:
    refusal(code, words, lambda: calibrate(successes, **more))


def test_numbers_do_not_depend_on_the_order_of_models_or_items() -> None:
    successes, trials = panel(31, 8, 30, 2, 0.1)
    rows, columns = np.random.default_rng(0).permutation(8), np.random.default_rng(1).permutation(30)
    for method in ("mml_items", "cml", "jml"):
        one = calibrate(successes, trials, method=method)
        other = calibrate(successes[rows][:, columns], trials[rows][:, columns], method=method)
        assert other.abilities == pytest.approx(one.abilities[rows], abs=1e-8)
        assert other.difficulties == pytest.approx(one.difficulties[columns], abs=1e-8)


def test_a_stretched_scale_is_told_from_a_true_one() -> None:
    """Nine models, one reply an item: joint estimates stretch by 9/8, marginal and corrected ones do not."""
    slopes: dict[str, list[float]] = {"mml_items": [], "jml": [], "corrected": []}
    for seed in range(8):
        generator = np.random.default_rng(seed)
        abilities, difficulties = generator.normal(size=9), generator.normal(0, 1.5, 750)
        right = generator.binomial(1, expit(abilities[:, None] - difficulties)).astype(float)
        for name in slopes:
            more: dict[str, Any] = (
                {"method": "jml", "bias_correction": "trials"} if name == "corrected" else {"method": name}
            )
            slopes[name].append(np.polyfit(abilities, calibrate(right, **more).abilities, 1)[0])
    means = {name: float(np.mean(values)) for name, values in slopes.items()}
    assert means["jml"] > 1.07 and abs(means["mml_items"] - 1) < 0.05 and abs(means["corrected"] - 1) < 0.06


@pytest.mark.parametrize("item_scores", ["eap", "wle", "mle"])
@pytest.mark.parametrize("method", ["cml", "mml_items", "mml_persons"])
def test_extremes_are_left_out_whatever_computes_their_places(method: str, item_scores: str) -> None:
    chance = np.random.default_rng(5)
    cells = (chance.random((9, 14)) < 0.5).astype(float)
    cells[:, 3], cells[:, 7] = 1, 0  # items that all models solve, or none
    placed, left_out = (
        calibrate(cells, method=method, item_scores=item_scores, extreme=extreme) for extreme in ("winsteps", "drop")
    )
    assert np.isfinite(placed.difficulties).all() and placed.status[3] == "extreme_low"
    assert np.isnan(left_out.difficulties[[3, 7]]).all() and np.isnan(left_out.difficulties).sum() == 2
    others = np.delete(np.arange(14), [3, 7])
    assert left_out.difficulties[others] == pytest.approx(placed.difficulties[others], abs=1e-12)
    assert left_out.abilities == pytest.approx(placed.abilities, abs=1e-12)

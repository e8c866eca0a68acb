"""Errors of abilities where a model's replies to one template depend on each other, and the test that they do."""

from __future__ import annotations

import numpy as np
import pytest
from dia_runtime.psychometrics.rasch.estimate import EstimationOptions, estimate
from dia_runtime.psychometrics.rasch.testlet import family_effects, residual_correlation
from scipy.special import expit

MODELS = np.linspace(-1, 1, 6)


def panel(seed: int, deviation: float, templates: int = 40, instances: int = 10) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    families = np.repeat(np.arange(templates), instances)
    effects = generator.normal(0, 1, (len(MODELS), templates))[:, families] * deviation
    chances = expit(MODELS[:, None] - generator.normal(0, 1, len(families)) + effects)
    return (generator.random(chances.shape) < chances).astype(float), families


@pytest.mark.parametrize("method", ["mml_items", "cml", "jml"])
def test_the_sandwich_is_the_jackknife_over_templates(method: str) -> None:
    """The delete-one-cluster jackknife refits the scale without each template and knows nothing of scores."""
    scores, families = panel(3, 1.0)
    options, trials = EstimationOptions(method=method), np.ones((len(MODELS), 1))
    whole = estimate(scores, trials, options, None, families)
    number = families.max() + 1
    refits = [estimate(scores[:, families != one], trials, options).abilities for one in range(number)]
    refits = [abilities - abilities.mean() for abilities in refits]
    spread = np.cov(np.array(refits).T, ddof=0) * (number - 1)
    for first, second in ((0, 5), (2, 3)):
        jackknife = spread[first, first] + spread[second, second] - 2 * spread[first, second]
        _, se = whole.difference(first, second)
        _, independent = estimate(scores, trials, options).difference(first, second)
        assert se == pytest.approx(jackknife**0.5, rel=0.08) and se > 1.2 * independent
    assert whole.clusters == number and whole.design_effect is not None and whole.design_effect > 1.5


def test_one_item_in_each_cluster_gives_the_errors_of_independent_items() -> None:
    scores, _ = panel(1, 0.0, 400, 1)
    trials = np.ones((len(MODELS), 1))
    clustered = estimate(scores, trials, EstimationOptions(), None, np.arange(400))
    independent = estimate(scores, trials, EstimationOptions())
    assert clustered.design_effect == pytest.approx(1, abs=0.15)
    assert clustered.abilities == pytest.approx(independent.abilities, abs=0)
    assert estimate(scores, trials, EstimationOptions(), None, np.arange(400) % 9).clusters is None


def test_the_effect_of_families_is_recovered_and_tested() -> None:
    for deviation, low, high in ((0.0, 0.0, 0.25), (1.0, 0.85, 1.35)):
        scores, families = panel(7, deviation, 100)
        fit = family_effects(scores, np.ones(scores.shape, dtype=int), families)
        assert fit is not None and low <= fit.sd <= high and (fit.p < 0.001) == (deviation > 0)
        assert fit.abilities == pytest.approx(MODELS, abs=0.35)


def test_q3_is_the_mean_correlation_of_residuals() -> None:
    generator = np.random.default_rng(2)
    residuals, families = generator.normal(size=(7, 12)), np.arange(12) % 4
    table = np.corrcoef(residuals.T)
    pairs = [(a, b) for a in range(12) for b in range(a)]
    within = np.mean([table[pair] for pair in pairs if families[pair[0]] == families[pair[1]]])
    between = np.mean([table[pair] for pair in pairs if families[pair[0]] != families[pair[1]]])
    correlation = residual_correlation(residuals, np.ones(residuals.shape, dtype=bool), families)
    assert correlation is not None
    assert (correlation.within, correlation.between) == pytest.approx((within, between), abs=1e-12)

"""How well a scale predicts held-out replies, compared with guesses that do not use a scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from dia_language.diagnostics import DiaError
from dia_runtime.psychometrics.rasch.counts import Array, Mask, logistic_in_place
from dia_runtime.psychometrics.rasch.estimate import EstimationOptions, estimate
from numpy.typing import NDArray

EDGE = 1e-6  # probabilities of predictions stay this far from 0 and 1


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Mean negative log likelihood of a held-out trial: by the scale, by one rate for all, by a rate for each model.

    `gain` is how much better the scale is than the better of the two, with its standard error over folds.
    """

    trials: float
    scale: float
    one_rate: float
    model_rates: float
    gain: float
    gain_se: float | None


def held_out(
    successes: Array, trials: NDArray[Any], options: EstimationOptions, folds: int = 5, seed: int = 0
) -> HeldOut | None:
    """Return the figures over all cells, each held out once; None if no fold gives a scale."""
    every = np.broadcast_to(trials, successes.shape).astype(float)
    generator = np.random.default_rng(seed)
    fold = generator.integers(0, folds, successes.shape)
    fold_scores = []
    for number in range(folds):
        out = (fold == number) & (every > 0)
        scores = _scores(successes, every, out, options)
        if scores is not None:
            fold_scores.append(scores)
    if not fold_scores:
        return None
    table = np.array(fold_scores)
    tried = table[:, 0]
    scale_loss, one_rate_loss, model_rates_loss = (float(table[:, at].sum() / tried.sum()) for at in (1, 2, 3))
    gains = np.minimum(table[:, 2], table[:, 3]) / tried - table[:, 1] / tried
    width = float(gains.std(ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else None
    return HeldOut(
        float(tried.sum()),
        scale_loss,
        one_rate_loss,
        model_rates_loss,
        min(one_rate_loss, model_rates_loss) - scale_loss,
        width,
    )


def _scores(
    successes: Array, trials: Array, out: Mask, options: EstimationOptions
) -> tuple[float, float, float, float] | None:
    """Return trials and summed losses of one fold."""
    training_trials = np.where(out, 0.0, trials)
    training_successes = np.where(out, 0.0, successes)
    if not (training_trials.sum(axis=1) > 0).all():
        return None
    try:
        calibration = estimate(training_successes, training_trials, options)
    except DiaError:
        return None
    abilities, difficulties = calibration.abilities[:, None], calibration.difficulties
    is_scored = out & np.isfinite(abilities) & np.isfinite(difficulties)
    if not is_scored.any():
        return None
    probability = logistic_in_place(np.nan_to_num(abilities) - np.nan_to_num(difficulties))
    model_rates = np.broadcast_to(
        (training_successes.sum(axis=1) / training_trials.sum(axis=1))[:, None], probability.shape
    )
    one_rate = np.full(probability.shape, training_successes.sum() / training_trials.sum())
    losses = [
        _loss(successes[is_scored], trials[is_scored], rate[is_scored]) for rate in (probability, one_rate, model_rates)
    ]
    return float(trials[is_scored].sum()), losses[0], losses[1], losses[2]


def _loss(successes: Array, trials: Array, probability: Array) -> float:
    clipped = np.clip(probability, EDGE, 1 - EDGE)
    return float(-(successes * np.log(clipped) + (trials - successes) * np.log(1 - clipped)).sum())

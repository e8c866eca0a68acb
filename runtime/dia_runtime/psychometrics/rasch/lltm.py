"""Difficulties explained by properties of the items: the linear logistic test model with an error term.

An item's difficulty is drawn about a weighted sum of its features (Fischer 1973; with the error, Janssen and others
2004). The marginal likelihood is taken over the replies themselves, abilities given, so that items that all or no
models pass tell what they can.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from dia_runtime.psychometrics.rasch.counts import Array, Counts
from dia_runtime.psychometrics.rasch.mml import CLOSE, FAR, MOST_POINTS, WIDEST, Grid
from dia_runtime.psychometrics.rasch.newton import not_converged

MOST = 500
LEAST = 0.1  # logits of the error's standard deviation
TOLERANCE = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class FittedModel:
    """Weights of features, their covariance, the error's standard deviation, and the log likelihood.

    `means` are the difficulties of the items given replies and features, `log_likelihoods` of single items.
    """

    weights: Array
    covariance: Array
    error: float
    log_likelihood: float
    means: Array
    log_likelihoods: Array


def likelihoods(data: Counts, abilities: Array, centre: float, width: float, step: float) -> tuple[Array, Array]:
    """Places of difficulties, and each item's log likelihood there: items by places."""
    number = min(int(np.ceil(width / step)), MOST_POINTS)
    locations = centre + np.linspace(-width, width, 2 * number + 1)
    lost = np.logaddexp(0.0, abilities[:, None] - locations)
    grid_points = Grid(locations, np.zeros(len(locations)), np.zeros((0, len(locations))), lost)
    softplus_sums = data.trials_of(slice(None)).T @ grid_points.softplus_sums
    table = -data.column_totals[:, None] * locations - softplus_sums
    return locations, (table - table.max(axis=1)[:, None])[data.of]


def grid(abilities: Array, trials: Array) -> tuple[float, float, float]:
    """Return centre, width and step of points that are dense enough for items with this many trials per model."""
    centre = float(np.median(abilities))
    width = FAR + float(np.ptp(abilities)) / 2 + 8.0
    narrowest = 1 / np.sqrt(trials.sum() / 4 + 1 / 4.0)
    return centre, width, min(CLOSE * float(narrowest), WIDEST, CLOSE * LEAST)


def lltm(locations: Array, table: Array, features: Array) -> FittedModel:
    """The weights and the error that make the replies most probable; `features` is items by features, with a constant.

    Raises DiaError if that does not converge.
    """
    start = _posterior(locations, table, np.zeros(len(table)), 3.0)[0]
    weights: Array = np.asarray(np.linalg.lstsq(features, start, rcond=None)[0], dtype=np.float64)
    spread = 1.0
    change = np.inf
    for _ in range(MOST):
        centre = features @ weights
        mean, variance, _ = _posterior(locations, table, centre, spread)
        information = (features * (1 / spread**2 - variance / spread**4)[:, None]).T @ features
        scores = features.T @ (mean - centre) / spread**2
        step = _step(information, scores, features, mean - centre)
        deviation = max(LEAST, float(np.sqrt(np.mean((mean - centre) ** 2 + variance))))
        accelerated = float(np.clip(spread * (deviation / spread) ** 2, LEAST, 20.0))  # twice as far as EM goes
        change = max(float(np.abs(step).max()), abs(accelerated - spread))
        weights, spread = weights + step, accelerated
        if change < TOLERANCE:
            break
    else:
        if change > 1e-3:
            raise not_converged("explain", change)
    centre = features @ weights
    mean, variance, logs = _posterior(locations, table, centre, spread)
    information = (features * (1 / spread**2 - variance / spread**4)[:, None]).T @ features
    errors = np.asarray(np.linalg.pinv(information), dtype=np.float64)
    return FittedModel(weights, errors, spread, float(logs.sum()), mean, logs)


def _step(information: Array, scores: Array, features: Array, gap: Array) -> Array:
    """Newton's step, or where the likelihood is not curved so, that of EM."""
    try:
        np.linalg.cholesky(information)
        step = np.linalg.solve(information, scores)
        if np.abs(step).max() < 5:
            return np.asarray(step, dtype=np.float64)
    except np.linalg.LinAlgError:
        pass
    return np.asarray(np.linalg.lstsq(features, gap, rcond=None)[0], dtype=np.float64)


def _posterior(locations: Array, table: Array, centre: Array, spread: float) -> tuple[Array, Array, Array]:
    """Mean and variance of each item's difficulty about its centre, and its marginal log likelihood."""
    exponents = table - 0.5 * ((locations - centre[:, None]) / spread) ** 2
    top = exponents.max(axis=1)
    weights = np.exp(exponents - top[:, None])
    sums = weights.sum(axis=1)
    mean = weights @ locations / sums
    variance = np.maximum(weights @ locations**2 / sums - mean**2, 0)
    step = locations[1] - locations[0]
    return mean, variance, top + np.log(sums * step / (spread * np.sqrt(2 * np.pi)))


def predictive_log_likelihood(locations: Array, table: Array, centre: Array, spread: float) -> Array:
    """Return the log likelihood of items whose difficulties are only predicted."""
    return _posterior(locations, table, centre, spread)[2]


def independent(features: Array, tolerance: float = 1e-9) -> list[int]:
    """Return the columns that are no weighted sums of those before them."""
    columns: list[int] = []
    basis = np.zeros((len(features), 0))
    for column in range(features.shape[1]):
        remainder = features[:, column] - basis @ (basis.T @ features[:, column])
        remainder = remainder - basis @ (basis.T @ remainder)
        size = float(np.linalg.norm(remainder))
        if size > tolerance * max(1.0, float(np.linalg.norm(features[:, column]))):
            columns.append(column)
            basis = np.concatenate([basis, remainder[:, None] / size], axis=1)
    return columns

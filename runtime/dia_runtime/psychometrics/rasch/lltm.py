"""Difficulties explained by properties of the items: the linear logistic test model with an error term.

An item's difficulty is drawn about a weighted sum of its features (Fischer 1973; with the error, Janssen and others
2004). The marginal likelihood is that of the replies themselves, given abilities, so that items which all or no models
pass still count. Weights of a group may be drawn from a normal distribution about 0, whose variance is estimated too
(De Boeck and Wilson 2004): then many weak features do not fit noise, and a template with few items borrows from the
others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from dia_runtime.psychometrics.rasch.counts import Array, Counts
from dia_runtime.psychometrics.rasch.mml import CLOSE, FAR, MOST_POINTS, WIDEST, Grid
from dia_runtime.psychometrics.rasch.newton import not_converged

MOST = 500
LEAST = 0.1  # logits of the error's standard deviation
TOLERANCE, LOOSE = 1e-7, 1e-5  # the second one if variances of weights are also estimated
SETTLED = 1e-4  # changes in a group's standard deviation count by this factor, because they hardly affect weights
BOLD = 250  # iterations with long steps; if these oscillate, the steps of EM converge
EXTRAPOLATED = 6  # steps of the error's standard deviation after which its limit is extrapolated
LEAST_SCALE = 0.05  # logits of the standard deviation of a group's weights


@dataclass(frozen=True, slots=True, eq=False)
class FittedModel:
    """Weights of features, their covariance, the error's standard deviation, and the log likelihood.

    `means` are the difficulties of the items given replies and features, `log_likelihoods` of single items, `scales`
    the standard deviation of the weights of each column, infinite if it has no group.
    """

    weights: Array
    covariance: Array
    error: float
    log_likelihood: float
    means: Array
    log_likelihoods: Array
    scales: Array


def likelihoods(data: Counts, abilities: Array, centre: float, width: float, step: float) -> tuple[Array, Array]:
    """Return grid points of difficulty, and each item's log likelihood there: items by points."""
    number = min(int(np.ceil(width / step)), MOST_POINTS)
    locations = centre + np.linspace(-width, width, 2 * number + 1)
    lost = np.logaddexp(0.0, abilities[:, None] - locations)
    grid_points = Grid(locations, np.zeros(len(locations)), np.zeros((0, len(locations))), lost)
    softplus_sums = data.trials_of(slice(None)).T @ grid_points.softplus_sums
    table = -data.column_totals[:, None] * locations - softplus_sums
    return locations, (table - table.max(axis=1)[:, None])[data.of]


def grid(abilities: Array, trials: Array) -> tuple[float, float, float]:
    """Return centre, width and step of a grid that is dense enough for items with this many trials per model."""
    centre = float(np.median(abilities))
    width = FAR + float(np.ptp(abilities)) / 2 + 8.0
    narrowest = 1 / np.sqrt(trials.sum() / 4 + 1 / 4.0)
    return centre, width, min(CLOSE * float(narrowest), WIDEST, CLOSE * LEAST)


def lltm(
    locations: Array,
    table: Array,
    features: Array,
    groups: Sequence[str | None] | None = None,
    offset: Array | float = 0.0,
) -> FittedModel:
    """Return the weights and the error that make the replies most probable.

    `features` is items by features, with a constant. `groups` names the group of each column, None for one whose weight
    has no distribution. `offset` (logits) is added to the weighted sum. Raises DiaError if the iteration does not
    converge.
    """
    start = _posterior(locations, table, np.zeros(len(table)), 3.0)[0] - offset
    scales = _first_scales(features.shape[1], groups)
    weights = _solved(features.T @ features + np.diag(1 / scales**2), features.T @ start)
    spread, last_move = 1.0, 0.0
    change = np.inf
    for turn in range(MOST):
        centre = offset + features @ weights
        mean, variance, _ = _posterior(locations, table, centre, spread)
        precision = 1 / scales**2
        information = (features * (1 / spread**2 - variance / spread**4)[:, None]).T @ features + np.diag(precision)
        scores = features.T @ (mean - centre) / spread**2 - precision * weights
        is_bold = turn < BOLD
        complete = features.T @ features / spread**2 + np.diag(precision)
        step = _step(information, scores, complete) if is_bold else _solved(complete, scores)
        deviation = max(LEAST, float(np.sqrt(np.mean((mean - centre) ** 2 + variance))))
        move = (2 if is_bold else 1) * float(np.log(deviation / spread))  # twice as far as EM
        ratio = move / last_move if last_move else 0.0
        if (
            is_bold and turn % EXTRAPOLATED == EXTRAPOLATED - 1 and 0 < ratio < 0.999
        ):  # the limit of a geometric series (Aitken)
            move = float(np.clip(move / (1 - ratio), -1.0, 1.0))
            last_move = 0.0
        else:
            last_move = move
        accelerated = float(np.clip(spread * np.exp(move), LEAST, 20.0))
        change = max(float(np.abs(step).max(initial=0.0)), abs(accelerated - spread))
        weights, spread = weights + step, accelerated
        if groups is not None:
            following = _scales(weights, information, groups, scales, 2 if is_bold else 1)
            grouped = np.isfinite(scales)
            change = max(change, SETTLED * float(np.abs(following[grouped] - scales[grouped]).max(initial=0.0)))
            scales = following
        if change < (TOLERANCE if groups is None else LOOSE):
            break
    else:
        if change > 1e-3:
            raise not_converged("explain", change)
    centre = offset + features @ weights
    mean, variance, logs = _posterior(locations, table, centre, spread)
    information = (features * (1 / spread**2 - variance / spread**4)[:, None]).T @ features + np.diag(1 / scales**2)
    errors = np.asarray(np.linalg.pinv(information), dtype=np.float64)
    return FittedModel(weights, errors, spread, float(logs.sum()), mean, logs, scales)


def _first_scales(number: int, groups: Sequence[str | None] | None) -> Array:
    if groups is None:
        return np.full(number, np.inf)
    return np.array([np.inf if group is None else 1.0 for group in groups])


def _scales(weights: Array, information: Array, groups: Sequence[str | None], scales: Array, power: int) -> Array:
    """Return the new standard deviations of the groups' weights (MacKay 1992: weights squared).

    The logarithm of each moves `power` times as far.
    """
    try:
        variances = np.diag(np.linalg.inv(information))
    except np.linalg.LinAlgError:
        variances = np.diag(np.linalg.pinv(information))
    following = scales.copy()
    for group in sorted({name for name in groups if name is not None}):
        columns = np.array([name == group for name in groups])
        share = float((1 - variances[columns] / scales[columns] ** 2).clip(0, 1).sum())
        squares = float((weights[columns] ** 2).sum())
        scale = float(scales[columns][0])
        target = (squares / max(share, 1e-6)) ** 0.5
        following[columns] = np.clip(
            scale * (target / scale) ** power, max(LEAST_SCALE, scale / 4), min(10.0, scale * 4)
        )
    return following


def spread_about(locations: Array, table: Array, centre: Array) -> float:
    """Return the most likely standard deviation of the true difficulties about predicted ones, in logits.

    The noise of the replies is not included.
    """
    return lltm(locations, table, np.zeros((len(table), 0)), offset=centre).error


def _step(information: Array, scores: Array, complete: Array) -> Array:
    """Return Newton's step, or that of EM, whose information is `complete`, if the likelihood is not concave."""
    if not len(scores):
        return scores
    try:
        np.linalg.cholesky(information)
        step = np.linalg.solve(information, scores)
        if np.abs(step).max() < 5:
            return np.asarray(step, dtype=np.float64)
    except np.linalg.LinAlgError:
        pass
    return _solved(complete, scores)


def _solved(matrix: Array, vector: Array) -> Array:
    return np.asarray(np.linalg.lstsq(matrix, vector, rcond=None)[0], dtype=np.float64)


def _posterior(locations: Array, table: Array, centre: Array, spread: float) -> tuple[Array, Array, Array]:
    """Return mean and variance of each item's difficulty about its centre, and its marginal log likelihood."""
    exponents = table - 0.5 * ((locations - centre[:, None]) / spread) ** 2
    top = exponents.max(axis=1)
    weights = np.exp(exponents - top[:, None])
    sums = weights.sum(axis=1)
    mean = weights @ locations / sums
    variance = np.maximum(weights @ locations**2 / sums - mean**2, 0)
    step = locations[1] - locations[0]
    return mean, variance, top + np.log(sums * step / (spread * np.sqrt(2 * np.pi)))


def predictive_log_likelihood(locations: Array, table: Array, centre: Array, spread: float) -> Array:
    """Return the log likelihood of items whose difficulties are predicted."""
    return _posterior(locations, table, centre, spread)[2]


def independent(features: Array) -> list[int]:
    """Return the columns that are not linear combinations of those before them."""
    columns: list[int] = []
    basis = np.zeros((len(features), 0))
    for column in range(features.shape[1]):
        remainder = features[:, column] - basis @ (basis.T @ features[:, column])
        remainder = remainder - basis @ (basis.T @ remainder)
        size = float(np.linalg.norm(remainder))
        if size > 1e-9 * max(1.0, float(np.linalg.norm(features[:, column]))):
            columns.append(column)
            basis = np.concatenate([basis, remainder[:, None] / size], axis=1)
    return columns

"""Marginal maximum likelihood: rows are parameters, columns are drawn from a normal distribution.

Bock and Aitkin 1981, with either side as rows. The integrals are sums over evenly spaced points that are closer than
the narrowest posterior is wide, where such sums are exact to the last digits (Trefethen and Weideman 2014); a fixed
number of points would not be. Newton's method on the marginal likelihood; information as in Louis 1982.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from dia_runtime.psychometrics.rasch.counts import Array, Counts, softplus
from dia_runtime.psychometrics.rasch.jml import Fit
from dia_runtime.psychometrics.rasch.newton import HALVINGS, MOST, covariance, not_converged, precise_enough
from numpy.typing import NDArray

CLOSE = 0.7  # of the width of the narrowest posterior: the rest is below 1e-17 of the whole
WIDEST = 0.5  # logits between points; the poles of the likelihood are at a distance of pi from the real line
FAR = 8.5  # standard deviations of the prior to either side
LEAST, LARGEST = (
    0.02,
    10.0,
)  # logits of the prior's standard deviation, which would grow forever for perfectly ordered data
MOST_POINTS = 4000
LONGEST = 1.5  # logits of one step in one direction
ORDERS = (3, 8)  # terms of a posterior covariance while iterating, and at the end
SIZE_BLOCK = 1 << 20
# Multiplications to compute a block's covariance point by point; with many rows a few terms are just as accurate.
EXACT = {ORDERS[0]: 3e6, ORDERS[1]: 2e8}
FLAT = 1e-12  # of a likelihood; smaller gains cannot be distinguished from rounding


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """A block of classes: the weight of each point for each class, and their log likelihoods."""

    block: slice
    weights: Array
    log_likelihoods: Array


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Points of the column's place, log prior at them, and each row's probability of success there."""

    locations: Array
    log_prior: Array
    probabilities: Array
    softplus_sums: Array


def grid_points(rows: Array, trials: Array, mean: float, deviation: float) -> Grid:
    """Return the points for rows at these places; `trials` has the maximum of each row at one column."""
    narrowest = 1 / np.sqrt(trials.sum() / 4 + 1 / deviation**2)
    step = min(CLOSE * narrowest, WIDEST)
    number = min(int(np.ceil(FAR * deviation / step)), MOST_POINTS)
    locations = mean + np.linspace(-FAR * deviation, FAR * deviation, 2 * number + 1)
    logits = rows[:, None] - locations
    log_prior = -0.5 * ((locations - mean) / deviation) ** 2
    log_prior -= np.log(np.exp(log_prior).sum())
    softplus_sums = softplus(logits)
    return Grid(locations, log_prior, np.exp(logits - softplus_sums), softplus_sums)


def posteriors(data: Counts, grid: Grid) -> Iterator[Posterior]:
    """Yield the posteriors of all classes, one block at a time; those of known classes have no effect."""
    step = max(1, SIZE_BLOCK // max(data.rows, len(grid.locations)))
    even = data.trials_of(slice(None)).T @ grid.softplus_sums if data.is_even else None
    for start in range(0, data.classes, step):
        block = slice(start, min(start + step, data.classes))
        softplus_sums = data.trials_of(block).T @ grid.softplus_sums if even is None else even
        exponents = -data.column_totals[block, None] * grid.locations - softplus_sums + grid.log_prior
        top = exponents.max(axis=1)
        weights = np.exp(exponents - top[:, None])
        sums = weights.sum(axis=1)
        yield Posterior(block, weights / sums[:, None], top + np.log(sums))


@dataclass(slots=True, eq=False)
class _State:
    rows: Array
    prior: Array  # mean, logarithm of the deviation
    log_likelihood: float
    scores: Array
    information: Array


def mml(
    data: Counts,
    free_rows: NDArray[np.bool_] | None = None,
    rows: Array | None = None,
    tol: float = 1e-10,
    prior: tuple[float, float] | None = None,
) -> Fit:
    """Return the rows, and the prior of the columns, that make the totals most probable.

    If all rows are free, the prior's mean is 0; known classes or fixed rows make it a free parameter. A given `prior`
    does not change.
    """
    anchored = not np.isnan(data.anchors).all() or (free_rows is not None and not free_rows.all())
    free = np.ones(data.rows, dtype=bool) if free_rows is None else free_rows
    random = bool(np.isnan(data.anchors).any())  # otherwise no prior can be estimated
    keep = np.concatenate([free, [anchored and prior is None and random, prior is None and random]])
    state = _state_at(data, *_start(data, rows, free, prior), keep, ORDERS[0])
    largest = float(max(data.row_totals.max(), data.weights.sum()))
    for iteration in range(MOST):
        if precise_enough(_residual(state, keep), largest, tol):
            return _fit(data, state, keep, iteration, random)
        after = _uphill_step(data, state, keep)
        if after is None:
            break
        state = after
    if precise_enough(_residual(state, keep), 1e3 * largest, tol):
        return _fit(data, state, keep, iteration, random)
    raise not_converged("mml", _residual(state, keep))


def _start(
    data: Counts, rows: Array | None, free: NDArray[np.bool_], prior: tuple[float, float] | None
) -> tuple[Array, Array]:
    trials = (data.trials_of(slice(None)) * data.weights).sum(axis=1) if data.is_even else data.trials @ data.weights
    shares = np.clip(data.row_totals / trials, 0.01, 0.99)
    column_trials = data.column_trials()
    inside = np.clip(data.column_totals / column_trials, 0.3 / column_trials, 1 - 0.3 / column_trials)
    columns = -np.log(inside / (1 - inside))
    deviation = np.sqrt(
        max(np.average((columns - np.average(columns, weights=data.weights)) ** 2, weights=data.weights), 0.01)
    )
    row_start = np.log(shares / (1 - shares)) * np.sqrt(1 + deviation**2 / 2.9)
    if rows is not None:
        row_start = np.where(free, row_start, rows)
    if prior is not None:
        return row_start, np.array([prior[0], np.log(prior[1])])
    return row_start, np.array([0.0, np.log(np.clip(0.8 * deviation, 0.1, 5))])


def _residual(state: _State, keep: NDArray[np.bool_]) -> float:
    scores = np.where(keep, state.scores, 0)
    if _is_flat(state):
        scores[-1] = 0
    return float(np.abs(scores).max())


def _is_flat(state: _State) -> bool:
    """Return whether the spread of the columns is at one of its bounds, and would move beyond it."""
    low, high = np.log(LEAST) + 1e-9, np.log(LARGEST) - 1e-9
    spread, score = state.prior[1], state.scores[-1]
    return bool((spread <= low and score <= 0) or (spread >= high and score >= 0))


def _uphill_step(data: Counts, state: _State, keep: NDArray[np.bool_]) -> _State | None:
    """Return the state after one step, which is halved until the likelihood grows."""
    use = keep.copy()
    use[-1] &= not _is_flat(state)
    step = np.zeros(len(use))
    step[use] = _ascent_direction(state.information[np.ix_(use, use)], state.scores[use])
    size = 1.0
    for _ in range(HALVINGS):
        prior = state.prior + size * step[-2:]
        prior[1] = np.clip(prior[1], np.log(LEAST), np.log(LARGEST))
        after = _state_at(data, state.rows + size * step[:-2], prior, keep, ORDERS[0])
        gained = after.log_likelihood - state.log_likelihood
        flat = FLAT * abs(state.log_likelihood)
        if gained > flat or (size == 1.0 and gained > -1e3 * flat):  # Newton is better where the likelihood is flat
            return after
        size /= 2
    return None


def _ascent_direction(information: Array, scores: Array) -> Array:
    """Return an ascent direction: Newton's, with every curvature made negative, and limited length."""
    values, vectors = np.linalg.eigh(information)
    curved = np.maximum(np.abs(values), 1e-10 * np.abs(values).max())
    along = np.clip((vectors.T @ scores) / curved, -LONGEST, LONGEST)
    return np.asarray(vectors @ along, dtype=np.float64)


def _state_at(data: Counts, rows: Array, prior: Array, keep: NDArray[np.bool_], order: int) -> _State:
    mean, deviation = float(prior[0]), float(np.exp(prior[1]))
    most = data.trials.max(axis=1).astype(float)
    grid = grid_points(rows, most, mean, deviation)
    scaled = (grid.locations - mean) / deviation
    prior_scores = np.stack([scaled / deviation, scaled**2 - 1])  # scores of mean and log deviation
    total = float(data.row_totals @ rows)
    scores = np.concatenate([data.row_totals, [0.0, 0.0]])
    information = np.zeros((len(scores), len(scores)))
    is_random, is_anchored = np.isnan(data.anchors), ~np.isnan(data.anchors)
    for part in posteriors(data, grid):
        weights = data.weights[part.block] * is_random[part.block]
        total += float(weights @ part.log_likelihoods)
        trials = data.trials_of(part.block)
        point_mass = part.weights.T @ weights if data.is_even else None
        expected = trials * (grid.probabilities @ part.weights.T)
        scores[:-2] -= expected @ weights
        scores[-2:] += prior_scores @ (part.weights.T @ weights)
        _add_information(information, grid, prior_scores, part, trials, weights, point_mass, order, deviation)
    if is_anchored.any():
        total += _add_anchored(data, rows, is_anchored, scores, information)
    return _State(rows, prior, total, scores, information)


def _add_information(
    information: Array,
    grid: Grid,
    prior_scores: Array,
    part: Posterior,
    trials: Array,
    weights: Array,
    point_mass: Array | None,
    order: int,
    deviation: float,
) -> None:
    """Add the information from a block of classes: that of the whole minus the covariance of its scores."""
    size = len(grid.probabilities)
    flat = part.weights.T @ weights
    spread = grid.probabilities * (1 - grid.probabilities)
    information[np.arange(size), np.arange(size)] += (trials * (spread @ part.weights.T)) @ weights
    scaled_square = prior_scores[1] + 1
    information[size, size] += weights.sum() / deviation**2
    information[size + 1, size + 1] += 2 * float(flat @ scaled_square)
    cross = 2 * float(flat @ prior_scores[0])
    information[size, size + 1] += cross
    information[size + 1, size] += cross
    if point_mass is not None:
        all_scores = np.concatenate([-trials * grid.probabilities, prior_scores])
        means = all_scores @ part.weights.T
        information -= (all_scores * point_mass) @ all_scores.T - (means * weights) @ means.T
        return
    if size**2 * weights.size * len(grid.locations) <= EXACT[order]:
        _subtract_score_covariance(information, grid, prior_scores, part, trials, weights)
        return
    for basis in _orthonormal(grid.locations, part.weights, order):
        tilted = part.weights * basis
        terms = np.concatenate([-trials * (grid.probabilities @ tilted.T), prior_scores @ tilted.T])
        information -= (terms * weights) @ terms.T


def _subtract_score_covariance(
    information: Array, grid: Grid, prior_scores: Array, part: Posterior, trials: Array, weights: Array
) -> None:
    """Subtract the covariance of the scores, point by point, for some classes at a time."""
    rows, number = len(grid.probabilities), len(grid.locations)
    step = max(1, SIZE_BLOCK // (rows * number))
    for start in range(0, len(weights), step):
        here = slice(start, start + step)
        shares, mass = part.weights[here], weights[here]
        scores = -trials[:, here, None] * grid.probabilities[:, None, :]
        all_scores = np.concatenate([scores, np.broadcast_to(prior_scores[:, None, :], (2, *shares.shape))])
        means = np.einsum("rcp,cp->rc", all_scores, shares)
        flat = all_scores.reshape(rows + 2, -1)
        information -= (flat * (shares * mass[:, None]).ravel()) @ flat.T - (means * mass) @ means.T


def _orthonormal(locations: Array, weights: Array, order: int) -> Iterator[Array]:
    """Return polynomials 1 to `order` of the place, orthonormal under each class's posterior.

    A covariance is the sum over them of products of the two sides' coefficients, and a few of them account for nearly
    all of it.
    """
    mean = weights @ locations
    before, now = np.zeros(weights.shape), np.ones(weights.shape)
    centred = locations - mean[:, None]
    width = np.sqrt((weights * centred**2).sum(axis=1))[:, None]
    scaled = centred / np.maximum(width, 1e-12)
    for _ in range(order):
        after = scaled * now
        after -= (weights * after * now).sum(axis=1)[:, None] * now
        after -= (weights * after * before).sum(axis=1)[:, None] * before
        norm = np.sqrt((weights * after**2).sum(axis=1))[:, None]
        after = after / np.maximum(norm, 1e-12)
        yield after
        before, now = now, after


def _add_anchored(
    data: Counts, rows: Array, is_anchored: NDArray[np.bool_], scores: Array, information: Array
) -> float:
    """Add the information from anchored columns, and return their log likelihood."""
    locations, weights = data.anchors[is_anchored], data.weights[is_anchored]
    trials = data.trials_of(slice(None)) if data.is_even else data.trials[:, is_anchored].astype(float)
    logits = rows[:, None] - locations
    softplus_sums = softplus(logits)
    probability = np.exp(logits - softplus_sums)
    scores[:-2] -= (trials * probability) @ weights
    information[np.arange(len(rows)), np.arange(len(rows))] += (trials * probability * (1 - probability)) @ weights
    return float(
        -(weights * data.column_totals[is_anchored]) @ locations - (trials * softplus_sums).sum(axis=0) @ weights
    )


def _fit(data: Counts, state: _State, keep: NDArray[np.bool_], iterations: int, random: bool) -> Fit:
    use = keep.copy()
    use[-1] &= not _is_flat(state)
    exact = state if data.is_even else _state_at(data, state.rows, state.prior, keep, ORDERS[1])
    whole = covariance(exact.information, use, False)
    spread = whole[:-2, :-2]
    prior = (float(state.prior[0]), float(np.exp(state.prior[1]))) if random else None
    return Fit(state.rows, None, spread, state.log_likelihood, iterations, _residual(state, keep), prior, whole)

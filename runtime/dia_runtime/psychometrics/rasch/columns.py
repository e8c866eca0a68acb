"""Places of columns for known rows, and the errors of both.

`mle` is the maximum of a column's likelihood, with extreme totals moved slightly inside; `wle` is Warm's (1989), which
is always finite; `eap` is the mean of the posterior under a normal prior.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from dia_runtime.psychometrics.rasch.counts import Array, Counts, Mask, logistic_in_place
from dia_runtime.psychometrics.rasch.mml import grid_points, posteriors

ROUNDS = 100
BOUND = 30.0  # logits beyond the rows within which a column is searched; probabilities there are still below 1


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A block of classes: places, variances for known rows, and how the places move with the rows."""

    block: slice
    locations: Array
    variances: Array
    slopes: Array


def score_columns(
    data: Counts, rows: Array, kind: str, prior: tuple[float, float] | None, adjust: float
) -> Iterator[Scored]:
    """Yield the columns of all classes, one block at a time; known ones do not move."""
    parts = _eap(data, rows, prior) if kind == "eap" and prior else _likely(data, rows, kind, adjust)
    for part in parts:
        is_anchored = ~np.isnan(data.anchors[part.block])
        part.locations[is_anchored] = data.anchors[part.block][is_anchored]
        part.variances[is_anchored] = 0
        part.slopes[:, is_anchored] = 0
        yield part


def _eap(data: Counts, rows: Array, prior: tuple[float, float]) -> Iterator[Scored]:
    grid = grid_points(rows, data.trials.max(axis=1).astype(float), *prior)
    for part in posteriors(data, grid):
        mean = part.weights @ grid.locations
        centred = grid.locations - mean[:, None]
        tilted = part.weights * centred
        variances = (tilted * centred).sum(axis=1)
        slopes = -data.trials_of(part.block) * (grid.probabilities @ tilted.T)
        yield Scored(part.block, mean, variances, slopes)


def _likely(data: Counts, rows: Array, kind: str, adjust: float) -> Iterator[Scored]:
    column_trials = data.column_trials()
    for block in data.blocks():
        trials, most = data.trials_of(block), column_trials[block]
        totals = data.column_totals[block]
        if kind == "mle":
            edge = np.minimum(adjust, most / 4)
            totals = np.where(totals <= 0, edge, np.where(totals >= most, most - edge, totals))
        locations = _solve(trials, rows, totals, kind == "wle")
        probability = logistic_in_place(rows[:, None] - locations)
        spread = trials * probability * (1 - probability)
        information = spread.sum(axis=0)
        yield Scored(block, locations, 1 / information, spread / information)


def _solve(trials: Array, rows: Array, totals: Array, weighted: bool) -> Array:
    """Return the places at which the (weighted) scores are 0, by Newton's method between bounds."""
    low = np.full(len(totals), rows.min() - BOUND)
    high = np.full(len(totals), rows.max() + BOUND)
    most = np.broadcast_to(trials.sum(axis=0), totals.shape)
    inside = np.clip(totals, most / 1e3, most * (1 - 1e-3))
    place = rows.mean() - np.log(inside / (most - inside))
    for _ in range(ROUNDS):
        probability = logistic_in_place(rows[:, None] - place)
        spread = trials * probability * (1 - probability)
        information = spread.sum(axis=0)
        excess = (trials * probability).sum(axis=0) - totals  # falls as the place rises
        if weighted:
            excess -= 0.5 * (spread * (1 - 2 * probability)).sum(axis=0) / information
        low, high = np.where(excess > 0, place, low), np.where(excess < 0, place, high)
        move = place + excess / information
        after = np.where((move > low) & (move < high), move, (low + high) / 2)
        after = np.where(excess == 0, place, after)
        if np.abs(after - place).max(initial=0) < 1e-13 * (1 + np.abs(place).max(initial=0)):
            return np.asarray(after)
        place = after
    return np.asarray(place)


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """Standard errors of rows and of classes of columns, in the gauge."""

    rows: Array
    columns: Array


def errors(data: Counts, parts: Sequence[Scored], covariance: Array, gauge: str, rows: Mask, weights: Array) -> Errors:
    """Return the standard errors if the origin is the mean of the columns, of some `rows`, or given.

    A column's error is the sum of its own and that of the rows, with which it moves. `weights` has for each class the
    number of its columns in the mean.
    """
    number = float(weights.sum())
    lead, own_variance = np.zeros(data.rows), 0.0
    if gauge == "rows":
        lead = rows / rows.sum()
    elif gauge == "columns" and number:
        lead = sum((part.slopes @ weights[part.block] for part in parts), lead) / number
        own_variance = sum(float(weights[part.block] @ part.variances) for part in parts) / number**2
    towards = covariance @ lead
    middle = float(lead @ towards) + own_variance
    row_variances = np.diag(covariance) - 2 * towards + middle
    column_variances = np.empty(data.classes)
    for part in parts:
        moved = part.slopes - lead[:, None]
        within = (weights[part.block] > 0) * (2 / number if gauge == "columns" and number else 0.0)
        own_variances = part.variances * (1 - within)
        column_variances[part.block] = (moved * (covariance @ moved)).sum(axis=0) + own_variances + own_variance
    return Errors(np.sqrt(np.maximum(row_variances, 0)), np.sqrt(np.maximum(column_variances, 0)))

"""Plausible values (Mislevy 1991): draws of abilities and difficulties from their posterior.

Means of posteriors are shrunk towards the middle, so their spread is too small; draws have the right spread. The
estimated side is drawn from the normal distribution of its errors. The random side is then drawn from its posterior,
given each draw of the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from dia_runtime.psychometrics.rasch.counts import Array, counts
from dia_runtime.psychometrics.rasch.estimate import Calibration
from dia_runtime.psychometrics.rasch.mml import grid_points, posteriors
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class PlausibleValues:
    """Draws in rows: abilities of models, and difficulties of items; NaN where something was not estimated."""

    abilities: Array
    difficulties: Array


def plausible_values(
    calibration: Calibration, successes: Array, trials: NDArray[Any], number: int, seed: int
) -> PlausibleValues | None:
    """Return this many draws; None for methods without a random side."""
    if calibration.prior is None or calibration.scored == "neither":
        return None
    generator = np.random.Generator(np.random.PCG64(seed))
    models = np.array([status != "disconnected" for status in calibration.ability_status])
    models &= np.isfinite(calibration.abilities)
    items = np.isfinite(calibration.difficulties)
    at = np.ix_(models, items)
    right, tried = successes[at], np.broadcast_to(trials, successes.shape)[at]
    mean, deviation = calibration.prior
    anchored = np.array([status == "anchor" for status in calibration.difficulty_status])[items]
    if calibration.scored == "items":
        rows, covariance = calibration.abilities[models], calibration.ability_covariance
        estimated = np.array([status == "estimated" for status in calibration.ability_status])[models]
        spread = None if covariance is None else np.nan_to_num(covariance[np.ix_(models, models)])
        anchors = np.where(anchored, calibration.difficulties[items], np.nan)
    else:
        right, tried, rows = right.T, tried.T, -calibration.difficulties[items]
        estimated, spread, anchors, mean = ~anchored, np.diag(calibration.difficulty_se[items] ** 2), None, -mean
    data = counts(np.ascontiguousarray(right), np.ascontiguousarray(tried), anchors)
    row_draws, column_draws = np.empty((number, len(rows))), np.empty((number, right.shape[1]))
    root = np.zeros((len(rows),) * 2) if spread is None else _root(spread)
    most = data.trials.max(axis=1).astype(float)
    for draw in range(number):
        row_draws[draw] = rows + estimated * (root @ generator.standard_normal(len(rows)))
        grid = grid_points(row_draws[draw], most, mean, deviation)
        step = grid.locations[1] - grid.locations[0]
        for posterior in posteriors(data, grid):
            columns = np.flatnonzero((data.of >= posterior.block.start) & (data.of < posterior.block.stop))
            below = np.cumsum(posterior.weights, axis=1)[data.of[columns] - posterior.block.start]
            point = (below < generator.random(len(columns))[:, None]).sum(axis=1)
            jitter = step * (generator.random(len(columns)) - 0.5)
            column_draws[draw, columns] = grid.locations[np.minimum(point, len(grid.locations) - 1)] + jitter
        fixed = ~np.isnan(data.anchors[data.of])
        column_draws[draw, fixed] = data.anchors[data.of][fixed]
    sides = (row_draws, column_draws) if calibration.scored == "items" else (-column_draws, -row_draws)
    abilities, difficulties = (_spread_out(mask, draws) for mask, draws in zip((models, items), sides, strict=True))
    origin = _origin(calibration, abilities, difficulties)
    return PlausibleValues(abilities - origin, difficulties - origin)


def _origin(calibration: Calibration, abilities: Array, difficulties: Array) -> Array:
    """Return the origin of each draw: the mean that is 0 by the gauge."""
    side, status = {
        "mean_difficulty": (difficulties, calibration.difficulty_status),
        "mean_ability": (abilities, calibration.ability_status),
    }.get(calibration.gauge, (None, ()))
    if side is None:
        return np.zeros((len(abilities), 1))
    return np.asarray(side[:, [entry == "estimated" for entry in status]].mean(axis=1, keepdims=True))


def _root(covariance: Array) -> Array:
    """Return a matrix whose product with its transpose is the covariance, which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))


def _spread_out(mask: NDArray[np.bool_], draws: Array) -> Array:
    spread = np.full((len(draws), len(mask)), np.nan)
    spread[:, mask] = draws
    return spread

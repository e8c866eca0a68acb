"""Cluster-robust errors of rows: columns of one cluster (instances of one template) need not be independent.

The sandwich estimator (Huber 1967; White 1982; Liang and Zeger 1986) with the factor G/(G - 1) for G clusters: the
inverse information, times the sum over clusters of the squared scores, times the inverse information.
"""

from __future__ import annotations

import numpy as np
from dia_runtime.psychometrics.rasch.cml import moments
from dia_runtime.psychometrics.rasch.counts import Array, Counts, Mask, logistic_in_place
from dia_runtime.psychometrics.rasch.jml import Fit
from dia_runtime.psychometrics.rasch.mml import grid_points, posteriors
from numpy.typing import NDArray

LEAST = 10  # clusters; the sum of squares of fewer is unreliable


def clustered_covariance(
    data: Counts, successes: Array, clusters: NDArray[np.intp], fit: Fit, method: str, is_anchored: bool
) -> Array:
    """Return the cluster-robust covariance of the rows' errors.

    `clusters` numbers the cluster of each column of `successes` from 0. Without anchors only the differences of rows
    are taken from the sandwich. A common shift of the rows is the same for all columns of a cluster, which is part of
    the difficulties, so its variance remains that of the model.
    """
    number = int(clusters.max()) + 1
    sizes = np.bincount(data.of * number + clusters, minlength=data.classes * number).astype(float)
    members = sizes.reshape(data.classes, number)
    order = np.argsort(clusters, kind="stable")
    starts = np.searchsorted(clusters[order], np.arange(number))
    scores = np.add.reduceat(successes[:, order], starts, axis=1) - _expected(data, fit, method, members)
    bread = fit.covariance
    if fit.whole is not None and fit.prior is not None:
        scores = np.concatenate([scores, _prior_scores(data, fit, members)])
        bread = fit.whole[: data.rows]
    influence = bread @ scores
    robust = influence @ influence.T * (number / (number - 1))
    if is_anchored:
        return np.asarray(robust)
    centre = np.eye(data.rows) - 1 / data.rows
    return np.asarray(fit.covariance + centre @ (robust - fit.covariance) @ centre)


def _expected(data: Counts, fit: Fit, method: str, members: Array) -> Array:
    """Return the expected successes of each row in each cluster."""
    expected = np.zeros((data.rows, members.shape[1]))
    if method == "cml":
        full = data.column_totals >= data.column_trials()
        for start in np.flatnonzero(full):
            expected += data.trials_of(slice(start, start + 1)) * members[start]
        for part in moments(data, fit.rows):
            expected[part.rows] += part.expected @ members[part.classes]
        return expected
    if method == "jml":
        assert fit.columns is not None
        for block in data.blocks():
            expected += _successes(data, fit.rows, block, fit.columns[block]) @ members[block]
        return expected
    is_anchored = ~np.isnan(data.anchors)
    if fit.prior is not None:
        grid = grid_points(fit.rows, data.trials.max(axis=1).astype(float), *fit.prior)
        for posterior in posteriors(data, grid):
            random = members[posterior.block] * ~is_anchored[posterior.block, None]
            at = grid.probabilities @ posterior.weights.T
            expected += (data.trials_of(posterior.block) * at) @ random
    for start in np.flatnonzero(is_anchored):
        block = slice(start, start + 1)
        expected += _successes(data, fit.rows, block, data.anchors[block]) @ members[block]
    return expected


def _successes(data: Counts, rows: Array, block: slice, columns: Array) -> Array:
    return np.asarray(data.trials_of(block) * logistic_in_place(rows[:, None] - columns))


def _prior_scores(data: Counts, fit: Fit, members: Array) -> Array:
    """Return the clusters' scores of the prior's mean and log deviation."""
    assert fit.prior is not None
    mean, deviation = fit.prior
    grid = grid_points(fit.rows, data.trials.max(axis=1).astype(float), mean, deviation)
    scaled = (grid.locations - mean) / deviation
    scores = np.zeros((2, members.shape[1]))
    for posterior in posteriors(data, grid):
        random = members[posterior.block] * np.isnan(data.anchors[posterior.block, None])
        scores += np.stack([scaled / deviation, scaled**2 - 1]) @ posterior.weights.T @ random
    return scores


def design_effect(robust: Array, model: Array) -> float:
    """Return how many times larger the clustered variance of a difference of two rows is, on average."""
    centre = np.eye(len(model)) - 1 / len(model)
    ordinary = float(np.trace(centre @ model @ centre))
    return float(np.trace(centre @ robust @ centre)) / ordinary if ordinary > 0 else float("nan")


def numbered(clusters: NDArray[np.intp], chosen: Mask) -> NDArray[np.intp]:
    """Return the clusters of the chosen columns, numbered from 0 without gaps."""
    return np.asarray(np.unique(clusters[chosen], return_inverse=True)[1], dtype=np.intp).ravel()

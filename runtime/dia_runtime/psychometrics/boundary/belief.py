"""The posterior belief about a model's success in cells, tried ones and others.

The logit of success is a Gaussian process over cells: a linear function of levels and skills, a smooth deviation from
it, and a separate effect of each item. Counts of successes are binomial, and the posterior is computed by Laplace's
method (Rasmussen and Williams 2006, algorithms 3.1 and 3.2). Predicted difficulties replace the linear function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from dia_runtime.psychometrics.boundary.space import Cell, Space
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Logits by which the last level of a dimension is assumed to be harder than its middle; also the uncertainty of this
LINE_SLOPE = 3.0
SKILL_SLOPE = 0.7  # logits that a skill adds
ITEM_SD = 0.4  # standard deviation of the effects of single items
BEND, REACH = 1.0, 0.7  # how large the deviation from the line may be, and over which distance it changes
STEPS, TOLERANCE, SHORTEST = 50, 1e-8, 1e-6
LEAST_SE, LEAST_ERROR = 0.15, 0.3  # of predictions: no smaller error is assumed
INSENSITIVE = 1e-6  # logits: predictions are the same at every level


@dataclass(frozen=True, slots=True)
class Forecast:
    """The predicted logit of success in a cell, the standard error that cells share, and the error of each item."""

    logit: float
    se: float
    error: float


Predictor = Callable[[Cell], Forecast]


@dataclass(frozen=True, slots=True)
class Trials:
    """How often an item of a cell was tried, and with how many successes."""

    cell: Cell
    successes: int
    trials: int


@dataclass(frozen=True, slots=True, eq=False)
class Logits:
    """Means and standard deviations of logits of success."""

    mean: Array
    sd: Array

    def within(self, low: float, high: float) -> Array:
        """Return for each the probability that its success rate is between these two."""
        return np.asarray(_normal((_logit(high) - self.mean) / self.sd) - _normal((_logit(low) - self.mean) / self.sd))


def _logit(p: float) -> float:
    return float(np.log(p / (1 - p)))


def _normal(x: Array) -> Array:
    from scipy.special import ndtr

    return np.asarray(ndtr(x))


class Belief:
    """The posterior after some trials."""

    def __init__(self, space: Space, tried: Sequence[Trials], predictor: Predictor | None = None) -> None:
        self.space, self.predictor = space, predictor
        self.item_sd, self.shared, self.bend = ITEM_SD, 3.0, BEND
        if predictor is not None:
            begin = predictor(space.begin())
            self.shared = max(LEAST_SE, begin.se)
            # the error for unseen items includes that of the weights, which cells share
            self.item_sd = max(LEAST_ERROR, math.sqrt(max(0.0, begin.error**2 - begin.se**2)))
            self.bend = self.shared / 2
        self.scales = self._scales()
        self.cells = [entry.cell for entry in tried]
        self.features = space.features(self.cells)
        self.prior = self.mean(self.cells, self.features)
        s = np.array([entry.successes for entry in tried], dtype=float)
        n = np.array([entry.trials for entry in tried], dtype=float)
        self.kernel = self.covariance(self.features, self.features)
        self.kernel[np.diag_indices(len(tried))] += self.item_sd**2
        self.weights = np.zeros(len(tried))
        self._fit(s, n)

    def _fit(self, s: Array, n: Array) -> None:
        """Find the mode by Newton's method, in terms of the prior's mean; steps that go too far are shortened."""
        for _ in range(STEPS):
            f = self.kernel @ self.weights
            p = 1 / (1 + np.exp(-np.clip(f + self.prior, -30, 30)))
            w = np.maximum(n * p * (1 - p), 1e-9)
            self.root = root = np.sqrt(w)
            self.factor = np.linalg.cholesky(np.eye(len(s)) + root[:, None] * self.kernel * root)
            b = w * f + s - n * p
            step = b - root * self._solve(root * (self.kernel @ b)) - self.weights
            here, share = self._density(self.weights, s, n), 1.0
            while share > SHORTEST and self._density(self.weights + share * step, s, n) < here:
                share /= 2
            self.weights = self.weights + share * step
            if float(np.abs(self.kernel @ step).max(initial=0.0)) < TOLERANCE:
                break

    def _density(self, weights: Array, s: Array, n: Array) -> float:
        """Return the logarithm of the posterior density, apart from a constant."""
        f = self.kernel @ weights
        logits = f + self.prior
        return float(s @ logits - n @ np.logaddexp(0, logits) - weights @ f / 2)

    def _solve(self, vector: Array) -> Array:
        from scipy.linalg import solve_triangular

        if not len(vector):
            return vector
        lower = solve_triangular(self.factor, vector, lower=True)
        return np.asarray(solve_triangular(self.factor.T, lower, lower=False))

    def at_tried_cells(self) -> Logits:
        """Return the logits of the items that were tried, including their separate effects."""
        return self._conditional(self.prior, self.kernel, np.diag(self.kernel))

    def at_new_cells(self, cells: Sequence[Cell]) -> Logits:
        """Return the logits of new items of these cells."""
        features = self.space.features(cells)
        across = self.covariance(features, self.features)
        variances = np.array([self._variance(row) for row in features]) + self.item_sd**2
        return self._conditional(self.mean(cells, features), across, variances)

    def _conditional(self, prior: Array, across: Array, variance: Array) -> Logits:
        scaled = self.root[:, None] * across.T if len(self.cells) else across.T
        explained = np.einsum("ij,ij->j", scaled, self._solve(scaled)) if len(self.cells) else 0.0
        return Logits(prior + across @ self.weights, np.sqrt(np.maximum(variance - explained, 1e-6)))

    # the prior

    def mean(self, cells: Sequence[Cell], features: Array) -> Array:
        """Return the prior logits: the predicted ones, or 0 at the start of a search and lower for harder cells."""
        if self.predictor is not None:
            return np.array([self.predictor(cell).logit for cell in cells], dtype=float)
        start = self.space.features([self.space.begin()])[0]
        return np.asarray(-(features - start) @ self._slopes())

    def _slopes(self) -> Array:
        dimensions, skills = len(self.space.dimensions), len(self.space.skills)
        return np.concatenate([np.full(dimensions, LINE_SLOPE), np.full(skills, SKILL_SLOPE)])

    def _scales(self) -> Array:
        """Return the prior uncertainty of each slope, which is smaller if the slope is predicted."""
        slopes, predictor = self._slopes(), self.predictor
        if predictor is None:
            return slopes
        begin, wide = self.space.begin(), len(self.space.dimensions)
        at_ends = [
            replace(begin, levels=(*begin.levels[:at], end, *begin.levels[at + 1 :]))
            for at, dimension in enumerate(self.space.dimensions)
            for end in (0, dimension.size - 1)
        ]
        logits = [predictor(cell).logit for cell in at_ends]
        differ = [abs(low - high) for low, high in zip(logits[::2], logits[1::2], strict=True)]
        without_skills, number = predictor(Cell(begin.levels)).logit, len(self.space.skills)
        differ += [abs(predictor(Cell(begin.levels, (at,))).logit - without_skills) for at in range(number)]
        predicted_scales = np.concatenate([np.full(wide, self.shared), np.full(number, self.shared / 3)])
        return np.where(np.array(differ) > INSENSITIVE, predicted_scales, slopes)

    def covariance(self, first_features: Array, second_features: Array) -> Array:
        """Return the covariance of the logits of two sets of cells, without the effects of single items."""
        wide = len(self.space.dimensions)
        line = (first_features * self.scales**2) @ second_features.T
        apart = ((first_features[:, None, :wide] - second_features[None, :, :wide]) ** 2).sum(axis=2)
        differ = np.abs(first_features[:, None, wide:] - second_features[None, :, wide:]).sum(axis=2) / 4
        bend = self.bend**2 * np.exp(-(apart + differ) / (2 * REACH**2))
        return np.asarray(self.shared**2 + line + bend)

    def _variance(self, row: Array) -> float:
        return float(self.covariance(row[None], row[None])[0, 0])

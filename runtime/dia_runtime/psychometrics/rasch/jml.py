"""Joint maximum likelihood: rows and columns are parameters (Wright and Panchapakesan 1969).

Newton's method on all of them at once. The block of columns is diagonal, so a step only needs to solve a system with as
many equations as there are rows (the Schur complement); large systems are solved by conjugate gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from dia_runtime.psychometrics.rasch.counts import Array, Counts, logistic_in_place, softplus
from dia_runtime.psychometrics.rasch.newton import (
    MOST,
    covariance,
    halve_until_smaller,
    not_converged,
    precise_enough,
    solve_free,
)
from numpy.typing import NDArray

DENSE = 1e8  # multiplications to solve a system directly
EXACT = 1 << 21  # cells with information in double precision; with more, only the step is less exact
GRADIENTS = 200


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Places of rows and classes, the covariance of the rows' errors, log likelihood and iterations.

    `prior` is the mean and standard deviation of random columns, if there are any; `whole` is then the covariance of
    rows, prior mean and logarithm of the prior's deviation.
    """

    rows: Array
    columns: Array | None
    covariance: Array
    log_likelihood: float
    iterations: int
    residual: float
    prior: tuple[float, float] | None = None
    whole: Array | None = None


@dataclass(slots=True, eq=False)
class _State:
    rows: Array
    columns: Array
    row_scores: Array
    column_scores: Array
    row_information: Array
    column_information: Array
    information: NDArray[Any]

    @property
    def residual(self) -> float:
        return float(max(np.abs(self.row_scores).max(initial=0), np.abs(self.column_scores).max(initial=0)))


def jml(data: Counts, free_rows: NDArray[np.bool_] | None = None, rows: Array | None = None, tol: float = 1e-10) -> Fit:
    """Return the places at which every total equals the expected one; rows that are not free stay at `rows`.

    Raises DiaError if the iteration does not converge.
    """
    free = np.isnan(data.anchors)
    floating = bool(free.all()) and (free_rows is None or bool(free_rows.all()))
    state = _state_at(data, *_start(data, free_rows, rows), free_rows, free)
    largest = float(max(data.row_totals.max(), data.column_totals.max()))
    for iteration in range(MOST):
        if precise_enough(state.residual, largest, tol):
            return _fit(data, state, free_rows, free, floating, iteration)
        after = halve_until_smaller(state, lambda before: _step(data, before, free_rows, free, floating), _merit)
        if after is None:
            break
        state = after
    if precise_enough(state.residual, 1e3 * largest, tol):
        return _fit(data, state, free_rows, free, floating, iteration)
    raise not_converged("jml", state.residual)


def _start(data: Counts, free_rows: NDArray[np.bool_] | None, rows: Array | None) -> tuple[Array, Array]:
    """Return logits of shares, with the columns around 0."""
    row_trials = (data.trials_of(slice(None)) * data.weights).sum(axis=1) if data.is_even else _row_trials(data)
    row_start = _logit(data.row_totals, row_trials)
    columns = -_logit(data.column_totals, data.column_trials())
    columns -= np.average(columns, weights=data.weights)
    columns = np.where(np.isnan(data.anchors), columns, data.anchors)
    if free_rows is not None and rows is not None:
        row_start = np.where(free_rows, row_start, rows)
    return row_start, columns


def _row_trials(data: Counts) -> Array:
    return np.asarray(data.trials.astype(np.float64) @ data.weights)


def _logit(totals: Array, trials: Array) -> Array:
    edge = np.minimum(0.3, trials / 4)
    inside = np.clip(totals, edge, trials - edge)
    return np.asarray(np.log(inside / (trials - inside)))


def _state_at(
    data: Counts, rows: Array, columns: Array, free_rows: NDArray[np.bool_] | None, free: NDArray[np.bool_]
) -> _State:
    """Return scores and information at these places."""
    row_expected, row_information = np.zeros(data.rows), np.zeros(data.rows)
    column_expected, column_information = np.empty(data.classes), np.empty(data.classes)
    small = data.rows * data.classes <= EXACT
    information = np.empty((data.rows, data.classes), dtype=np.float64 if small else np.float32)
    for block in data.blocks():
        trials, weights = data.trials_of(block), data.weights[block]
        probability = logistic_in_place(rows[:, None] - columns[block])
        spread = probability * (1 - probability)
        probability *= trials
        spread *= trials
        information[:, block] = spread
        row_expected += probability @ weights
        row_information += spread @ weights
        column_expected[block], column_information[block] = probability.sum(axis=0), spread.sum(axis=0)
    row_scores = data.row_totals - row_expected
    if free_rows is not None:
        row_scores[~free_rows] = 0
    column_scores = np.where(free, column_expected - data.column_totals, 0.0)
    return _State(rows, columns, row_scores, column_scores, row_information, column_information, information)


def _merit(state: _State) -> float:
    return float(state.row_scores @ state.row_scores + state.column_scores @ state.column_scores)


def _step(
    data: Counts, state: _State, free_rows: NDArray[np.bool_] | None, free: NDArray[np.bool_], floating: bool
) -> Callable[[float], _State]:
    inverse = np.where(free, 1 / state.column_information, 0.0)
    vector = state.row_scores + state.information @ (data.weights * inverse * state.column_scores)
    if data.rows**2 * data.classes <= DENSE:
        rows = solve_free(_schur(data, state, inverse), vector, free_rows, floating)
    else:
        rows = _conjugate(data, state, inverse, vector, free_rows)
    columns = inverse * (state.column_scores + rows @ state.information)

    def move(size: float) -> _State:
        return _state_at(data, state.rows + size * rows, state.columns + size * columns, free_rows, free)

    return move


def _schur(data: Counts, state: _State, inverse: Array) -> Array:
    complement = np.diag(state.row_information)
    for block in data.blocks():
        part = np.asarray(state.information[:, block], dtype=np.float64)
        complement -= (part * (data.weights[block] * inverse[block])) @ part.T
    return complement


def _conjugate(data: Counts, state: _State, inverse: Array, right: Array, free_rows: NDArray[np.bool_] | None) -> Array:
    """Return the step of the rows by conjugate gradients, scaled by their own information."""
    scale = 1 / state.row_information
    keep = np.ones(data.rows) if free_rows is None else free_rows.astype(float)
    weights = data.weights * inverse

    def times(direction: Array) -> Array:
        projected = direction.astype(state.information.dtype) @ state.information
        back = state.information @ (weights * projected).astype(state.information.dtype)
        return np.asarray(keep * (state.row_information * direction - back))

    step, residual = np.zeros(data.rows), keep * right
    ahead = scale * residual
    squared_norm = float(residual @ ahead)
    target = 1e-8 * squared_norm
    for _ in range(GRADIENTS):
        image = times(ahead)
        size = squared_norm / float(ahead @ image)
        step += size * ahead
        residual = residual - size * image
        before, squared_norm = squared_norm, float(residual @ (scale * residual))
        if squared_norm <= target:
            break
        ahead = scale * residual + squared_norm / before * ahead
    return step


def _fit(
    data: Counts,
    state: _State,
    free_rows: NDArray[np.bool_] | None,
    free: NDArray[np.bool_],
    floating: bool,
    iterations: int,
) -> Fit:
    inverse = np.where(free, 1 / state.column_information, 0.0)
    spread = covariance(_schur(data, state, inverse), free_rows, floating)
    likelihood = log_likelihood(data, state.rows, state.columns)
    return Fit(state.rows, state.columns, spread, likelihood, iterations, state.residual)


def log_likelihood(data: Counts, rows: Array, columns: Array) -> float:
    """Return the joint log likelihood, without binomial coefficients."""
    total = float(data.row_totals @ rows - (data.weights * data.column_totals) @ columns)
    for block in data.blocks():
        softplus_sum = data.trials_of(block) * softplus(rows[:, None] - columns[block])
        total -= float(softplus_sum.sum(axis=0) @ data.weights[block])
    return total

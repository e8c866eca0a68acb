"""Conditional maximum likelihood: the columns are eliminated by conditioning on their totals (Andersen 1972).

A column's probability, given its total, is a ratio whose denominator is a coefficient of the product over rows of
(1 + z e^a)^n: an elementary symmetric function. It is taken, with its first and second derivatives, by Cauchy's
integral along the circle through the saddle point, where the sum over evenly spaced points is exact to the last
digits whatever the number of rows (no recursion, no cancellation).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from dia_language.diagnostics import DiaError, Diagnostic
from dia_runtime.psychometrics.rasch.counts import Array, Counts, logistic_in_place, softplus
from dia_runtime.psychometrics.rasch.jml import Fit
from dia_runtime.psychometrics.rasch.newton import (
    MOST,
    covariance,
    halve_until_smaller,
    not_converged,
    precise_enough,
    solve_free,
)
from numpy.typing import NDArray

CELLS = 1 << 17  # complex numbers that are worked on at a time
WORK = 4e12  # multiplications for one step


@dataclass(slots=True, eq=False)
class _State:
    rows: Array
    scores: Array
    information: Array
    log_likelihood: float


@dataclass(frozen=True, slots=True, eq=False)
class ConditionalMoments:
    """A block of classes: expected successes of each row given the totals, and log denominators."""

    block: slice
    expected: Array
    log_gamma: Array
    spread: Array


def cml(data: Counts, free_rows: NDArray[np.bool_] | None = None, rows: Array | None = None, tol: float = 1e-10) -> Fit:
    """Return the rows' places at which their totals are expected, given the totals of the columns.

    Where all rows are free their mean is 0. Raises DiaError for scores that are no counts.
    """
    _require_counts(data)
    free = np.ones(data.rows, dtype=bool) if free_rows is None else free_rows
    start = _start(data)
    if rows is not None:
        start = np.where(free, start, rows)
    state = _state_at(data, start, free)
    largest = float(data.row_totals.max())
    for iteration in range(MOST):
        residual = float(np.abs(state.scores).max())
        if precise_enough(residual, largest, tol):
            return _fit(state, free, iteration)
        after = halve_until_smaller(
            state, lambda before: _step(data, before, free), lambda reached: float(reached.scores @ reached.scores)
        )
        if after is None:
            break
        state = after
    residual = float(np.abs(state.scores).max())
    if precise_enough(residual, 1e3 * largest, tol):
        return _fit(state, free, iteration)
    raise not_converged("cml", residual)


def _require_counts(data: Counts) -> None:
    totals = np.concatenate([data.column_totals, data.trials.sum(axis=0)])
    if not np.array_equal(totals, np.round(totals)):
        message = "`cml` needs whole numbers of correct replies, but some scores are fractions"
        raise DiaError(Diagnostic("E893", message, None, "use another `--method`"))
    classes = 1 if data.is_even else data.classes
    longest = float(data.trials.sum(axis=0).max())
    if classes * longest * data.rows**2 > WORK:
        message = f"`cml` of {data.rows} by {data.classes} with missing cells takes too long"
        raise DiaError(
            Diagnostic("E893", message, None, "use `--method mml-items`, which gives nearly the same result")
        )


def _start(data: Counts) -> Array:
    trials = (data.trials_of(slice(None)) * data.weights).sum(axis=1) if data.is_even else data.trials.sum(axis=1)
    shares = np.clip(data.row_totals / trials, 0.01, 0.99)
    logits = np.log(shares / (1 - shares))
    return np.asarray(logits - logits.mean())


def _state_at(data: Counts, rows: Array, free: NDArray[np.bool_]) -> _State:
    scores, information = data.row_totals.copy(), np.zeros((data.rows, data.rows))
    total = float(data.row_totals @ rows)
    trials_total = data.column_trials()
    inside = (data.column_totals > 0) & (data.column_totals < trials_total)
    for part, weights in _parts(data, rows, inside):
        scores -= part.expected @ weights
        total -= float(weights @ part.log_gamma)
        information += part.spread
    full = (data.column_totals == trials_total) & (trials_total > 0)  # nothing is left to chance in these
    if full.any():
        sure = data.trials_of(slice(None)) if data.is_even else data.trials[:, full].astype(float)
        gained = (sure * data.weights[full]).sum(axis=1)
        scores -= gained
        total -= float(gained @ rows)
    scores[~free] = 0
    return _State(rows, scores, information, total)


def _parts(data: Counts, rows: Array, inside: NDArray[np.bool_]) -> Iterator[tuple[ConditionalMoments, Array]]:
    """Blocks of the classes whose totals leave something to chance, with their weights."""
    chosen = np.flatnonzero(inside)
    tilts = _saddles(data, rows, chosen)
    most = _length(data, rows, chosen, tilts)
    step = max(1, CELLS // (data.rows * (most // 2 + 1)))
    for start in range(0, len(chosen), step):
        here = chosen[start : start + step]
        trials = data.trials_of(slice(None)) if data.is_even else data.trials[:, here].astype(float)
        weights = data.weights[here]
        yield (
            _conditional_moments(rows, trials, data.column_totals[here], tilts[start : start + step], weights, most),
            weights,
        )


def _saddles(data: Counts, rows: Array, chosen: NDArray[np.intp]) -> Array:
    """Return the shift of all rows by which the expected total of each class is its total."""
    tilts = np.empty(len(chosen))
    step = max(1, CELLS // data.rows)
    for start in range(0, len(chosen), step):
        here = chosen[start : start + step]
        trials = data.trials_of(slice(None)) if data.is_even else data.trials[:, here].astype(float)
        tilts[start : start + step] = _saddle(rows, trials, data.column_totals[here])
    return tilts


def _saddle(rows: Array, trials: Array, totals: Array) -> Array:
    """Newton between bounds, so that it cannot leave; the root need not be exact."""
    every = np.broadcast_to(trials.sum(axis=0), totals.shape)
    level = np.log(totals / (every - totals))
    low, high = level - rows.max(), level - rows.min()
    place = (low + high) / 2
    for _ in range(60):
        probability = logistic_in_place(rows[:, None] + place)
        excess = (trials * probability).sum(axis=0) - totals
        low, high = np.where(excess < 0, place, low), np.where(excess > 0, place, high)
        move = place - excess / (trials * probability * (1 - probability)).sum(axis=0)
        place = np.where((move >= low) & (move <= high), move, (low + high) / 2)
        if np.abs(excess).max() < 1e-3:
            break
    return np.asarray(place)


def _length(data: Counts, rows: Array, chosen: NDArray[np.intp], tilts: Array) -> int:
    """Return how many points of the circle distinguish a total from all others, for all classes; an odd number."""
    widest, order = 0.0, 1
    step = max(1, CELLS // data.rows)
    for start in range(0, len(chosen), step):
        here = chosen[start : start + step]
        trials = data.trials_of(slice(None)) if data.is_even else data.trials[:, here].astype(float)
        probability = logistic_in_place(rows[:, None] + tilts[start : start + step])
        widest = max(widest, float((trials * probability * (1 - probability)).sum(axis=0).max()))
        order = max(order, int(trials.sum(axis=0).max()))
    needed = min(order + 1, int(np.ceil(10 * np.sqrt(widest))) + 40)
    return needed + 1 - needed % 2


def _conditional_moments(
    rows: Array, trials: Array, totals: Array, tilts: Array, weights: Array, most: int
) -> ConditionalMoments:
    """Expectations and covariances given the totals, by sums over half the circle."""
    angles = 2 * np.pi * np.arange(most // 2 + 1) / most
    turned = np.exp(1j * angles)
    probability = logistic_in_place(rows[:, None] + tilts)  # rows x classes
    factor = 1 + probability[:, :, None] * (turned - 1)
    product = _product(trials, factor)
    twice = np.where(angles == 0, 1.0, 2.0) / most
    density = product * np.exp(-1j * totals[:, None] * angles) * twice
    mass = density.real.sum(axis=1)  # of the total, under the tilted chances
    share = density / mass[:, None]  # classes x points
    part = probability[:, :, None] * turned / factor
    weighted = part * share
    first_moment = weighted.sum(axis=2).real
    second_moment = np.einsum("rcp,rcp->rc", part, weighted).real
    log_gamma = (trials * softplus(rows[:, None] + tilts)).sum(axis=0) - totals * tilts + np.log(mass)
    expected = trials * first_moment
    spread = _spread(trials, part, share, weights, first_moment, second_moment)
    return ConditionalMoments(slice(0), expected, log_gamma, spread)


def _product(trials: Array, factor: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Return the product over rows of each factor to the power of the row's trials."""
    if (trials <= 1).all():
        return np.asarray(np.where(trials[:, :, None] > 0, factor, 1).prod(axis=0))
    return np.asarray(np.exp((trials[:, :, None] * np.log(factor)).sum(axis=0)))


def _spread(
    trials: Array,
    part: NDArray[np.complex128],
    share: NDArray[np.complex128],
    weights: Array,
    first_moment: Array,
    second_moment: Array,
) -> Array:
    """Return the sum over classes of the covariance of the rows' successes, given the totals."""
    size = len(part)
    scaled = (trials[:, :, None] * part).reshape(size, -1)
    weighted = (share * weights[:, None]).reshape(-1)
    turned = scaled * weighted
    products = turned.real @ scaled.real.T - turned.imag @ scaled.imag.T
    means = trials * first_moment
    covariance = products - (means * weights) @ means.T
    covariance[np.arange(size), np.arange(size)] += (trials * (first_moment - second_moment)) @ weights
    return np.asarray(covariance)


def _step(data: Counts, state: _State, free: NDArray[np.bool_]) -> Callable[[float], _State]:
    step = solve_free(state.information, state.scores, free, bool(free.all()))
    return lambda size: _state_at(data, state.rows + size * step, free)


def _fit(state: _State, free: NDArray[np.bool_], iterations: int) -> Fit:
    spread = covariance(state.information, free, bool(free.all()))
    residual = float(np.abs(state.scores).max())
    return Fit(state.rows, None, spread, state.log_likelihood, iterations, residual)

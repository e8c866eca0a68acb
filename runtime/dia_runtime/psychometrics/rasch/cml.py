"""Conditional maximum likelihood: the columns are eliminated by conditioning on their totals (Andersen 1972).

A column's probability, given its total, is a ratio whose denominator is a coefficient of the product over rows of (1 +
z e^a)^n: an elementary symmetric function. It is computed, with its first and second derivatives, by Cauchy's integral
along the circle through the saddle point, where the sum over evenly spaced points is exact to the last digits for any
number of rows (no recursion, no cancellation). Classes that share their trials (a booklet, or all of complete data)
also share a few circles for all their totals: the product over rows is computed once for each circle, and moments of
all totals follow by matrix products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from dia_language.diagnostics import DiaError, Diagnostic
from dia_runtime.psychometrics.rasch.counts import Array, Counts, logistic_in_place, softplus, trial_patterns
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

WORK = 4e12  # multiplications for one step
REACH = 2.0  # standard deviations, about, from a total within which others use its circle


@dataclass(slots=True, eq=False)
class _State:
    rows: Array
    scores: Array
    information: Array
    log_likelihood: float


@dataclass(frozen=True, slots=True, eq=False)
class ConditionalMoments:
    """Some classes of one booklet: expected successes of its rows given the totals, and log denominators.

    `rows` are the booklet's rows and `spread` is the sum over the classes of their covariance given the totals.
    """

    classes: NDArray[np.intp]
    rows: NDArray[np.intp]
    expected: Array
    log_gamma: Array
    spread: Array


@dataclass(frozen=True, slots=True, eq=False)
class _Booklet:
    """Classes with the same trials: the rows that were tried, their trials, and the classes sorted by total."""

    rows: NDArray[np.intp]
    trials: Array
    classes: NDArray[np.intp]


def cml(data: Counts, free_rows: NDArray[np.bool_] | None = None, rows: Array | None = None, tol: float = 1e-10) -> Fit:
    """Return the places of rows at which their totals equal the expected ones, given the totals of the columns.

    If all rows are free, their mean is 0. Raises DiaError for scores that are not counts.
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
    numbers = (data.row_totals, data.column_totals, data.trials)
    if not all(np.array_equal(counted, np.round(counted)) for counted in numbers):
        message = "`cml` needs whole numbers of correct replies, but some scores are fractions"
        raise DiaError(Diagnostic("E893", message, None, "use another `--method`"))
    booklets = _booklets(data, np.ones(data.classes, dtype=bool))
    if sum(float(booklet.trials.sum()) * len(booklet.rows) ** 2 for booklet in booklets) > WORK:
        message = f"`cml` of {data.rows} by {data.classes} with missing cells takes too long"
        raise DiaError(
            Diagnostic("E893", message, None, "use `--method mml-items`, which gives nearly the same result")
        )


def _start(data: Counts) -> Array:
    trials = (data.trials_of(slice(None)) * data.weights).sum(axis=1) if data.is_even else data.trials @ data.weights
    shares = np.clip(data.row_totals / trials, 0.01, 0.99)
    logits = np.log(shares / (1 - shares))
    return np.asarray(logits - logits.mean())


def _state_at(data: Counts, rows: Array, free: NDArray[np.bool_]) -> _State:
    scores, information = data.row_totals.copy(), np.zeros((data.rows, data.rows))
    total = float(data.row_totals @ rows)
    trials_total = data.column_trials()
    for part in moments(data, rows):
        weights = data.weights[part.classes]
        scores[part.rows] -= part.expected @ weights
        total -= float(weights @ part.log_gamma)
        information[np.ix_(part.rows, part.rows)] += part.spread
    full = (data.column_totals == trials_total) & (trials_total > 0)  # these totals leave nothing to chance
    if full.any():
        sure = data.trials_of(slice(None)) if data.is_even else data.trials[:, full].astype(float)
        gained = (sure * data.weights[full]).sum(axis=1)
        scores -= gained
        total -= float(gained @ rows)
    scores[~free] = 0
    return _State(rows, scores, information, total)


def conditional_scores(data: Counts, rows: Array) -> tuple[float, Array, Array]:
    """Return the conditional log likelihood of rows at these places, its derivatives, and the information."""
    state = _state_at(data, rows, np.ones(data.rows, dtype=bool))
    return state.log_likelihood, state.scores, state.information


def moments(data: Counts, rows: Array) -> Iterator[ConditionalMoments]:
    """Yield the moments of the classes whose totals leave something to chance, some of a booklet at a time."""
    inside = (data.column_totals > 0) & (data.column_totals < data.column_trials())
    for booklet in _booklets(data, inside):
        for classes, tilt, most in _groups(booklet, rows[booklet.rows], data.column_totals):
            yield _conditional_moments(booklet, rows[booklet.rows], data, classes, tilt, most)


def _booklets(data: Counts, chosen: NDArray[np.bool_]) -> list[_Booklet]:
    """Return the booklets of the chosen classes; one if all rows have as many trials everywhere."""
    at = np.flatnonzero(chosen)
    at = at[np.argsort(data.column_totals[at], kind="stable")]
    if data.is_even:
        return [_Booklet(np.arange(data.rows), data.trials_of(slice(None))[:, 0], at)]
    patterns = trial_patterns(data.trials)
    assert patterns is not None  # the counts are whole numbers
    order = np.argsort(patterns[at], kind="stable")  # so that the totals of a booklet stay sorted
    parts = np.split(at[order], np.flatnonzero(np.diff(patterns[at][order].astype(np.uint64)) != 0) + 1)
    booklets = []
    for classes in parts:
        if len(classes):
            trials = data.trials[:, classes[0]]
            rows = np.flatnonzero(trials > 0)
            booklets.append(_Booklet(rows, trials[rows].astype(float), classes))
    return booklets


def _groups(booklet: _Booklet, rows: Array, column_totals: Array) -> Iterator[tuple[NDArray[np.intp], float, int]]:
    """Yield classes that share one circle, the shift of the rows for it, and its number of points.

    The circle goes through the saddle point of a total. Other totals use it while they still have a probability far
    above rounding under its shifted chances. The logarithm of the probability falls by the integral of the difference
    of shifts, which is at most the product below; under a normal distribution that is the squared number of standard
    deviations. Where rows are very different, one total more can be far less probable than the deviation suggests.
    """
    totals = column_totals[booklet.classes]
    tilts = _saddle(rows, booklet.trials[:, None], totals)
    order = int(booklet.trials.sum())

    def reach(start: int) -> int:
        losses = (tilts[start:] - tilts[start]) * (totals[start:] - totals[start])
        return start + int(np.searchsorted(losses, REACH**2, "right"))

    start = 0
    while start < len(totals):
        middle = reach(start) - 1
        end = reach(middle)
        chance = logistic_in_place(rows + tilts[middle])
        deviation = np.sqrt(booklet.trials @ (chance * (1 - chance)))
        needed = min(order + 1, int(np.ceil((10 + 2 * REACH) * deviation)) + 40)
        yield booklet.classes[start:end], float(tilts[middle]), needed + 1 - needed % 2
        start = end


def _saddle(rows: Array, trials: Array, totals: Array) -> Array:
    """Return the saddle point by Newton's method between bounds; it need not be exact."""
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


def _conditional_moments(
    booklet: _Booklet, rows: Array, data: Counts, classes: NDArray[np.intp], tilt: float, most: int
) -> ConditionalMoments:
    """Return expectations and covariances given the totals, by sums over half of the shared circle."""
    trials, totals, weights = booklet.trials, data.column_totals[classes], data.weights[classes]
    angles = 2 * np.pi * np.arange(most // 2 + 1) / most
    turned = np.exp(1j * angles)
    probability = logistic_in_place(rows + tilt)
    factor = 1 + probability[:, None] * (turned - 1)  # rows x points
    powers = factor if (trials <= 1).all() else np.exp(trials[:, None] * np.log(factor))
    twice = np.where(angles == 0, 1.0, 2.0) / most
    density = np.exp(-1j * np.outer(angles, totals)) * (powers.prod(axis=0) * twice)[:, None]  # points x classes
    mass = density.real.sum(axis=0)  # of the totals, under the tilted chances
    share = density / mass
    part = probability[:, None] * turned / factor
    expected = trials[:, None] * _real_product(part, share)
    mixed = share @ weights
    scaled = trials[:, None] * part
    spread = _real_product(scaled * mixed, scaled.T) - (expected * weights) @ expected.T
    own = (part * (1 - part) @ mixed).real  # of one trial of each row, over all classes
    spread[np.arange(len(rows)), np.arange(len(rows))] += trials * own
    log_gamma = float(trials @ softplus(rows + tilt)) - totals * tilt + np.log(mass)
    return ConditionalMoments(classes, booklet.rows, expected, log_gamma, spread)


def _real_product(left: NDArray[np.complex128], right: NDArray[np.complex128]) -> Array:
    """Return the real part of a matrix product."""
    return np.asarray(left.real @ right.real - left.imag @ right.imag)


def _step(data: Counts, state: _State, free: NDArray[np.bool_]) -> Callable[[float], _State]:
    step = solve_free(state.information, state.scores, free, bool(free.all()))
    return lambda size: _state_at(data, state.rows + size * step, free)


def _fit(state: _State, free: NDArray[np.bool_], iterations: int) -> Fit:
    spread = covariance(state.information, free, bool(free.all()))
    residual = float(np.abs(state.scores).max())
    return Fit(state.rows, None, spread, state.log_likelihood, iterations, residual)

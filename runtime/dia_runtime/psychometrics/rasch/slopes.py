"""Check whether all items discriminate equally, as the Rasch model assumes, by the two-parameter model (2PL).

With few models, each group of items (template) gets one slope: P(success) = 1 / (1 + exp(-s (a - d))). Conditioned on
the items' totals, the difficulties d drop out (Andersen 1972), so slopes have an ordinary score test. With many models,
each item gets its own slope, and abilities are drawn from a normal distribution (Bock and Aitkin 1981).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from dia_language.diagnostics import DiaError
from dia_runtime.psychometrics.rasch.cml import cml, conditional_scores
from dia_runtime.psychometrics.rasch.counts import Array, Counts, counts, softplus
from numpy.typing import NDArray

LEAST_MODELS = 50  # for slopes of single items
WORK = 5e8  # multiplications for one step
POINTS = np.linspace(-6.0, 6.0, 81)  # standard deviations
SHORTEST = 1e-3  # of a slope


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """The slope of each group or item with its standard error, and the test that all are equal.

    `index` has the group, or the item, of each. `spread` is the standard deviation of the slopes' logarithms.
    """

    index: tuple[int, ...]
    values: Array
    errors: Array
    spread: float
    statistic: float
    df: int
    p: float


def group_slopes(successes: Array, trials: NDArray[Any], groups: NDArray[np.intp]) -> Slopes | None:
    """Return a slope for each group of columns, 1 on average, with a score test; None if the data do not allow it.

    The test needs the Rasch model's abilities only (Rao 1948). The spread follows from the excess of squared scores
    over their variances, and slopes are shrunk towards 1 by a normal distribution of their logarithms with this spread,
    because the few items of one template determine its slope poorly.
    """
    every = np.broadcast_to(trials, successes.shape)
    if not np.array_equal(successes, np.round(successes)):
        return None
    totals, tried = successes.sum(axis=0), every.sum(axis=0)
    inside = (totals > 0) & (totals < tried)
    names = np.unique(groups[inside])
    if len(names) < 2 or len(successes) ** 2 * int(inside.sum()) > WORK:
        return None
    try:
        abilities = cml(_counts(successes[:, inside], every[:, inside])).rows
    except DiaError:
        return None
    scores, mixed = np.empty(len(names)), np.empty((len(abilities), len(names)))
    information, whole = np.zeros((len(names),) * 2), np.zeros((len(abilities),) * 2)
    for at, name in enumerate(names):
        columns = inside & (groups == name)
        _, gradient, spread = conditional_scores(_counts(successes[:, columns], every[:, columns]), abilities)
        scores[at] = abilities @ gradient
        mixed[:, at] = spread @ abilities
        information[at, at] = abilities @ mixed[:, at]
        whole += spread
    information -= mixed.T @ np.linalg.pinv(whole) @ mixed  # abilities are estimated
    statistic, df = float(scores @ np.linalg.pinv(information, rcond=1e-9) @ scores), len(names) - 1
    own = np.diag(information)
    variance = max(0.0, float((scores**2 - own).sum()) / float((information**2).sum()))
    share = variance / (1 + variance * own)
    values = np.exp(share * scores)
    errors = values * np.sqrt(share)
    return Slopes(tuple(map(int, names)), values, errors, variance**0.5, statistic, df, _tail(df, statistic))


def _counts(successes: Array, trials: NDArray[Any]) -> Counts:
    return counts(np.ascontiguousarray(successes), np.ascontiguousarray(trials))


def _tail(df: int, statistic: float) -> float:
    from scipy.special import chdtrc

    return float(chdtrc(df, statistic))


def item_slopes(successes: Array, trials: NDArray[Any]) -> Slopes | None:
    """Return a slope for each item, with abilities drawn from N(0, 1); None with few models, or if slopes diverge.

    The test compares with one slope for all items, the marginal Rasch model.
    """
    every = np.ascontiguousarray(np.broadcast_to(trials, successes.shape)).astype(float)
    totals, tried = successes.sum(axis=0), every.sum(axis=0)
    items = np.flatnonzero((totals > 0) & (totals < tried))
    if len(successes) < max(LEAST_MODELS, successes.shape[1]) or len(items) < 2:
        return None
    patterns, weights = np.unique(
        np.concatenate([successes[:, items], every[:, items]], axis=1), axis=0, return_counts=True
    )
    right, tried_here = patterns[:, : len(items)], patterns[:, len(items) :]
    share = (right * weights[:, None]).sum(axis=0) / (tried_here * weights[:, None]).sum(axis=0)
    model = _TwoParameters(right, tried_here, weights.astype(float))
    common = model.maximum(np.concatenate([np.log(share / (1 - share)), [1.0]]), shared=True)
    if common is None:
        return None
    start = np.concatenate([common[0][:-1], np.full(len(items), common[0][-1])])
    best = model.maximum(start, shared=False)
    if best is None or np.abs(best[0]).max() > 20:
        return None
    statistic = max(0.0, 2 * (best[1] - common[1]))
    errors = np.sqrt(np.maximum(np.diag(np.linalg.pinv(model.information(best[0]))), 0))[len(items) :]
    df, values = len(items) - 1, best[0][len(items) :]
    spread = float(np.log(np.maximum(values, SHORTEST)).std())
    return Slopes(tuple(map(int, items)), values, errors, spread, statistic, df, _tail(df, statistic))


@dataclass(frozen=True, slots=True, eq=False)
class _TwoParameters:
    """Patterns of replies with their frequencies; parameters are intercepts, then slopes."""

    right: Array
    trials: Array
    weights: Array

    def maximum(self, start: Array, shared: bool) -> tuple[Array, float] | None:
        """Return the maximum-likelihood parameters, and the log likelihood; `shared` has one slope for all items."""
        from scipy.optimize import minimize

        number = self.right.shape[1]

        def loss(place: Array) -> tuple[float, Array]:
            whole = np.concatenate([place[:number], np.full(number, place[number])]) if shared else place
            value, gradient = self.value(whole)
            if shared:
                gradient = np.concatenate([gradient[:number], [gradient[number:].sum()]])
            return -value, -gradient

        done = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-6, "maxiter": 2000})
        return None if np.abs(done.jac).max() > 1e-2 else (done.x, -float(done.fun))

    def value(self, place: Array) -> tuple[float, Array]:
        """Return the marginal log likelihood and its derivatives."""
        value, scores = self._by_pattern(place)
        return float(self.weights @ value), np.asarray(self.weights @ scores)

    def information(self, place: Array) -> Array:
        """Return the observed information, by differences of the derivatives."""
        step = 1e-5
        columns = []
        for at in range(len(place)):
            moved = np.zeros(len(place))
            moved[at] = step
            columns.append((self.value(place - moved)[1] - self.value(place + moved)[1]) / (2 * step))
        matrix = np.array(columns)
        return np.asarray((matrix + matrix.T) / 2)

    def _by_pattern(self, place: Array) -> tuple[Array, Array]:
        number = self.right.shape[1]
        intercepts, slopes = place[:number], place[number:]
        logits = intercepts[:, None] + np.outer(slopes, POINTS)
        heights = self.right @ logits - self.trials @ softplus(logits) - 0.5 * POINTS**2
        heights -= np.log(np.exp(-0.5 * POINTS**2).sum())
        top = heights.max(axis=1, keepdims=True)
        posterior = np.exp(heights - top)
        sums = posterior.sum(axis=1, keepdims=True)
        posterior /= sums
        chance = 1 / (1 + np.exp(-logits))
        expected, weighted = posterior @ chance.T, posterior @ (chance * POINTS).T
        mean = posterior @ POINTS
        by_intercept = self.right - self.trials * expected
        by_slope = self.right * mean[:, None] - self.trials * weighted
        return (top + np.log(sums))[:, 0], np.concatenate([by_intercept, by_slope], axis=1)

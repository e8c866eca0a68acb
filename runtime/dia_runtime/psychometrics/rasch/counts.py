"""Counts of successes for estimators: rows with separate parameters, columns in classes.

On the Rasch scale, a row's probability of success at a column is 1 / (1 + exp(-(a - d))), with the row's place a and
the column's place d. Columns with the same trials of every row and the same total have the same place, and form a
class: in complete data all columns with one total, in a booklet design those of one booklet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
BLOCK = 1 << 18  # cells in one block, which fits the processor's cache
FEWER = 0.8  # maximum ratio of classes to columns; beyond it, each column stays separate


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Totals of rows and of classes of columns, how many columns a class has, and the class of each column.

    `trials` is rows by classes, or rows by one if a row has the same number at every column. `known` has the given
    places of classes, otherwise NaN.
    """

    row_totals: Array
    column_totals: Array
    weights: Array
    trials: NDArray[Any]
    of: NDArray[np.intp]
    anchors: Array

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return len(self.row_totals)

    @property
    def classes(self) -> int:
        """Return the number of classes of columns."""
        return len(self.column_totals)

    @property
    def is_even(self) -> bool:
        """Return whether each row has the same number of trials at every column."""
        return bool(self.trials.shape[1] == 1)

    def blocks(self) -> Iterator[slice]:
        """Yield the classes in blocks of limited size."""
        step = max(1, BLOCK // self.rows)
        return (slice(start, min(start + step, self.classes)) for start in range(0, self.classes, step))

    def trials_of(self, block: slice) -> Array:
        """Return the trials of a block of classes, or the single column of all."""
        trials = self.trials if self.is_even else self.trials[:, block]
        return np.asarray(trials, dtype=np.float64)

    def column_trials(self) -> Array:
        """Return the trials of each class, over all rows."""
        sums = np.asarray(self.trials.sum(axis=0, dtype=np.float64))
        return np.broadcast_to(sums, (self.classes,)) if self.is_even else sums


def counts(successes: Array, trials: NDArray[Any], anchors: Array | None = None) -> Counts:
    """Return the counts of a matrix; `trials` has its shape or one column, `known` given places of columns."""
    totals = successes.sum(axis=0)
    locations = np.full(len(totals), np.nan) if anchors is None else anchors
    if trials.shape[1] > 1 and not (trials == trials[:, :1]).all():
        return _uneven(successes, trials, totals, locations)
    if np.isnan(locations).all():
        column_totals, of, weights = np.unique(totals, return_inverse=True, return_counts=True)
        locations = np.full(len(column_totals), np.nan)
    else:
        pairs = np.stack([np.where(np.isnan(locations), np.inf, locations), totals], axis=1)
        kinds, of, weights = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
        column_totals, locations = kinds[:, 1], np.where(np.isinf(kinds[:, 0]), np.nan, kinds[:, 0])
    return Counts(successes.sum(axis=1), column_totals, weights.astype(float), trials[:, :1], of.ravel(), locations)


def _uneven(successes: Array, trials: NDArray[Any], totals: Array, locations: Array) -> Counts:
    """Return the counts if rows have different numbers of trials at different columns."""
    row_totals = successes.sum(axis=1)
    patterns = trial_patterns(trials)
    if patterns is not None:
        keys = [np.where(np.isnan(locations), np.inf, locations), totals, patterns]
        order = np.lexsort(keys)
        differs = np.zeros(len(order), dtype=bool)
        for key in keys:
            differs[1:] |= key[order[1:]] != key[order[:-1]]
        starts = np.flatnonzero(np.concatenate([[True], differs[1:]]))
        if len(starts) <= FEWER * len(order):
            of = np.empty(len(order), dtype=np.intp)
            of[order] = np.cumsum(differs)
            first = order[starts]
            weights = np.bincount(of).astype(float)
            return Counts(row_totals, totals[first], weights, trials[:, first], of, locations[first])
    every = np.arange(len(totals), dtype=np.intp)
    return Counts(row_totals, totals, np.ones(len(totals)), trials, every, locations)


def trial_patterns(trials: NDArray[Any]) -> NDArray[np.uint64] | None:
    """Return a number for each column that is the same for columns with the same trials; None for fractions of trials.

    It is a sum of random 64-bit multiples, exact modulo 2^64, so two different columns share it with probability 2^-64.
    """
    if not np.issubdtype(trials.dtype, np.integer) and not np.array_equal(trials, np.round(trials)):
        return None
    rows, columns = trials.shape
    keys = np.frombuffer(np.random.Generator(np.random.PCG64(1)).bytes(8 * rows), dtype=np.uint64)
    patterns = np.zeros(columns, dtype=np.uint64)
    step = max(1, BLOCK // columns)
    for start in range(0, rows, step):
        here = slice(start, start + step)
        patterns += (keys[here, None] * trials[here].astype(np.uint64)).sum(axis=0, dtype=np.uint64)
    return patterns


def logistic_in_place(logits: Array) -> Array:
    """Return 1 / (1 + exp(-x)) in the memory of its argument, without overflow."""
    with np.errstate(over="ignore"):
        np.negative(logits, out=logits)
        np.exp(logits, out=logits)
        logits += 1
        return np.reciprocal(logits, out=logits)


def softplus(logits: Array) -> Array:
    """Return log(1 + exp(x)), without overflow."""
    result: Array = np.logaddexp(0.0, logits)
    return result

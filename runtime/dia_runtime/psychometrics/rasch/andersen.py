"""Tests of the Rasch model by a split of the data: Andersen's (1973), Wald's of each parameter, Martin-Löf's (1973).

Andersen and Wald compare the parameters of the smaller side in two groups of the larger: do easy and hard items give
the same abilities? Martin-Löf splits the smaller side: do weak and strong models order the items alike? All are
computed as in the R package eRm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from dia_language.diagnostics import DiaError
from dia_runtime.psychometrics.rasch.cml import cml
from dia_runtime.psychometrics.rasch.connect import extremes
from dia_runtime.psychometrics.rasch.counts import FEWER, Array, Mask, counts, trial_patterns
from dia_runtime.psychometrics.rasch.jml import Fit
from numpy.typing import NDArray

WORK = 2e9  # multiplications of one step of a conditional fit
SPLITS: Mapping[str, Callable[[Array], float]] = {"median": np.median, "mean": np.mean}


@dataclass(frozen=True, slots=True)
class Andersen:
    """The statistic, its degrees of freedom, its p-value, and whose parameters were compared."""

    statistic: float
    df: int
    p: float
    compared: str


@dataclass(frozen=True, slots=True)
class WaldEntry:
    """The difference of a model's (or item's) parameter between the groups of high and low scores, and its test.

    The difference is of abilities or of difficulties, each with mean 0 in its group.
    """

    index: int
    difference: float
    se: float
    z: float
    p: float


@dataclass(frozen=True, slots=True)
class Wald:
    """Wald tests of all compared parameters."""

    compared: str
    entries: tuple[WaldEntry, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Matrix:
    """Counts with the smaller side as rows; `flipped` if the rows are items."""

    successes: Array
    trials: Array
    flipped: bool

    @property
    def compared(self) -> str:
        return "items" if self.flipped else "models"


def andersen(successes: Array, trials: NDArray[Any], split: str = "median") -> Andersen | None:
    """Return Andersen's likelihood ratio test; None if the data do not allow it.

    The larger side is split at its median (or mean) score: scores above it, and the others. In a booklet design, each
    booklet is split at its own. Parameters that are extreme in a group are left out.
    """
    from scipy.special import chdtrc

    matrix = _oriented(successes, trials)
    fits = None if matrix is None else _fits(matrix, split)
    if matrix is None or fits is None:
        return None
    rows, whole, high, low = fits
    statistic = max(0.0, 2 * (high.log_likelihood + low.log_likelihood - whole.log_likelihood))
    df = int(rows.sum()) - 1
    return Andersen(statistic, df, float(chdtrc(df, statistic)), matrix.compared)


def wald(successes: Array, trials: NDArray[Any], split: str = "median") -> Wald | None:
    """Return the Wald test of each parameter of the smaller side, with the groups of `andersen`."""
    from scipy.special import ndtr

    matrix = _oriented(successes, trials)
    fits = None if matrix is None else _fits(matrix, split)
    if matrix is None or fits is None:
        return None
    rows, _, high, low = fits
    difference = (high.rows - low.rows) * (-1 if matrix.flipped else 1)
    errors = np.sqrt(np.diag(high.covariance) + np.diag(low.covariance))
    z = difference / errors
    entries = zip(np.flatnonzero(rows), difference, errors, z, 2 * ndtr(-np.abs(z)), strict=True)
    return Wald(matrix.compared, tuple(WaldEntry(int(row), *map(float, figures)) for row, *figures in entries))


def martin_loef(successes: Array, trials: NDArray[Any], split: str = "median") -> Andersen | None:
    """Return Martin-Löf's test with the smaller side split at its median (or mean) score.

    None for incomplete data, or if a group would have fewer than two members.
    """
    from scipy.special import chdtrc

    matrix = _oriented(successes, trials)
    if matrix is None or (matrix.trials != matrix.trials[:, :1]).any():
        return None
    totals = matrix.successes.sum(axis=1) / matrix.trials[:, 0]
    high = totals > SPLITS[split](totals)
    if min(high.sum(), (~high).sum()) < 2:
        return None
    groups = [high, ~high]
    every = np.ones(matrix.successes.shape[1], bool)
    try:
        whole = _fit(matrix, np.ones(len(high), bool), every).log_likelihood
        parts = [_fit(matrix, group, every).log_likelihood for group in groups]
    except DiaError:
        return None
    scores = np.stack([matrix.successes[group].sum(axis=0) for group in groups])
    pairs, all_totals = (
        np.unique(scores, axis=1, return_counts=True)[1],
        np.unique(scores.sum(axis=0), return_counts=True)[1],
    )
    statistic = 2 * (_log_shares(pairs) + sum(parts) - _log_shares(all_totals) - whole)
    first, second = (float(matrix.trials[group, 0].sum()) for group in groups)
    df = int(first * second) - 1
    return Andersen(max(0.0, statistic), df, float(chdtrc(df, max(0.0, statistic))), matrix.compared)


def _log_shares(numbers: NDArray[np.int_]) -> float:
    """Return the log likelihood of a distribution of scores."""
    return float(numbers @ np.log(numbers / numbers.sum()))


def _oriented(successes: Array, trials: NDArray[Any]) -> _Matrix | None:
    """Return the counts with the smaller side as rows; None for fractions, and for data that would take too long."""
    flipped = successes.shape[0] > successes.shape[1]
    tried = np.ascontiguousarray(np.broadcast_to(trials, successes.shape)).astype(float)
    if flipped:
        successes, tried = np.ascontiguousarray(successes.T), np.ascontiguousarray(tried.T)
    if not np.array_equal(successes, np.round(successes)) or not np.array_equal(tried, np.round(tried)):
        return None
    if len(successes) ** 2 * counts(successes, tried).classes > WORK:
        return None
    return _Matrix(successes, tried, flipped)


def _fits(matrix: _Matrix, split: str) -> tuple[Mask, Fit, Fit, Fit] | None:
    """Return the compared rows, and the fits of all columns, of those with high scores, and of the others."""
    groups = _groups(matrix.successes, matrix.trials, split)
    if groups is None:
        return None
    rows, columns, high = groups
    try:
        return (
            rows,
            _fit(matrix, rows, columns),
            _fit(matrix, rows, columns & high),
            _fit(matrix, rows, columns & ~high),
        )
    except DiaError:
        return None


def _groups(successes: Array, trials: Array, split: str) -> tuple[Mask, Mask, Mask] | None:
    """Return rows that are extreme in no group, columns that are not extreme, and the columns with high scores.

    As in eRm, the middle is that of all columns, before any are left out.
    """
    high = _is_high(successes, trials, split)
    rows, columns = extremes(successes, trials, np.zeros(len(successes), bool), np.zeros(len(high), bool))
    while rows.sum() >= 2 and columns.sum() >= 2:
        tried, totals = trials[rows].sum(axis=0), successes[rows].sum(axis=0)
        columns = columns & (totals > 0) & (totals < tried)
        keep = rows.copy()
        for group in (columns & high, columns & ~high):
            inside, most = successes[:, group].sum(axis=1), trials[:, group].sum(axis=1)
            keep &= (inside > 0) & (inside < most)
        if keep.sum() == rows.sum():
            return rows, columns, high
        rows = keep
    return None


def _is_high(successes: Array, trials: Array, split: str) -> Mask:
    """Return which columns score above the middle: of their booklet, or of all if hardly any share their trials."""
    tried = trials.sum(axis=0)
    share = successes.sum(axis=0) / np.maximum(tried, 1)
    patterns = trial_patterns(trials.astype(np.int64))
    assert patterns is not None  # the counts are whole numbers
    names, booklets = np.unique(patterns, return_inverse=True)
    if len(names) > FEWER * len(tried) / 2:
        booklets = np.zeros(len(tried), dtype=np.intp)
    high = np.zeros(len(tried), bool)
    for booklet in range(int(booklets.max()) + 1):
        inside = booklets == booklet
        middle = SPLITS[split](share[inside])
        high[inside] = share[inside] > middle if split == "median" else share[inside] >= middle
    return high if high.any() else np.asarray(share >= SPLITS[split](share))


def _fit(matrix: _Matrix, rows: Mask, columns: Mask) -> Fit:
    at = np.ix_(rows, columns)
    return cml(counts(matrix.successes[at], matrix.trials[at]))

"""Andersen's (1973) likelihood ratio test: do easy and hard halves of the data give one scale?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from dia_language.diagnostics import DiaError
from dia_runtime.psychometrics.rasch.cml import cml
from dia_runtime.psychometrics.rasch.connect import extremes
from dia_runtime.psychometrics.rasch.counts import Array, Mask, counts
from numpy.typing import NDArray

WORK = 3e8  # multiplications of one step


@dataclass(frozen=True, slots=True)
class Andersen:
    """The statistic, its degrees of freedom, the probability of a larger one, and whose parameters were compared."""

    statistic: float
    df: int
    p: float
    compared: str


def andersen(successes: Array, trials: NDArray[Any]) -> Andersen | None:
    """Return the test with the larger side split at its median score; None if the data do not allow it.

    The smaller side's parameters are estimated by conditioning on the totals of the larger, in both halves and at
    once. What is extreme in a half is left out.
    """
    from scipy.special import chdtrc

    flipped = successes.shape[0] > successes.shape[1]
    all_trials = np.ascontiguousarray(np.broadcast_to(trials, successes.shape)).astype(float)
    matrix = (
        (np.ascontiguousarray(successes.T), np.ascontiguousarray(all_trials.T)) if flipped else (successes, all_trials)
    )
    if not np.array_equal(matrix[0], np.round(matrix[0])) or _takes_long(matrix[1]):
        return None
    split = _halves(*matrix)
    if split is None:
        return None
    rows, columns, high = split
    try:
        log_likelihood = _likelihood(*matrix, rows, columns)
        halves = [_likelihood(*matrix, rows, columns & side) for side in (high, ~high)]
    except DiaError:
        return None
    statistic, df = max(0.0, 2 * (sum(halves) - log_likelihood)), int(rows.sum()) - 1
    return Andersen(statistic, df, float(chdtrc(df, statistic)), "items" if flipped else "models")


def _takes_long(trials: Array) -> bool:
    """Return whether the three conditional fits would take more than some seconds."""
    classes = trials.shape[1] if (trials != trials[:, :1]).any() else float(trials.sum(axis=0).max())
    return bool(len(trials) ** 2 * classes * 50 > WORK)


def _halves(successes: Array, trials: Array) -> tuple[Mask, Mask, Mask] | None:
    """Rows that are extreme in no half, columns that are not extreme, and which of these score above the median."""
    rows, columns = extremes(successes, trials, np.zeros(len(successes), bool), np.zeros(successes.shape[1], bool))
    while True:
        if rows.sum() < 2 or columns.sum() < 2:
            return None
        tried = trials[rows].sum(axis=0)
        totals = successes[rows].sum(axis=0)
        columns = columns & (totals > 0) & (totals < tried)
        share = np.where(tried > 0, totals / np.maximum(tried, 1), np.nan)
        median = np.median(share[columns])
        high = share > median if (share[columns] > median).any() else share >= median
        keep = rows.copy()
        for half in (columns & high, columns & ~high):
            successes_inside, trials_inside = successes[:, half].sum(axis=1), trials[:, half].sum(axis=1)
            keep &= (successes_inside > 0) & (successes_inside < trials_inside)
        if keep.sum() == rows.sum():
            return rows, columns, high
        rows = keep


def _likelihood(successes: Array, trials: Array, rows: Mask, columns: Mask) -> float:
    at = np.ix_(rows, columns)
    return cml(counts(successes[at], trials[at])).log_likelihood

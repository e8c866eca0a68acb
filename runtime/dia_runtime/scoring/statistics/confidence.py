"""Confidence intervals from the values of resamples (Efron 1987; Efron and Tibshirani 1993, chapter 14)."""

from __future__ import annotations

import math

import numpy
from dia_runtime.scoring.intervals import NORMAL, SHARES
from dia_runtime.scoring.statistics.resample import Numbers
from numpy.typing import NDArray

LEAST = 1e-12  # of a share
DEFINED = 0.9  # the share of resamples that must have a value


def interval(
    values: Numbers,
    point: float,
    left_out: Numbers,
    times: NDArray[numpy.int64],
    method: str,
    shares: tuple[float, float] = SHARES,
) -> list[float] | None:
    """Return the two ends, below which these shares of the resamples are; None if too few resamples have a value.

    `left_out` are the values without one item each, of which `times` are equal. If BCa cannot be computed, because all
    resamples are on one side of the point or one item decides alone, the percentiles are used unchanged.
    """
    finite = values[numpy.isfinite(values)]
    if len(finite) < DEFINED * len(values):
        return None
    if method != "percentile":
        shares = _corrected(finite, point, left_out, times, shares) or shares
    finite.sort()
    return [_quantile(finite, share) for share in shares]


def widened(items: int) -> tuple[float, float]:
    """Return the shares for a difference over this many items, widened like Student's t compared with the normal one.

    Resamples spread by divisor n instead of n - 1, and ignore the error of the error (Hesterberg 2015).
    """
    from scipy.special import stdtrit

    reach = float(stdtrit(items - 1, SHARES[1])) * math.sqrt(items / (items - 1))
    share = max(NORMAL.cdf(-reach), LEAST)
    return share, 1 - share


def _corrected(
    values: Numbers, point: float, left_out: Numbers, times: NDArray[numpy.int64], shares: tuple[float, float]
) -> tuple[float, float] | None:
    """Return the shares, corrected for the bias of the resamples and for how their spread changes with the value."""
    below = (numpy.count_nonzero(values < point) + numpy.count_nonzero(values <= point)) / (2 * len(values))
    if not 0 < below < 1 or not numpy.isfinite(left_out).all():
        return None
    bias, pull = NORMAL.inv_cdf(below), acceleration(left_out, times)
    moved = []
    for share in shares:
        reach = bias + NORMAL.inv_cdf(share)
        if pull * reach >= 1:
            return None
        moved.append(NORMAL.cdf(bias + reach / (1 - pull * reach)))
    return moved[0], moved[1]


def acceleration(left_out: Numbers, times: NDArray[numpy.int64]) -> float:
    """Return the acceleration: a sixth of the skewness of the values without one item each."""
    deviations = numpy.average(left_out, weights=times) - left_out
    spread = float((times * deviations**2).sum())
    return float((times * deviations**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0


def _quantile(ordered: Numbers, share: float) -> float:
    """Return the quantile for this share, interpolated linearly between two values."""
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return float(ordered[low] + (place - low) * (ordered[high] - ordered[low]))

"""Uncertainty of figures over questions that come in clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

Exact = int | Fraction


def standard_error(clusters: Sequence[tuple[Exact, int]], is_sum: bool = False) -> float | None:
    """The standard error of the mean over clusters, or of the sum of as many values; None below two."""
    variance = clustered_variance(clusters)
    if variance is None:
        return None
    return math.sqrt(variance) * (sum(count for _, count in clusters) if is_sum else 1)


def clustered_variance(clusters: Sequence[tuple[Exact, int]]) -> Fraction | None:
    """The squared standard error of a mean over clusters, given as (sum, number of values); None below two.

    SE = sqrt(G/(G-1) * sum over the G clusters of (sum of its deviations)^2) / N, the cluster-robust error
    of a mean (Liang and Zeger 1986). With clusters of one it is s / sqrt(N).

    >>> clustered_variance([(1, 1), (0, 1), (1, 1), (0, 1)])
    Fraction(1, 12)
    """
    groups, number = len(clusters), sum(count for _, count in clusters)
    if groups < 2:
        return None
    total = sum(held for held, _ in clusters)
    squares = sum((number * held - count * total) ** 2 for held, count in clusters)
    return Fraction(groups, groups - 1) * squares / Fraction(number) ** 4

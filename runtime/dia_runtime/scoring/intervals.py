"""Standard errors of figures over clustered questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist

Exact = int | Fraction
LEVEL = 0.95
NORMAL = NormalDist()
SHARES = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)


def standard_error(clusters: Sequence[tuple[Exact, int]], times: Sequence[int], is_sum: bool = False) -> float | None:
    """Return the standard error of the mean over clusters, or of the sum of as many values; None for fewer than two.

    `times` has for each cluster the number of equal ones.
    """
    variance = clustered_variance(clusters, times)
    if variance is None:
        return None
    number = sum(count * many for (_, count), many in zip(clusters, times, strict=True))
    return math.sqrt(variance) * (number if is_sum else 1)


def clustered_variance(clusters: Sequence[tuple[Exact, int]], times: Sequence[int] | None = None) -> Fraction | None:
    """Return the squared standard error of a mean over clusters, given as (sum, number of values); None below two.

    SE = sqrt(G/(G-1) * sum over the G clusters of (sum of its deviations)^2) / N, the cluster-robust error
    of a mean (Liang and Zeger 1986). With clusters of one it is s / sqrt(N). None if fewer than two clusters
    have values.

    >>> clustered_variance([(1, 1), (0, 1), (1, 1), (0, 1)])
    Fraction(1, 12)
    """
    every = list(zip(clusters, times or [1] * len(clusters), strict=True))
    groups, number = sum(many for _, many in every), sum(count * many for (_, count), many in every)
    if groups < 2 or sum(many for (_, count), many in every if count) < 2:  # one item says nothing about others
        return None
    total = sum(cluster_sum * many for (cluster_sum, _), many in every)
    squares = sum(many * (number * cluster_sum - count * total) ** 2 for (cluster_sum, count), many in every)
    return Fraction(groups, groups - 1) * squares / Fraction(number) ** 4

"""Correlations of two figures over models or items: Pearson's, or that of ranks, with Fisher's z."""

from __future__ import annotations

from collections.abc import Sequence
from math import atanh, fsum, sqrt, tanh

from dia_runtime.scoring.intervals import NORMAL, SHARES
from dia_runtime.scoring.results import Correlation

FEWEST = 4  # pairs; with fewer, Fisher's z has no error
Pairs = Sequence[tuple[float, float]]


def correlation(pairs: Pairs) -> Correlation:
    """Return Pearson's r of the pairs, with Fisher's 95 % interval (1921), whose z has the error 1 / sqrt(n - 3).

    `r` is None for fewer than four pairs and if one side is constant, `ci` also if r is -1 or 1.

    >>> correlation([(1, 1), (2, 3), (3, 2), (4, 4)])["r"]
    0.8
    """
    return _with_interval(len(pairs), _pearson(pairs), 1.0)


def rank_correlation(pairs: Pairs) -> Correlation:
    """Return Spearman's correlation of the pairs, ties at their mean rank; z has the error sqrt((1 + r^2/2) / (n - 3)).

    The error is that of Bonett and Wright, Sample size requirements for estimating Pearson, Kendall and Spearman
    correlations, 2000.

    >>> rank_correlation([(1, 1), (2, 4), (3, 9), (4, 16)])
    {'n': 4, 'r': 1.0, 'ci': None}
    """
    ranked = list(zip(*(_ranks([pair[side] for pair in pairs]) for side in (0, 1)), strict=True))
    r = _pearson(ranked)
    return _with_interval(len(pairs), r, 1 if r is None else 1 + r * r / 2)


def _with_interval(number: int, r: float | None, variance: float) -> Correlation:
    """Return the correlation; `variance` is that of its z, times the number of pairs minus three."""
    if r is None or abs(r) >= 1:
        return {"n": number, "r": r, "ci": None}
    reach = NORMAL.inv_cdf(SHARES[1]) * sqrt(variance / (number - 3))
    return {"n": number, "r": r, "ci": [tanh(atanh(r) - reach), tanh(atanh(r) + reach)]}


def _pearson(pairs: Pairs) -> float | None:
    if len(pairs) < FEWEST:
        return None
    one, other = (_centred([pair[side] for pair in pairs]) for side in (0, 1))
    spread = sqrt(fsum(x * x for x in one)) * sqrt(fsum(y * y for y in other))
    if not spread:
        return None
    r = fsum(x * y for x, y in zip(one, other, strict=True)) / spread
    return round(r) * 1.0 if abs(r) > 1 - 1e-12 else r


def _centred(values: Sequence[float]) -> list[float]:
    """Return the values minus their mean; exact zeros if all are equal, regardless of rounding."""
    if min(values) == max(values):
        return [0.0] * len(values)
    mean = fsum(values) / len(values)
    return [value - mean for value in values]


def _ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value from 1; equal values have the mean of their ranks."""
    order = sorted(range(len(values)), key=lambda at: values[at])
    ranks, start = [0.0] * len(values), 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for at in order[start:end]:
            ranks[at] = (start + 1 + end) / 2
        start = end
    return ranks

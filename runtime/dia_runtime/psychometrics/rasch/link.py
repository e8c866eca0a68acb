"""Link two scales by the items that both contain: the shift, its error, and items that have drifted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from dia_runtime.psychometrics.rasch.counts import Array, Mask

DRIFT = 3.0  # normal deviates above which an item has drifted
ROUNDS = 50
TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """The shift from the second scale to the first, with its standard error.

    `error` is that of the shift over the linking items as a sample (the standard deviation of their differences over
    the root of their number, as PISA's linking error), `sampling_error` that of their estimates alone. `slope` is the
    ratio of spreads, 1 if the scales have the same unit; `spreads` are the standard deviations of the linking items,
    and `spread_p` the p value of the test of Pitman and Morgan (1939) that they are equal. Each item has its difference
    after the shift, its normal deviate, and whether it links.
    """

    shift: float
    error: float
    sampling_error: float
    slope: float
    correlation: float
    spreads: tuple[float, float]
    spread_p: float
    differences: Array
    deviates: Array
    linking: Mask


def link(first: Array, first_se: Array, second: Array, second_se: Array, drift: float = DRIFT) -> Link:
    """Link two vectors of difficulties of the same items; items that drift are left out one by one."""
    variances = first_se**2 + second_se**2
    has_error = np.isfinite(variances) & (variances > 0)
    variances = np.where(has_error, variances, np.median(variances[has_error]) if has_error.any() else 1.0)
    is_linking = np.ones(len(first), dtype=bool)
    gaps = first - second
    for _ in range(min(ROUNDS, len(first) - 2) if len(first) > 2 else 0):
        deviates = _deviates(gaps, variances, is_linking)
        worst = int(np.argmax(np.where(is_linking, np.abs(deviates), -1)))
        if abs(deviates[worst]) < drift or is_linking.sum() <= max(2, len(first) // 2):
            break
        is_linking[worst] = False
    shift = float(gaps[is_linking].mean())
    spread = float(gaps[is_linking].std(ddof=1)) if is_linking.sum() > 1 else float("nan")
    linking, other = first[is_linking], second[is_linking]
    spreads = float(linking.std()), float(other.std())
    return Link(
        shift,
        spread / float(np.sqrt(is_linking.sum())),
        float(np.sqrt(variances[is_linking].sum())) / float(is_linking.sum()),
        spreads[0] / spreads[1] if spreads[1] else float("nan"),
        _correlation(linking, other),
        spreads,
        _equal_spreads_p(linking, other),
        gaps - shift,
        _deviates(gaps, variances, is_linking),
        is_linking,
    )


def _correlation(first: Array, second: Array) -> float:
    """Return the correlation; NaN if one of the two does not vary."""
    return float(np.corrcoef(first, second)[0, 1]) if first.std() and second.std() else float("nan")


def _equal_spreads_p(first: Array, second: Array) -> float:
    """Return the p value of equal variances of paired values: the sum does not correlate with the difference."""
    from scipy.stats import t

    degrees, r = len(first) - 2, _correlation(first + second, first - second)
    if degrees < 1 or not np.isfinite(r):
        return 1.0
    return float(2 * t.sf(abs(r) * np.sqrt(degrees / max(1 - r * r, TINY)), degrees))


def _deviates(gaps: Array, variances: Array, is_linking: Mask) -> Array:
    """Return differences in units of their errors, after removing the shift of the linking items."""
    return np.asarray((gaps - gaps[is_linking].mean()) / np.sqrt(variances))

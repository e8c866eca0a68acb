"""Link two scales by the items that both contain: the shift, its error, and items that have drifted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from dia_runtime.psychometrics.rasch.counts import Array, Mask

DRIFT = 3.0  # normal deviates above which an item has drifted
ROUNDS = 50


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """The shift from the second scale to the first, with its standard error.

    `error` is that of the shift over the linking items as a sample (the standard deviation of their differences over
    the root of their number, as PISA's linking error), `sampling_error` that of their estimates alone. `slope` is the
    ratio of spreads, 1 if the scales have the same unit. Each item has its difference after the shift, its normal
    deviate, and whether it links.
    """

    shift: float
    error: float
    sampling_error: float
    slope: float
    correlation: float
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
    return Link(
        shift,
        spread / float(np.sqrt(is_linking.sum())),
        float(np.sqrt(variances[is_linking].sum())) / float(is_linking.sum()),
        float(first[is_linking].std() / second[is_linking].std()) if second[is_linking].std() else float("nan"),
        float(np.corrcoef(first[is_linking], second[is_linking])[0, 1])
        if is_linking.sum() > 1 and first[is_linking].std() and second[is_linking].std()
        else 1.0,
        gaps - shift,
        _deviates(gaps, variances, is_linking),
        is_linking,
    )


def _deviates(gaps: Array, variances: Array, is_linking: Mask) -> Array:
    """Return differences in units of their errors, after removing the shift of the linking items."""
    return np.asarray((gaps - gaps[is_linking].mean()) / np.sqrt(variances))

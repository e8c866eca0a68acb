"""Two scales onto one by the items that both hold: the shift, its error, and items that have drifted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from dia_runtime.psychometrics.rasch.counts import Array, Mask

DRIFT = 3.0  # normal deviates at which an item no longer links
ROUNDS = 50


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """What is added to the second scale to stand on the first, and how sure that is.

    `error` is that of the shift over the linking items as a sample (the standard deviation of their differences over
    the root of their number, as PISA's linking error), `sampling_error` that of their estimates alone. `slope` is the
    ratio of spreads, 1 where the scales have one unit. Of each item: difference after the shift, its normal deviate,
    and whether it links.
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
    """The link of two vectors of difficulties of the same items; items that drift are left out, one after the other."""
    variances = first_se**2 + second_se**2
    known = np.isfinite(variances) & (variances > 0)
    variances = np.where(known, variances, np.median(variances[known]) if known.any() else 1.0)
    use = np.ones(len(first), dtype=bool)
    gaps = first - second
    for _ in range(min(ROUNDS, len(first) - 2) if len(first) > 2 else 0):
        deviates = _deviates(gaps, variances, use)
        worst = int(np.argmax(np.where(use, np.abs(deviates), -1)))
        if abs(deviates[worst]) < drift or use.sum() <= max(2, len(first) // 2):
            break
        use[worst] = False
    shift = float(gaps[use].mean())
    spread = float(gaps[use].std(ddof=1)) if use.sum() > 1 else float("nan")
    return Link(
        shift,
        spread / float(np.sqrt(use.sum())),
        float(np.sqrt(variances[use].sum())) / float(use.sum()),
        float(first[use].std() / second[use].std()) if second[use].std() else float("nan"),
        float(np.corrcoef(first[use], second[use])[0, 1])
        if use.sum() > 1 and first[use].std() and second[use].std()
        else 1.0,
        gaps - shift,
        _deviates(gaps, variances, use),
        use,
    )


def _deviates(gaps: Array, variances: Array, use: Mask) -> Array:
    """Differences in units of their own error, once the shift of the linking items is taken away."""
    return np.asarray((gaps - gaps[use].mean()) / np.sqrt(variances))

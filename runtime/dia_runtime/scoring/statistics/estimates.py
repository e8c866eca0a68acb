"""From aggregates to their JSON: value, standard error and confidence interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy
from dia_runtime.scoring.intervals import LEVEL, SHARES, standard_error
from dia_runtime.scoring.metrics import Aggregate, Ends
from dia_runtime.scoring.results import Estimate, unknown
from dia_runtime.scoring.statistics.resample import CELLS, Intervals, dirichlet_weights
from dia_runtime.scoring.statistics.sample import Ratio, sample_of

FEW = 20  # items that differ from an end of the range; with fewer, resamples miss what other items could show
ROUNDING = 1e-12


def estimate(aggregate: Aggregate, intervals: Intervals) -> Estimate:
    """Return the aggregate with its uncertainty."""
    return estimates({"": aggregate}, intervals)[""]


def estimates(aggregates: Mapping[str, Aggregate], intervals: Intervals) -> dict[str, Estimate]:
    """Return each aggregate as `value`, `se` and `ci`, and as `bounds` while errors leave the value open.

    All aggregates of as many items use the same resamples, so they are computed together.
    """
    results = {name: _without_interval(aggregate) for name, aggregate in aggregates.items()}
    by_times: dict[tuple[int, ...], list[str]] = {}
    for name, aggregate in aggregates.items():
        if intervals.method != "none" and results[name]["se"] is not None:
            by_times.setdefault(tuple(part.times for part in aggregate.parts), []).append(name)
    for times, names in by_times.items():
        varied = [name for name in names if results[name]["se"]]
        columns = [column for name in varied for column in aggregates[name].columns()]
        sample = sample_of(zip(zip(*columns, strict=True), times, strict=True)) if varied else None
        for name in names:
            aggregate, value = aggregates[name], results[name]["value"]
            if sample and name in varied and (bound := bound_of(aggregate, intervals)):
                results[name]["ci"] = bound
                if intervals.method != "bound":
                    results[name]["interval"] = "bound"
            elif sample and name in varied:
                at = 2 * varied.index(name)
                part = Ratio(at, None if aggregate.is_sum else at + 1)
                results[name]["ci"] = sample.interval((part,), intervals)
            elif value is not None:
                answered = sum(part.times for part in aggregate.parts if part.size)
                ends = aggregate.range.ends(answered, intervals.points)
                results[name]["ci"] = interval_of_one_value(value, ends, answered)
    return results


def _without_interval(aggregate: Aggregate) -> Estimate:
    value, bounds = aggregate.value, aggregate.bounds
    if value is None:
        return {**unknown(), "bounds": [float(end) for end in bounds]} if bounds else unknown()
    clusters = [(part.low, part.size) for part in aggregate.parts]
    error = standard_error(clusters, [part.times for part in aggregate.parts], aggregate.is_sum)
    return {"value": float(value), "se": error, "ci": None}


def bound_of(aggregate: Aggregate, intervals: Intervals) -> list[float] | None:
    """Return the interval that allows for values which no item has; None if resamples are used instead.

    Resamples suffice, unless the method is `bound`, if at least `FEW` items differ from the lowest possible value and
    at least `FEW` from the highest. They are also used if percentiles are requested, if the range is unknown, if items
    have different numbers of values, or if there are too many items.

    Each end of the interval is a quantile of the items' weighted mean, to which one item at that end of the range is
    added; the weights follow a Dirichlet distribution. This is the bound of Learned-Miller and Thomas (A new confidence
    interval for the mean of a bounded random variable, 2019). If all items have the same value, and it is an end of the
    range, it is the interval of Clopper and Pearson (1934), computed exactly.
    """
    parts = [part for part in aggregate.parts if part.size]
    items = sum(part.times for part in parts)
    ends = aggregate.range.ends(items, intervals.points)
    if intervals.method == "percentile" or ends is None or len({part.size for part in parts}) > 1:
        return None
    factor = items if aggregate.is_sum else 1
    # Items with the same value count together, whatever their verdicts: equal values have equal intervals.
    items_of: Counter[Fraction] = Counter()
    for part in parts:
        items_of[Fraction(part.low) / part.size] += part.times
    values = numpy.array([factor * float(value) for value in sorted(items_of)])
    times = [items_of[value] for value in sorted(items_of)]
    at_ends = [int(numpy.array(times)[numpy.abs(values - end) <= ROUNDING * factor].sum()) for end in ends]
    is_needed = intervals.method == "bound" or items - max(at_ends) < FEW
    if not is_needed or len(times) * intervals.resamples > CELLS:
        return None
    if sum(at_ends) == items:
        return _clopper_pearson(at_ends, ends)
    weights = dirichlet_weights(tuple(times), intervals.resamples, intervals.seed)
    means = weights[:, :-1] @ values
    low, high = (means + weights[:, -1] * end for end in ends)
    return [float(numpy.quantile(low, SHARES[0])), float(numpy.quantile(high, SHARES[1]))]


def _clopper_pearson(at_ends: Sequence[int], ends: Ends) -> list[float]:
    """Return the interval of the mean of items that are all at one of two ends, some at each."""
    from scipy.special import betaincinv

    low, high = at_ends
    shares = betaincinv(high, low + 1, SHARES[0]), betaincinv(high + 1, low, SHARES[1])
    return [ends[0] + float(share) * (ends[1] - ends[0]) for share in shares]


def interval_of_one_value(value: float, ends: Ends | None, items: int) -> list[float] | None:
    """Return the interval of a figure that is equal for all items, about which resamples show nothing.

    Another value that a share q of items has would occur among these with a probability of 97.5 % if (1 - q)^items is
    2.5 %: so large a share may be unseen at either end. For a share of 0 or 1 this is the interval of Clopper and
    Pearson (1934).
    """
    if ends is None or items < 2:
        return None
    unseen = 1 - float(((1 - LEVEL) / 2) ** (1 / items))
    return [value - unseen * (value - ends[0]), value + unseen * (ends[1] - value)]

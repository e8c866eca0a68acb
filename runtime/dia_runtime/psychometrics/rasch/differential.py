"""Differential item functioning: items that are harder for one family of models than their abilities say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dia_runtime.psychometrics.rasch.columns import score_columns
from dia_runtime.psychometrics.rasch.counts import Array, Mask, counts
from dia_runtime.psychometrics.rasch.fit import Locations
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class DifferentialItem:
    """How much harder an item is for a group than for the others, in logits, and how sure that is.

    `p` is of the normal deviate, `adjusted` the same after Benjamini and Hochberg (1995) over all items and groups.
    """

    item: int
    group: str
    size: float
    se: float
    p: float
    adjusted: float


def differential_items(
    locations: Locations, successes: Array, trials: NDArray[Any], groups: Sequence[str | None]
) -> list[DifferentialItem]:
    """Return the differences of all items for every group, the most certain first; abilities stay where they are.

    Difficulties within groups are Warm's, which are finite for items that a whole group passes.
    """
    from scipy.special import ndtr

    every = np.broadcast_to(trials, successes.shape)
    raw = []
    for name in sorted({group for group in groups if group is not None}):
        inside_models = np.array([group == name for group in groups]) & locations.models
        outside_models = np.array([group is not None and group != name for group in groups]) & locations.models
        if not inside_models.any() or not outside_models.any():
            continue
        inside, inside_se = _difficulties(locations, successes, every, inside_models)
        outside, outside_se = _difficulties(locations, successes, every, outside_models)
        size, se = inside - outside, np.sqrt(inside_se**2 + outside_se**2)
        p = 2 * ndtr(-np.abs(size / se))
        at = np.flatnonzero(np.isfinite(p))
        raw += [(int(item), name, float(size[item]), float(se[item]), float(p[item])) for item in at]
    adjusted = benjamini_hochberg(np.array([entry[4] for entry in raw]))
    results = [DifferentialItem(*entry, float(value)) for entry, value in zip(raw, adjusted, strict=True)]
    return sorted(results, key=lambda entry: (entry.p, entry.item, entry.group))


def _difficulties(locations: Locations, successes: Array, trials: NDArray[Any], models: Mask) -> tuple[Array, Array]:
    """Return the difficulty of each item for some models; NaN if none of them tried it."""
    tried = trials[models].sum(axis=0) > 0
    use = locations.items & tried
    values, errors = np.full(len(use), np.nan), np.full(len(use), np.nan)
    if use.any():
        at = np.ix_(models, use)
        data = counts(np.ascontiguousarray(successes[at]), np.ascontiguousarray(trials[at]))
        for part in score_columns(data, locations.abilities[models], "wle", None, 0.3):
            inside = (data.of >= part.block.start) & (data.of < part.block.stop)
            where = np.flatnonzero(use)[inside]
            values[where] = part.locations[data.of[inside] - part.block.start]
            errors[where] = np.sqrt(part.variances[data.of[inside] - part.block.start])
    return values, errors


def benjamini_hochberg(p: Array) -> Array:
    """Return the probabilities adjusted for their number.

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    if not len(p):
        return p
    order = np.argsort(-p, kind="stable")
    ranks = np.arange(len(p), 0, -1)
    raised = np.minimum.accumulate(p[order] * len(p) / ranks)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(raised, 1)
    return adjusted

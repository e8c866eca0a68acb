"""Differential item functioning: items that are harder for one family of models than their abilities predict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dia_runtime.psychometrics.rasch.cml import conditional_scores
from dia_runtime.psychometrics.rasch.columns import score_columns
from dia_runtime.psychometrics.rasch.counts import Array, Counts, Mask, counts
from dia_runtime.psychometrics.rasch.fit import Locations
from numpy.typing import NDArray

DETECTED = 1.959963984540054 + 0.8416212335729143  # standard errors: p < 0.05 with a probability of 80 %
LARGEST = 15.0  # logits
ROUNDS = 100


@dataclass(frozen=True, slots=True)
class DifferentialItem:
    """How much harder an item is for a group than for the others, in logits, with its error and p-value.

    `p` is that of the normal deviate, `adjusted` the same after Benjamini and Hochberg (1995) over all items and
    groups. `detectable` is the size that a true difference must have to give p < 0.05 with a probability of 80 %.
    """

    item: int
    group: str
    size: float
    se: float
    p: float
    adjusted: float
    detectable: float


def differential_items(
    locations: Locations, successes: Array, trials: NDArray[Any], groups: Sequence[str | None]
) -> list[DifferentialItem]:
    """Return the differences of all items for every group, the most certain first; abilities are fixed.

    Difficulties within groups are Warm's, which are finite for items that a whole group passes.
    """
    every = np.broadcast_to(trials, successes.shape)
    raw = []
    for name, inside_models, outside_models in _groups(locations, groups):
        inside, inside_se = _difficulties(locations, successes, every, inside_models)
        outside, outside_se = _difficulties(locations, successes, every, outside_models)
        raw.append((name, inside - outside, np.sqrt(inside_se**2 + outside_se**2)))
    return _tested(raw)


def differential_templates(
    locations: Locations,
    successes: Array,
    trials: NDArray[Any],
    groups: Sequence[str | None],
    templates: NDArray[np.intp],
    effect_sd: float = 0.0,
) -> list[DifferentialItem]:
    """Return how much harder each template is for every group: one size for all its items, which is more precise.

    `templates` numbers the template of each item. Given how many models solved each item, the items' difficulties
    cancel, so the size has a conditional likelihood; abilities are fixed. `effect_sd` is the standard deviation of a
    single model's deviation in a template, which adds to the error of the difference of two groups.
    """
    every = np.broadcast_to(trials, successes.shape)
    raw = []
    for name, inside, outside in _groups(locations, groups):
        rows = np.flatnonzero(inside | outside)
        sizes, errors = np.full(int(templates.max()) + 1, np.nan), np.full(int(templates.max()) + 1, np.nan)
        for template in range(len(sizes)):
            columns = np.flatnonzero((templates == template) & locations.items)
            at = np.ix_(rows, columns)
            if len(columns):
                data = counts(np.ascontiguousarray(successes[at]), np.ascontiguousarray(every[at]))
                sizes[template], errors[template] = _shift(data, locations.abilities[rows], inside[rows])
        between = effect_sd**2 * (1 / inside.sum() + 1 / outside.sum())
        raw.append((name, sizes, np.sqrt(errors**2 + between)))
    return _tested(raw)


def _groups(locations: Locations, groups: Sequence[str | None]) -> Iterator[tuple[str, Mask, Mask]]:
    """Yield the name of each group, its models, and the models of all other groups."""
    for name in sorted({group for group in groups if group is not None}):
        inside = np.array([group == name for group in groups]) & locations.models
        outside = np.array([group is not None and group != name for group in groups]) & locations.models
        if inside.any() and outside.any():
            yield name, inside, outside


def _tested(raw: Sequence[tuple[str, Array, Array]]) -> list[DifferentialItem]:
    """Return the sizes of all groups with their probabilities, the most certain first."""
    from scipy.special import ndtr

    entries = []
    for name, size, se in raw:
        p = 2 * ndtr(-np.abs(size / se))
        at = np.flatnonzero(np.isfinite(p))
        entries += [(int(item), name, float(size[item]), float(se[item]), float(p[item])) for item in at]
    adjusted = benjamini_hochberg(np.array([entry[4] for entry in entries]))
    results = [
        DifferentialItem(*entry, float(value), DETECTED * entry[3])
        for entry, value in zip(entries, adjusted, strict=True)
    ]
    return sorted(results, key=lambda entry: (entry.p, entry.item, entry.group))


def _shift(data: Counts, abilities: Array, inside: Mask) -> tuple[float, float]:
    """Return how much harder the columns are for the rows inside, and its error; NaN without a finite maximum."""
    size = 0.0
    for _ in range(ROUNDS):
        _, gradient, spread = conditional_scores(data, abilities - size * inside)
        information = float(inside @ spread @ inside)
        if information < 1e-6:
            break
        step = -float(inside @ gradient) / information
        size += float(np.clip(step, -1.0, 1.0))
        if abs(step) < 1e-8:
            return size, information**-0.5
        if abs(size) > LARGEST:
            break
    return float("nan"), float("nan")


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

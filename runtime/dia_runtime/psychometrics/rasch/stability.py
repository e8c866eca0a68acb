"""The influence of single models on a scale: refits without them, their new places, and effects of chance alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dia_language.diagnostics import DiaError
from dia_runtime.psychometrics.rasch.columns import score_columns
from dia_runtime.psychometrics.rasch.counts import Array, Mask, counts, logistic_in_place
from dia_runtime.psychometrics.rasch.estimate import Calibration, EstimationOptions, estimate
from numpy.typing import NDArray

Refitter = Callable[[Array, NDArray[Any]], Calibration]
SUMMARY = ("mean_absolute", "median_absolute", "rmse", "correlation", "placement_rmse")


@dataclass(frozen=True, slots=True)
class Refit:
    """The difficulties after a refit without some models; `shift` is how far the scale was moved to match.

    `placed` has for each of these models its place on the rest of the scale, and the distance from before.
    """

    name: str
    items: int
    shift: float
    mean_absolute: float
    correlation: float
    placed: Mapping[int, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Stability:
    """All refits, figures pooled over them, and the same figures for data drawn from the fitted model.

    `p` is the share of drawn data sets whose pooled mean absolute change is at least as large.
    """

    refits: tuple[Refit, ...]
    pooled: Mapping[str, float]
    null: Mapping[str, tuple[float, float, float]] | None
    p: float | None


def stability(
    successes: Array,
    trials: NDArray[Any],
    options: EstimationOptions,
    groups: Mapping[str, Mask],
    draws: int = 20,
    seed: int = 0,
) -> Stability:
    """Leave out each group of models in turn; the null distribution is from `draws` data sets of the fitted model.

    Changes of difficulties are over items that both fits estimate, after aligning their means.
    """

    def refit(counted: Array, tried: NDArray[Any]) -> Calibration:
        return estimate(counted, tried, options)

    every = np.broadcast_to(trials, successes.shape).astype(float)
    full = refit(successes, trials)
    left, pooled = _leave_out(successes, every, full, groups, refit)
    null = _null(every, full, groups, refit, draws, seed)
    if not null:
        return Stability(tuple(left), pooled, None, None)
    spread = {name: _interval([summary[name] for summary in null if np.isfinite(summary[name])]) for name in SUMMARY}
    larger = sum(summary["mean_absolute"] >= pooled["mean_absolute"] for summary in null)
    return Stability(tuple(left), pooled, spread, (larger + 1) / (len(null) + 1))


def _interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean and the central 95 %; NaN without values."""
    if not values:
        return (float("nan"),) * 3
    low, high = np.percentile(values, [2.5, 97.5])
    return float(np.mean(values)), float(low), float(high)


def _leave_out(
    successes: Array, trials: Array, full: Calibration, groups: Mapping[str, Mask], refit: Refitter
) -> tuple[list[Refit], dict[str, float]]:
    refits, changes, pairs = [], [], []
    for name, members in groups.items():
        try:
            refitted = refit(np.ascontiguousarray(successes[~members]), np.ascontiguousarray(trials[~members]))
        except DiaError:  # without these models the data are not connected
            continue
        both = _estimated(full) & _estimated(refitted)
        if both.sum() < 2:
            continue
        before, after = full.difficulties[both], refitted.difficulties[both]
        shift = float((after - before).mean())
        change = after - before - shift
        placed = _placed(successes, trials, full, refitted, members, shift)
        correlation = float(np.corrcoef(before, after)[0, 1]) if before.std() and after.std() else 1.0
        refits.append(Refit(name, int(both.sum()), shift, float(np.abs(change).mean()), correlation, placed))
        changes.append(change)
        pairs.append((before, after - shift))
    gaps = [gap for entry in refits for _, gap in entry.placed.values()]
    return refits, _pooled(changes, pairs, gaps)


def _estimated(calibration: Calibration) -> Mask:
    return np.array([status == "estimated" for status in calibration.difficulty_status])


def _pooled(changes: Sequence[Array], pairs: Sequence[tuple[Array, Array]], gaps: Sequence[float]) -> dict[str, float]:
    if not changes:
        return dict.fromkeys(SUMMARY, float("nan"))
    every = np.concatenate(changes)
    before, after = (np.concatenate(side) for side in zip(*pairs, strict=True))
    values = (
        np.abs(every).mean(),
        np.median(np.abs(every)),
        np.sqrt((every**2).mean()),
        np.corrcoef(before, after)[0, 1] if before.std() and after.std() else 1.0,
        np.sqrt(np.mean(np.square(gaps))) if gaps else np.nan,
    )
    return {name: float(value) for name, value in zip(SUMMARY, values, strict=True)}


def _placed(
    successes: Array, trials: Array, full: Calibration, refitted: Calibration, members: Mask, shift: float
) -> dict[int, tuple[float, float]]:
    """Return where the rest of the scale places the models that were left out, and the distance from before."""
    placed_again = {}
    for model in np.flatnonzero(members):
        use = np.isfinite(refitted.difficulties) & (trials[model] > 0)
        if not use.any():
            continue
        data = counts(successes[model, use][:, None].copy(), trials[model, use][:, None].copy())
        part = next(iter(score_columns(data, -(refitted.difficulties[use] - shift), "mle", None, 0.3)))
        place = -float(part.locations[0])
        placed_again[int(model)] = (place, place - float(full.abilities[model]))
    return placed_again


def _null(
    trials: Array, full: Calibration, groups: Mapping[str, Mask], refit: Refitter, draws: int, seed: int
) -> list[dict[str, float]]:
    """Return the pooled figures of data sets drawn from the fitted model (a parametric bootstrap)."""
    generator = np.random.default_rng(seed)
    abilities, difficulties = (np.nan_to_num(side) for side in (full.abilities, full.difficulties))
    chances = logistic_in_place(abilities[:, None] - difficulties)
    summaries = []
    for _ in range(draws):
        draw = generator.binomial(np.round(trials).astype(np.int64), chances).astype(float)
        try:
            again = refit(draw, trials)
            pooled = _leave_out(draw, trials, again, groups, refit)[1]
        except DiaError:
            continue
        if np.isfinite(pooled["mean_absolute"]):
            summaries.append(pooled)
    return summaries

"""Whether an item's pass rate rises with ability: its isotonic fit, and a test against the Rasch model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from dia_runtime.psychometrics.rasch.counts import Array, logistic_in_place
from dia_runtime.psychometrics.rasch.fit import Locations
from numpy.typing import NDArray

MOST_GROUPS = 12  # of models with neighbouring abilities
CELLS = 1 << 21


@dataclass(frozen=True, slots=True, eq=False)
class Monotone:
    """For each item: pass rates by ability group, their isotonic fit, the distance between them, and its p-value.

    `groups` has the group of neighbouring abilities of each model, -1 for none. `p` is the share of data sets drawn
    from the fitted model that are as far from any rising curve.
    """

    groups: NDArray[np.intp]
    rates: Array
    fitted: Array
    strays: Array
    p: Array


def monotone(locations: Locations, successes: Array, trials: NDArray[Any], draws: int = 200, seed: int = 0) -> Monotone:
    """Return the isotonic fit of every item on the abilities, with its test by a parametric bootstrap."""
    every = np.broadcast_to(trials, successes.shape).astype(float)
    groups = _groups(locations)
    number = int(groups.max()) + 1
    member = (groups[:, None] == np.arange(number)).astype(float)
    tried = member.T @ every
    rates, fitted, strays = _stray(member.T @ successes, tried)
    extremer = np.ones(len(strays))
    chances = logistic_in_place(
        np.where(locations.models, locations.abilities, 0.0)[:, None]
        - np.where(locations.items, locations.difficulties, 0.0)
    )
    generator = np.random.default_rng(seed)
    used = np.flatnonzero(locations.models)
    for _ in range(draws):
        draw = _drawn(generator, every[used], chances[used])
        extremer += _stray(member[used].T @ draw, tried)[2] >= strays - 1e-12
    p = np.where(locations.items, extremer / (draws + 1), np.nan)
    return Monotone(groups, rates, fitted, strays, p)


def _drawn(generator: np.random.Generator, trials: Array, chances: Array) -> Array:
    """Return counts drawn from the model; fractions of a trial are drawn as whole ones."""
    return generator.binomial(np.round(trials).astype(np.int64), chances).astype(float)


def _groups(locations: Locations) -> NDArray[np.intp]:
    """Return groups of neighbouring abilities, of sizes as equal as possible."""
    groups = np.full(len(locations.models), -1, dtype=np.intp)
    used = np.flatnonzero(locations.models)
    order = used[np.argsort(locations.abilities[used], kind="stable")]
    for group, members in enumerate(np.array_split(order, min(MOST_GROUPS, len(order)))):
        groups[members] = group
    return groups


def _stray(passed: Array, tried: Array) -> tuple[Array, Array, Array]:
    """Return the rates, their isotonic fit, and the chi-square statistic between them."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = np.where(tried > 0, passed / tried, np.nan)
    fitted = isotonic(np.nan_to_num(rates), tried)
    middle = passed.sum(axis=0) / np.maximum(tried.sum(axis=0), 1e-300)
    spread = np.maximum(middle * (1 - middle), 1e-12)
    strays = (tried * (np.nan_to_num(rates) - fitted) ** 2).sum(axis=0) / spread
    return rates, fitted, strays


def isotonic(values: Array, weights: Array) -> Array:
    """Return the rising sequences down the columns that are nearest to the values (weighted least squares).

    The largest over starts of the smallest over ends of the mean between them (Barlow and others 1972).
    """
    size = len(values)
    sums, masses = np.cumsum(values * weights, axis=0), np.cumsum(weights, axis=0)
    zero = np.zeros((1, values.shape[1]))
    sums, masses = np.concatenate([zero, sums]), np.concatenate([zero, masses])
    best = np.full((size, values.shape[1]), -np.inf)
    for start in range(size):
        mass = masses[start + 1 :] - masses[start]
        with np.errstate(divide="ignore", invalid="ignore"):
            means = np.where(mass > 0, (sums[start + 1 :] - sums[start]) / mass, np.inf)
        least = np.minimum.accumulate(means[::-1], axis=0)[::-1]
        best[start:] = np.maximum(best[start:], np.where(np.isfinite(least), least, -np.inf))
    return np.where(np.isfinite(best), best, 0.0)

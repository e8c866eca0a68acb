"""How well data fit the model: residuals of cells, summed by items and by models.

Infit and outfit as in Wright and Masters (1982), with the cube root transformation for their standardised forms; places
are maximum-likelihood estimates without extreme ones, as in the R package eRm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from dia_runtime.psychometrics.rasch.columns import score_columns
from dia_runtime.psychometrics.rasch.counts import Array, Mask, counts, logistic_in_place
from dia_runtime.psychometrics.rasch.estimate import Calibration
from numpy.typing import NDArray

AT_ONCE = 1 << 20
WIDEST = 2**0.5  # standard deviation of a mean square with one degree of freedom


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """Mean squares and their standardised forms for one side; NaN if there is no information."""

    infit: Array
    outfit: Array
    infit_z: Array
    outfit_z: Array


@dataclass(frozen=True, slots=True, eq=False)
class Locations:
    """Maximum-likelihood places with their standard errors, and which of them were estimated."""

    abilities: Array
    difficulties: Array
    ability_se: Array
    difficulty_se: Array
    models: Mask
    items: Mask


@dataclass(frozen=True, slots=True)
class Reliability:
    """The ratio of the spread of places to their error, and the share of their variance that is not error.

    (Wright and Masters 1982: G = sqrt(R / (1 - R)).)
    """

    separation: float | None
    reliability: float | None


def likelihood_locations(calibration: Calibration, successes: Array, trials: NDArray[Any]) -> Locations:
    """Return the calibration, with the side that was scored by another rule placed by maximum likelihood."""
    models = np.array([status in ("estimated", "anchor") for status in calibration.ability_status])
    items = np.array([status in ("estimated", "anchor") for status in calibration.difficulty_status])
    abilities, difficulties = calibration.abilities.copy(), calibration.difficulties.copy()
    ability_se, difficulty_se = calibration.ability_se.copy(), calibration.difficulty_se.copy()
    every = np.broadcast_to(trials, successes.shape)
    if calibration.scored == "items":
        rows = np.ix_(models, items)
        difficulties[items], difficulty_se[items] = likeliest(successes[rows], every[rows], abilities[models])
    elif calibration.scored == "respondents":
        columns = np.ix_(models, items)
        negated, se = likeliest(successes[columns].T, every[columns].T, -difficulties[items])
        abilities[models], ability_se[models] = -negated, se
    return Locations(abilities, difficulties, ability_se, difficulty_se, models, items)


def likeliest(successes: Array, trials: NDArray[Any], rows: Array) -> tuple[Array, Array]:
    """Return the maximum-likelihood places of columns given the rows, and their standard errors."""
    data = counts(np.ascontiguousarray(successes), np.ascontiguousarray(trials))
    locations, se = np.empty(data.classes), np.empty(data.classes)
    for part in score_columns(data, rows, "mle", None, 0.3):
        locations[part.block], se[part.block] = part.locations, np.sqrt(part.variances)
    return locations[data.of], se[data.of]


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """Cells of some items: residuals, variances and fourth moments, all 0 if missing."""

    block: slice
    residual: Array
    variance: Array
    fourth: Array
    is_tried: Mask


def _cells(locations: Locations, successes: Array, trials: NDArray[Any]) -> Iterator[_Cells]:
    every = np.broadcast_to(trials, successes.shape)
    models, items = np.flatnonzero(locations.models), np.flatnonzero(locations.items)
    step = max(1, AT_ONCE // max(1, len(models)))
    for start in range(0, len(items), step):
        here = items[start : start + step]
        at = np.ix_(models, here)
        cell_trials = every[at].astype(float)
        probability = logistic_in_place(locations.abilities[models][:, None] - locations.difficulties[here])
        variance = cell_trials * probability * (1 - probability)
        residual = successes[at] - cell_trials * probability
        fourth = variance * (1 + 3 * (cell_trials - 2) * probability * (1 - probability))
        yield _Cells(slice(start, start + len(here)), residual, variance, fourth, cell_trials > 0)


def fit_statistics(locations: Locations, successes: Array, trials: NDArray[Any]) -> tuple[Fits, Fits]:
    """Return infit and outfit of models, and of items, in the order of the matrix."""
    sums = [np.zeros((6, int(mask.sum()))) for mask in (locations.models, locations.items)]
    for cells in _cells(locations, successes, trials):
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.stack(
                [
                    cells.residual**2,
                    cells.variance,
                    np.where(cells.is_tried, cells.residual**2 / cells.variance, 0),
                    cells.is_tried.astype(float),
                    cells.fourth - cells.variance**2,
                    np.where(cells.is_tried, cells.fourth / cells.variance**2, 0),
                ]
            )
        sums[0] += terms.sum(axis=2)
        sums[1][:, cells.block] = terms.sum(axis=1)
    return _fits(locations.models, sums[0]), _fits(locations.items, sums[1])


def _fits(mask: Mask, sums: Array) -> Fits:
    squares, variance, standard, number, excess, kurtosis = sums
    infit, outfit = squares / variance, standard / number
    infit_width = np.sqrt(np.maximum(excess, 0)) / variance
    outfit_width = np.sqrt(np.maximum(kurtosis / number**2 - 1 / number, 0))
    columns = (infit, outfit, _standardised(infit, infit_width), _standardised(outfit, outfit_width))
    return Fits(*(_spread_out(mask, values) for values in columns))


def _standardised(square: Array, width: Array) -> Array:
    """Return the mean square as a normal deviate (Wilson and Hilferty 1931).

    With less than one degree of freedom, 2 / width**2, the sign would be wrong, so widths are limited as in Winsteps.
    """
    width = np.minimum(width, WIDEST)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((np.cbrt(square) - 1) * 3 / width + width / 3)


def _spread_out(mask: Mask, values: Array) -> Array:
    spread = np.full(len(mask), np.nan)
    spread[mask] = np.where(np.isfinite(values), values, np.nan)
    return spread


def reliability(values: Array, errors: Array) -> Reliability:
    """Return separation and reliability of places with these errors; None for fewer than two."""
    good = np.isfinite(values) & np.isfinite(errors)
    if good.sum() < 2:
        return Reliability(None, None)
    spread, error = float(values[good].var(ddof=1)), float((errors[good] ** 2).mean())
    if spread <= 0:
        return Reliability(0.0, 0.0)
    share = max(0.0, 1 - error / spread)
    return Reliability(float(np.sqrt(share / (1 - share))) if share < 1 else None, share)


def standardised_residuals(locations: Locations, successes: Array, trials: NDArray[Any]) -> tuple[Array, Mask]:
    """Return the standardised residuals of estimated models at estimated items, and which cells were tried."""
    residuals, is_tried = [], []
    for cells in _cells(locations, successes, trials):
        with np.errstate(divide="ignore", invalid="ignore"):
            residuals.append(np.where(cells.is_tried, cells.residual / np.sqrt(cells.variance), 0.0))
        is_tried.append(cells.is_tried)
    return np.concatenate(residuals, axis=1), np.concatenate(is_tried, axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """Eigenvalues of the models' residual correlations, largest first, and the loadings of the first one."""

    eigenvalues: Array
    loadings: Array
    by: str


def residual_components(locations: Locations, successes: Array, trials: NDArray[Any]) -> Components:
    """Return the principal components of the standardised residuals, of the side with fewer members.

    A first eigenvalue well above 2 suggests a second dimension (Linacre 1998).
    """
    by_models = locations.models.sum() <= locations.items.sum()
    products: Any = 0.0
    sums: Any = 0.0
    number: Any = 0.0
    blocks = []
    for cells in _cells(locations, successes, trials):
        with np.errstate(divide="ignore", invalid="ignore"):
            standard = np.where(cells.is_tried, cells.residual / np.sqrt(cells.variance), 0.0)
        if by_models:
            is_tried = cells.is_tried.astype(float)
            products, number = products + standard @ standard.T, number + is_tried @ is_tried.T
            sums = sums + standard @ is_tried.T
        else:
            blocks.append((standard, cells.is_tried.astype(float)))
    if not by_models:
        standard, is_tried = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
        products, number, sums = standard.T @ standard, is_tried.T @ is_tried, standard.T @ is_tried
    values, vectors = np.linalg.eigh(_correlation(products, number, sums))
    loadings = (
        vectors[:, -1] * (np.sign(vectors[np.abs(vectors[:, -1]).argmax(), -1]) or 1) * np.sqrt(max(values[-1], 0))
    )
    mask = locations.models if by_models else locations.items
    return Components(values[::-1], _spread_out(mask, loadings), "models" if by_models else "items")


def _correlation(products: Array, number: Array, sums: Array) -> Array:
    """Return correlations over the cells that both have; 0 if there are none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        covariance = products / number - (sums / number) * (sums.T / number)
        deviations = np.sqrt(np.diag(covariance))
        correlations = covariance / deviations[:, None] / deviations
    correlations = np.where(np.isfinite(correlations), correlations, 0.0)
    np.fill_diagonal(correlations, 1.0)
    return np.asarray((correlations + correlations.T) / 2)

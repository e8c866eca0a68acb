"""Dependence between replies of a model to items of one family: a random effect, its test, and Q3.

The Rasch testlet model (Wang and Wilson 2005) adds to the ability of a model a separate effect for each family, drawn
from a normal distribution: P(success) = 1 / (1 + exp(-(a + u - d))). If only one of two models solves an item, which of
them it is does not depend on the item's difficulty (Rasch 1960; Zwinderman 1995). So a family's wins of one model over
another have a binomial distribution whose logit is the difference of the two abilities plus that of the two effects,
and only a one-dimensional integral is needed. The sum of these log likelihoods over pairs is a composite likelihood;
its errors come from the scores of families (Godambe 1960; Varin et al. 2011).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from dia_runtime.psychometrics.rasch.clustered import LEAST
from dia_runtime.psychometrics.rasch.counts import Array, softplus
from numpy.typing import NDArray

PAIRS = 2000  # maximum for all pairs; with more models each is compared with its neighbours in the table
POINTS = np.linspace(-5.0, 5.0, 61)  # standard deviations; close enough for families of hundreds of items
ROUNDS = 100
SMALLEST = 1e-3  # logits of the effect's deviation
LONGEST = 1.0  # logits of one step


@dataclass(frozen=True, slots=True, eq=False)
class Testlets:
    """Standard deviation of the effects, its error, the test that it is 0, and the abilities with their errors.

    Abilities have mean 0. They are larger than those of the Rasch model, which are averages over the effects. `p` is
    that of a one-sided score test at 0, z its statistic. `covariance` is that of the abilities' errors.
    """

    sd: float
    se: float | None
    z: float
    p: float
    families: int
    abilities: Array
    covariance: Array


@dataclass(frozen=True, slots=True, eq=False)
class _Wins:
    """For each pair of models and each family: wins of the first, wins of both, and the two models."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    wins: Array
    number: Array


@dataclass(frozen=True, slots=True, eq=False)
class _Moments:
    """Log likelihoods of pairs in families, with derivatives by the difference and by the effects' deviation."""

    value: Array
    slopes: Array
    curvatures: Array


def family_effects(successes: Array, trials: NDArray[np.int_], families: NDArray[np.intp]) -> Testlets | None:
    """Return the testlet model of single replies; `families` numbers the family of each item from 0.

    None if the data do not allow it: fewer than ten families, cells of several trials, models that never differ, or no
    family with two items.
    """
    number = int(families.max()) + 1
    if number < LEAST or trials.max() > 1 or np.bincount(families).max() < 2 or len(successes) < 2:
        return None
    data = _wins(successes, trials, families, number)
    models = len(successes)
    answered = data.number.sum(axis=1) > 0
    if not answered.any() or len(set(data.first[answered]) | set(data.second[answered])) < models:
        return None
    start = _maximum(data, np.zeros(models), 0.0, False)
    test = None if start is None else _score_test(data, start, number)
    best = None if start is None else _maximum(data, start[:-1], 0.7, True)
    if test is None or best is None:
        return None
    covariance = _godambe(data, best, number)
    is_inside = best[-1] > 2 * SMALLEST
    error = float(np.sqrt(covariance[-1, -1])) if is_inside else None
    sd = float(best[-1]) if is_inside else 0.0
    return Testlets(sd, error, *test, number, best[:-1] - best[:-1].mean(), covariance[:-1, :-1])


def _wins(successes: Array, trials: NDArray[np.int_], families: NDArray[np.intp], number: int) -> _Wins:
    models = len(successes)
    reach = models - 1 if models * (models - 1) // 2 <= PAIRS else max(1, PAIRS // models)
    pairs = [(a, (a + far) % models) for far in range(1, reach + 1) for a in range(models)]
    pairs = sorted({(min(pair), max(pair)) for pair in pairs})
    first, second = np.array(pairs, dtype=np.intp).T
    order = np.argsort(families, kind="stable")
    starts = np.searchsorted(families[order], np.arange(number))
    right = successes[:, order]
    wrong = trials[:, order] - right
    wins = np.stack([np.add.reduceat(right[a] * wrong[b], starts) for a, b in pairs])
    losses = np.stack([np.add.reduceat(wrong[a] * right[b], starts) for a, b in pairs])
    return _Wins(first, second, wins, wins + losses)


def _moments(data: _Wins, abilities: Array, sd: float) -> _Moments:
    """Integrate over the difference of two effects, pair by pair and family by family."""
    reach = np.sqrt(2.0) * POINTS if sd > 0 else np.zeros(1)
    log_weights = -0.5 * POINTS**2 if sd > 0 else np.zeros(1)
    log_weights = log_weights - np.log(np.exp(log_weights).sum())
    logits = (abilities[data.first] - abilities[data.second])[:, None] + sd * reach  # pairs x points
    chance = 1 / (1 + np.exp(-logits))
    spread = chance * (1 - chance)
    heights = data.wins[:, :, None] * logits[:, None, :] - data.number[:, :, None] * softplus(logits)[:, None, :]
    heights += log_weights
    top = heights.max(axis=2, keepdims=True)
    weights = np.exp(heights - top)
    sums = weights.sum(axis=2, keepdims=True)
    weights /= sums
    score = data.wins[:, :, None] - data.number[:, :, None] * chance[:, None, :]
    square = score**2 - data.number[:, :, None] * spread[:, None, :]
    slopes = np.stack([(weights * score).sum(axis=2), (weights * score * reach).sum(axis=2)])
    seconds = [(weights * square * reach**power).sum(axis=2) for power in range(3)]
    curvatures = np.stack(
        [
            seconds[0] - slopes[0] ** 2,
            seconds[1] - slopes[0] * slopes[1],
            seconds[2] - slopes[1] ** 2,
        ]
    )
    return _Moments((top + np.log(sums))[:, :, 0], slopes, curvatures)


def _family_scores(data: _Wins, moments: _Moments, models: int) -> Array:
    """Return the scores of each family: abilities, then the deviation."""
    scores = np.zeros((models + 1, data.wins.shape[1]))
    np.add.at(scores, data.first, moments.slopes[0])
    np.subtract.at(scores, data.second, moments.slopes[0])
    scores[-1] = moments.slopes[1].sum(axis=0)
    return scores


def _information(data: _Wins, moments: _Moments, models: int) -> Array:
    """Return minus the second derivatives of the composite log likelihood."""
    ability, mixed, deviation = moments.curvatures.sum(axis=2)
    matrix = np.zeros((models + 1, models + 1))
    for rows, columns, sign in (
        (data.first, data.first, 1.0), (data.second, data.second, 1.0),
        (data.first, data.second, -1.0), (data.second, data.first, -1.0),
    ):  # fmt: skip
        np.add.at(matrix, (rows, columns), -sign * ability)
    np.add.at(matrix[-1], data.first, -mixed)
    np.subtract.at(matrix[-1], data.second, -mixed)
    matrix[:-1, -1] = matrix[-1, :-1]
    matrix[-1, -1] = -float(deviation.sum())
    return matrix


def _maximum(data: _Wins, abilities: Array, sd: float, has_effect: bool) -> Array | None:
    """Return abilities and deviation of the largest composite likelihood; None if none is reached."""
    models = len(abilities)
    place = np.append(abilities, sd)
    moments = _moments(data, place[:-1], place[-1])
    for _ in range(ROUNDS):
        scores = _family_scores(data, moments, models).sum(axis=1)
        if not has_effect or (place[-1] <= SMALLEST and scores[-1] <= 0):
            scores[-1] = 0.0
        if np.abs(scores).max() < 1e-7 * max(1.0, float(data.number.sum())) ** 0.5:
            return place
        matrix = _information(data, moments, models)
        if scores[-1] == 0:
            matrix[-1, :] = matrix[:, -1] = 0.0
            matrix[-1, -1] = 1.0
        values, vectors = np.linalg.eigh(matrix)
        curved = np.maximum(np.abs(values), 1e-9 * np.abs(values).max())
        step = vectors @ np.clip((vectors.T @ scores) / curved, -LONGEST, LONGEST)
        size = 1.0
        while size > 1e-6:
            moved = place + size * step
            if has_effect:
                moved[-1] = max(moved[-1], SMALLEST)
            after = _moments(data, moved[:-1], moved[-1])
            if after.value.sum() >= moments.value.sum() - 1e-9:
                break
            size /= 2
        else:
            return None
        place, moments = moved, after
        if np.abs(place[:-1] - place[:-1].mean()).max() > 30:  # some model has only wins or only losses
            return None
    return None


def _pinned(matrix: Array) -> Array:
    """Return the information with the abilities' common shift, which pairs do not determine, fixed."""
    pinned = matrix.copy()
    pinned[:-1, :-1] += np.trace(matrix) / len(matrix) ** 2
    return np.asarray(pinned)


def _godambe(data: _Wins, place: Array, families: int) -> Array:
    """Return the covariance of abilities (of mean 0) and deviation: the sandwich over families."""
    models = len(place) - 1
    moments = _moments(data, place[:-1], place[-1])
    scores, matrix = _family_scores(data, moments, models), _information(data, moments, models)
    if place[-1] <= 2 * SMALLEST:
        scores[-1] = 0.0
        matrix[-1, :] = matrix[:, -1] = 0.0
        matrix[-1, -1] = 1.0
    influence = np.linalg.solve(_pinned(matrix), scores)
    influence[:-1] -= influence[:-1].mean(axis=0)
    return np.asarray(influence @ influence.T * (families / (families - 1)))


def _score_test(data: _Wins, place: Array, families: int) -> tuple[float, float] | None:
    """Return the statistic and the probability of a larger one if no family has an effect.

    The score of the variance at 0 is the excess of squared residuals over binomial variances. Its error comes from the
    families' contributions to it, corrected for their effect on the abilities.
    """
    from scipy.special import stdtr

    models = len(place) - 1
    chance = 1 / (1 + np.exp(-(place[data.first] - place[data.second])))[:, None]
    spread = data.number * chance * (1 - chance)
    residual = data.wins - data.number * chance
    shares = (residual**2 - spread).sum(axis=0)
    slope = (-2 * residual * spread - spread * (1 - 2 * chance)).sum(axis=1)
    moments = _moments(data, place[:-1], 0.0)
    scores = _family_scores(data, moments, models)[:-1]
    towards = np.zeros(models)
    np.add.at(towards, data.first, slope)
    np.subtract.at(towards, data.second, slope)
    matrix = _information(data, moments, models)[:-1, :-1]
    influence = np.linalg.solve(matrix + np.trace(matrix) / models**2, scores)
    adjusted = shares + towards @ influence
    error = float(np.sqrt(((adjusted - adjusted.mean()) ** 2).sum() * families / (families - 1)))
    if error <= 0:
        return None
    z = float(shares.sum()) / error
    return z, float(stdtr(families - 1, -z))


@dataclass(frozen=True, slots=True)
class ResidualCorrelation:
    """Mean correlation over models of the residuals of two items (Yen's Q3), within and between families."""

    within: float
    between: float


def residual_correlation(
    residuals: Array, is_tried: NDArray[np.bool_], families: NDArray[np.intp]
) -> ResidualCorrelation | None:
    """Return Yen's (1984) Q3, averaged over pairs of items of one family, and over pairs of different families.

    `residuals` are standardised. Under local independence both are about -1/(models - 1), so their difference is what
    matters (Christensen, Makransky and Horton 2017). None if there is no pair of either kind.
    """
    number = is_tried.sum(axis=0)
    means = np.where(is_tried, residuals, 0.0).sum(axis=0) / np.maximum(number, 1)
    centred = np.where(is_tried, residuals - means, 0.0)
    lengths = np.sqrt((centred**2).sum(axis=0))
    good = lengths > 1e-9
    if good.sum() < 2:
        return None
    unit, families = centred[:, good] / lengths[good], families[good]
    families = np.unique(families, return_inverse=True)[1].ravel()
    sizes = np.bincount(families).astype(float)
    order = np.argsort(families, kind="stable")
    starts = np.searchsorted(families[order], np.arange(len(sizes)))
    sums = np.add.reduceat(unit[:, order], starts, axis=1)
    count = float(good.sum())
    inner = float((sums**2).sum()) - count
    whole = float((unit.sum(axis=1) ** 2).sum()) - count
    pairs = float((sizes * (sizes - 1)).sum())
    others = count * (count - 1) - pairs
    if pairs == 0 or others == 0:
        return None
    return ResidualCorrelation(inner / pairs, (whole - inner) / others)

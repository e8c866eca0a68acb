"""The ability of one model from its replies to items of known difficulty.

P(success) = 1 / (1 + exp(-(theta - b))), Rasch 1960; an item may have been tried several times. The prior is normal.
All arrays have the same length: difficulties in logits, successes and trials.

The posterior of many replies is much narrower than the prior. Gauss-Hermite nodes placed according to the prior miss
it: 21 nodes for a standard deviation of 3 are 2 logits apart, so from about ten items on, both the estimate and its
error depend on the nodes. So they are placed around the mode of the posterior, with the width that its curvature gives
(Naylor and Smith 1982); fixed nodes exist only to reproduce published results.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
METHODS = ("eap", "map", "wle")
QUADRATURES = ("adaptive", "fixed")
FLATTENING = (16 * 3**0.5 / (15 * np.pi)) ** 2
STEPS, TOLERANCE = 100, 1e-12
FARTHEST = 40.0  # logits from zero that an estimate without a prior may reach


@dataclass(frozen=True, slots=True)
class Prior:
    """The normal distribution of abilities before any reply, in logits."""

    mean: float = 0.0
    sd: float = 3.0


@dataclass(frozen=True, slots=True)
class Ability:
    """An ability and its standard error, in logits; the error is infinite if nothing is known."""

    value: float
    se: float


def ability(
    difficulties: Vector,
    successes: Vector,
    trials: Vector,
    prior: Prior = Prior(),
    method: str = "eap",
    quadrature: str = "adaptive",
    nodes: int = 21,
    slopes: Vector | None = None,
) -> Ability:
    """Return the ability by the mean of the posterior (eap), its mode (map), or Warm's weighted likelihood (wle).

    The error is the posterior's standard deviation, the curvature at the mode, or the likelihood's information (Bock
    and Mislevy 1982; Warm 1989). `slopes` multiplies the logits of each item, see `uncertain_slopes`. `wle` uses no
    prior. Raises ValueError for an unknown method.
    """
    steep = np.ones_like(difficulties) if slopes is None else slopes
    if method == "wle":
        return _weighted(difficulties, successes, trials, steep)
    if method not in METHODS or quadrature not in QUADRATURES:
        raise ValueError(f"no method `{method}` with quadrature `{quadrature}`")
    mode, precision = _mode(difficulties, successes, trials, prior, steep)
    if method == "map":
        return Ability(mode, precision**-0.5)
    points, weights = gauss_hermite(nodes)
    if quadrature == "fixed":
        theta = prior.mean + prior.sd * points
        return _moments(theta, np.log(weights) + _log_likelihood(theta, difficulties, successes, trials, steep))
    scale = precision**-0.5
    theta = mode + scale * points
    log_prior = -0.5 * ((theta - prior.mean) / prior.sd) ** 2
    density = _log_likelihood(theta, difficulties, successes, trials, steep) + log_prior
    return _moments(theta, np.log(weights) + 0.5 * points**2 + density)


@lru_cache(maxsize=8)
def gauss_hermite(number: int) -> tuple[Vector, Vector]:
    """Return nodes and weights for a standard normal density; the weights add up to 1."""
    points, weights = np.polynomial.hermite_e.hermegauss(number)
    return points, weights / weights.sum()


def _moments(theta: Vector, log_density: Vector) -> Ability:
    """Return mean and standard deviation of a distribution over the nodes."""
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    mean = float(density @ theta)
    return Ability(mean, float(np.sqrt(density @ (theta - mean) ** 2)))


def _log_likelihood(theta: Vector, difficulties: Vector, successes: Vector, trials: Vector, slopes: Vector) -> Vector:
    """Return the log likelihood at each theta, without the binomial coefficients.

    s log p + (n - s) log(1 - p) = s x - n log(1 + exp(x)) with x = a (theta - b); the sum of s x is linear in theta.
    """
    linear = (successes @ slopes) * theta - (successes * slopes) @ difficulties
    if not len(difficulties):
        return np.zeros_like(theta)
    return np.asarray(linear - np.logaddexp(0.0, slopes * (theta[:, None] - difficulties)) @ trials)


def success_probabilities(theta: float, difficulties: Vector, slopes: Vector | float = 1.0) -> Vector:
    """Return P(success) on each item."""
    return np.asarray(1.0 / (1.0 + np.exp(np.clip(slopes * (difficulties - theta), -700.0, 700.0))))


def information(
    theta: float, difficulties: Vector, trials: Vector | float = 1.0, slopes: Vector | float = 1.0
) -> Vector:
    """Return the Fisher information of each item about the ability, n a^2 p (1 - p), in 1 / logit^2."""
    p = success_probabilities(theta, difficulties, slopes)
    return np.asarray(trials * slopes**2 * p * (1.0 - p))


def uncertain_slopes(errors: Vector) -> Vector:
    """Return the factor on each item's logit if its difficulty is known with these standard errors only.

    Averaged over a normal distribution of difficulties, the chance of success is nearly logistic again, but flatter
    (Zeger, Liang and Albert 1988): the logit is divided by sqrt(1 + c^2 se^2), c = 16 sqrt(3) / (15 pi).
    """
    return np.asarray(1.0 / np.sqrt(1.0 + FLATTENING * errors**2))


def _mode(difficulties: Vector, successes: Vector, trials: Vector, prior: Prior, slopes: Vector) -> tuple[float, float]:
    """Return the mode of the posterior and its negative curvature there, by Newton steps inside a bracket.

    The slope falls with theta. It is not negative sd^2 (n - s) below the prior's mean and not positive sd^2 s above it,
    since no probability is outside 0 and 1. Plain Newton steps can oscillate forever; one that leaves the bracket, or
    is not half as long as the one before, is replaced by halving the bracket.
    """
    theta, weight, last_step = prior.mean, prior.sd**-2, float("inf")
    total, number = float(successes @ slopes), float(trials @ slopes)
    low, high = prior.mean - (number - total) / weight, prior.mean + total / weight
    for _ in range(STEPS):
        p = success_probabilities(theta, difficulties, slopes)
        slope = total - float((trials * slopes) @ p) - weight * (theta - prior.mean)
        curvature = float((trials * slopes**2) @ (p * (1.0 - p))) + weight
        low, high = (theta, high) if slope > 0 else (low, theta)
        newton = theta + slope / curvature
        is_accepted = low < newton < high and abs(newton - theta) < 0.5 * last_step
        next_theta = newton if is_accepted else 0.5 * (low + high)
        last_step, theta = abs(next_theta - theta), next_theta
        if last_step < TOLERANCE:
            break
    p = success_probabilities(theta, difficulties)
    return theta, float((trials * slopes**2) @ (p * (1.0 - p))) + weight


def _weighted(difficulties: Vector, successes: Vector, trials: Vector, slopes: Vector) -> Ability:
    """Return Warm's weighted likelihood estimate: the zero of score + J / (2 I), which is finite for any score."""
    if not float(trials.sum()):
        return Ability(0.0, float("inf"))
    total = float(successes @ slopes)

    def slope(theta: float) -> tuple[float, float]:
        p = success_probabilities(theta, difficulties, slopes)
        information_by_item = trials * slopes**2 * p * (1.0 - p)
        information = float(information_by_item.sum())
        bias = (
            float((information_by_item * slopes * (1.0 - 2.0 * p)).sum()) / (2.0 * information)
            if information > 0
            else 0.0
        )
        return total - float((trials * slopes) @ p) + bias, information

    low, high = float(difficulties.min()) - FARTHEST, float(difficulties.max()) + FARTHEST
    for _ in range(2 * STEPS):  # the slope falls from one end to the other; halving always ends
        middle = 0.5 * (low + high)
        if slope(middle)[0] > 0:
            low = middle
        else:
            high = middle
        if high - low < TOLERANCE:
            break
    theta = 0.5 * (low + high)
    inner = slope(theta)[1]
    return Ability(theta, inner**-0.5 if inner > 0 else float("inf"))

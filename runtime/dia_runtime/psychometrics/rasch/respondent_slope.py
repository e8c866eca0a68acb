"""How fast a respondent's success changes with difficulty: its slope, from its own answers.

In the Rasch model, all respondents have the slope 1. One without randomness has a larger slope, one that guesses or is
careless a smaller one (person discrimination: Lumsden 1977, Strandmark and Linn 1987; person fluctuation: Ferrando
2004). Here the success at an item of difficulty d is 1 / (1 + exp(-a (t + u - d) / s)), with the slope a, the ability t
and the effect u of the item's template, as in a testlet model. The difficulties d are known, and s is larger than 1 for
difficulties that are only predicted, with an error. Because of u, the slope is about the items of a template: a model
that finds a whole template easier than others do is not flat for that reason.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from dia_runtime.psychometrics.rasch.counts import Array
from numpy.typing import NDArray

PRIOR = 0.5  # standard deviation of the logarithms of slopes, about 0: the usual prior of discriminations
STEPS = 200
LONGEST = 2.0
SETTLED = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class RespondentSlope:
    """The ability and the logarithm of the slope of a respondent, and its abilities in the templates.

    The first place of each array is the ability apart from all templates, the others are the templates. `covariances`
    are those of the abilities and the logarithm of the slope.
    """

    log_slope: float
    log_se: float
    abilities: Array
    errors: Array
    covariances: Array


def respondent_slope(
    shares: Array, difficulties: Array, scales: Array, templates: NDArray[np.intp], spreads: Array, prior: float = PRIOR
) -> RespondentSlope | None:
    """Return the most probable ability and slope of a respondent; None if all or none of its answers are correct.

    `shares` are the shares of correct answers to each item. An item counts once, however often it was asked, because
    answers to the same question depend on each other. `templates` has the number of each item's template, and the
    effect of template t is drawn from N(0, spreads[t]^2). The logarithm of the slope is drawn from N(0, prior^2), so
    that the slope is finite even if the difficulties separate correct and wrong answers perfectly.
    """
    if not 0 < shares.mean() < 1:
        return None
    middle = float(difficulties.mean())
    problem = _Problem(shares, (middle - difficulties) / scales, 1 / scales, templates, spreads, prior)
    place = np.zeros(2 + len(spreads))
    value = problem.loss(place)
    for _ in range(STEPS):  # Fisher's scoring, with shorter steps where the loss would grow
        step = problem.step(place)
        step *= min(1.0, LONGEST / float(np.abs(step).max()))
        while (following := problem.loss(place + step)) > value and np.abs(step).max() > SETTLED:
            step /= 2
        place, value = place + step, following
        if np.abs(step).max() <= SETTLED:
            break
    abilities = middle + place[0] + np.concatenate([[0.0], place[2:]])
    own, mixed, errors = problem.errors(place)
    return RespondentSlope(float(place[1]), float(np.sqrt(own)), abilities, np.sqrt(errors), mixed)


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """The answers, and the loss to minimise over the ability (less the middle), the log slope and the effects."""

    shares: Array
    distances: Array
    units: Array
    templates: NDArray[np.intp]
    spreads: Array
    prior: float

    def logits(self, place: Array) -> Array:
        effects = place[2:][self.templates]
        return np.asarray(np.exp(place[1]) * (self.distances + (place[0] + effects) * self.units))

    def loss(self, place: Array) -> float:
        """Return the negative log posterior density, up to a constant."""
        logits = self.logits(place)
        penalties = np.append(place[2:] / self.spreads, place[1] / self.prior) ** 2 / 2
        return float((np.logaddexp(0.0, logits) - self.shares * logits).sum() + penalties.sum())

    def sums(self, values: Array) -> Array:
        """Return the sums over the items of each template."""
        return np.bincount(self.templates, values, len(self.spreads)).astype(np.float64)

    def information(self, place: Array) -> tuple[Array, Array, Array]:
        """Return the expected information: of ability and log slope, mixed with each effect, and of the effects."""
        logits, units = self.logits(place), np.exp(place[1]) * self.units
        chances = 1 / (1 + np.exp(-logits))
        weights = chances * (1 - chances)
        mixed = np.stack([self.sums(weights * units**2), self.sums(weights * units * logits)])
        corner = float((weights * logits**2).sum()) + 1 / self.prior**2
        main = np.array([[mixed[0].sum(), mixed[1].sum()], [mixed[1].sum(), corner]])
        return main, mixed, mixed[0] + 1 / self.spreads**2

    def step(self, place: Array) -> Array:
        """Return the step of Fisher's scoring; the effects are eliminated, because no item has two templates."""
        logits, units = self.logits(place), np.exp(place[1]) * self.units
        rests = self.shares - 1 / (1 + np.exp(-logits))
        by_template = self.sums(rests * units)
        scores = np.array([by_template.sum(), float(rests @ logits) - place[1] / self.prior**2])
        effect_scores = by_template - place[2:] / self.spreads**2
        main, mixed, effects = self.information(place)
        first = np.linalg.solve(main - (mixed / effects) @ mixed.T, scores - mixed @ (effect_scores / effects))
        return np.concatenate([first, (effect_scores - first @ mixed) / effects])

    def errors(self, place: Array) -> tuple[float, Array, Array]:
        """Return the variance of the log slope, its covariances with the abilities, and the variances of these.

        The first ability is the one apart from all templates.
        """
        main, mixed, effects = self.information(place)
        shared = np.linalg.inv(main - (mixed / effects) @ mixed.T)
        crossed = -shared @ mixed / effects
        own = 1 / effects - (mixed * crossed).sum(axis=0) / effects
        covariances = shared[0, 1] + np.concatenate([[0.0], crossed[1]])
        variances = shared[0, 0] + np.concatenate([[0.0], 2 * crossed[0] + own])
        return float(shared[1, 1]), covariances, variances

"""Place a model on a bank, one reply at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from dia_runtime.psychometrics.boundary.ability import Ability, Prior, Vector, ability, information, uncertain_slopes
from dia_runtime.psychometrics.boundary.selection import Selection, SelectionRule, Spread
from numpy.typing import NDArray

LEAST_SPREAD = 0.5  # logits: the choice of items assumes at least this effect of families
REACHED, SPENT, EXHAUSTED, GOING = "se", "budget", "exhausted", "going"


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """When a placement ends: at a standard error in logits, after a number of items, or when the bank is empty.

    `trials` is how often each item is asked.
    """

    se: float = 0.3
    budget: int | None = None
    trials: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class BankUncertainty:
    """The uncertainty of a bank: errors of its difficulties, and effects of families on a model's replies.

    `errors` are in logits. `families` has the name of each item's family, or is None; `family_sd` is the standard
    deviation of a model's effect of one family. Items of one family then give less information than the same number of
    different ones.
    """

    errors: Vector
    families: Sequence[str] | None = None
    family_sd: float = 0.0


@dataclass(frozen=True, slots=True)
class EstimationMethod:
    """How the ability is estimated; see `ability`."""

    name: str = "eap"
    quadrature: str = "adaptive"
    nodes: int = 21
    prior: Prior = Prior()  # noqa: RUF009 - it is frozen


class Placement:
    """The current estimate of a model's ability, and the choice of the next item.

    Items without a reply yet count as used but add no information: the estimate uses replies only, whatever their
    order, and several items may be open at the same time.
    """

    def __init__(
        self,
        difficulties: Sequence[float] | Vector,
        stopping: StoppingRule = StoppingRule(),
        method: EstimationMethod = EstimationMethod(),
        rule: SelectionRule = SelectionRule(),  # noqa: B008 - it is frozen
        categories: Sequence[str] | None = None,
        uncertainty: BankUncertainty | None = None,
    ) -> None:
        """Without `uncertainty`, difficulties count as known, and replies as independent.

        Raises ValueError for an unknown method or rule, and for a bank without items.
        """
        self.difficulties = np.asarray(difficulties, dtype=np.float64)
        if not len(self.difficulties):
            raise ValueError("a bank without items")
        self.stopping, self.method = stopping, method
        self.uncertainty = uncertainty or BankUncertainty(np.zeros(len(self.difficulties)))
        self.slopes = uncertain_slopes(self.uncertainty.errors)
        names = self.uncertainty.families
        self.families = (
            np.arange(len(self.difficulties))
            if names is None
            else np.unique(list(names), return_inverse=True)[1].ravel()
        )
        spread = None if names is None else Spread(self.families, max(self.uncertainty.family_sd, LEAST_SPREAD))
        self.selection = Selection(self.difficulties, rule, categories, float(stopping.trials), self.slopes, spread)
        self.answered: list[int] = []
        self._b, self._s, self._n = (np.empty(len(self.difficulties)) for _ in range(3))
        self.under_way = 0
        self.estimate = self._estimated()

    def next(self) -> int | None:
        """Return the item to ask now; None at the end of the placement."""
        if self.ending is not None or self._has_budget_under_way():
            return None
        item = self.selection.take(self.estimate.value)
        self.under_way += item is not None
        return item

    def _has_budget_under_way(self) -> bool:
        budget = self.stopping.budget
        return budget is not None and len(self.answered) + self.under_way >= budget

    def add(self, item: int, successes: float, trials: float) -> Ability:
        """Add a reply to an item that `next` returned or that was asked before, and return the new ability."""
        if self.selection.free[item]:
            self.selection.use(item)
        else:
            self.under_way = max(self.under_way - 1, 0)
        at = len(self.answered)
        self._b[at], self._s[at], self._n[at] = self.difficulties[item], successes, trials
        self.answered.append(item)
        self.estimate = self._estimated()
        return self.estimate

    def begin(self, item: int) -> None:
        """Mark the item as asked, as if `next` had returned it."""
        self.selection.use(item)
        self.under_way += 1

    def drop(self, item: int) -> None:
        """Drop an asked item that has no reply; it is not asked again."""
        self.under_way = max(self.under_way - 1, 0)

    @property
    def ending(self) -> str | None:
        """Return why the placement has ended: error small enough, budget spent, bank empty; None if it goes on."""
        if self.answered and self.estimate.se <= self.stopping.se:
            return REACHED
        if self.stopping.budget is not None and len(self.answered) >= self.stopping.budget:
            return SPENT
        return EXHAUSTED if not self.selection.free.any() and not self.under_way else None

    @property
    def is_outside(self) -> bool:
        """Return whether the ability is beyond the bank's difficulties, or the remaining items cannot determine it.

        The latter means that even all remaining items would not reduce the standard error to the goal.
        """
        value = self.estimate.value
        if not self.difficulties.min() <= value <= self.difficulties.max():
            return True
        precision = self.estimate.se**-2 if np.isfinite(self.estimate.se) and self.estimate.se > 0 else 0.0
        return self.estimate.se > self.stopping.se and self.selection.attainable(value, precision) > self.stopping.se

    def _estimated(self) -> Ability:
        method, number = self.method, len(self.answered)
        trials, at = self._n[:number], np.array(self.answered, dtype=np.intp)
        replies = (self._b[:number], self._s[:number], trials)
        slopes = self.slopes[at]
        estimate = ability(*replies, method.prior, method.name, method.quadrature, method.nodes, slopes)
        if not number or not np.isfinite(estimate.se):
            return estimate
        return Ability(estimate.value, estimate.se * self._inflation(estimate, at, trials, slopes))

    def _inflation(self, estimate: Ability, at: NDArray[np.intp], trials: Vector, slopes: Vector) -> float:
        """Return the factor on the error that accounts for dependent replies to one item, or to one family.

        The variance of the score is more than the information I: the covariance of replies with a common difficulty or
        effect is the product of their information and its variance. The error is then a sandwich.
        """
        per_item = information(estimate.value, self._b[: len(at)], trials, slopes)
        repeated = per_item**2 * (1 - 1 / np.maximum(trials, 1))
        sums = np.bincount(self.families[at], per_item)
        shared = float((sums**2).sum()) - float((per_item**2).sum()) + float(repeated.sum())
        extra = self.uncertainty.family_sd**2 * shared + float(self.uncertainty.errors[at] ** 2 @ repeated)
        return float(np.sqrt(1 + estimate.se**2 * extra))

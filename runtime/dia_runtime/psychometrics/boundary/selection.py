"""The choice of the next item: the most informative one about the current estimate of the ability."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from dia_runtime.psychometrics.boundary.ability import Vector, information
from numpy.typing import NDArray

RULES = ("max-info", "randomesque", "random")


@dataclass(frozen=True, slots=True)
class SelectionRule:
    """How the next item is chosen.

    `randomesque` draws one of the `exposure` most informative items by a seed, so that not all models get the same
    items (Kingsbury and Zara 1989). With `balance`, the categories that have been asked least come first.
    """

    name: str = "max-info"
    exposure: int = 5
    seed: int = 0
    balance: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """The family of each item as a number, and the standard deviation of a model's effect of one family, in logits."""

    families: NDArray[np.intp]
    sd: float


class Selection:
    """The items of a bank that may still be asked."""

    def __init__(
        self,
        difficulties: Vector,
        rule: SelectionRule,
        categories: Sequence[str] | None = None,
        trials: float = 1.0,
        slopes: Vector | float = 1.0,
        spread: Spread | None = None,
    ) -> None:
        """`trials` is how often each item is asked, if it is asked.

        With `spread`, further items of a family that has been asked count less, because replies to them depend on each
        other. Raises ValueError for an unknown rule.
        """
        if rule.name not in RULES or rule.exposure < 1:
            raise ValueError(f"no rule `{rule.name}` with exposure {rule.exposure}")
        self.difficulties, self.rule, self.trials = difficulties, rule, trials
        self.slopes, self.spread = slopes, spread
        self.free: NDArray[np.bool_] = np.ones(len(difficulties), dtype=bool)
        self.categories = np.asarray(categories) if categories is not None and rule.balance else None
        self.asked: Counter[str] = Counter()

    def take(self, theta: float) -> int | None:
        """Return the next item, which is then no longer free; None if there is none left."""
        allowed = self._allowed()
        if not len(allowed):
            return None
        chosen = int(self._select(theta, allowed))
        self.use(chosen)
        return chosen

    def use(self, item: int) -> None:
        """Mark the item as used."""
        self.free[item] = False
        if self.categories is not None:
            self.asked[str(self.categories[item])] += 1

    def _draw(self, options: int) -> int:
        """Return one of several options, by seed and number of used items, so that resuming changes nothing."""
        generator = np.random.Generator(np.random.PCG64([self.rule.seed, int((~self.free).sum())]))
        return int(generator.integers(options))

    def _allowed(self) -> NDArray[np.intp]:
        """Return the free items; if categories are balanced, those of the category that has been asked least."""
        free = np.flatnonzero(self.free)
        if self.categories is None or not len(free):
            return free
        categories = sorted({str(name) for name in self.categories[free]}, key=lambda name: (self.asked[name], name))
        return np.asarray(free[self.categories[free] == categories[0]])

    def _select(self, theta: float, allowed: NDArray[np.intp]) -> int:
        if self.rule.name == "random":
            return int(allowed[self._draw(len(allowed))])
        gain = self._gain(theta)[allowed]
        if self.rule.name == "max-info":
            return int(allowed[np.argmax(gain)])  # the first in the bank of equal ones
        number = min(self.rule.exposure, len(allowed))
        best = np.sort(np.argpartition(-gain, number - 1)[:number])
        return int(allowed[best[self._draw(number)]])

    def _gain(self, theta: float) -> Vector:
        """Return what each item adds to the precision.

        If replies depend on each other within families, the precision is I^2 / J: I is the sum of information, J adds
        sd^2 times the products of information of pairs of items of one family.
        """
        every = information(theta, self.difficulties, self.trials, self.slopes)
        if self.spread is None:
            return every
        families, variance = self.spread.families, self.spread.sd**2
        used = np.where(self.free, 0.0, every)
        sums = np.bincount(families, used)
        squares = np.bincount(families, used**2)
        informed, spread = used.sum(), used.sum() + variance * float((sums**2 - squares).sum())
        after = (informed + every) ** 2 / (spread + every + 2 * variance * every * sums[families])
        return np.asarray(after)

    def attainable(self, theta: float, precision: float) -> float:
        """Return the standard error after asking all free items; `known` is the precision so far."""
        remaining = float((information(theta, self.difficulties, self.trials, self.slopes) * self.free).sum())
        total = precision + remaining
        return float(total**-0.5) if total > 0 else float("inf")

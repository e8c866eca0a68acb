"""What calibration makes of panels whose truth is known: slopes, errors and coverage of intervals.

    python docs/studies/rasch_simulations.py [--part slopes,coverage,errors] [--replicates 200]

Abilities are drawn from N(0, 1), difficulties of 750 items from N(0, 1.5), replies from the Rasch model; seeds are
1, 2, 3 ... Estimates and truths are compared on one origin: the mean difficulty of the estimated items.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from dia_runtime import calibrate

ITEMS = 750
Z = 1.959963984540054
WAYS: dict[str, dict[str, Any]] = {
    "mml-items, eap": {},
    "mml-items, wle": {"item_scores": "wle"},
    "cml, eap": {"method": "cml", "eliminate": "items"},
    "jml": {"method": "jml"},
    "jml, (n-1)/n": {"method": "jml", "bias_correction": "trials"},
}


class Panel(NamedTuple):
    """Truths, counts of right replies, and trials."""

    abilities: Any
    difficulties: Any
    successes: Any
    trials: Any


class Figures(NamedTuple):
    """What one replicate gives."""

    slope: float
    rmse_abilities: float
    rmse_difficulties: float
    abilities_covered: float
    difficulties_covered: float
    finite: float


def panel(seed: int, models: int, trials: int, missing: float, items: int = ITEMS) -> Panel:
    """A panel drawn from the model."""
    generator = np.random.default_rng(seed)
    abilities, difficulties = generator.normal(size=models), generator.normal(0, 1.5, items)
    tried = np.where(generator.random((models, items)) < missing, 0, trials)
    chances = 1 / (1 + np.exp(difficulties - abilities[:, None]))
    return Panel(abilities, difficulties, generator.binomial(tried, chances), tried)


def figures(held: Panel, way: dict[str, Any]) -> Figures:
    """The figures of one way to calibrate."""
    found = calibrate(held.successes, held.trials, **way)
    estimated = np.array([status == "estimated" for status in found.status])
    placed = np.isfinite(found.difficulties)
    origin = held.difficulties[estimated].mean()
    abilities, difficulties = held.abilities - origin, held.difficulties - origin
    gaps, ability_gaps = (found.difficulties - difficulties)[placed], found.abilities - abilities
    return Figures(
        float(np.polyfit(held.abilities, found.abilities, 1)[0]),
        float(np.sqrt(np.mean((ability_gaps - ability_gaps.mean()) ** 2))),
        float(np.sqrt(np.mean((gaps - gaps.mean()) ** 2))),
        float(np.mean(np.abs(ability_gaps) <= Z * found.ability_se)),
        float(np.mean(np.abs(gaps) <= Z * found.difficulty_se[placed])),
        float(placed.mean()),
    )


def means(way: dict[str, Any], models: int, trials: int, missing: float, replicates: int, items: int = ITEMS) -> Any:
    """The mean figures over replicates, with the standard error of each mean."""
    rows = np.array([figures(panel(seed, models, trials, missing, items), way) for seed in range(1, replicates + 1)])
    return rows.mean(axis=0), rows.std(axis=0, ddof=1) / np.sqrt(replicates)


def slopes(replicates: int) -> Iterator[str]:
    """Slope of estimated on true abilities, 9 models by 750 items, one reply each."""
    yield f"slopes and errors, 9 x {ITEMS}, k = 1, {replicates} replicates"
    for name, way in WAYS.items():
        mean, error = means(way, 9, 1, 0.0, replicates)
        yield (
            f"  {name:16} slope {mean[0]:.4f} +- {error[0]:.4f}   RMSE abilities {mean[1]:.4f}, "
            f"difficulties {mean[2]:.4f}   placed {mean[5]:.4f}"
        )


def errors(replicates: int) -> Iterator[str]:
    """RMSE of difficulties of all items by the number of models."""
    yield f"RMSE of difficulties over all {ITEMS} items, k = 1, {replicates} replicates"
    for models, (name, way) in product((9, 30), WAYS.items()):
        mean, error = means(way, models, 1, 0.0, replicates)
        yield f"  {models:3} models, {name:16} {mean[2]:.4f} +- {error[2]:.4f}   placed {mean[5]:.4f}"


def coverage(replicates: int) -> Iterator[str]:
    """Coverage of intervals of 95 % of the default."""
    yield f"coverage of 95 % intervals, mml-items with eap, {ITEMS} items, {replicates} replicates"
    for models, trials, missing in product((9, 30, 100), (1, 5), (0.0, 0.2)):
        started = process_time()
        mean, error = means({}, models, trials, missing, replicates)
        yield (
            f"  {models:3} models, k = {trials}, missing {missing:.1f}: abilities {mean[3]:.4f} +- {error[3]:.4f}, "
            f"difficulties {mean[4]:.4f} +- {error[4]:.4f}, slope {mean[0]:.4f}  ({process_time() - started:.0f} s)"
        )


PARTS = {"slopes": slopes, "errors": errors, "coverage": coverage}


def main() -> None:
    """Prints the parts that are asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--part", default=",".join(PARTS))
    parser.add_argument("--replicates", type=int, default=200)
    given = parser.parse_args()
    for name in given.part.split(","):
        for line in PARTS[name](given.replicates):
            print(line, flush=True)


if __name__ == "__main__":
    main()

"""How well placements do on simulated models: items to an error, error at the stop, coverage, test and retest.

    python docs/studies/placement.py [--models 1000] [--seed 1]

Banks of 750 items with difficulties from a normal distribution of deviation 1.5, models with abilities from one of
deviation 1; the prior is normal with deviation 3, the goal an error of 0.3 logits.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from dia_runtime.psychometrics.boundary.ability import ability, success_probabilities
from dia_runtime.psychometrics.boundary.placement import EstimationMethod, Placement, StoppingRule
from dia_runtime.psychometrics.boundary.selection import SelectionRule
from numpy.typing import NDArray

Array = NDArray[np.float64]


def placed(
    theta: float,
    b: Array,
    generator: np.random.Generator,
    goal: StoppingRule,
    method: EstimationMethod,
    rule: SelectionRule,
) -> Placement:
    """A simulated model, placed."""
    placement = Placement(b, goal, method, rule)
    while (item := placement.next()) is not None:
        placement.add(item, float(generator.random() < success_probabilities(theta, b[item : item + 1])[0]), 1.0)
    return placement


def study(name: str, number: int, seed: int, goal: StoppingRule, method: EstimationMethod, rule: SelectionRule) -> None:
    """Prints one line."""
    generator = np.random.default_rng(seed)
    items, errors, covered, seconds, steps = [], [], [], 0.0, 0
    for _ in range(number):
        theta, b = generator.normal(), generator.normal(0, 1.5, 750)
        start = time.process_time()
        found = placed(theta, b, generator, goal, method, rule)
        seconds, steps = seconds + time.process_time() - start, steps + len(found.answered)
        items.append(len(found.answered))
        errors.append(found.estimate.value - theta)
        covered.append(abs(errors[-1]) <= 1.959964 * found.estimate.se)
    rmse = float(np.sqrt(np.mean(np.square(errors))))
    print(f"{name:34} {np.median(items):5.0f} {np.percentile(items, 90):5.0f} {rmse:7.3f} {np.mean(covered):7.3f}"
          f" {1e3 * seconds / steps:8.3f}")  # fmt: skip


def retest(number: int, seed: int) -> float:
    """The correlation of two placements on halves of a bank that have no item in common."""
    generator = np.random.default_rng(seed)
    pairs = []
    for _ in range(number):
        theta, b = generator.normal(0, 1.5), generator.normal(0, 1.5, 750)
        halves = (b[::2], b[1::2])
        pairs.append(
            [
                placed(theta, half, generator, StoppingRule(), EstimationMethod(), SelectionRule()).estimate.value
                for half in halves
            ]
        )
    return float(np.corrcoef(np.array(pairs).T)[0, 1])


def against_a_grid(items: int, seed: int, number: int = 200) -> float:
    """The largest difference of the posterior's mean from that on 6,001 points, of items chosen as a placement does."""
    generator, worst = np.random.default_rng(seed), 0.0
    for _ in range(number):
        theta, b = generator.normal(), generator.normal(0, 1.5, 750)
        found = placed(theta, b, generator, StoppingRule(1e-9, budget=items), EstimationMethod(), SelectionRule())
        held, s = b[found.answered], found._s[:items]
        points = np.linspace(-15, 15, 6001)
        log = s.sum() * points - np.logaddexp(0, points[:, None] - held).sum(axis=1) - 0.5 * (points / 3) ** 2
        density = np.exp(log - log.max())
        exact = float(density @ points / density.sum())
        worst = max(worst, abs(ability(held, s, np.ones(items)).value - exact))
    return worst


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(f"{'':34} {'median':>5} {'p90':>4} {'RMSE':>7} {'cover':>7} {'ms/step':>8}")
    fixed = EstimationMethod(quadrature="fixed")
    for name, method, rule in (
        ("EAP, most informative", EstimationMethod(), SelectionRule()),
        ("EAP, one of the best five", EstimationMethod(), SelectionRule("randomesque")),
        ("EAP, any item", EstimationMethod(), SelectionRule("random")),
        ("MAP, most informative", EstimationMethod("map"), SelectionRule()),
        ("WLE, most informative", EstimationMethod("wle"), SelectionRule()),
        ("EAP, 21 fixed nodes", fixed, SelectionRule()),
    ):
        study(name, given.models, given.seed, StoppingRule(), method, rule)
    print(f"test and retest on disjoint halves: r = {retest(given.models // 4, given.seed):.4f}")
    for items in (5, 10, 20, 45, 100):
        print(f"largest error of 21 adaptive nodes at {items} items: {against_a_grid(items, given.seed):.1e}")


if __name__ == "__main__":
    main()

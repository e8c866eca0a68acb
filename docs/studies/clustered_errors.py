"""How often 95 % intervals of a difference of two abilities hold if a model's replies to one template are dependent.

    python docs/studies/clustered_errors.py [--replicates 400] [--seed 5] [--designs 150x5,50x20,40x20]

Nine models with abilities from -1 to 1; templates with difficulties N(0, 1), their instances spread by 0.7 around them.
In each template a model is better or worse than its ability by a normal effect of its own (the testlet model). The true
difference is that of the Rasch model in a panel of 6,000 templates. Printed for each design (templates x instances) and
standard deviation of the effect: the share of intervals that hold with errors for independent items and with errors
clustered by template, the factor between their variances, the estimated deviation of the effect, and how often the test
rejects independence at 5 %.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from dia_runtime.psychometrics.rasch.estimate import EstimationOptions, estimate
from dia_runtime.psychometrics.rasch.testlet import family_effects
from numpy.typing import NDArray
from scipy.special import expit, stdtrit

ABILITIES = np.linspace(-1, 1, 9)
PAIRS = ((0, 8), (2, 3), (4, 5), (7, 1))
LARGE = 6000  # templates whose estimates count as true
TRIALS = np.ones((len(ABILITIES), 1))
OPTIONS = EstimationOptions()


@dataclass(frozen=True)
class Line:
    """Figures of one design and deviation."""

    independent: float
    clustered: float
    effect: float
    deviation: float
    rejected: float


def panel(
    generator: np.random.Generator, templates: int, instances: int, deviation: float
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return scores of models by items, and the template of each item."""
    families = np.repeat(np.arange(templates), instances)
    difficulties = generator.normal(0, 1, templates)[families] + generator.normal(0, 0.7, len(families))
    effects = generator.normal(0, 1, (len(ABILITIES), templates))[:, families] * deviation
    chances = expit(ABILITIES[:, None] - difficulties + effects)
    return (generator.random(chances.shape) < chances).astype(float), families


def line(templates: int, instances: int, deviation: float, replicates: int, seed: int) -> Line:
    """Return the figures of one design and deviation."""
    generator = np.random.default_rng(seed)
    large = estimate(panel(generator, LARGE, instances, deviation)[0], TRIALS, OPTIONS).abilities
    factor = float(stdtrit(templates - 1, 0.975))
    holds: list[tuple[bool, bool]] = []
    effects, deviations, rejected = [], [], []
    for _ in range(replicates):
        scores, families = panel(generator, templates, instances, deviation)
        independent, clustered = (estimate(scores, TRIALS, OPTIONS, None, every) for every in (None, families))
        for first, second in PAIRS:
            true = large[first] - large[second]
            (value, se), (_, robust) = independent.difference(first, second), clustered.difference(first, second)
            holds.append((abs(value - true) <= 1.959964 * se, abs(value - true) <= factor * robust))
        effects.append(clustered.design_effect)
        fit = family_effects(scores, np.ones(scores.shape, dtype=int), families)
        if fit is not None:
            deviations.append(fit.sd)
            rejected.append(fit.p < 0.05)
    shares = np.mean(holds, axis=0)
    means = (float(np.mean(values)) for values in (effects, deviations, rejected))
    return Line(float(shares[0]), float(shares[1]), *means)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--replicates", type=int, default=400)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--designs", default="150x5,50x20,40x20")
    parser.add_argument("--deviations", default="0,0.5,1,2")
    options = parser.parse_args()
    print(f"{'design':8} {'SD':>4} {'independent':>12} {'clustered':>10} {'factor':>7} {'SD found':>9} {'rejected':>9}")
    for design in options.designs.split(","):
        templates, instances = map(int, design.split("x"))
        for deviation in map(float, options.deviations.split(",")):
            found = line(templates, instances, deviation, options.replicates, options.seed)
            print(f"{design:8} {deviation:4.1f} {found.independent:12.3f} {found.clustered:10.3f} {found.effect:7.2f}"
                  f" {found.deviation:9.2f} {found.rejected:9.2f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()

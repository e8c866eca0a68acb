"""How often the intervals of dia hold the truth: data sets from a known truth, scored as replies are.

    python docs/studies/interval_coverage.py [--sets 1000] [--items 50,150] [--shapes 0,1,2] [--resamples 2000]

Items differ in difficulty (a beta distribution), and each has five instances, so that instances of one item are alike.
Each data set is scored by each method, and the share of intervals that hold the true figure is printed: 95 % is the
aim. The last column is the interval of a textbook that takes all instances as independent of each other.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy
from dia_runtime.scoring.figures import FIGURES
from dia_runtime.scoring.metrics import Tally
from dia_runtime.scoring.statistics.estimates import estimates
from dia_runtime.scoring.statistics.paired import PairedFigures
from dia_runtime.scoring.statistics.resample import Intervals

K, SKIPS, HARDER = 5, 0.2, 1.3
SHOWN = ("trad_score", "idk_score", "rs", "accuracy_answered", "conf")
METHODS = ("bca", "percentile", "independent")
WIDTH = 1.959963984540054


@dataclass(frozen=True)
class Design:
    """So many items, whose chances of a right reply have a beta distribution."""

    items: int
    alpha: float
    beta: float

    def mean(self, power: float = 1.0) -> float:
        """The mean of that power of the chance."""
        gamma = math.lgamma
        return math.exp(
            gamma(self.alpha + power) + gamma(self.alpha + self.beta)
            - gamma(self.alpha) - gamma(self.alpha + self.beta + power)
        )  # fmt: skip

    def truths(self) -> dict[str, float]:
        """The figures of the endless benchmark of which the items are a sample."""
        right = self.mean()
        wrong = (1 - right) * (1 - SKIPS)
        return {
            "trad_score": right,
            "idk_score": right - wrong,
            "rs": self.items * (right - 2 * wrong),
            "accuracy_answered": right / (right + wrong),
            "conf": self.mean(K),
            "difference": right - self.mean(HARDER),
        }


SHAPES = ((2, 2), (4, 1.5), (0.7, 0.7))


def tallies(generator: numpy.random.Generator, chances: numpy.ndarray) -> list[Tally]:
    """What became of the five instances of each item."""
    right = generator.binomial(K, chances)
    skipped = generator.binomial(K - right, SKIPS)
    held = []
    for correct, silent in zip(right.tolist(), skipped.tolist(), strict=True):
        wrong = K - correct - silent
        held.append(Tally(correct, silent, wrong, low=correct - 2 * wrong, high=correct - 2 * wrong))
    return held


def intervals_of(first: list[Tally], second: list[Tally], way: Intervals) -> dict[str, list[float] | None]:
    """The intervals of the figures of the first model, and of its difference to the second."""
    found = estimates({name: FIGURES[name].aggregate(Counter(first)) for name in SHOWN}, way)
    side = PairedFigures(Counter(zip(first, second, strict=True)), K * len(first), ("trad_score",), way)
    difference = side.estimate("trad_score", {0: Fraction(1), 1: Fraction(-1)})
    return {**{name: held["ci"] for name, held in found.items()}, "difference": difference["ci"]}


def independent(first: list[Tally]) -> dict[str, list[float] | None]:
    """The interval of a share whose instances are taken as independent."""
    number = K * len(first)
    share = sum(held.correct for held in first) / number
    reach = WIDTH * math.sqrt(share * (1 - share) / number)
    return {"trad_score": [share - reach, share + reach]}


def coverage(design: Design, sets: int, resamples: int, seed: int) -> dict[str, dict[str, float]]:
    """Figure -> method -> the share of intervals that hold the truth; no interval holds none."""
    generator = numpy.random.Generator(numpy.random.PCG64([seed, design.items, int(100 * design.alpha)]))
    truths, hits = design.truths(), Counter[tuple[str, str]]()
    for number in range(sets):
        chances = generator.beta(design.alpha, design.beta, design.items)
        first, second = tallies(generator, chances), tallies(generator, chances**HARDER)
        for method in METHODS:
            way = Intervals(method, resamples, seed + number)
            found = independent(first) if method == "independent" else intervals_of(first, second, way)
            hits.update((name, method) for name, ends in found.items() if ends and ends[0] <= truths[name] <= ends[1])
    return {name: {method: hits[name, method] / sets for method in METHODS} for name in truths}


def main(words: list[str]) -> None:
    """Prints a table for each design."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=1_000)
    parser.add_argument("--items", default="50,150")
    parser.add_argument("--shapes", default="0,1,2", help="of SHAPES, by their places")
    parser.add_argument("--resamples", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(words)
    shapes = [SHAPES[int(place)] for place in given.shapes.split(",")]
    for design in (Design(int(items), *shape) for items in given.items.split(",") for shape in shapes):
        print(f"{design.items} items, k = {K}, chances beta({design.alpha}, {design.beta}), {given.sets} data sets")
        print(f"{'':20}" + "".join(f"{method:>13}" for method in METHODS))
        for name, found in coverage(design, given.sets, given.resamples, given.seed).items():
            shown = (f"{100 * found[method]:13.1f}" if found[method] else " " * 13 for method in METHODS)
            print(f"{name:20}" + "".join(shown), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

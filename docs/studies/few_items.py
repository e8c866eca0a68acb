"""How often intervals contain the truth if items are few, or most of them have the best or the worst value.

    python docs/studies/few_items.py [--sets 1000] [--designs 10x5,10x20,20x5,50x5,150x5] [--resamples 2000]

Items have chances of a correct reply from a beta distribution, and independent instances. For each figure the script
prints the share of 95 % intervals that contain its true value, and their mean width in shares of the figure's range: of
resamples alone (BCa), and of what `dia score` reports, which is a bound where fewer than twenty items differ from an
end of the range.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy
from dia_runtime.scoring import metrics
from dia_runtime.scoring.figures import FIGURES
from dia_runtime.scoring.metrics import Aggregate, PointRange, Range, Tallies, Tally
from dia_runtime.scoring.statistics.estimates import estimates
from dia_runtime.scoring.statistics.resample import Intervals

POINTS = PointRange(-1.0, 1.0)
SHAPES = ((0.7, 0.7), (2, 2), (4, 1.5), (9, 1))
MANY = 2_000_000  # items from which the true value is computed


def pass_at_3(tallies: Tallies) -> Aggregate:
    """Pass@3, as in the ladder of `dia score`."""
    return Aggregate(metrics.pass_at(tallies, 3))


MEASURES: dict[str, Callable[[Tallies], Aggregate]] = {
    "Pass@3": pass_at_3,
    "correct": FIGURES["trad_score"].aggregate,
    "RS": FIGURES["rs"].aggregate,
    "Conf": FIGURES["conf"].aggregate,
    "NMS": FIGURES["nms"].aggregate,
}


def tallies(correct: numpy.ndarray, k: int) -> Counter[Tally]:
    """Return the tallies of items with so many correct replies, the others being wrong."""
    counts = Counter(correct.tolist())
    return Counter({Tally(c, 0, k - c, low=2 * c - k, high=2 * c - k): times for c, times in counts.items()})


def reported(way: Intervals, aggregates: dict[str, Aggregate]) -> dict[str, list[float] | None]:
    """Return the intervals of `dia score`."""
    return {name: estimate["ci"] for name, estimate in estimates(aggregates, way).items()}


def resampled(way: Intervals, aggregates: dict[str, Aggregate]) -> dict[str, list[float] | None]:
    """Return the intervals of resamples alone."""
    return reported(way, {name: replace(one, range=Range.UNKNOWN) for name, one in aggregates.items()})


def coverage(items: int, k: int, shape: tuple[float, float], sets: int, resamples: int, seed: int) -> list[str]:
    """Return a row for each figure."""
    generator = numpy.random.Generator(numpy.random.PCG64([seed, items, k, int(100 * shape[0])]))
    many = tallies(generator.binomial(k, generator.beta(*shape, MANY)), k)
    truths = {name: float(of(many).value or 0) for name, of in MEASURES.items()}
    hits, widths = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    methods = {"resamples": resampled, "reported": reported}
    for number in range(sets):
        drawn = tallies(generator.binomial(k, generator.beta(*shape, items)), k)
        aggregates = {name: of(drawn) for name, of in MEASURES.items()}
        way = Intervals("bca", resamples, seed + number, POINTS)
        for (method, intervals), name in product(methods.items(), MEASURES):
            if (ends := intervals(way, {name: aggregates[name]})[name]) is None:
                continue
            is_sum = aggregates[name].is_sum
            truth = truths[name] * (items / MANY if is_sum else 1)
            low, high = aggregates[name].range.ends(items, POINTS) or (0.0, 1.0)
            hits[name, method] += ends[0] - 1e-9 <= truth <= ends[1] + 1e-9
            widths[name, method] += (ends[1] - ends[0]) / (high - low)
    rows = []
    for name, truth in truths.items():
        share = truth / MANY if aggregates[name].is_sum else truth
        cells = [f"{100 * hits[name, m] / sets:9.1f} {widths[name, m] / sets:9.3f}" for m in methods]
        design = f"{items:5} {k:3}  beta({shape[0]}, {shape[1]})"
        rows.append(f"{design:26}{name:8}{share:8.3f}" + "".join(cells))
    return rows


def main(words: list[str]) -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=1_000)
    parser.add_argument("--designs", default="10x5,10x20,20x5,50x5,150x5", help="items x instances")
    parser.add_argument("--resamples", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(words)
    print(f"{'items   k  chances':26}{'figure':8}{'true':>8}{'resamples':>9} {'width':>9}{'reported':>9} {'width':>9}")
    for design, shape in product(options.designs.split(","), SHAPES):
        items, k = map(int, design.split("x"))
        for row in coverage(items, k, shape, options.sets, options.resamples, options.seed):
            print(row, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

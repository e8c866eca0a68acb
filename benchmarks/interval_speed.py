"""Time of intervals: all figures of a benchmark together, beside scipy's bootstrap of one of them.

    python benchmarks/interval_speed.py [--items 150] [--resamples 10000] [--runs 5]

Prints the median seconds, and those of the processor, of BCa intervals for the eleven figures of one respondent, for
one figure by `scipy.stats.bootstrap` (vectorised), and for all differences of eight respondents by two figures; and
how far the ends of ours and scipy's interval lie apart, in standard errors. The aim for the figures is below 2 s.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy
from dia_runtime.grading.verdicts import Mark, Verdict, mark
from dia_runtime.scoring.figures import FIGURES, compared_figures
from dia_runtime.scoring.metrics import tally
from dia_runtime.scoring.statistics.compare import comparison, differences
from dia_runtime.scoring.statistics.estimates import estimates
from dia_runtime.scoring.statistics.ledger import Marks
from dia_runtime.scoring.statistics.resample import Intervals, _cached_weights, _large_weights

K, MODELS = 5, 8
POINTS = {"correct": 1, "skipped": 0, "wrong": -2}


def drawn(generator: numpy.random.Generator, items: int) -> Marks:
    """The marks of a respondent, on items that differ in difficulty."""
    worse = [mark(Verdict(verdict), POINTS) for verdict in ("skipped", "wrong", "wrong", "unparsed")]
    right = mark(Verdict.CORRECT, POINTS)

    def of_item(chance: float) -> dict[int, Mark]:
        return {at: right if generator.random() < chance else worse[generator.integers(4)] for at in range(K)}

    return {f"item {at}": of_item(float(chance)) for at, chance in enumerate(generator.beta(2, 2, items))}


def timed(name: str, runs: int, action: Callable[[], Any]) -> Any:
    """What the action gives; prints how long it took."""
    seconds, cpu, result = [], [], None
    for _ in range(runs):
        _cached_weights.cache_clear()  # every run draws its own resamples
        _large_weights.cache_clear()
        started, used = perf_counter(), process_time()
        result = action()
        seconds.append(perf_counter() - started)
        cpu.append(process_time() - used)
    print(f"{name}: {median(seconds):.3f} s ({median(cpu):.3f} s of CPU)", flush=True)
    return result


def by_scipy(marks: Marks, resamples: int) -> Any:
    """scipy's BCa interval of the share of right replies."""
    from scipy.stats import bootstrap

    shares = numpy.array([tally(asked.values()).correct / K for asked in marks.values()])
    return bootstrap(
        (shares,), numpy.mean, vectorized=True, n_resamples=resamples, method="BCa", rng=numpy.random.default_rng(1)
    )


def main() -> None:
    """Prints a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=150)
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    generator = numpy.random.Generator(numpy.random.PCG64(1))
    models = [drawn(generator, given.items) for _ in range(MODELS)]
    tallies = Counter(tally(asked.values()) for asked in models[0].values())
    way = Intervals("bca", given.resamples)
    print(f"{given.items} items, k = {K}, {given.resamples} resamples")
    figures = {name: FIGURES[name].aggregate(tallies) for name in compared_figures()}
    ours = timed(f"BCa of {len(figures)} figures", given.runs, lambda: estimates(figures, way))["trad_score"]
    by_scipy(models[0], 100)  # imports scipy
    theirs = timed("BCa of one figure by scipy", given.runs, lambda: by_scipy(models[0], given.resamples))
    names = [f"model {at}" for at in range(MODELS)]
    both = ("trad_score", "rs")
    timed(f"differences of {MODELS} models by two figures", given.runs,
          lambda: differences(comparison(names, models, both, way)))  # fmt: skip
    ends = theirs.confidence_interval
    apart = max(abs(one - other) for one, other in zip(ours["ci"], (ends.low, ends.high), strict=True)) / ours["se"]
    print(f"ends of the two intervals of trad_score: at most {apart:.3f} standard errors apart")


if __name__ == "__main__":
    main()

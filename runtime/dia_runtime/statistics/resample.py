"""Items drawn again and again, with replacement: how often each comes in each resample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy
from numpy.typing import NDArray

Numbers = NDArray[numpy.float64]
METHODS = ("bca", "percentile", "none")
CELLS = 2_000_000  # of a matrix of weights that is held at once, 16 MB
KEPT = 6  # matrices that are kept for the next figures over as many items
FEW = 20  # items for each different one, below which drawing them one by one is quicker


@dataclass(frozen=True, slots=True)
class Intervals:
    """How intervals are computed: by `bca` or `percentile` from so many resamples by a seed, or not at all.

    `points` are the fewest and the most that a question gives, where these are known.
    """

    method: str = "bca"
    resamples: int = 10_000
    seed: int = 0
    points: tuple[float, float] | None = None


def resampled_sums(rows: Numbers, times: Sequence[int], intervals: Intervals) -> Numbers:
    """The sums of the columns of `rows` in each resample; of each row there are as many items as `times` says.

    Rows of integers give exact sums, so that no processor or library adds them up differently.
    """
    return numpy.concatenate([weights @ rows for weights in _weights(tuple(times), intervals)])


def _weights(times: tuple[int, ...], intervals: Intervals) -> Iterator[Numbers]:
    """How often each row comes in the resamples, some resamples at a time."""
    if len(times) * intervals.resamples <= CELLS:
        yield _kept_weights(times, intervals.resamples, intervals.seed)
        return
    generator, left = _generator(times, intervals.seed), intervals.resamples
    step = max(1, CELLS // len(times))
    while left > 0:
        yield _drawn(generator, times, min(step, left))
        left -= step


@lru_cache(maxsize=KEPT)
def _kept_weights(times: tuple[int, ...], resamples: int, seed: int) -> Numbers:
    return _drawn(_generator(times, seed), times, resamples)


def _generator(times: tuple[int, ...], seed: int) -> numpy.random.Generator:
    return numpy.random.Generator(numpy.random.PCG64([seed, sum(times), len(times)]))


def _drawn(generator: numpy.random.Generator, times: tuple[int, ...], resamples: int) -> Numbers:
    """So many resamples of all items, as counts of the rows."""
    number, rows = sum(times), len(times)
    if number > FEW * rows or number * resamples > 4 * CELLS:
        return generator.multinomial(number, numpy.array(times) / number, size=resamples).astype(numpy.float64)
    row_of = numpy.repeat(numpy.arange(rows), times)
    drawn = row_of[generator.integers(0, number, size=(resamples, number))]
    drawn += rows * numpy.arange(resamples)[:, None]
    counts = numpy.bincount(drawn.ravel(), minlength=rows * resamples)
    return counts.reshape(resamples, rows).astype(numpy.float64)

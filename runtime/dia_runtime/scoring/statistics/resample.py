"""Resampling of items with replacement: how often each occurs in each resample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy
from dia_runtime.scoring.metrics import PointRange
from numpy.typing import NDArray

Numbers = NDArray[numpy.float64]
METHODS = ("bca", "percentile", "bound", "none")
Counts = NDArray[numpy.integer[Any]]
CELLS = 2_000_000  # of a matrix of weights in memory, 16 MB
KEPT = 16  # matrices that are cached for further figures over as many items, of at most 4 MB each
LARGE = 5  # the last two may have this many times as many cells
SMALL, ALIKE = 1_000, 8  # items that are drawn one by one, unless this many are equal
FEW = 20  # items per different one; with fewer, drawing them one by one is faster


@dataclass(frozen=True, slots=True)
class Intervals:
    """How intervals are computed: by `bca`, `percentile` or `bound`, with a number of resamples and a seed, or not.

    `points` are those that a question can give, if known.
    """

    method: str = "bca"
    resamples: int = 10_000
    seed: int = 0
    points: PointRange | None = None


def resampled_sums(rows: Numbers, times: Sequence[int], intervals: Intervals) -> Numbers:
    """Return the sums of the columns of `rows` in each resample; each row stands for `times` equal items.

    Rows of integers give exact sums, which do not depend on the processor or library.
    """
    if (
        len(times) * ALIKE > sum(times) <= SMALL
    ):  # one by one, so that all figures of as many items share their resamples
        rows, times = numpy.repeat(rows, times, axis=0), [1] * sum(times)
    return numpy.concatenate([weights.astype(numpy.float64) @ rows for weights in _weights(tuple(times), intervals)])


def _weights(times: tuple[int, ...], intervals: Intervals) -> Iterator[Counts]:
    """Yield how often each row occurs in the resamples, some resamples at a time."""
    if len(times) * intervals.resamples <= CELLS:
        yield _cached_weights(times, intervals.resamples, intervals.seed)
    elif len(times) * intervals.resamples <= LARGE * CELLS and sum(times) <= SMALL:
        yield from _large_weights(times, intervals.resamples, intervals.seed)
    else:
        yield from _in_parts(times, intervals.resamples, intervals.seed)


def _in_parts(times: tuple[int, ...], resamples: int, seed: int) -> Iterator[Counts]:
    generator, step = _generator(times, seed), max(1, CELLS // len(times))
    for start in range(0, resamples, step):
        yield _resampled(generator, times, min(step, resamples - start))


@lru_cache(maxsize=KEPT)
def _cached_weights(times: tuple[int, ...], resamples: int, seed: int) -> Counts:
    counts = _resampled(_generator(times, seed), times, resamples)
    return counts.astype(numpy.uint16) if sum(times) <= numpy.iinfo(numpy.uint16).max else counts


@lru_cache(maxsize=2)
def _large_weights(times: tuple[int, ...], resamples: int, seed: int) -> tuple[Counts, ...]:
    return tuple(part.astype(numpy.uint16) for part in _in_parts(times, resamples, seed))


@lru_cache(maxsize=2)
def dirichlet_weights(times: tuple[int, ...], resamples: int, seed: int) -> Numbers:
    """Return, for each resample, the weights of rows with these numbers of items and, last, of one additional item.

    They sum to 1 and have a Dirichlet distribution, like the gaps between uniform random numbers.
    """
    gamma = _generator(times, seed).standard_gamma((*times, 1), size=(resamples, len(times) + 1))
    weights: Numbers = gamma / gamma.sum(axis=1, keepdims=True)
    return weights


def _generator(times: tuple[int, ...], seed: int) -> numpy.random.Generator:
    return numpy.random.Generator(numpy.random.PCG64([seed, sum(times), len(times)]))


def _resampled(generator: numpy.random.Generator, times: tuple[int, ...], resamples: int) -> Counts:
    """Return this many resamples of all items, as counts of the rows."""
    number, rows = sum(times), len(times)
    if number > FEW * rows or number * resamples > 4 * CELLS:
        return generator.multinomial(number, numpy.array(times) / number, size=resamples)
    row_of = numpy.repeat(numpy.arange(rows), times)
    rows_of_items = row_of[generator.integers(0, number, size=(resamples, number))]
    rows_of_items += rows * numpy.arange(resamples)[:, None]
    counts = numpy.bincount(rows_of_items.ravel(), minlength=rows * resamples)
    return counts.reshape(resamples, rows)

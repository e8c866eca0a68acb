"""Algorithm 1 of the Self-Execution paper, as used for its Table 1: the `paper` preset.

Every model and benchmark moves by the sum of its residuals divided by the sum of its p(1 - p), both computed at the
start of the iteration, times the learning rate. Nothing fixes the origin, so it depends on the path: to compare scales,
first move one of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from dia_runtime.psychometrics.rasch.counts import Array, logistic_in_place
from dia_runtime.psychometrics.rasch.newton import not_converged
from numpy.typing import NDArray

RATE = 0.5
TOLERANCE = 1e-6  # of the largest move, before the learning rate
MOST = 100_000


def algorithm_1(successes: Array, trials: NDArray[Any]) -> tuple[Array, Array, int]:
    """Return abilities, difficulties and the number of iterations."""
    every = np.broadcast_to(trials, successes.shape).astype(float)
    abilities, difficulties = np.zeros(len(successes)), np.zeros(successes.shape[1])
    for iteration in range(1, MOST + 1):
        probability = logistic_in_place(abilities[:, None] - difficulties)
        residual, spread = successes - every * probability, every * probability * (1 - probability)
        up, down = residual.sum(axis=1) / spread.sum(axis=1), -residual.sum(axis=0) / spread.sum(axis=0)
        abilities += RATE * up
        difficulties += RATE * down
        largest = max(float(np.abs(up).max()), float(np.abs(down).max()))
        if largest < TOLERANCE:
            return abilities, difficulties, iteration
        if not np.isfinite(largest):
            break
    raise not_converged("paper", largest)

"""Steps of Newton's method that all estimators use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from dia_language.diagnostics import DiaError, Diagnostic
from dia_runtime.psychometrics.rasch.counts import Array, Mask

HALVINGS = 40
MOST = 200
State = TypeVar("State")
ROUNDING = 64 * float(np.finfo(float).eps)  # relative rounding error of a sum of many terms


def solve_free(matrix: Array, vector: Array, free: Mask | None, floating: bool) -> Array:
    """Return the solution for the free parameters, 0 for the others.

    If all parameters are free, solutions differ by a shift; one of them is returned.
    """
    size = len(vector)
    keep = np.ones(size, dtype=bool) if free is None else free
    reduced = matrix[np.ix_(keep, keep)]
    if floating and size == 1:  # nothing differs from it
        return np.zeros(1)
    if floating and keep.all():
        reduced = reduced + np.trace(reduced) / size**2
    solution = np.zeros(size)
    if keep.any():
        try:
            solution[keep] = np.linalg.solve(reduced, vector[keep])
        except np.linalg.LinAlgError:
            raise _no_information() from None
    return solution


def covariance(information: Array, free: Mask | None, floating: bool) -> Array:
    """Return the inverse of the information for the free parameters, 0 for the others.

    If all parameters are free, it is that of parameters with mean 0.
    """
    size = len(information)
    keep = np.ones(size, dtype=bool) if free is None else free
    reduced = information[np.ix_(keep, keep)]
    inverse = np.zeros((size, size))
    if floating and size == 1:
        return inverse
    try:
        if floating and keep.all():
            scale = np.trace(reduced) / size**2
            return np.asarray(np.linalg.inv(reduced + scale) - 1 / (scale * size**2))
        if keep.any():
            inverse[np.ix_(keep, keep)] = np.linalg.inv(reduced)
    except np.linalg.LinAlgError:
        raise _no_information() from None
    return inverse


def precise_enough(residual: float, largest_total: float, tolerance: float) -> bool:
    """Return whether the scores are as close to 0 as required, or as numbers of this size can represent."""
    return residual <= max(tolerance, ROUNDING * largest_total)


def halve_until_smaller(
    state: State, step: Callable[[State], Callable[[float], State]], merit: Callable[[State], float]
) -> State | None:
    """Return the state after a step, which is halved until the merit falls; None if it never falls."""
    before, move = merit(state), step(state)
    size = 1.0
    for _ in range(HALVINGS):
        after = move(size)
        if np.isfinite(merit(after)) and merit(after) < before:
            return after
        size /= 2
    return None


def _no_information() -> DiaError:
    """Return the error for data too far from the anchor items to determine a location."""
    message = "the replies do not determine some values on the scale, at the precision of this machine"
    help = "check that the anchors are items of these data, with difficulties in logits"
    return DiaError(Diagnostic("E891", message, None, help))


def not_converged(method: str, residual: float) -> DiaError:
    """Return the error for an estimation that does not converge."""
    message = f"`{method}` does not converge: its scores still differ by {residual:.2g}"
    help = "check that the data are connected, or try another `--method`"
    return DiaError(Diagnostic("E891", message, None, help))

"""From counts of correct replies to abilities of models and difficulties of items on one Rasch scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dia_runtime.psychometrics.rasch.estimate import Calibration, EstimationOptions, calibration_error, estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


def calibrate(
    successes: ArrayLike,
    trials: ArrayLike | None = None,
    method: str = "mml_items",
    eliminate: str = "auto",
    item_scores: str = "eap",
    bias_correction: str = "none",
    extreme: str = "winsteps",
    extreme_adjust: float = 0.3,
    gauge: str = "mean_difficulty",
    anchors: ArrayLike | None = None,
    tol: float = 1e-10,
) -> Calibration:
    """Estimate abilities of models (rows) and difficulties of items (columns), with standard errors and statuses.

    `successes` are counts, or shares of one trial; None or NaN is a missing cell. `trials` is the number of trials per
    cell, one number or a matrix (default: 1). `anchors` are fixed difficulties; None or NaN for items without one.
    Raises DiaError (exit code 2) for impossible counts, models without replies and incompatible options.

    >>> found = calibrate([[1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 0, 1]], method="jml")
    >>> [round(value, 3) + 0 for value in found.difficulties.tolist()]
    [0.0, 0.0, 0.0]
    """
    import numpy as np

    counted, tried = matrices(successes, trials)
    anchor_difficulties = None if anchors is None else _floats(anchors)
    if anchor_difficulties is not None and anchor_difficulties.shape != counted.shape[1:]:
        message = f"`anchors` must contain one difficulty for each of the {counted.shape[1]} items"
        raise calibration_error(message, "leave it out, or write NaN for items without a fixed difficulty")
    options = EstimationOptions(method, eliminate, item_scores, bias_correction, extreme, extreme_adjust, gauge, tol)
    with np.errstate(divide="ignore", invalid="ignore"):
        return estimate(counted, tried, options, anchor_difficulties)


def matrices(successes: ArrayLike, trials: ArrayLike | None = None) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return successes, with 0 for missing cells, and trials, of the same shape or one column if all are equal.

    Raises DiaError for invalid counts.
    """
    import numpy as np

    counted = _floats(successes)
    if counted.ndim != 2 or min(counted.shape) < 2:
        raise calibration_error("a scale needs at least two models and two items", None, "E891")
    missing = np.isnan(counted)
    is_whole = not missing.any()
    if trials is None:
        tried: NDArray[Any] = np.ones((len(counted), 1)) if is_whole else ~missing
    else:
        tried = _trials(trials, counted, missing)
        missing = missing | np.broadcast_to(tried == 0, counted.shape)
    if not is_whole:
        counted = np.where(missing, 0.0, counted)
    _require_counts(counted, tried)
    return counted, tried


def _floats(values: ArrayLike) -> NDArray[np.float64]:
    import numpy as np

    try:
        return np.ascontiguousarray(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        raise calibration_error(
            "counts are a matrix of numbers, with None or NaN for missing cells", None, "E891"
        ) from None


def _trials(trials: ArrayLike, counted: NDArray[np.float64], missing: NDArray[np.bool_]) -> NDArray[Any]:
    import numpy as np

    tried = _floats(trials)
    if tried.ndim == 0 and not missing.any():
        return np.full((len(counted), 1), float(tried))
    try:
        every = np.where(missing, 0.0, np.broadcast_to(tried, counted.shape))
    except ValueError:
        raise calibration_error("`trials` has another shape than `successes`", None, "E891") from None
    return np.nan_to_num(every)


def _require_counts(counted: NDArray[np.float64], tried: NDArray[Any]) -> None:
    import numpy as np

    is_good = np.isfinite(counted) & (counted >= 0) & (counted <= tried)
    if not is_good.all():
        row, column = (int(at[0]) + 1 for at in np.nonzero(~is_good))
        value = counted[row - 1, column - 1]
        most = tried[row - 1, min(column, tried.shape[1]) - 1]
        raise calibration_error(f"model {row} has {value:g} successes of {most:g} at item {column}", None, "E891")
    silent = ~(tried > 0).any(axis=1)
    if silent.any():
        message = f"model {int(np.flatnonzero(silent)[0]) + 1} has no replies"
        raise calibration_error(message, "leave it out, or ask it", "E891")

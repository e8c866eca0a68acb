"""From a matrix of counts to a scale: extremes, blocks, the estimator, the other side, the origin and errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

import numpy as np
from dia_language.diagnostics import DiaError, Diagnostic, did_you_mean, visible
from dia_runtime.psychometrics.rasch.clustered import LEAST, clustered_covariance, design_effect, numbered
from dia_runtime.psychometrics.rasch.cml import cml
from dia_runtime.psychometrics.rasch.columns import Scored, errors, score_columns
from dia_runtime.psychometrics.rasch.connect import FixedNodes, components, extremes
from dia_runtime.psychometrics.rasch.counts import Array, Counts, Mask, counts
from dia_runtime.psychometrics.rasch.jml import Fit, jml
from dia_runtime.psychometrics.rasch.mml import mml
from numpy.typing import NDArray

CHOICES: Mapping[str, tuple[str, ...]] = {
    "method": ("mml_items", "mml_persons", "cml", "jml"),
    "eliminate": ("auto", "respondents", "items"),
    "item_scores": ("eap", "wle", "mle"),
    "bias_correction": ("none", "trials"),
    "extreme": ("winsteps", "drop"),
    "gauge": ("mean_difficulty", "mean_ability", "anchors"),
}


@dataclass(frozen=True, slots=True)
class EstimationOptions:
    """How to calibrate; the words are those of WORDS."""

    method: str = "mml_items"
    eliminate: str = "auto"
    item_scores: str = "eap"
    bias_correction: str = "none"
    extreme: str = "winsteps"
    extreme_adjust: float = 0.3
    gauge: str = "mean_difficulty"
    tol: float = 1e-10


class EntryRecord(TypedDict):
    """A model's ability or an item's difficulty for JSON."""

    name: str
    value: float | None
    se: float | None
    status: str


class CalibrationRecord(TypedDict):
    """A calibration for JSON."""

    abilities: list[EntryRecord]
    difficulties: list[EntryRecord]
    log_likelihood: float | None
    iterations: int
    residual: float | None
    gauge: str
    method: str


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Abilities and difficulties in logits with their standard errors; NaN without a place on the scale.

    A status is `estimated`, `extreme_high` (an item that nobody passed, a model that failed nowhere), `extreme_low`,
    `disconnected`, or `anchor`. `residual` is the largest remaining score; `prior` the mean and standard deviation of
    the random side, on the scale of the result. `scored` is the side that was placed given the other: `items`,
    `respondents`, or `neither` if both are parameters. `ability_covariance` is that of the errors of the abilities,
    which determines the errors of differences; NaN for abilities that were not estimated, None if items are the
    estimated side. `clusters` is the number of clusters of items that the errors account for (None: independent items),
    `design_effect` the factor on the variance of a difference of two abilities, `degrees` the degrees of freedom of the
    errors.
    """

    abilities: Array
    difficulties: Array
    ability_se: Array
    difficulty_se: Array
    ability_status: tuple[str, ...]
    difficulty_status: tuple[str, ...]
    log_likelihood: float
    iterations: int
    residual: float
    gauge: str
    method: str
    prior: tuple[float, float] | None = None
    scored: str = "neither"
    ability_covariance: Array | None = None
    clusters: int | None = None
    design_effect: float | None = None

    def difference(self, first: int, second: int) -> tuple[float, float]:
        """Return how much more able the first model is than the second, and the standard error of that, in logits.

        Raises ValueError if the method does not estimate the models' covariance.
        """
        if self.ability_covariance is None:
            raise ValueError(f"`{self.method}` has no covariance of abilities")
        of = self.ability_covariance
        variance = float(of[first, first] + of[second, second] - 2 * of[first, second])
        return float(self.abilities[first] - self.abilities[second]), max(variance, 0.0) ** 0.5

    @property
    def status(self) -> tuple[str, ...]:
        """Return the status of each item."""
        return self.difficulty_status

    def as_json(self, models: Sequence[str], items: Sequence[str]) -> CalibrationRecord:
        """Return the calibration with the keys of `dia calibrate --json`."""
        return {
            "abilities": _entries(models, self.abilities, self.ability_se, self.ability_status),
            "difficulties": _entries(items, self.difficulties, self.difficulty_se, self.difficulty_status),
            "log_likelihood": finite_or_none(self.log_likelihood),
            "iterations": self.iterations,
            "residual": finite_or_none(self.residual),
            "gauge": self.gauge,
            "method": self.method,
        }


def _entries(names: Sequence[str], values: Array, ses: Array, statuses: Sequence[str]) -> list[EntryRecord]:
    rows = zip(names, values.tolist(), ses.tolist(), statuses, strict=True)
    return [
        {"name": name, "value": finite_or_none(value), "se": finite_or_none(se), "status": status}
        for name, value, se, status in rows
    ]


def finite_or_none(value: float) -> float | None:
    """Return the number, or None if it is malformed."""
    return float(value) if np.isfinite(value) else None


def calibration_error(message: str, help: str | None = None, code: str = "E893") -> DiaError:
    """Return the error for a calibration that is impossible with these options or data."""
    return DiaError(Diagnostic(code, visible(message), None, help))


def estimate(
    successes: Array,
    trials: NDArray[Any],
    options: EstimationOptions,
    anchors: Array | None = None,
    clusters: NDArray[np.intp] | None = None,
) -> Calibration:
    """Return the scale of models (rows) and items (columns), `trials` of the same shape or one column, 0 where missing.

    `anchors` has given difficulties, and NaN for the others. `clusters` numbers the cluster of each item, for example
    its template: errors then account for dependent replies of a model within a cluster. Raises DiaError for unknown
    options and for data that give no scale.
    """
    require_options(options, anchors)
    anchor_difficulties = np.full(successes.shape[1], np.nan) if anchors is None else np.asarray(anchors, dtype=float)
    side = replace(_oriented(successes, trials, anchor_difficulties, options), clusters=clusters)
    scale = _estimated(side, options)
    return _in_gauge(scale, side, options)


def require_options(options: EstimationOptions, anchors: Array | None) -> None:
    """Check that the options are known and compatible."""
    for name, words in CHOICES.items():
        word = getattr(options, name)
        if word not in words:
            raise calibration_error(
                f"`{word}` is not a {name}; choose from {', '.join(words)}", did_you_mean(str(word), words)
            )
    if options.eliminate != "auto" and options.method != "cml":
        raise calibration_error(
            f"`{options.method}` eliminates neither side", "leave out `eliminate`, or use the method cml"
        )
    if options.bias_correction != "none" and options.method != "jml":
        raise calibration_error(
            f"`{options.method}` has no such bias to correct", "leave out `bias_correction`, or use the method jml"
        )
    has_anchors = anchors is not None and bool(np.isfinite(anchors).any())
    if options.gauge == "anchors" and not has_anchors:
        raise calibration_error(
            "the gauge `anchors` needs the difficulties of a bank", "add `--anchors BANK`, or choose another gauge"
        )
    if has_anchors and options.gauge != "anchors":
        raise calibration_error(
            f"with anchors, the gauge must be `anchors`, not `{options.gauge}`", "leave out `--gauge`, or `--anchors`"
        )
    if not 0 < options.extreme_adjust <= 0.5:
        raise calibration_error(
            f"`extreme_adjust` must be above 0 and at most 0.5, not {options.extreme_adjust:g}",
            "the usual value is 0.3",
        )
    if options.bias_correction != "none" and options.gauge == "anchors":
        raise calibration_error(
            "a scale with fixed difficulties cannot be corrected", "use another `--method` with anchors"
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """The data with the estimated side as rows; `flipped` if these are items."""

    successes: Array
    trials: NDArray[Any]
    flipped: bool
    row_anchors: Array
    column_anchors: Array
    clusters: NDArray[np.intp] | None = None


def estimates_items(options: EstimationOptions, models: int, items: int) -> bool:
    """Return whether items are the estimated side; else models are, and items are placed given the models."""
    return {
        "mml_items": False,
        "mml_persons": True,
        "jml": items < models,
        "cml": options.eliminate == "respondents" or (options.eliminate == "auto" and models > items),
    }[options.method]


def _oriented(successes: Array, trials: NDArray[Any], anchor_difficulties: Array, options: EstimationOptions) -> _Side:
    models, items = successes.shape
    flipped = estimates_items(options, models, items)
    free = np.full(models, np.nan)
    if not flipped:
        return _Side(successes, trials, False, free, anchor_difficulties)
    turned = np.ascontiguousarray(successes.T)
    if trials.shape[1] == 1 and not (trials == trials[0]).all():
        trials = np.broadcast_to(trials, successes.shape)
    every = np.full((items, 1), trials[0, 0]) if trials.shape[1] == 1 else np.ascontiguousarray(trials.T)
    return _Side(turned, every, True, -anchor_difficulties, free)


@dataclass(frozen=True, slots=True, eq=False)
class _Scale:
    """Places of rows and columns before the origin is fixed, with their statuses and errors."""

    fit: Fit
    rows: Array
    columns: Array
    row_se: Array
    column_se: Array
    row_status: list[str]
    column_status: list[str]
    row_covariance: Array
    clusters: int | None = None
    design_effect: float | None = None


def _estimated(side: _Side, options: EstimationOptions) -> _Scale:
    """Return the scale of everything that has a place on it."""
    rows, columns = _estimable(side, options)
    row_blocks, column_blocks = _blocks(side, rows, columns, options)
    main_rows, main_columns = row_blocks == 0, column_blocks == 0
    if (main_columns if side.flipped else main_rows).sum() < 2 or not main_rows.any() or not main_columns.any():
        raise calibration_error("no models are connected by correct and wrong replies to the same items", None, "E892")
    if options.gauge == "anchors":
        _require_origin(side, main_rows, main_columns)
    data = _counts(side, main_rows, main_columns, options.method != "cml")
    fit = _fitted(data, side.row_anchors[main_rows], side, main_rows, options)
    robust = _clustered(side, main_rows, main_columns, data, fit, options)
    reusable = data if options.method != "cml" else None
    scale = _placed(side, main_rows, main_columns, rows, columns, robust or fit, options, reusable)
    if robust is None or side.clusters is None:
        return scale
    effect = design_effect(robust.covariance, fit.covariance)
    return replace(scale, clusters=len(np.unique(side.clusters[main_columns])), design_effect=effect)


def _clustered(
    side: _Side, rows: Mask, columns: Mask, data: Counts, fit: Fit, options: EstimationOptions
) -> Fit | None:
    """Return the fit with clustered errors; None if there are too few clusters, or models are not the rows."""
    if side.clusters is None or side.flipped:
        return None
    clusters = numbered(side.clusters, columns)
    if clusters.max() + 1 < LEAST:
        return None
    successes = np.asarray(_part(side.successes, rows, columns), dtype=float)
    is_anchored = options.gauge == "anchors"
    covariance = clustered_covariance(data, successes, clusters, fit, options.method, is_anchored)
    return replace(fit, covariance=covariance)


def _require_origin(side: _Side, rows: Mask, columns: Mask) -> None:
    """Check that models that are kept were asked some anchor item, and that this determines their location."""
    anchored = rows & ~np.isnan(side.row_anchors), columns & ~np.isnan(side.column_anchors)
    if not any(mask.any() for mask in anchored):
        help = "ask the models items of the anchor bank, some of which they solve and some not"
        raise calibration_error("no anchor item connects the models to the scale", help, "E892")


def _estimable(side: _Side, options: EstimationOptions) -> tuple[Mask, Mask]:
    """Return what is not extreme; if columns are random, all are kept."""
    fixed = ~np.isnan(side.row_anchors)
    random = options.method.startswith("mml")
    rows, columns = extremes(side.successes, side.trials, fixed, None if random else ~np.isnan(side.column_anchors))
    if random and side.trials.shape[1] > 1:
        columns = np.asarray((side.trials[rows] > 0).any(axis=0))
    kept_counts = int(_varied(side, rows, columns).sum()), int(rows.sum())
    models, items = kept_counts if side.flipped else kept_counts[::-1]
    if models < 2 or items < 1:
        left = "fewer than two models are left, or no items"
        message = f"without the models and items that have only correct or only wrong replies, {left}"
        help = "a scale needs two models that each solve some of the items, and an item that only some models solve"
        raise calibration_error(message, help, "E891")
    return rows, columns


def _varied(side: _Side, rows: Mask, columns: Mask) -> Mask:
    """Return the kept columns at which these rows have some successes and some failures."""
    totals = side.successes[rows].sum(axis=0)
    return np.asarray(columns & (totals > 0) & (totals < side.trials[rows].sum(axis=0, dtype=float)))


def _blocks(side: _Side, rows: Mask, columns: Mask, options: EstimationOptions) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the block of each row and column: 0 for the one that is kept, -1 for extreme ones.

    Given places connect blocks if the estimator uses them; conditioning on columns eliminates theirs.
    """
    tied = options.method != "cml" or side.flipped
    fixed = FixedNodes(~np.isnan(side.row_anchors[rows]), ~np.isnan(side.column_anchors[columns]), tied)
    successes, trials = _part(side.successes, rows, columns), side.trials[rows]
    trials = trials if trials.shape[1] == 1 else _part(side.trials, rows, columns)
    blocks = components(successes, trials, not options.method.startswith("mml"), fixed)
    labels = [np.full(len(mask), -1, dtype=np.intp) for mask in (rows, columns)]
    for label, mask, block in zip(labels, (rows, columns), blocks, strict=True):
        label[mask] = block
    return labels[0], labels[1]


def _part(matrix: NDArray[Any], rows: Mask, columns: Mask) -> NDArray[Any]:
    """Return the chosen rows and columns; the matrix itself if all are chosen."""
    if rows.all() and columns.all():
        return matrix
    if rows.all():
        return matrix[:, columns]
    return matrix[np.ix_(rows, columns)]


def _counts(side: _Side, rows: Mask, columns: Mask, use_known: bool) -> Counts:
    trials = side.trials[rows] if side.trials.shape[1] == 1 else _part(side.trials, rows, columns)
    anchors = side.column_anchors[columns] if use_known else None
    return counts(_part(side.successes, rows, columns), trials, anchors)


def _fitted(data: Counts, row_anchors: Array, side: _Side, rows: Mask, options: EstimationOptions) -> Fit:
    """Return the rows' places and their covariance."""
    free = np.isnan(row_anchors)
    free_rows = None if free.all() else free
    locations = None if free.all() else np.where(free, 0.0, row_anchors)
    if options.method == "jml":
        return jml(data, free_rows, locations, options.tol)
    if options.method != "cml":
        return mml(data, free_rows, locations, options.tol)
    fit = cml(data, free_rows, locations, options.tol)
    if np.isfinite(side.column_anchors).any():
        fit = _shifted(fit, side, rows)
    if options.item_scores != "eap":
        return fit
    all_columns = _counts(side, rows, _columns_tried(side, rows), True)
    return replace(fit, prior=mml(all_columns, np.zeros(len(fit.rows), dtype=bool), fit.rows, 1e-6).prior)


def _shifted(fit: Fit, side: _Side, rows: Mask) -> Fit:
    """Return the fit, moved to where the columns with given places are most probable."""
    anchored = np.isfinite(side.column_anchors)
    data = _counts(side, rows, anchored, True)
    shift, information = 0.0, 1.0
    for _ in range(100):
        excess = information = 0.0
        for block in data.blocks():
            logits = fit.rows[:, None] + shift - data.anchors[block]
            probability = 1 / (1 + np.exp(-logits))
            trials, weights = data.trials_of(block), data.weights[block]
            excess += float(weights @ (data.column_totals[block] - (trials * probability).sum(axis=0)))
            information += float(weights @ (trials * probability * (1 - probability)).sum(axis=0))
        shift += max(-2.0, min(2.0, excess / information))
        if abs(excess / information) < 1e-12:
            break
    return replace(fit, rows=fit.rows + shift, covariance=fit.covariance + 1 / information)


def _columns_tried(side: _Side, rows: Mask) -> Mask:
    """Return the columns at which these rows were tried."""
    if side.trials.shape[1] == 1:
        return np.ones(side.successes.shape[1], dtype=bool)
    return np.asarray((side.trials[rows] > 0).any(axis=0))


def _placed(
    side: _Side,
    main_rows: Mask,
    main_columns: Mask,
    rows: Mask,
    columns: Mask,
    fit: Fit,
    options: EstimationOptions,
    counted: Counts | None,
) -> _Scale:
    """Return both sides with their statuses: the estimated values, then the extremes."""
    status = _status(side, main_rows, main_columns, rows, columns)
    kind = "mle" if options.method == "jml" else options.item_scores
    placed = _columns_tried(side, main_rows) & (main_columns | ~columns)
    if options.extreme == "drop":
        placed &= main_columns & ~np.char.startswith(status[1], "extreme")
    same = counted is not None and np.array_equal(placed, main_columns)
    data = counted if same and counted is not None else _counts(side, main_rows, placed, True)
    parts = list(score_columns(data, fit.rows, kind, fit.prior, options.extreme_adjust))
    locations = np.full(len(placed), np.nan)
    locations[placed] = _joined(parts, "locations", data)[data.of]
    weights = np.bincount(data.of, (status[1] == "estimated")[placed].astype(float), data.classes).astype(float)
    gauge = _gauge_side(side, options)
    standard_errors = errors(data, parts, fit.covariance, gauge, (status[0] == "estimated")[main_rows], weights)
    column_se, row_se = np.full(len(placed), np.nan), np.full(len(main_rows), np.nan)
    column_se[placed] = standard_errors.columns[data.of]
    covariance = np.full((len(main_rows), len(main_rows)), np.nan)
    covariance[np.ix_(main_rows, main_rows)] = fit.covariance
    row_places = np.full(len(main_rows), np.nan)
    row_places[main_rows], row_se[main_rows] = fit.rows, standard_errors.rows
    if options.extreme == "winsteps" and not rows.all():
        _extreme_rows(side, ~rows, placed & np.isfinite(locations), locations, row_places, row_se, options)
    for anchors, values, standard_errors_of in (
        (side.row_anchors, row_places, row_se),
        (side.column_anchors, locations, column_se),
    ):
        values[~np.isnan(anchors)], standard_errors_of[~np.isnan(anchors)] = anchors[~np.isnan(anchors)], 0.0
    row_status = np.where(np.isnan(row_places) & (status[0] == "estimated"), "disconnected", status[0])
    column_status = np.where(np.isnan(locations) & (status[1] == "estimated"), "disconnected", status[1])
    return _Scale(
        fit, row_places, locations, row_se, column_se, row_status.tolist(), column_status.tolist(), covariance
    )


def _gauge_side(side: _Side, options: EstimationOptions) -> str:
    """Return whose mean is the origin: `rows`, `columns` or neither."""
    if options.gauge == "anchors":
        return "neither"
    return "rows" if (options.gauge == "mean_difficulty") == side.flipped else "columns"


def _joined(parts: Sequence[Scored], name: str, data: Counts) -> Array:
    values = np.empty(data.classes)
    for part in parts:
        values[part.block] = getattr(part, name)
    return values


def _status(
    side: _Side, main_rows: Mask, main_columns: Mask, rows: Mask, columns: Mask
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the status of each row and column as text: high is a high place on the scale of the result."""
    row_status = np.where(main_rows, "estimated", "disconnected").astype("<U12")
    column_status = np.where(main_columns, "estimated", "disconnected").astype("<U12")
    row_trials = side.trials if side.trials.shape[1] > 1 else None
    successes = side.successes[main_rows]
    totals = successes.sum(axis=0)
    most = side.trials[main_rows].sum(axis=0, dtype=float) * np.ones(len(totals))
    extreme = (most > 0) & ((totals <= 0) | (totals >= most)) & (main_columns | ~columns)
    ends = ("extreme_low", "extreme_high")
    # A column is an item with a high difficulty when nobody passed it; flipped it is a model with a low ability.
    column_status[extreme & (totals <= 0)] = ends[not side.flipped]
    column_status[extreme & (totals > 0)] = ends[side.flipped]
    row_successes = side.successes[~rows][:, main_columns].sum(axis=1)
    row_trials_tried = (
        side.trials[~rows, 0] if row_trials is None else side.trials[~rows][:, main_columns].sum(axis=1, dtype=float)
    )
    row_status[~rows] = np.where(
        row_trials_tried == 0, "disconnected", np.where(row_successes > 0, ends[not side.flipped], ends[side.flipped])
    )
    row_status[~np.isnan(side.row_anchors)] = "anchor"
    column_status[~np.isnan(side.column_anchors)] = "anchor"
    return row_status, column_status


def _extreme_rows(
    side: _Side,
    chosen: Mask,
    columns: Mask,
    locations: Array,
    row_places: Array,
    row_se: Array,
    options: EstimationOptions,
) -> None:
    """Set the places of rows with all or no successes: those of totals slightly inside, with the columns fixed."""
    trials = np.broadcast_to(side.trials, side.successes.shape)
    at = np.flatnonzero(chosen)
    at = at[(trials[at][:, columns] > 0).any(axis=1)] if columns.any() else at[:0]
    if not len(at):
        return
    tried = np.ascontiguousarray(trials[np.ix_(at, columns)].T)
    data = counts(np.ascontiguousarray(side.successes[np.ix_(at, columns)].T), tried)
    for part in score_columns(data, -locations[columns], "mle", None, options.extreme_adjust):
        within = np.flatnonzero((data.of >= part.block.start) & (data.of < part.block.stop))
        inside = data.of[within] - part.block.start
        row_places[at[within]] = -part.locations[inside]
        row_se[at[within]] = np.sqrt(part.variances[inside])


def _in_gauge(scale: _Scale, side: _Side, options: EstimationOptions) -> Calibration:
    """Return the result on the requested scale."""
    sides = [
        (scale.rows, scale.row_se, scale.row_status),
        (scale.columns, scale.column_se, scale.column_status),
    ]
    if side.flipped:
        sides = [(-locations, se, status) for locations, se, status in reversed(sides)]
    (abilities, ability_se, ability_status), (difficulties, difficulty_se, difficulty_status) = sides
    chosen = sides[0 if options.gauge == "mean_ability" else 1]
    mean = [status == "estimated" for status in chosen[2]]
    shift = 0.0 if options.gauge == "anchors" or not any(mean) else float(chosen[0][mean].mean())
    factor = _correction(side, options)
    prior = scale.fit.prior
    if prior is not None:
        prior = ((-prior[0] if side.flipped else prior[0]) - shift, prior[1])
    return Calibration(
        abilities=factor * (abilities - shift),
        difficulties=factor * (difficulties - shift),
        ability_se=factor * ability_se,
        difficulty_se=factor * difficulty_se,
        ability_status=tuple(ability_status),
        difficulty_status=tuple(difficulty_status),
        log_likelihood=scale.fit.log_likelihood,
        iterations=scale.fit.iterations,
        residual=scale.fit.residual,
        gauge=options.gauge,
        method=options.method,
        prior=prior,
        scored="neither" if options.method == "jml" else "respondents" if side.flipped else "items",
        ability_covariance=None if side.flipped else factor**2 * scale.row_covariance,
        clusters=scale.clusters,
        design_effect=scale.design_effect,
    )


def _correction(side: _Side, options: EstimationOptions) -> float:
    """Return (n - 1)/n if joint estimates are stretched by n/(n - 1), or else 1.

    n is the mean number of trials of the side that has fewer of them; on a panel of models, of an item.
    """
    if options.bias_correction == "none":
        return 1.0
    total_trials = float(side.trials.sum(dtype=float)) * (side.successes.shape[1] if side.trials.shape[1] == 1 else 1)
    fewest = total_trials / max(side.successes.shape)
    return float((fewest - 1) / fewest)

"""Checks of the Rasch model by larger models and by splits of the data, with the names of models and items."""

from __future__ import annotations

from math import lcm

import numpy as np
from dia_language.diagnostics import DiaError
from dia_runtime.psychometrics.calibration_result import (
    NamedEstimate,
    PartialCreditReport,
    PlausibleDraws,
    SlopesReport,
    StepEntry,
    WaldReport,
    WaldTest,
)
from dia_runtime.psychometrics.panel import Panel
from dia_runtime.psychometrics.rasch.andersen import Andersen, wald
from dia_runtime.psychometrics.rasch.counts import Mask
from dia_runtime.psychometrics.rasch.estimate import Calibration, finite_or_none
from dia_runtime.psychometrics.rasch.partial_credit import (
    Ints,
    PartialCredit,
    binomial_tau,
    column_places,
    partial_credit,
)
from dia_runtime.psychometrics.rasch.plausible import plausible_values
from dia_runtime.psychometrics.rasch.slopes import group_slopes, item_slopes
from numpy.typing import NDArray

MOST_STEPS = 20  # steps of an item; finer shares of marks are not treated as steps


def wald_report(panel: Panel, split: str) -> WaldReport | None:
    """Return Wald's test of each model or item, the most certain first."""
    tests = wald(panel.successes, panel.trials, split)
    if tests is None:
        return None
    names = panel.items if tests.compared == "items" else panel.models
    entries = [WaldTest(names[entry.index], entry.difference, entry.se, entry.z, entry.p) for entry in tests.entries]
    return WaldReport(tests.compared, sorted(entries, key=lambda entry: entry.p))


def slopes_report(panel: Panel, families: NDArray[np.intp] | None) -> SlopesReport | None:
    """Return slopes of templates, or of items if there are many models and no templates."""
    if families is not None and len(np.unique(families)) < len(families):
        slopes = group_slopes(panel.successes, panel.trials, families)
        names = {int(family): about.template or "" for family, about in zip(families, panel.about, strict=True)}
        kind = "templates"
    else:
        slopes = item_slopes(panel.successes, panel.trials)
        names, kind = dict(enumerate(panel.items)), "items"
    if slopes is None:
        return None
    entries = [
        NamedEstimate(names[at], float(value), finite_or_none(se))
        for at, value, se in zip(slopes.index, slopes.values, slopes.errors, strict=True)
    ]
    return SlopesReport(kind, slopes.statistic, slopes.df, slopes.p, slopes.spread, entries)


def plausible_draws(panel: Panel, calibration: Calibration, number: int, seed: int) -> PlausibleDraws | None:
    """Return plausible values of all models and items; None for a method without a random side."""
    draws = plausible_values(calibration, panel.successes, panel.trials, number, seed)
    if draws is None:
        return None
    sides = (panel.models, draws.abilities), (panel.items, draws.difficulties)
    abilities, difficulties = (
        {name: values.tolist() for name, values in zip(names, drawn.T, strict=True) if np.isfinite(values).all()}
        for names, drawn in sides
    )
    return PlausibleDraws(abilities, difficulties)


def partial_credit_report(panel: Panel) -> PartialCreditReport | None:
    """Return the partial credit model of the marks; None if no item has several steps, or it has no estimates.

    With more items than models, abilities are estimated and the items of a template share their thresholds; otherwise
    each item has its own.
    """
    marks, steps = _marks(panel)
    if steps.max() < 2:
        return None
    is_flipped = len(panel.models) > len(panel.items)
    scores = marks.T if is_flipped else marks
    try:
        return _report(panel, scores, steps, is_flipped)
    except DiaError:
        return None


def _marks(panel: Panel) -> tuple[NDArray[np.intp], Ints]:
    """Return the score of each cell, -1 if missing, and the largest score of each item.

    Steps of an item are the smallest share of its marks that occurs, times its trials. A cell with fewer trials than
    others of its item is missing.
    """
    tried = np.broadcast_to(panel.trials, panel.successes.shape)
    scores, steps = panel.successes.copy(), np.ones(len(panel.items), dtype=np.intp)
    if panel.shares:
        for item, name in enumerate(panel.items):
            cells = {model: panel.shares.get((model, name), ()) for model in range(len(panel.models))}
            parts = lcm(*(share.denominator for shares in cells.values() for share in shares))
            if 1 < parts <= MOST_STEPS:
                steps[item] = parts
                scores[:, item] = [float(sum(shares) * parts) for shares in cells.values()]
    trials = tried.max(axis=0).astype(np.intp)
    is_whole = (tried == trials) & (trials > 0) & (scores == np.round(scores))
    return np.where(is_whole, scores, -1).astype(np.intp), np.maximum(steps * trials, 1)


def _report(panel: Panel, scores: NDArray[np.intp], steps: Ints, is_flipped: bool) -> PartialCreditReport | None:
    rows = _not_extreme(scores, steps[:, None] if is_flipped else steps[None, :])
    limits = steps[rows] if is_flipped else steps
    names = (
        [panel.items[row] for row in np.flatnonzero(rows)]
        if is_flipped
        else [about.template or f"items with {m} steps" for about, m in zip(panel.about, steps.tolist(), strict=True)]
    )
    labels = list(zip(names, limits.tolist(), strict=True))
    scores = scores[rows]
    labels = _with_all_scores(labels, scores.T if not is_flipped else scores)
    distinct = list(dict.fromkeys(labels))
    of = np.array([distinct.index(label) for label in labels], dtype=np.intp)
    sets, most = (of[:, None] if is_flipped else of[None, :]), np.array([m for _, m in distinct], dtype=np.intp)
    model = partial_credit(scores, sets, most)
    equal = partial_credit(scores, sets, most, binomial_tau(most))
    df = int((most - 1).sum())
    statistic = max(0.0, 2 * (model.log_likelihood - equal.log_likelihood))
    return _named(panel, model, scores, (rows, sets, most), distinct, Andersen(
        statistic, df, _tail(df, statistic), "items" if is_flipped else "models"
    ))  # fmt: skip


def _tail(df: int, statistic: float) -> float:
    from scipy.special import chdtrc

    return float(chdtrc(df, statistic)) if df else 1.0


def _not_extreme(scores: NDArray[np.intp], most: Ints) -> Mask:
    """Return the rows that have some marks, but not all, at the columns that are not extreme."""
    rows = np.ones(len(scores), dtype=bool)
    limits = np.where(scores >= 0, most, 0)
    marks = np.where(scores >= 0, scores, 0)
    while True:
        columns = (marks[rows].sum(axis=0) > 0) & (marks[rows].sum(axis=0) < limits[rows].sum(axis=0))
        totals = marks[:, columns].sum(axis=1)
        remaining = rows & (totals > 0) & (totals < limits[:, columns].sum(axis=1))
        if remaining.sum() == rows.sum():
            return rows
        rows = remaining


def _with_all_scores(labels: list[tuple[str, int]], scores: NDArray[np.intp]) -> list[tuple[str, int]]:
    """Return the sets of items, `scores` by items; a set without some score joins all sets with as many steps."""
    merged = list(labels)
    for label in dict.fromkeys(labels):
        inside = scores[[at for at, other in enumerate(labels) if other == label]]
        if any(not (inside == score).any() for score in range(1, label[1])):
            merged = [(f"items with {m} steps", m) if m == label[1] else (name, m) for name, m in merged]
    return merged


def _named(
    panel: Panel, model: PartialCredit, scores: NDArray[np.intp], parts: tuple[Mask, Ints, Ints],
    labels: list[tuple[str, int]], test: Andersen,
) -> PartialCreditReport:  # fmt: skip
    """Return the model with names, the mean difficulty at 0."""
    rows, sets, most = parts
    places = column_places(model, scores, sets, most)
    row_errors = np.sqrt(np.diag(model.covariance))[: len(model.rows)]
    is_flipped = test.compared == "items"
    origin = 0.0 if is_flipped else float(-places.values.mean())
    row_side = [
        NamedEstimate(
            (panel.items if is_flipped else panel.models)[row], (-value if is_flipped else value - origin), se
        )
        for row, value, se in zip(np.flatnonzero(rows), model.rows.tolist(), row_errors.tolist(), strict=True)
    ]
    column_side = [
        NamedEstimate(name, (value if is_flipped else -value - origin), se)
        for name, value, se in zip(
            panel.models if is_flipped else panel.items, places.values.tolist(), places.errors.tolist(), strict=True
        )
    ]
    thresholds = [
        StepEntry(name, (-np.diff(np.concatenate([[0.0], model.tau[at], [0.0]]))).tolist(), _errors(model, at))
        for at, (name, m) in enumerate(labels)
        if m > 1
    ]
    abilities, difficulties = (column_side, row_side) if is_flipped else (row_side, column_side)
    return PartialCreditReport(test, model.log_likelihood, abilities, difficulties, thresholds)


def _errors(model: PartialCredit, which: int) -> list[float]:
    """Return the errors of a set's thresholds, which are about the difficulty of its items."""
    positions = model.positions[which]
    slopes = np.zeros((len(positions) + 1, len(positions)))
    for at in range(len(positions)):
        slopes[at, at], slopes[at + 1, at] = -1.0, 1.0
    covariance = model.covariance[np.ix_(positions, positions)]
    return [float(value) for value in np.sqrt(np.einsum("ij,jk,ik->i", slopes, covariance, slopes))]

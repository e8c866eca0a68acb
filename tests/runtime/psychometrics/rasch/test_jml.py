"""Joint estimates: every way to a step gives the same places, and the scores are 0 there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dia_runtime.psychometrics.rasch import jml as module
from dia_runtime.psychometrics.rasch.counts import Counts, counts
from dia_runtime.psychometrics.rasch.jml import jml
from scipy.special import expit


def panel(missing: float, anchors: bool = False, rows: int = 12, columns: int = 60) -> Counts:
    """Counts of models at items, three trials a cell, none of them extreme."""
    generator = np.random.default_rng(5)
    chances = expit(np.linspace(-1.5, 1.5, rows)[:, None] - np.linspace(-1, 1, columns))
    trials = np.where(generator.random((rows, columns)) < missing, 0, 3).astype(float)
    successes = generator.binomial(trials.astype(int), chances).astype(float)
    known = np.full(columns, np.nan)
    known[:4] = [-1.0, -0.9, -0.5, 0.3]
    inside = (successes.sum(axis=0) > 0) & (successes.sum(axis=0) < trials.sum(axis=0))
    return counts(successes[:, inside], trials[:, inside], known[inside] if anchors else None)


def expected_totals(data: Counts, fit: Any) -> tuple[Any, Any]:
    chances = expit(fit.rows[:, None] - fit.columns)
    trials = np.broadcast_to(data.trials, chances.shape)
    return (trials * chances) @ data.weights, (trials * chances).sum(axis=0)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("anchors", [False, True])
def test_totals_are_what_is_expected_of_them(missing: float, anchors: bool) -> None:
    data = panel(missing, anchors)
    fit = jml(data)
    rows, columns = expected_totals(data, fit)
    free = np.isnan(data.anchors)
    assert np.abs(rows - data.row_totals).max() < 1e-8
    assert np.abs(columns - data.column_totals)[free].max() < 1e-8
    assert np.array_equal(fit.columns[~free], data.anchors[~free])
    assert fit.residual < 1e-8


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("free", [None, [True] * 9 + [False] * 3])
def test_conjugate_gradients_take_the_steps_of_the_dense_system(
    missing: float, free: list[bool] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = panel(missing)
    free_rows = None if free is None else np.array(free)
    fixed = np.linspace(-1.5, 1.5, data.rows)
    dense = jml(data, free_rows, fixed)
    steps = []
    conjugate = module._conjugate
    monkeypatch.setattr(module, "_conjugate", lambda *arguments: steps.append(1) or conjugate(*arguments))
    monkeypatch.setattr(module, "DENSE", 0)
    large = jml(data, free_rows, fixed)
    shift = 0.0 if free is not None else float((large.rows - dense.rows).mean())
    assert len(steps) <= dense.iterations + 2, "as many steps as with exact ones, or hardly more"
    assert np.abs(large.rows - shift - dense.rows).max() < 1e-8
    assert np.abs(large.columns - shift - dense.columns).max() < 1e-8
    assert large.covariance == pytest.approx(dense.covariance, abs=1e-8)
    if free_rows is not None:
        assert np.array_equal(large.rows[~free_rows], fixed[~free_rows])


@pytest.mark.parametrize(("dense", "is_dense"), [(12**2 * 20, True), (12**2 * 20 - 1, False)])
def test_a_system_is_written_out_up_to_its_size(dense: float, is_dense: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(1)
    successes = np.sort(generator.permuted(np.tile(np.arange(1, 21), (12, 1)), axis=1))[:, :20].astype(float)
    trials = np.full((12, 20), 30.0)
    trials[0, 0] = 29  # so that columns are not taken together
    data = counts(successes, trials)
    assert (data.rows, data.classes) == (12, 20)
    called = []
    for name in ("_schur", "_conjugate"):
        original = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, name=name, original=original: called.append(name) or original(*a))
    monkeypatch.setattr(module, "DENSE", dense)
    jml(data)
    assert ("_conjugate" in called) is not is_dense


def test_single_precision_of_the_information_changes_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    data = panel(0.3)
    double = jml(data)
    monkeypatch.setattr(module, "EXACT", 0)
    single = jml(data)
    assert np.abs(single.rows - double.rows).max() < 1e-8


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    data = panel(0.3)
    whole = jml(data)
    monkeypatch.setattr("dia_runtime.psychometrics.rasch.counts.BLOCK", data.rows * 7)
    blocks = jml(data)
    assert blocks.rows == pytest.approx(whole.rows, abs=1e-9)
    assert blocks.log_likelihood == pytest.approx(whole.log_likelihood, abs=1e-8)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_start_is_near_and_the_columns_are_about_0(missing: float) -> None:
    data = panel(missing)
    rows, columns = module._start(data, None, None)
    assert np.average(columns, weights=data.weights) == pytest.approx(0, abs=1e-12)
    share = data.row_totals / ((np.broadcast_to(data.trials, (data.rows, data.classes)) * data.weights).sum(axis=1))
    assert rows == pytest.approx(np.log(share / (1 - share)))
    assert jml(data).iterations <= 8


def test_totals_at_the_edge_start_a_third_of_a_reply_inside() -> None:
    start = module._logit(np.array([0.0, 10.0, 1.0, 5.0]), np.array([10.0, 10.0, 1.0, 10.0]))
    assert start == pytest.approx([np.log(0.3 / 9.7), np.log(9.7 / 0.3), np.log(0.75 / 0.25), 0.0])

"""Scales that are tied to given difficulties: what the ties hold together, and what is refused for want of one."""

from __future__ import annotations

import numpy as np
import pytest
from dia_language.diagnostics import DiaError
from dia_runtime import calibrate
from dia_runtime.psychometrics.rasch.newton import covariance, solve_free
from scipy.optimize import minimize
from scipy.special import log_expit

NONE = float("nan")
# Two pairs of models that share no item; items 1 and 3 are given.
SUCCESSES = [[2, 1, NONE, NONE], [1, 2, NONE, NONE], [NONE, NONE, 1, 2], [NONE, NONE, 2, 1]]
GIVEN = [-1.0, NONE, 0.5, NONE]


@pytest.mark.parametrize("method", ["jml", "mml_items", "mml_persons"])
def test_given_difficulties_tie_models_that_share_no_item(method: str) -> None:
    found = calibrate(SUCCESSES, 3, method=method, gauge="anchors", anchors=GIVEN)
    assert found.ability_status == ("estimated",) * 4
    assert found.difficulty_status == ("anchor", "estimated", "anchor", "estimated")
    assert np.isfinite(found.abilities).all() and found.difficulties[[0, 2]].tolist() == [-1.0, 0.5]


def test_models_that_only_given_difficulties_tie_stand_at_the_maximum() -> None:
    found = calibrate(SUCCESSES, 3, method="jml", gauge="anchors", anchors=GIVEN)
    counted = np.nan_to_num(np.array(SUCCESSES))
    tried = np.where(np.isnan(np.array(SUCCESSES)), 0, 3)

    def loss(locations: np.ndarray) -> float:
        logits = locations[:4, None] - np.array([-1.0, locations[4], 0.5, locations[5]])
        return float(-(counted * log_expit(logits) + (tried - counted) * log_expit(-logits)).sum())

    best = minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-8}).x
    assert found.abilities == pytest.approx(best[:4], abs=1e-5)
    assert found.difficulties[[1, 3]] == pytest.approx(best[4:], abs=1e-5)


@pytest.mark.parametrize("method", ["jml", "cml", "mml_items"])
def test_the_block_with_a_given_place_is_kept_though_another_is_larger(method: str) -> None:
    large = np.array([[1.0, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
    both = np.full((6, 6), NONE)
    both[:4, :4], both[4:, 4:] = large, [[1, 0], [0, 1]]
    found = calibrate(both, method=method, gauge="anchors", anchors=[NONE] * 4 + [2.0, NONE])
    assert found.ability_status == ("disconnected",) * 4 + ("estimated",) * 2
    assert found.difficulties[4] == 2.0 and np.isnan(found.abilities[:4]).all()


def test_a_scale_that_no_given_item_ties_is_refused() -> None:
    nobody_tried_it = [[NONE, 1, 0], [NONE, 0, 1]]
    with pytest.raises(DiaError, match="connects the models") as caught:
        calibrate(nobody_tried_it, gauge="anchors", anchors=[1.5, NONE, NONE])
    assert caught.value.exit_code == 2


def test_given_items_that_all_pass_tie_no_conditional_scale() -> None:
    with pytest.raises(DiaError, match="no models are connected"):
        calibrate([[1, 1, 0, 1], [1, 0, 1, 0], [1, 0, 1, 1]], method="cml", eliminate="items", gauge="anchors",
                  anchors=[1.5, NONE, NONE, NONE])  # fmt: skip


def test_information_that_is_none_is_told() -> None:
    nothing = np.zeros((2, 2))
    with pytest.raises(DiaError, match="do not determine"):
        solve_free(nothing, np.ones(2), None, False)
    with pytest.raises(DiaError, match="do not determine"):
        covariance(nothing, None, False)

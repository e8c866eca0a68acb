"""Estimates that the steps do not reach, and those that they reach as closely as numbers allow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dia_runtime.psychometrics.rasch import cml, jml, mml, newton
from dia_runtime.psychometrics.rasch.counts import counts
from helpers.failures import refusal
from scipy.special import expit

METHODS: dict[str, tuple[Any, Callable[..., Any]]] = {
    "jml": (jml, jml.jml),
    "cml": (cml, cml.cml),
    "mml": (mml, mml.mml),
}


def panel() -> Any:
    generator = np.random.default_rng(3)
    chances = expit(np.linspace(-1.5, 1.5, 6)[:, None] - np.linspace(-1, 1, 40))
    return counts(generator.binomial(3, chances).astype(float), np.full((6, 1), 3.0))


@pytest.mark.parametrize("method", METHODS)
def test_an_estimate_that_is_not_reached_is_an_error(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, estimate = METHODS[method]
    monkeypatch.setattr(module, "MOST", 1)
    refusal("E891", f"`{method}` does not converge: its scores still differ by", lambda: estimate(panel()))


@pytest.mark.parametrize("method", METHODS)
def test_an_estimate_that_rounding_keeps_from_the_tolerance_is_given(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The steps then end because none comes closer."""
    _, estimate = METHODS[method]
    usual = estimate(panel()).rows
    monkeypatch.setattr(newton, "ROUNDING", 2e-17)
    monkeypatch.setattr(METHODS[method][0], "MOST", 30)
    closest = estimate(panel(), tol=0.0)
    assert closest.iterations < 30
    assert closest.rows == pytest.approx(usual, abs=1e-9)

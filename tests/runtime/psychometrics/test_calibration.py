"""Banks have no digits that hang on the machine, and keep those of anchors."""

from __future__ import annotations

import json

import numpy as np
import pytest
from dia_runtime.psychometrics.calibration import CalibrationOptions, calibrate_panel
from dia_runtime.psychometrics.panel import ItemFacts, Panel
from dia_runtime.psychometrics.rasch.bank import as_record
from dia_runtime.psychometrics.rasch.estimate import EstimationOptions
from helpers.schemas import faults
from scipy.special import expit
from scipy.stats import t

SUCCESSES = np.array([[1.0, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0]])
PANEL = Panel(("a", "b", "c"), ("w", "x", "y", "z"), SUCCESSES, np.ones((3, 1)), "columns", (ItemFacts(),) * 4)
GIVEN = 0.123456789012345


def test_a_bank_has_nine_digits_behind_the_point() -> None:
    found = calibrate_panel(PANEL)
    items = [(entry.difficulty, entry.se, entry.infit, entry.outfit) for entry in found.bank.items]
    models = [(entry.ability, entry.se, entry.infit, entry.outfit) for entry in found.bank.models]
    values = [value for row in items + models for value in row if value is not None]
    assert len(values) == 4 * 7 and all(value == round(value, 9) for value in values)
    printed = [entry.value for entry in found.result.abilities]
    assert [entry.ability for entry in found.bank.models] == [round(value, 9) for value in printed]


def test_an_anchor_stays_as_it_was_given() -> None:
    bank = calibrate_panel(PANEL, CalibrationOptions(EstimationOptions(gauge="anchors"), {"w": GIVEN})).bank
    assert [entry.difficulty for entry in bank.items if entry.status == "anchor"] == [GIVEN]


def test_dependent_replies_widen_intervals_and_are_kept_in_the_bank() -> None:
    generator = np.random.default_rng(6)
    families = np.repeat(np.arange(30), 8)
    effects = generator.normal(0, 1, (5, 30))[:, families]
    chances = expit(np.linspace(-1, 1, 5)[:, None] + effects - generator.normal(0, 1, 240))
    scores = (generator.random(chances.shape) < chances).astype(float)
    items = tuple(f"t{family}/{at}" for at, family in enumerate(families))
    about = tuple(ItemFacts(template=f"t{family}") for family in families)
    panel = Panel(tuple("abcde"), items, scores, np.ones((5, 1)), "instances", about)
    clustered, independent = (calibrate_panel(panel, CalibrationOptions(cluster=way)) for way in ("templates", "none"))
    dependence = clustered.result.dependence
    assert dependence is not None and dependence.is_rejected and dependence.families == 30
    assert dependence.q3_within is not None and dependence.q3_within > dependence.q3_between + 0.05
    assert clustered.bank.family_sd == pytest.approx(1, abs=0.4)
    (wide, *_), (narrow, *_) = clustered.result.neighbors, independent.result.neighbors
    assert wide.value == narrow.value and wide.se > 1.2 * narrow.se
    assert wide.ci[1] - wide.value == pytest.approx(t.ppf(0.975, 29) * wide.se, rel=1e-9)
    assert faults("calibrate", {**json.loads(json.dumps(clustered.result.as_json())), "bank": "a.json"}) == []
    assert faults("bank", json.loads(json.dumps(as_record(clustered.bank)))) == []

"""Banks have no digits that hang on the machine, and keep those of anchors."""

from __future__ import annotations

import numpy as np
from dia_runtime.psychometrics.calibration import CalibrationOptions, calibrate_panel
from dia_runtime.psychometrics.panel import ItemFacts, Panel
from dia_runtime.psychometrics.rasch.estimate import EstimationOptions

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

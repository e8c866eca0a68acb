"""Replies of a real small model, recorded: its scale, a benchmark at its own 50 % point, and a second model's place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run
from helpers.recorded_replies import COPYING, PANEL, SEQUENCES, TEMPERATURES, recorded

Dia = Callable[..., Any]


@pytest.fixture
def dia(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Dia:
    """Runs a command with --json and gives its JSON."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Any:
        capsys.readouterr()
        code = run([*arguments, "--json"])
        out, messages = capsys.readouterr()
        assert code == 0, messages
        return json.loads(out)

    return call


@pytest.fixture
def panel(dia: Dia) -> dict[str, float]:
    """A calibrated bank with predictions, bank.json; the abilities of the small model by temperature."""
    dia("compile", str(COPYING), "--k", "30", "-o", "out")
    models = [argument for degrees in TEMPERATURES for argument in ("--model", recorded("panel", degrees))]
    dia("run", "out/copying-1.0.0-k30", *models, "-o", "panel.run")
    bank = dia("calibrate", "panel.run", "-o", "plain.json")
    dia("explain", "panel.run", "--bank", "plain.json", "--save", "bank.json")
    return {entry["name"].split()[-2]: entry["value"] for entry in bank["abilities"]}


def test_a_higher_temperature_copies_worse(panel: dict[str, float]) -> None:
    assert panel == pytest.approx({"0": 0.09, "0.5": -1.04, "1": -2.02, "1.5": -2.44}, abs=0.01)


@pytest.mark.parametrize("target", ["0.5", "0.3"])
def test_instances_that_were_chosen_for_a_success_have_it(dia: Dia, panel: dict[str, float], target: str) -> None:
    chosen = ["--success", target, "--for", recorded("panel", 0), "--bank", "bank.json"]
    (bundle,) = dia("compile", str(COPYING), "--k", "30", "--seed", "1", *chosen)["bundles"]
    dia("run", bundle["path"], "--model", recorded(f"success {target}", 0), "-o", "edge.run")
    (model,) = dia("score", "edge.run")["models"]
    assert model["counts"]["correct"] / 30 == pytest.approx(float(target), abs=0.1)


def test_a_temperature_in_between_is_placed_in_between(dia: Dia, panel: dict[str, float]) -> None:
    (placed,) = dia(
        "place", "--bank", "bank.json", "--bundle", "out/copying-1.0.0-k30", "--model", recorded("placed", 0.7),
        "-o", "placed.run", "--se", "0.5", "--budget", "30", "--concurrency", "1",
    )["models"]  # fmt: skip
    assert panel["1"] < placed["ability"] < panel["0.5"]


def observed(dia: Dia, target: str, k: int, degrees: float) -> tuple[float, float]:
    """Return the predicted and the observed success of sequences that were chosen for a model."""
    chosen = ["--success", target, "--for", recorded("plain", degrees, SEQUENCES), "--bank", "bank.json"]
    (bundle,) = dia("compile", str(SEQUENCES), "--k", str(k), "--seed", "1", *chosen)["bundles"]
    run_file = f"{target}-{degrees}.run"
    dia("run", bundle["path"], "--model", recorded(f"success {target}", degrees, SEQUENCES), "-o", run_file)
    (model,) = dia("score", run_file)["models"]
    return bundle["steering"]["success"]["mean"], model["counts"]["correct"] / k


def test_sequences_whose_length_was_chosen_for_a_success_have_it(dia: Dia) -> None:
    dia("compile", str(SEQUENCES), "--k", "60", "-o", "out")
    models = [word for run, degrees in PANEL for word in ("--model", recorded(run, degrees, SEQUENCES))]
    dia("run", "out/sequences-1.0.0-k60", *models, "-o", "panel.run")
    dia("calibrate", "panel.run", "-o", "plain.json")
    explanation = dia("explain", "panel.run", "--bank", "plain.json", "--save", "bank.json")
    (length,) = (effect for effect in explanation["effects"] if effect["name"] == "sequence.animals (length)")
    assert length["value"] > 5 * length["se"]
    for target, k in (("0.3", 40), ("0.5", 32), ("0.65", 24)):
        predicted, success = observed(dia, target, k, 0.4)
        assert predicted == pytest.approx(float(target), abs=0.02)
        assert success == pytest.approx(float(target), abs=0.11)  # the standard error is 0.08 to 0.10
    # At temperature 0, success falls faster with the length than in the panel as a whole.
    low, middle, high = (observed(dia, target, 40, 0)[1] for target in ("0.3", "0.52", "0.7"))
    assert low < 0.15 < middle < 0.85 < high

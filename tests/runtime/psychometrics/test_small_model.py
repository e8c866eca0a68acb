"""Replies of a real small model, recorded: its scale, a benchmark at its own 50 % point, and a second model's place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run
from helpers.recorded_replies import COPYING, TEMPERATURES, recorded

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
    return {entry["name"].split()[-1]: entry["value"] for entry in bank["abilities"]}


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

"""Replies of a real small model, recorded: its scale, a benchmark at its own 50 % point, and a second model's place."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run
from helpers.recorded_replies import COPYING, PANEL, SEQUENCES, TEMPERATURES, recorded

Dia = Callable[..., Any]


def printed(*arguments: str) -> Any:
    """What a command prints with --json."""
    out, messages = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(messages):
        code = run([*arguments, "--json"])
    assert code == 0, messages.getvalue()
    return json.loads(out.getvalue())


@pytest.fixture
def dia(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dia:
    """Runs a command with --json in a folder of the test's own, and gives its JSON."""
    monkeypatch.chdir(tmp_path)
    return printed


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, float]]:
    """A folder with a bundle and a calibrated bank with predictions; the abilities of the small model by temperature."""
    folder = tmp_path_factory.mktemp("calibrated")
    with contextlib.chdir(folder):
        printed("compile", str(COPYING), "--k", "30", "-o", "out")
        models = [argument for degrees in TEMPERATURES for argument in ("--model", recorded("panel", degrees))]
        printed("run", "out/copying-1.0.0-k30", *models, "-o", "panel.run")
        bank = printed("calibrate", "panel.run", "-o", "plain.json")
        printed("explain", "panel.run", "--bank", "plain.json", "--save", "bank.json")
    return folder, {entry["name"].split()[-2]: entry["value"] for entry in bank["abilities"]}


@pytest.fixture
def panel(dia: Dia, calibrated: tuple[Path, dict[str, float]]) -> dict[str, float]:
    """Those abilities; the bank, bank.json, and the bundle are in the test's own folder."""
    folder, abilities = calibrated
    shutil.copy(folder / "bank.json", "bank.json")
    shutil.copytree(folder / "out", "out")
    return abilities


@pytest.mark.long
def test_a_higher_temperature_copies_worse(panel: dict[str, float]) -> None:
    assert panel == pytest.approx({"0": 0.09, "0.5": -1.04, "1": -2.02, "1.5": -2.44}, abs=0.01)


@pytest.mark.long
@pytest.mark.parametrize("target", ["0.5", "0.3"])
def test_instances_that_were_chosen_for_a_success_have_it(dia: Dia, panel: dict[str, float], target: str) -> None:
    chosen = ["--success", target, "--for", recorded("panel", 0), "--bank", "bank.json"]
    (bundle,) = dia("compile", str(COPYING), "--k", "30", "--seed", "1", *chosen)["bundles"]
    dia("run", bundle["path"], "--model", recorded(f"success {target}", 0), "-o", "edge.run")
    (model,) = dia("score", "edge.run")["models"]
    assert model["counts"]["correct"] / 30 == pytest.approx(float(target), abs=0.1)


@pytest.mark.long
def test_a_temperature_in_between_is_placed_in_between(dia: Dia, panel: dict[str, float]) -> None:
    (placed,) = dia(
        "place", "--bank", "bank.json", "--bundle", "out/copying-1.0.0-k30", "--model", recorded("placed", 0.7),
        "-o", "placed.run", "--se", "0.5", "--budget", "30", "--concurrency", "1",
    )["models"]  # fmt: skip
    assert panel["1"] < placed["ability"] < panel["0.5"]


def observed(dia: Dia, target: str, k: int, degrees: float, endings: tuple[str, ...] = ("",)) -> tuple[float, float]:
    """Return the predicted and the observed success of sequences that were chosen for a model, over recorded runs."""
    chosen = ["--success", target, "--for", recorded("plain", degrees, SEQUENCES), "--bank", "bank.json"]
    (bundle,) = dia("compile", str(SEQUENCES), "--k", str(k), "--seed", "1", *chosen)["bundles"]
    correct = 0
    for ending in endings:
        run_file = f"{target}-{degrees}{ending}.run"
        asked = recorded(f"success {target}{ending}", degrees, SEQUENCES)
        dia("run", bundle["path"], "--model", asked, "-o", run_file)
        (model,) = dia("score", run_file)["models"]
        correct += model["counts"]["correct"]
    return bundle["steering"]["success"]["mean"], correct / k / len(endings)


@pytest.mark.long
def test_sequences_whose_length_was_chosen_for_a_success_have_it(dia: Dia) -> None:
    dia("compile", str(SEQUENCES), "--k", "120", "-o", "out")
    models = [word for run, degrees in PANEL for word in ("--model", recorded(run, degrees, SEQUENCES))]
    dia("run", "out/sequences-1.0.0-k120", *models, "-o", "panel.run")
    dia("calibrate", "panel.run", "-o", "plain.json")
    explanation = dia("explain", "panel.run", "--bank", "plain.json", "--save", "bank.json")
    (length,) = (effect for effect in explanation["effects"] if effect["name"] == "sequence.animals (length)")
    assert length["value"] > 5 * length["se"]
    # At temperature 0, success falls faster with the length than in the panel as a whole.
    steepest, *others = sorted(explanation["slopes"], key=lambda entry: -entry["slope"])
    assert steepest["model"] == recorded("plain", 0, SEQUENCES) and steepest["ci"][0] > 1.5
    assert all(entry["ci"][0] < 1 < entry["ci"][1] for entry in others)
    for target, k in (("0.15", 40), ("0.45", 40), ("0.88", 32)):
        predicted, success = observed(dia, target, k, 0)
        assert predicted == pytest.approx(float(target), abs=0.03)
        assert success == pytest.approx(predicted, abs=0.05)
    for target, k, endings in (("0.3", 40, ("",)), ("0.5", 24, ("", " again")), ("0.65", 12, ("", " again"))):
        predicted, success = observed(dia, target, k, 0.4, endings)
        assert predicted == pytest.approx(float(target), abs=0.03)
        assert success == pytest.approx(predicted, abs=0.1)  # the standard error is 0.07 to 0.10

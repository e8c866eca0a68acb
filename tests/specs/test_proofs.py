"""Every shipped family has a line in the table of proofs and measured figures, and no answer of it is worth guessing."""

from __future__ import annotations

import importlib.util
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers.places import ROOT

FAMILIES = [path.stem.partition("_")[2] for path in sorted((ROOT / "specs" / "dia_bench").glob("d*.yaml"))]
TABLE: dict[str, dict[str, str]] = yaml.safe_load((Path(__file__).parent / "proofs.yaml").read_text("utf-8"))
FIGURES: dict[str, Any] = json.loads((ROOT / "docs" / "families.json").read_text("utf-8"))
MOST, USUAL = Fraction(1, 2), Fraction(1, 4)


def shares() -> dict[str, Fraction]:
    """The share of the commonest answer of each family."""
    return {name: Fraction(held["answers"]["commonest_share"]) for name, held in FIGURES.items()}


def test_the_table_of_proofs_is_complete_and_in_the_order_of_the_families() -> None:
    assert list(TABLE["proofs"]) == FAMILIES
    assert all(0 < len(phrase) <= 90 and phrase == phrase.strip(" .") for phrase in TABLE["proofs"].values())


def test_every_family_is_measured() -> None:
    assert list(FIGURES) == FAMILIES, "run `python docs/measure_families.py NAME` for each family that is missing"
    assert [held["number"] for held in FIGURES.values()] == list(range(1, len(FAMILIES) + 1))


@pytest.mark.long
def test_figures_are_what_is_measured() -> None:
    spec = importlib.util.spec_from_file_location("measure_families", ROOT / "docs" / "measure_families.py")
    assert spec is not None and spec.loader is not None
    measuring = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(measuring)
    few = {"small_sum", "polygon_angles"}
    paths = [path for name, path in measuring.families().items() if name in few]
    assert measuring.measured(paths) == {name: FIGURES[name] for name in few}


@pytest.mark.parametrize("name", FAMILIES)
def test_no_answer_is_worth_guessing_and_a_common_one_has_its_reason(name: str) -> None:
    share = shares()[name]
    assert share <= MOST
    assert (name in TABLE["common"]) == (share > USUAL)

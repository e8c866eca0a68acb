"""What every shipped template must have, and what the templates must use between them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dia_language.functions import library
from helpers.places import ROOT
from helpers.yaml_files import content

SPECS = ROOT / "specs"
TEMPLATES = sorted(
    path for path in SPECS.rglob("*.yaml") if path.name != "benchmark.yaml" and path.parent.name != "catalogs"
)
FAMILIES = [path for path in TEMPLATES if path.parent.name in ("dia_bench", "algebra", "puzzles", "know_thyself")]
MODULES = {"number_theory", "linear_algebra", "calculus", "sequence", "text", "encoding", "hashing"}


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_template_has_its_facts(path: Path) -> None:
    spec: dict[str, Any] = content(path)
    assert {"title", "category", "domain", "level", "skills"} <= set(spec)


@pytest.mark.parametrize("path", FAMILIES, ids=lambda path: path.stem)
def test_a_family_has_checks_an_example_and_its_name(path: Path) -> None:
    spec: dict[str, Any] = content(path)
    assert spec["checks"] and any("answer" in example for example in spec["examples"])
    assert path.stem == (f"d{spec['number']:03d}_" if "number" in spec else "") + spec["template"]


@pytest.mark.parametrize("path", FAMILIES, ids=lambda path: path.stem)
def test_a_family_shows_spellings_that_are_accepted_and_answers_that_are_not(path: Path) -> None:
    spec: dict[str, Any] = content(path)
    replies = [example.get("replies", {}) for example in spec["examples"]]
    accepted = sum(len(example.get("accepts", ())) for example in spec["examples"])
    rejected = sum(len(example.get("rejects", ())) for example in spec["examples"])
    assert accepted + sum(len(held.get("correct", ())) for held in replies) >= 3
    assert rejected + sum(len(held.get("wrong", ())) for held in replies) >= 1


def test_the_templates_use_every_field_of_functions_and_none_is_left_out(shipped: Path) -> None:
    # that every single function and type has a use is held by tests/test_tour.py, of these and of the tour together
    manifest = json.loads((shipped / "manifest.json").read_bytes())
    assert {library()[name].module for name in manifest["functions"]} >= MODULES
    assert manifest["left_out"] == []

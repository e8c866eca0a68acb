"""Templates as workers get them, with less of their files, are prepared as whole ones are."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from dia_compiler.analyze.check import CheckedBenchmark, check
from dia_compiler.analyze.prepare import prepare
from dia_compiler.parse.discover import discover
from dia_compiler.parse.model import Template
from dia_language.diagnostics import Diagnostic, Diagnostics, Position
from helpers.examples import examples
from helpers.places import ROOT

BENCHMARK = "benchmark: small\ntitle: Small\nversion: 1.0.0\nlicense: CC0-1.0\nseed: a\n"
CROSSED = """template: crossed
title: Names that are wrong
params:
  a: {type: integer, min: 1, max: 9}
  b: {type: no_such_type}
let:
  a: 1
  c: [1, 2]
assets:
  d: {build: no_such_builder}
  f: {build: csv, rows: '[[1]]'}
deliver: {g: file}
slots:
  c: "{{ a }}"
answer: {value: a + c + e + b + d, type: integer}
prompt: "{{ a }} {{ h }}"
"""


def made(item: CheckedBenchmark, template: Template) -> tuple[list[Diagnostic], list[Position | None]]:
    faults = Diagnostics()
    prepared = prepare(template, item.benchmark, faults, item.lists_of(template), item.programs)
    return faults.entries, list(prepared.places.values())


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param("dia_bench", marks=pytest.mark.long),
        "algebra",
        "puzzles",
        "know_thyself",
        "idk",
        "self_execution",
        "boundary",
    ],
)
def test_shipped_templates_are_prepared_as_whole_ones_are(folder: str) -> None:
    [item] = check(discover([ROOT / "specs" / folder]), defers=True).benchmarks
    step = -(-len(item.clean) // examples(len(item.clean)))
    for template in item.clean[::step]:
        folded = pickle.loads(pickle.dumps(template.folded))
        assert made(item, folded) == made(item, template)
        assert len(pickle.dumps(folded)) < len(pickle.dumps(template))


def test_what_is_wrong_with_names_is_told_alike(tmp_path: Path) -> None:
    (tmp_path / "benchmark.yaml").write_text(BENCHMARK)
    (tmp_path / "crossed.yaml").write_text(CROSSED)
    [item] = check(discover([tmp_path]), defers=True).benchmarks
    [template] = item.benchmark.templates
    found, _ = made(item, template)
    assert {entry.code for entry in found} >= {"E303", "E310"}
    assert made(item, template.folded)[0] == found
    assert template.folded.broken == template.broken >= {"b", "c", "d"}

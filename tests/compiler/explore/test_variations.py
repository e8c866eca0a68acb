"""Templates that are moved: what of them can be, and that what comes of it is a spec."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from dia_compiler.analyze.check import check
from dia_compiler.commands.cli import run
from dia_compiler.explore.variations import Moves, moves_of
from dia_compiler.parse.discover import discover
from dia_language.diagnostics import DiaError
from dia_runtime.psychometrics.boundary.space import Cell
from dia_runtime.psychometrics.rasch.bank import Bank, BankItem, BankModel, write_bank
from helpers.places import ROOT

BENCHMARK = "language: 1\nbenchmark: mine\nversion: 1.0.0\n"
TEMPLATE = """template: several
title: Several
category: arithmetic
params:
  n: {type: integer, min: 1, max: "= 10**4"}
  numbers: {type: list, length: {min: 2, max: 20}, of: {type: integer, min: 10, max: 999}}
  key: {type: string, alphabet: [a, b], length: 8}
  told: {type: string, alphabet: [a, b], length: 5}
  many: {type: integer, min: 3, max: = n + 3}
answer: {value: n + sum(numbers) + many, type: integer}
prompt: What is {{ n }} + {{ numbers | join(" + ") }} + {{ many }}? Leave {{ key }} and the 5 letters {{ told }} alone.
examples:
  - params: {n: 5}
"""
RULES = """template: rules
title: Rules
params:
  size: {type: integer, min: 1, max: 2}
  rules: {type: subset, of: {type: entry, of: rule}, size: = size, apart: group}
catalogs:
  rule:
    faces: {worth: expression}
    entries:
      one: {group: small, worth: 1}
      # a note
      two:
        group: small
        worth: 2
      ten: {worth: 10}
answer: {value: "sum([worth(rule) for rule in rules])", type: integer}
prompt: "{{ rules | length }}"
"""
Make = Callable[..., Moves]


@pytest.fixture
def moves(tmp_path: Path) -> Make:
    """What can be moved of a template that is given as text."""

    def made(text: str, *wanted: str) -> Moves:
        (tmp_path / "benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
        (tmp_path / "it.yaml").write_text(text, encoding="utf-8")
        found = check(discover([tmp_path / "it.yaml"]))
        assert not found.diagnostics.errors
        return moves_of(found.benchmarks[0], found.benchmarks[0].clean[0], wanted)

    return made


def test_numbers_of_types_are_moved_and_those_that_a_prompt_tells_are_not(moves: Make) -> None:
    found = moves(TEMPLATE)
    names = {knob.name: [level.name for level in knob.levels] for knob in found.knobs}
    assert names["n"] == ["1 to 9", "10 to 99", "100 to 999", "1000 to 10000"]
    assert names["numbers.of"] == ["10 to 99", "100 to 999"]
    assert names["numbers.length"][:3] == ["2", "3", "4"] and "8" in names["key.length"]
    assert set(names) == {"n", "numbers.length", "numbers.of", "key.length"}  # 5 letters are told, many has no end
    assert moves(TEMPLATE, "numbers").space.dimensions[0].name == "numbers.length"


def test_a_moved_template_says_its_level_and_nothing_else_changes(moves: Make) -> None:
    found = moves(TEMPLATE)
    cell = Cell(tuple(knob.start for knob in found.knobs))
    at = [knob.name for knob in found.knobs].index("n")
    cell = replace(cell, levels=(*cell.levels[:at], 2, *cell.levels[at + 1 :]))
    files = found.moved(cell, "several_x001")
    first, last = yaml.safe_load(TEMPLATE), yaml.safe_load(files["several_x001.yaml"])
    assert (last["template"], last["params"]["n"]) == ("several_x001", {"type": "integer", "min": 100, "max": 999})
    assert last["params"]["key"] == first["params"]["key"] and last["prompt"] == first["prompt"]
    assert "examples" not in last and set(first) - set(last) == {"examples"}


def test_entries_are_added_and_dropped_by_their_lines(moves: Make) -> None:
    found = moves(RULES)
    space = found.space
    assert [skill.name for skill in space.skills] == ["one", "two", "ten"] and (space.fewest, space.most) == (1, 2)
    assert not space.allows([0, 1]) and space.allows([1, 2])  # of one group there is one
    held = yaml.safe_load(found.moved(Cell((), (1, 2)), "rules_x002")["rules_x002.yaml"])
    assert list(held["catalogs"]["rule"]["entries"]) == ["two", "ten"]
    assert held["params"]["size"] == {"type": "integer", "min": 2, "max": 2} and held["prompt"]


CHOICES = """template: choices
title: Choices
params:
  n: {type: integer, min: 1, max: 9}
  greeting: {type: choice, of: ["Say: \\"hi\\"", "", two]}
  computed: {type: choice, of: ["= 'a'", b]}
  loud: {type: boolean}
  row: {type: row, from: rows.jsonl, id: = row.id}
where: n != 5
answer: {value: n, type: integer}
prompt: "{{ greeting }} {{ n }} {{ loud }} {{ computed }} {{ row.text }}"
examples: []
"""
ROWS = [{"id": at, "text": f"text {at}", "kind": "ab"[at % 2], "level": at // 4, "share": 0.5} for at in range(8)]


@pytest.mark.parametrize(
    ("wanted", "level", "holds"),
    [
        ("greeting", 0, lambda p: p["greeting"] == 'Say: "hi"'),
        ("greeting", 1, lambda p: p["greeting"] == ""),
        ("loud", 1, lambda p: p["loud"] is True),
        ("row.kind", 1, lambda p: p["row"]["record"]["kind"] == "b"),
        ("row.level", 0, lambda p: p["row"]["record"]["level"] == 0),
    ],
)
def test_choices_and_categories_of_rows_are_fixed_by_a_condition(
    wanted: str, level: int, holds: Callable[[Any], bool], moves: Make, tmp_path: Path
) -> None:
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    assert [knob.name for knob in moves(CHOICES).knobs] == ["n"]  # the others only where they are named
    found = moves(CHOICES, wanted)
    files = found.moved(Cell((level,)), "choices_x001")
    (tmp_path / "it.yaml").write_text(files["choices_x001.yaml"], encoding="utf-8")
    assert run(["compile", str(tmp_path / "it.yaml"), "--k", "12", "-o", str(tmp_path / "b"), "-q"]) == 0
    rows = [
        json.loads(line) for line in next(tmp_path.glob("b/*/answers.jsonl")).read_text(encoding="utf-8").splitlines()
    ]
    assert len(rows) == 12 and all(holds(row["parameters"]) and row["parameters"]["n"] != 5 for row in rows)


def test_what_could_be_named_is_listed(moves: Make, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    with pytest.raises(DiaError) as caught:
        moves(CHOICES, "row.text")
    listed = "`n`, `greeting`, `loud`, `row.kind`, `row.level`"
    assert caught.value.diagnostics[0].help == f"the options that can be varied: {listed}"


@pytest.mark.parametrize("name", ["boundary/instructions", "dia_bench/d109_edit_script"])
def test_shipped_templates_stay_specs_when_they_are_moved(name: str, tmp_path: Path) -> None:
    path = next((ROOT / "specs").glob(f"{name.rpartition('_')[0] or name}*.yaml"), ROOT / "specs" / f"{name}.yaml")
    item = check(discover([path])).benchmarks[0]
    found = moves_of(item, item.clean[0])
    cell = found.space.draw(np.random.Generator(np.random.PCG64(3)))
    for place, text in found.moved(cell, "moved_x001").items():
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(text, encoding="utf-8")
    (tmp_path / "benchmark.yaml").write_bytes((path.parent / "benchmark.yaml").read_bytes())
    assert [entry.message for entry in check(discover([tmp_path])).diagnostics.errors] == []


# what cannot be explored


@pytest.fixture
def explore(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Exit code and messages of `dia explore` on a template, in a folder with a bank."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
    items = (BankItem("a", 0.0, 0.2), BankItem("b", 1.0, 0.2))
    write_bank(
        Bank(items, (BankModel("known", 0.5, 0.2),), "mml-items", "mean_difficulty", unit="templates"), "bank.json"
    )

    def call(text: str, *arguments: str) -> tuple[int, str]:
        Path("mine/it.yaml").write_text(text, encoding="utf-8")
        capsys.readouterr()
        code = run(["explore", "mine/it.yaml", "--bank", "bank.json", "--model", "oracle", "-o", "out", *arguments])
        return code, capsys.readouterr().err

    return call


FIXED = "template: fixed\ntitle: Fixed\nparams:\n  x: {type: boolean}\nanswer: {value: x, type: boolean}\nprompt: Is {{ x }} true?\n"
GIVEN = TEMPLATE.replace("params:", "each: n\nparams:", 1).replace('"= 10**4"', "10")


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        (FIXED, ["--ability", "0"], "mine/it.yaml:1:11: error[E897]: `fixed` has nothing that varies by default"),
        (FIXED, ["--ability", "0"], "help: write bounds, a length or a size of a parameter as plain numbers"),
        (GIVEN, ["--ability", "0"], "mine/it.yaml:1:11: error[E897]: `several` cannot be explored: it has `each`"),
        (
            TEMPLATE,
            [],
            "error[E897]: the ability of `oracle` is unknown: it has no replies in the bank\n  help: place it",
        ),
        (
            TEMPLATE,
            ["--ability", "0", "--move", "many"],
            "error[E897]: `many` cannot be varied in `several`\n  help: the",
        ),
        (TEMPLATE, ["--ability", "0", "--temperature", "0,1"], "search needs exactly one model\n  help: give only one"),
        (TEMPLATE, ["--ability", "0", "-o", "bank.json"], "error[E897]: `bank.json` is not a folder\n  help: choose"),
        (TEMPLATE.replace("n + sum", "m + sum"), ["--ability", "0"], "error[E303]: unknown name `m`"),
    ],
)
def test_what_cannot_be_explored_is_told(
    explore: Callable[..., Any], text: str, arguments: list[str], words: str
) -> None:
    code, messages = explore(text, *arguments)
    assert (code, words in messages) == (2, True), messages
    assert not Path("out").exists() and "Traceback" not in messages


def test_a_bank_of_another_version_and_another_folder_are_refused(explore: Callable[..., Any]) -> None:
    held = json.loads(Path("bank.json").read_text(encoding="utf-8"))
    Path("bank.json").write_text(json.dumps({**held, "version": 9}), encoding="utf-8")
    assert explore(TEMPLATE, "--ability", "0")[0] == 3
    Path("bank.json").write_text(json.dumps(held), encoding="utf-8")
    Path("out").mkdir()
    Path("out/mine.txt").write_text("mine", encoding="utf-8")
    code, messages = explore(TEMPLATE, "--ability", "0")
    error = "error[E897]: `out` contains something else\n  help: choose another folder with `-o`"
    assert (code, error in messages) == (2, True)
    assert [path.name for path in Path("out").iterdir()] == ["mine.txt"]

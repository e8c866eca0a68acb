"""The worked plug-in of the docs, installed as a package: its function, type and format work in every command."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.places import ROOT

PACKAGE = ROOT / "docs" / "examples" / "dia-dice"
BENCHMARK = "language: 2\nbenchmark: games\nversion: 1.0.0\nformat: {kind: arrow}\n"
TEMPLATE = """\
template: throw
title: A throw
params:
  thrown: {type: dice, number: 3}
  word: {type: string, alphabet: abcde, length: 6}
answer: {value: sum(thrown) + vowel_count(word), type: integer}
assets:
  picture: {build: drawn_dice, dice: = thrown}
checks:
  - answer == count(picture, ".") + length([c for c in characters(word) if c in "ae"])
prompt: |
  Add the dots and the vowels of {{ word }}.
  {{ picture }}
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages with the plug-in in it, as pip installs it."""
    pytest.importorskip("hatchling", reason="pip builds the plug-in with hatchling, which is not installed")
    target = tmp_path_factory.mktemp("packages")
    source = tmp_path_factory.mktemp("source") / "dia-dice"
    source.mkdir()
    for path in PACKAGE.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            (source / path.relative_to(PACKAGE)).parent.mkdir(parents=True, exist_ok=True)
            (source / path.relative_to(PACKAGE)).write_bytes(path.read_bytes())
    options = ("--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--target", str(target))
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True, capture_output=True)
    return target


def dia(work: Path, packages: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What a command does with the packages on the path."""
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    command = [sys.executable, "-m", "dia_compiler", *arguments]
    return subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)


def specs(work: Path) -> None:
    (work / "specs").mkdir()
    (work / "specs" / "benchmark.yaml").write_text(BENCHMARK)
    (work / "specs" / "throw.yaml").write_text(TEMPLATE)


def test_a_benchmark_uses_what_the_package_adds(tmp_path: Path, installed: Path) -> None:
    specs(tmp_path)
    made = dia(tmp_path, installed, "compile", "specs", "--k", "4", "--json", "-o", "out")
    assert made.returncode == 0, made.stderr
    bundle = tmp_path / json.loads(made.stdout)["bundles"][0]["path"]
    questions = [json.loads(line) for line in (bundle / "questions.jsonl").read_text().splitlines()]
    assert all("End with a line `=> ...`" in question["messages"][0]["content"] for question in questions)
    manifest = json.loads((bundle / "manifest.json").read_text())
    assert manifest["types"]["dice"] == 1 and manifest["functions"]["vowel_count"] == 1
    assert manifest["builders"] == {"drawn_dice": 1}
    assert json.loads((bundle / "provenance.json").read_text())["plugins"] == {"dia-dice": "1.0.0"}
    ran = dia(tmp_path, installed, "run", str(bundle), "--model", "oracle", "-o", "oracle.run")
    assert ran.returncode == 0, ran.stderr
    scored = dia(tmp_path, installed, "score", "oracle.run", "--json")
    assert json.loads(scored.stdout)["models"][0]["counts"]["correct"] == 4
    exported = dia(tmp_path, installed, "export", str(bundle), "--to", "table", "-o", "table")
    assert exported.returncode == 0, exported.stderr
    rows = list(csv.reader((tmp_path / "table" / "questions.csv").open(encoding="utf-8", newline="")))
    assert [row[0] for row in rows] == [question["id"] for question in questions]
    assert all("." in row[1] and int(row[2]) >= 3 for row in rows)


def bundle_of(work: Path) -> Path:
    """A bundle that needs no package."""
    (work / "plain").mkdir()
    (work / "plain" / "benchmark.yaml").write_text("language: 1\nbenchmark: plain\n")
    template = "template: one\ntitle: One\nparams: {n: {type: integer, min: 1, max: 99}}\n"
    (work / "plain" / "one.yaml").write_text(
        template + 'answer: {value: n + 1, type: integer}\nprompt: "{{ n }} + 1?"\n'
    )
    made = dia(work, work / "none", "compile", "plain", "--json", "-o", "plain-out")
    return work / str(json.loads(made.stdout)["bundles"][0]["path"])


def test_the_package_of_a_template_s_own_format_is_named(tmp_path: Path, installed: Path) -> None:
    specs(tmp_path)
    (tmp_path / "specs" / "benchmark.yaml").write_text(BENCHMARK.replace("format: {kind: arrow}\n", ""))
    own = "template: own\ntitle: Own\nformat: {kind: arrow}\nparams: {n: {type: integer, min: 1, max: 99}}\n"
    (tmp_path / "specs" / "throw.yaml").write_text(
        own + 'answer: {value: n + 1, type: integer}\nprompt: "{{ n }} + 1?"\n'
    )
    made = dia(tmp_path, installed, "compile", "specs", "--json", "-o", "out")
    bundle = tmp_path / json.loads(made.stdout)["bundles"][0]["path"]
    assert json.loads((bundle / "provenance.json").read_text())["plugins"] == {"dia-dice": "1.0.0"}


def test_the_screens_know_it(tmp_path: Path, installed: Path) -> None:
    assert "vowels (a, e, i, o, u)" in dia(tmp_path, installed, "functions", "vowel_count").stdout
    assert "a throw of several dice" in dia(tmp_path, installed, "types", "dice").stdout
    assert "a throw of dice as rows of dots" in dia(tmp_path, installed, "types", "drawn_dice").stdout


def test_without_the_package_its_names_are_unknown(tmp_path: Path) -> None:
    specs(tmp_path)
    told = dia(tmp_path, tmp_path / "none", "check", "specs")
    assert told.returncode == 2
    assert "unknown type `dice`" in told.stderr and "`kind` must be" in told.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("group", "name", "code", "message"),
    [
        ("functions", "gcd", "def thing(n: int) -> int:\n    'One.'\n    return n\n", "the name is already taken"),
        ("functions", "odd", "def thing(n: float) -> float:\n    'One.'\n    return n\n", "`n` is annotated `float`"),
        ("functions", "odd", "def thing(n: int) -> int:\n    return n\n", "it has no docstring"),
        ("functions", "odd", "raise OSError('gone')\n", "OSError: gone"),
        ("types", "odd", "thing = 3\n", "it is not an instance of dia_compiler.types.base.ParameterType"),
        ("formats", "odd", "thing = 3\n", "it is not an instance of dia_runtime.formats.Format"),
        ("assets", "odd", "thing = 3\n", "it is not an instance of dia_compiler.assets.base.Builder"),
        ("exporters", "odd", "thing = 3\n", "it is not an instance of dia_runtime.integrations.exporters.Exporter"),
    ],
)
def test_a_plug_in_that_cannot_be_used_is_one_line(
    tmp_path: Path, group: str, name: str, code: str, message: str
) -> None:
    packages = tmp_path / "packages"
    facts = packages / "odd-1.0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(f"[dia.{group}]\n{name} = odd_module:thing\n")
    (packages / "odd_module.py").write_text("from __future__ import annotations\n" + code)
    specs(tmp_path)
    command = ("export", str(bundle_of(tmp_path)), "--to", name) if group == "exporters" else ("check", "specs")
    told = dia(tmp_path, packages, *command)
    assert told.returncode == 2, told.stderr
    assert f"the plug-in `{name}` of the package `odd`" in told.stderr and message in told.stderr
    assert told.stderr.count("E207") == 1 and "Traceback" not in told.stderr

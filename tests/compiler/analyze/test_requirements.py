"""What a template asks of the host: without it the template is left out with one line, or refused where it was wanted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dia_compiler.commands.cli import run

BENCHMARK = "language: 1\nbenchmark: needs\n"
TEMPLATE = """\
template: {name}
title: One
requires: {requires}
params: {{n: {{type: integer, min: 1, max: 99}}}}
answer: {{value: n + 1, type: integer}}
prompt: What comes after {{{{ n }}}}?
"""
MISSING = {
    "a_tool": ("{tool: no-such-tool-here}", "the tool `no-such-tool-here`"),
    "b_file": ("[{file: data/rows.csv}]", "the file data/rows.csv"),
    "c_extra": ("{extra: cluster}", "the extra `cluster`: run `pip install '.[cluster]'` in a clone of dia"),
}


@pytest.fixture
def specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("dia_compiler.analyze.host_requirements.find_spec", lambda name: None)
    folder = tmp_path / "specs"
    folder.mkdir()
    (folder / "benchmark.yaml").write_text(BENCHMARK)
    (folder / "here.yaml").write_text(TEMPLATE.format(name="here", requires="{tool: sh}"))
    for name, (requires, _) in MISSING.items():
        (folder / f"{name}.yaml").write_text(TEMPLATE.format(name=name, requires=requires))
    return folder


def test_what_lacks_something_is_left_out_with_one_line_each(
    specs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compile", str(specs), "-o", str(tmp_path / "out"), "-q"]) == 0
    told = capsys.readouterr()
    assert "5 questions of 1 template\n" in told.out
    assert told.err.splitlines() == [f"left out of needs: {name} needs {why}" for name, (_, why) in MISSING.items()]
    manifest = json.loads((tmp_path / "out" / "needs-0.0.0-k5" / "manifest.json").read_bytes())
    assert manifest["left_out"] == [{"template": name, "why": why} for name, (_, why) in MISSING.items()]
    assert manifest["templates"] == ["here"]


def test_strict_and_naming_it_make_it_an_error(specs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compile", str(specs), "-o", str(tmp_path / "out"), "-q", "--strict"]) == 2
    assert capsys.readouterr().err.count("error[E206]") == 3
    assert run(["compile", str(specs / "b_file.yaml"), "-o", str(tmp_path / "out"), "-q"]) == 2
    assert "`b_file` needs the file data/rows.csv" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_with_the_file_there_it_is_compiled(specs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (specs / "data").mkdir()
    (specs / "data" / "rows.csv").write_text("a\n1\n")
    assert run(["compile", str(specs), "-o", str(tmp_path / "out"), "-q", "--json"]) == 0
    (bundle,) = json.loads(capsys.readouterr().out)["bundles"]
    assert bundle["templates"] == 2 and len(bundle["left_out"]) == 2


@pytest.mark.parametrize(
    ("requires", "code"), [("{extra: imagess}", "E204"), ("{file: ../secret}", "E101"), ("{moon: full}", "E201")]
)
def test_what_cannot_be_required(
    requires: str, code: str, specs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (specs / "here.yaml").write_text(TEMPLATE.format(name="here", requires=requires))
    assert run(["check", str(specs)]) == 2
    told = capsys.readouterr().err
    assert f"error[{code}]" in told and "here.yaml:3:" in told


def test_a_list_of_names_gets_the_form_of_several_requirements(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (specs / "here.yaml").write_text(TEMPLATE.format(name="here", requires="{extra: [images, binary]}"))
    assert run(["check", str(specs / "here.yaml")]) == 2
    assert "help: write one mapping for each requirement, as in `requires: [{extra: " in capsys.readouterr().err

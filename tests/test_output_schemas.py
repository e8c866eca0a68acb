"""What commands print as JSON keeps the published schemas."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from dia_compiler.commands.cli import run
from helpers.places import ROOT
from helpers.schemas import faults, schema

NAMES = sorted(path.name.removesuffix(".schema.json") for path in (ROOT / "schemas").glob("*.schema.json"))
Print = Callable[..., Any]

BENCHMARK = "language: 1\nbenchmark: mine\nversion: 1.0.0\n"
TEMPLATE = """template: square
title: A square
params:
  n: {type: integer, min: 2, max: 999}
  unseen: {type: boolean}
answer: {value: VALUE, type: integer}
prompt: What is the square of {{ n }}?
"""


@pytest.fixture
def printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Print:
    """Runs a command in a folder with a small benchmark; gives its exit code and the JSON that it printed."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
    (tmp_path / "mine" / "square.yaml").write_text(TEMPLATE.replace("VALUE", "n**2"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, Any]:
        capsys.readouterr()
        code = run(list(arguments))
        return code, json.loads(capsys.readouterr().out)

    return call


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_one_and_describes_itself(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))
    assert schema(name)["$id"].endswith(f"/{name}.schema.json") and schema(name)["description"]


def test_check_prints_warnings_and_faults(printed: Print) -> None:
    code, found = printed("check", "mine", "--format", "json")
    assert (code, faults("check", found), [entry["severity"] for entry in found["diagnostics"]]) == (0, [], ["warning"])
    Path("mine/square.yaml").write_text(TEMPLATE.replace("VALUE", "sqare(n)"), encoding="utf-8")
    code, found = printed("check", "mine", "--json")
    assert (code, faults("check", found)) == (2, [])
    assert {entry["code"] for entry in found["diagnostics"]} == {"E304"}


def test_new_preview_and_doctor_print_their_facts(printed: Print) -> None:
    code, made = printed("new", "other", "--benchmark", "--json")
    assert (code, faults("new", made), len(made["files"])) == (0, [], 5)
    code, made = printed("schemas", "other", "--json")
    assert (code, faults("schemas", made), len(made["files"])) == (0, [], 3)
    code, shown = printed("preview", "other/first_template.yaml", "--stress", "40", "--json")
    assert (code, faults("preview", shown)) == (0, [])
    code, shown = printed("preview", "mine", "--json")
    assert (code, faults("preview", shown)) == (0, [])
    code, found = printed("doctor", "--json")
    assert (code, faults("doctor", found)) == (0, [])


def test_compile_show_and_verify_print_their_facts(printed: Print) -> None:
    code, made = printed("compile", "mine", "--json")
    assert (code, faults("compile", made)) == (0, [])
    (bundle,) = made["bundles"]
    assert {name: bundle[name] for name in ("templates", "items", "questions", "left_out")} == {
        "templates": 1, "items": 1, "questions": 5, "left_out": [],
    }  # fmt: skip
    code, shown = printed("show", bundle["path"], "--json")
    assert (code, faults("show", shown), shown["bundle"]) == (0, [], bundle["digest"])
    code, shown = printed("show", bundle["path"], "square/0", "--json")
    assert (code, faults("show", shown), faults("question", shown["question"])) == (0, [], [])
    assert faults("answer", shown["answer"]) == []
    code, verified = printed("verify", bundle["path"], "--recompile", "--json")
    assert (code, faults("verify", verified), verified["recompiled"]["same"]) == (0, [], True)


def test_parts_and_what_they_are_merged_to_print_their_facts(printed: Print) -> None:
    parts = [printed("compile", "mine", "--part", f"{number}/2", "-o", "parts", "--json")[1] for number in (1, 2)]
    assert [faults("compile", part) for part in parts] == [[], []]
    assert [(part["bundles"], part["parts"][0]["questions"]) for part in parts] == [([], 5), ([], 0)]
    code, found = printed("merge", "parts", "-o", "mine-merged", "--json")
    assert (code, faults("merge", found), found["run"], found["bundle"]["questions"]) == (0, [], None, 5)
    for number in (1, 2):
        printed("run", "mine-merged", "--model", "oracle", "--part", f"{number}/2", "-o", f"{number}.run", "--json")
    code, found = printed("merge", "1.run", "2.run", "-o", "all.run", "--json")
    assert (code, faults("merge", found), found["bundle"], found["run"]["replies"]) == (0, [], None, 5)


def test_a_template_that_is_left_out_is_reported(printed: Print) -> None:
    with Path("mine/square.yaml").open("a", encoding="utf-8") as file:
        file.write("requires: {tool: a-tool-that-nobody-has}\n")
    text = TEMPLATE.replace("VALUE", "n**2").replace("template: square", "template: other")
    Path("mine/other.yaml").write_text(text, encoding="utf-8")
    _, made = printed("compile", "mine", "--json")
    assert faults("compile", made) == []
    assert [entry["template"] for entry in made["bundles"][0]["left_out"]] == ["square"]


@pytest.mark.parametrize(("command", "name"), [("functions", "next_prime"), ("types", "integer")])
def test_the_library_is_printed_whole_or_by_name(printed: Print, command: str, name: str) -> None:
    code, every = printed(command, "--json")
    assert (code, faults(command, every)) == (0, [])
    code, one = printed(command, name, "--json")
    assert (code, faults(command, one)) == (0, [])
    assert one[command][0] in every[command] and len(every[command]) > 5


@pytest.mark.parametrize("name", ["check", "compile", "functions", "types", "show"])
def test_a_foreign_object_breaks_each_schema(name: str) -> None:
    assert faults(name, {"models": []})

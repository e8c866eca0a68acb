"""Specs that run programs: where they may, what is told where they may not, and what a bundle says of them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dia_compiler import compile
from dia_compiler.analyze.check import check
from dia_compiler.analyze.worker_resources import programs_of
from dia_compiler.parse.discover import discover
from dia_language.budgets import bound_digits
from dia_language.confinement.interpreters import version_of
from dia_language.confinement.sandboxes import confinement
from dia_language.diagnostics import DiaError
from dia_language.expressions.expressions import compile_expression
from dia_language.expressions.namespace import Namespace
from dia_language.expressions.syntax import PlainSource, parse
from dia_language.limits import INTEGER_DIGITS
from dia_language.numbers import operators
from dia_language.stored.stored_conditions import condition
from dia_runtime.data import data_folder

Dia = Callable[..., Any]

needs_sandbox = pytest.mark.skipif(confinement() is None, reason="nothing here can confine a program")
BENCHMARK = "language: 1\nbenchmark: programs\nversion: 1.0.0\n"
SPEC = """\
template: squares
title: What a program prints
category: programs
params:
  n: {type: integer, min: 2, max: 10000}
let:
  source: f"print({n} ** 2)"
  said: program("python", source)
answer: {value: 'from_base(said, 10)', type: integer}
checks: [isqrt(answer) == n]
prompt: What does {{ source }} print?
"""


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    """A benchmark of one template that runs a program."""
    folder = tmp_path / "specs"
    folder.mkdir()
    (folder / "benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
    (folder / "squares.yaml").write_text(SPEC, encoding="utf-8")
    return folder


def changed(specs: Path, **pieces: str) -> Path:
    """The benchmark with other lines for keys of the template, or more of them."""
    path = specs / "squares.yaml"
    lines = path.read_text(encoding="utf-8").splitlines()
    for key, piece in pieces.items():
        at = next((at for at, line in enumerate(lines) if line.startswith(f"{key}:")), len(lines))
        end = next((to for to in range(at + 1, len(lines)) if not lines[to].startswith(" ")), len(lines))
        del lines[at:end]
        lines.append(f"{key}: {piece}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return specs


def told(dia: Dia, folder: Path, *arguments: str) -> list[tuple[str, int, int, str]]:
    """Code, line, column and message of each fault that a check finds."""
    printed = dia(folder, "check", ".", "--json", *arguments)
    return [(e["code"], e["line"], e["column"], e["message"]) for e in json.loads(printed.stdout)["diagnostics"]]


# Permission


def test_a_program_needs_permission(specs: Path, dia: Dia) -> None:
    assert told(dia, specs) == [("E314", 8, 9, "`program` cannot start a program here")]
    for command in (["compile", ".", "-o", "out"], ["preview", "squares.yaml"]):
        printed = dia(specs, *command)
        assert printed.exit == 2 and "squares.yaml:8:9: error[E314]" in printed.stderr
    assert not (specs / "out").exists()


@needs_sandbox
def test_with_permission_it_runs(specs: Path, dia: Dia) -> None:
    assert told(dia, specs, "--allow-programs") == []
    assert "squares" in dia(specs, "preview", "squares.yaml", "--allow-programs").stdout
    printed = dia(specs, "compile", ".", "-o", "out", "--allow-programs", "--json")
    bundle = specs / json.loads(printed.stdout)["bundles"][0]["path"]
    answers = map(json.loads, (bundle / "answers.jsonl").read_text(encoding="utf-8").splitlines())
    assert all(int(row["text"]) == row["parameters"]["n"] ** 2 for row in answers)
    tools = json.loads((bundle / "provenance.json").read_text(encoding="utf-8"))["tools"]
    sandbox = confinement()
    assert sandbox is not None and tools == {"python": version_of("python"), "confinement": sandbox.name}


@needs_sandbox
def test_a_bundle_is_recompiled_with_permission_alone(specs: Path, tmp_path: Path, dia: Dia) -> None:
    bundle = compile([specs], k=3, out=tmp_path / "out", allow_programs="confined").bundles[0].path
    refused = dia(tmp_path, "verify", str(bundle), "--recompile")
    assert refused.exit == 2 and "error[E314]" in refused.stderr
    again = dia(tmp_path, "verify", str(bundle), "--recompile", "--allow-programs", "--json")
    assert again.exit == 0 and json.loads(again.stdout)["recompiled"]["same"] is True
    (bundle / "provenance.json").write_text(
        (bundle / "provenance.json").read_text("utf-8").replace(str(version_of("python")), "Python 2.7"), "utf-8"
    )
    again = dia(tmp_path, "verify", str(bundle), "--recompile", "--allow-programs", "--json")
    assert json.loads(again.stdout)["recompiled"]["versions"] == {
        "programs of python": ["Python 2.7", version_of("python")]
    }


@needs_sandbox
def test_what_the_cache_holds_names_its_tools_and_starts_nothing(specs: Path, tmp_path: Path) -> None:
    def made(out: str, k: int, word: str) -> dict[str, str]:
        path = compile([specs], k=k, out=tmp_path / out, allow_programs=word).bundles[0].path
        found: dict[str, str] = json.loads((path / "provenance.json").read_text(encoding="utf-8"))["tools"]
        shutil.rmtree(path)  # so that it has to be made again, of the cached rows
        return found

    assert made("out", 2, "confined") == made("out", 2, "confined") == made("out", 2, "no") != {}
    with pytest.raises(DiaError) as caught:
        made("elsewhere", 2, "no")
    assert caught.value.diagnostics[0].code == "E314"


@pytest.mark.long
@pytest.mark.spawned
@needs_sandbox
@pytest.mark.parametrize("k", [250])
def test_stretches_of_a_large_template_may_run_programs_too(specs: Path, tmp_path: Path, k: int) -> None:
    lines = (specs / "squares.yaml").read_text(encoding="utf-8").splitlines()
    spec = [line for line in lines if not line.startswith(("  source", "  said", "let:"))]
    more = 'let:\n  said: str(n * n) if n % 50 else program("python", f"print({n} ** 2)")\n  source: f"{n} ** 2"\n'
    (specs / "squares.yaml").write_text("\n".join(spec) + "\n" + more, encoding="utf-8")
    assert compile([specs], k=k, out=tmp_path / "out", jobs=2, allow_programs="confined").bundles[0].questions == k


def test_specs_that_come_with_dia_may(tmp_path: Path) -> None:
    shipped = data_folder() / "specs" / "dia_bench"
    assert programs_of(shipped, "no") == "confined"
    assert programs_of(shipped, "unconfined") == "unconfined"
    assert programs_of(tmp_path, "no") == "no"
    assert programs_of(data_folder() / "specs" / ".." / "docs", "no") == "no"
    assert programs_of(Path(f"{data_folder() / 'specs'}-of-a-stranger"), "no") == "no"
    (tmp_path / "specs").symlink_to(shipped)
    assert programs_of(tmp_path / "specs", "no") == "confined"


def test_only_the_command_line_permits(specs: Path, dia: Dia) -> None:
    for text in ('allow-programs = "unconfined"\n', '[check]\nallow-programs = "confined"\n'):
        (specs / "dia.toml").write_text(text, encoding="utf-8")
        printed = dia(specs, "check", ".")
        assert printed.exit == 2 and "`allow-programs` can only be given on the command line" in printed.stderr
    with pytest.raises(DiaError, match="`allow_programs` must be one of no, confined, unconfined"):
        compile([specs], allow_programs="yes")


# Every place


@pytest.mark.parametrize(
    ("pieces", "place"),
    [
        ({"params": "{n: {type: integer, min: \"= length(program('bash', ''))\", max: 9}}"}, "params"),
        ({"where": "program('python', '') == ''"}, "where"),
        ({"checks": "[\"run_elf(from_hex('7f')) == ''\"]"}, "checks"),
        ({"mistakes": "{far: \"from_base(program('python', 'print(1)'), 10)\"}"}, "mistakes"),
        ({"explanation": "\"{{ 'python' | program('print(1)') }}\""}, "explanation"),
        ({"prompt": "\"{{ source }} {{ program('python', 'print(1)') }}\""}, "prompt"),
        ({"functions": "{f(a): \"program('python', a)\"}"}, "functions"),
        ({"macros": "{f(a): \"{{ program('python', a) }}\"}"}, "macros"),
        ({"lists": "{held: [\"= program('python', '')\", b]}"}, "lists"),
        ({"slots": "{aside: \"{{ program('python', '') }}\"}"}, "slots"),
        ({"variants": "{other: {let: {m: \"program('python', '')\"}, prompt: \"{{ m }} {{ source }}\"}}"}, "variants"),
        ({"skills": "[\"= program('python', '')\"]"}, "skills"),
        ({"let": "{source: \"f'{n}'\", said: \"map(program, ['python'])\"}"}, "let"),
        ({"answer": "{value: n * n, type: integer, accept: [\"= from_base(program('python', 'print(1)'), 10)\"]}"}, "answer"),
        ({"answer": "{value: n * n, type: integer, accept_if: \"program('python', '') == ''\"}"}, "answer"),
        ({"catalogs": "{c: {faces: {f(a): expression}, entries: {e: {f: \"program('python', a)\"}}}}"}, "catalogs"),
        ({"examples": "[{params: {n: \"= from_base(program('python', 'print(7)'), 10)\"}, answer: 49}]"}, "examples"),
    ],
    ids=lambda held: held if isinstance(held, str) else "",
)  # fmt: skip
def test_no_place_of_a_template_starts_one(specs: Path, dia: Dia, pieces: dict[str, str], place: str) -> None:
    path = specs / "squares.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace('program("python", source)', "str(n * n)"), "utf-8")
    changed(specs, **pieces)
    if place == "examples":  # which are looked at when they are evaluated
        assert "E314" in {code for code, *_ in told(dia, specs)}
        return
    found = check(discover([specs])).diagnostics.errors
    assert [(entry.code, entry.position is not None) for entry in found] == [("E314", True)], found


ACCEPTS = '{value: n * n, type: integer, accept_if: "CONDITION"}'


@pytest.mark.parametrize(
    ("condition", "more"),
    [
        ("program('python', '') == '' and reply == n * n", {}),
        ("f(n) == '' and reply == n * n", {"functions": "{f(a): \"g(a)\", g(a): \"program('python', '')\"}"}),
        ("map(f, [1]) == [''] and reply == n * n", {"functions": "{f(a): \"program('python', '')\"}"}),
    ],
)  # fmt: skip
def test_a_reply_is_never_scored_by_a_program(specs: Path, condition: str, more: dict[str, str]) -> None:
    changed(specs, answer=ACCEPTS.replace("CONDITION", condition), **more)
    found = check(discover([specs]), programs="confined").diagnostics.errors
    assert [(entry.code, "every time a reply is scored" in entry.message) for entry in found] == [("E314", True)]


def test_a_foreign_bundle_starts_none_while_it_is_scored() -> None:
    stored = {"expression": "program('python', 'print(1)') == '1'", "names": {}}
    with pytest.raises(DiaError, match="programs are not allowed here"):
        condition(stored)(1)


# Limits


@pytest.mark.slow
@needs_sandbox
def test_a_program_that_hangs_is_told_with_its_place(specs: Path, dia: Dia) -> None:
    path = specs / "squares.yaml"
    path.write_text(path.read_text("utf-8").replace("print({n} ** 2)", "import time; time.sleep({n} + 60)"), "utf-8")
    (code, line, column, message), *others = told(dia, specs, "--allow-programs")
    assert (code, line, column, others) == ("E502", 8, 9, [])
    # What the checks before it took of the five seconds is off the program's share.
    limit = re.match(r"the program ran longer than ([0-9.]+) s", message)
    assert limit is not None and 3 < float(limit[1]) < 5
    changed(specs, limits="{seconds: 30}")
    assert told(dia, specs, "--allow-programs")[0][3].startswith("the program ran longer than 5 s")


@pytest.fixture
def twenty() -> Iterator[None]:
    """Integers of 20 digits."""
    bound_digits(20)
    yield
    bound_digits(INTEGER_DIGITS)


@pytest.mark.usefixtures("twenty")
@pytest.mark.parametrize(
    ("text", "is_within"),
    [
        ("10 ** 19", True),
        ("10 ** 22", False),
        ("(1 / 10) ** 19", True),
        ("(1 / 10) ** 22", False),
        ("factorial(20)", True),
        ("factorial(25)", False),
        ("length(str(factorial(25)))", False),
        ("(n + 10 ** 10) * 10 ** 8", True),
        ("(n + 10 ** 10) * 10 ** 13", False),
        ("1 << 60", True),
        ("1 << 80", False),
        ("99999999999999999999 + n", True),
        ("99999999999999999999 * 9 + 99999999999999999999 * 9", False),
        ("reduce(both, [n] * 70, n)", False),
        ("from_base('9' * 20, 10)", True),
        ("from_base('9' * 30, 10)", False),
    ],
)
def test_digits_bound_what_is_computed(text: str, is_within: bool) -> None:
    namespace = Namespace()
    namespace.add("both", 2, lambda scope, a, b: operators.add(a, a))
    code = compile_expression(parse(PlainSource(text)), namespace)
    if is_within:
        assert -(10**21) < code({"n": 7}) < 10**21
    else:
        with pytest.raises(DiaError, match="too large") as caught:
            code({"n": 7})
        found = caught.value.diagnostics[0]
        assert (found.code, found.help) == ("E502", "integers have at most 20 digits (`limits` of the template)")


def test_digits_hold_for_the_template_that_asks_for_them(specs: Path, dia: Dia) -> None:
    changed(specs, let="{source: \"f'{n}'\", big: 7 ** 40}", answer="{value: big + n, type: integer}",
            checks="[answer - n == 7 ** 40]")  # fmt: skip
    other = (specs / "squares.yaml").read_text("utf-8").replace("template: squares", "template: other")
    (specs / "other.yaml").write_text(other, encoding="utf-8")
    changed(specs, limits="{digits: 20}")
    (code, line, _, message), *others = told(dia, specs, "--jobs", "1")
    assert (code, line, message[:18], others) == ("E502", 7, "exponent too large", [])
    assert "digits" not in (specs / "other.yaml").read_text("utf-8")


def test_digits_are_a_whole_number_up_to_the_ceiling(specs: Path) -> None:
    for wrong in ("0", "301031", "many"):
        found = check(discover([changed(specs, limits=f"{{digits: {wrong}}}")]), programs="confined").diagnostics.errors
        assert {entry.code for entry in found} <= {"E203", "E204"} and found, wrong

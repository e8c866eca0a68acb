"""The cache: it saves work, is never told of, and never changes a byte."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dia_compiler import compile
from dia_compiler.distribute import gather as gathering
from dia_compiler.freeze.cache import Cache, trim
from dia_compiler.freeze.fingerprint import folder_files
from helpers.files import content

BENCHMARK = """\
language: 1
benchmark: demo
version: 1.0.0
lists: {fruits: {from: fruits.txt}}
functions: {twice(n): 2 * n}
"""
TEMPLATE = """\
template: t{0}
title: Number {0}
params: {{n: {{type: integer, min: 1, max: 100000}}, fruit: {{type: choice, of: {{from: fruits}}}}}}
answer: {{value: twice(n) + {0}, type: integer}}
prompt: "What is twice {{{{ n }}}} and {0}? Then eat the {{{{ fruit }}}}."
allow: {{answer-ignores-parameter: the fruit is only to be eaten}}
"""
UNUSED = """\
template: unused
title: A warning
params: {n: {type: integer, min: 1, max: 100000}, m: {type: boolean}}
answer: {value: n, type: integer}
prompt: How many digits has {{ n + 0 if false else n }}?
"""
Dia = Callable[..., Any]


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    folder = tmp_path / "specs"
    folder.mkdir()
    (folder / "benchmark.yaml").write_text(BENCHMARK)
    (folder / "fruits.txt").write_text("apple\nplum\nkiwi\n")
    for number in range(3):
        (folder / f"t{number}.yaml").write_text(TEMPLATE.format(number))
    return folder


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the templates that workers are asked for."""
    names: list[str] = []
    inner = gathering.Gatherer.__init__

    def noting(self: Any, template_jobs: Any, *given: Any) -> None:
        names.extend(job.template.name for job in template_jobs)
        inner(self, template_jobs, *given)

    monkeypatch.setattr(gathering.Gatherer, "__init__", noting)
    return names


def compiled(specs: Path, out: Path, **named: Any) -> dict[str, bytes]:
    return content(compile([specs], out=out, jobs=1, force=True, **named).bundles[0].path)


def fresh(specs: Path, tmp_path: Path, **named: Any) -> dict[str, bytes]:
    """What a compile without any cache gives."""
    shutil.rmtree(tmp_path / "fresh", ignore_errors=True)
    return compiled(specs, tmp_path / "fresh", use_cache=False, **named)


def test_what_is_unchanged_is_not_made_again(specs: Path, tmp_path: Path, made: list[str]) -> None:
    first = compiled(specs, tmp_path / "out")
    assert made == ["t0", "t1", "t2"]
    assert compiled(specs, tmp_path / "out") == first and len(made) == 3
    assert not list((tmp_path / "out").glob(".dia-*"))


def replace(specs: Path, name: str, old: str, new: str) -> None:
    path = specs / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


CHANGES: dict[str, tuple[Callable[[Path], None], set[str]]] = {
    "a template": (lambda specs: replace(specs, "t1.yaml", "eat the", "eat a"), {"t1"}),
    "a function of the benchmark": (lambda specs: replace(specs, "benchmark.yaml", "2 * n", "n + n + 1"), {"t0", "t1", "t2"}),
    "a list file": (lambda specs: replace(specs, "fruits.txt", "plum", "pear"), {"t0", "t1", "t2"}),
    "the version": (lambda specs: replace(specs, "benchmark.yaml", "1.0.0", "1.0.1"), set()),
    "a new file of data": (lambda specs: (specs / "data.csv").touch(), {"t0", "t1", "t2"}),
    "a template that goes": (lambda specs: (specs / "t0.yaml").unlink(), set()),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_what_has_changed_is_made_again_and_nothing_else(
    name: str, specs: Path, tmp_path: Path, made: list[str]
) -> None:
    compiled(specs, tmp_path / "out")
    made.clear()
    change, expected = CHANGES[name]
    change(specs)
    found = compiled(specs, tmp_path / "out")
    assert set(made) == expected
    assert found == fresh(specs, tmp_path)


@pytest.mark.parametrize("named", [{"k": 7}, {"seed": "other"}, {"limit": 2}, {"shard_size": 4}])
def test_other_wishes_get_other_bundles(named: dict[str, Any], specs: Path, tmp_path: Path) -> None:
    compiled(specs, tmp_path / "out")
    assert compiled(specs, tmp_path / "out", **named) == fresh(specs, tmp_path, **named)


def test_a_bundle_that_was_touched_is_made_again(specs: Path, tmp_path: Path, made: list[str]) -> None:
    first = compiled(specs, tmp_path / "out")
    answers = tmp_path / "out" / "demo-1.0.0-k5" / "answers.jsonl"
    answers.write_bytes(answers.read_bytes().replace(b"1", b"2", 1))
    assert compiled(specs, tmp_path / "out") == first and len(made) == 3


def entries(out: Path) -> list[Path]:
    return sorted(path for path in (out / ".cache").rglob("*") if path.is_file())


@pytest.mark.parametrize("damage", [b"", b"{}", None], ids=["empty", "foreign", "gone"])
def test_any_damage_of_the_cache_is_repaired(damage: bytes | None, specs: Path, tmp_path: Path) -> None:
    first = compiled(specs, tmp_path / "out")
    every = entries(tmp_path / "out")
    assert {path.name for path in every} == {"answers", "assets", "facts.json", "index", "questions"}
    last = every[-5:]  # the parts of one template, one by one
    for damaged in (every, *([path] for path in last)):
        for path in damaged:
            path.unlink() if damage is None else path.write_bytes(damage)
        shutil.rmtree(tmp_path / "out" / "demo-1.0.0-k5")
        assert compiled(specs, tmp_path / "out") == first, damaged
        assert entries(tmp_path / "out") == every
        if damage != b"{}":
            return  # one of the three is enough to try each part alone


def test_one_flipped_byte_of_the_cache_changes_nothing(specs: Path, tmp_path: Path) -> None:
    first = compiled(specs, tmp_path / "out")
    for path in entries(tmp_path / "out"):
        raw = bytearray(path.read_bytes() or b"\0")  # templates without assets have an empty part
        raw[len(raw) // 2] ^= 1
        path.write_bytes(raw)
    shutil.rmtree(tmp_path / "out" / "demo-1.0.0-k5")
    assert compiled(specs, tmp_path / "out") == first


def test_a_cache_that_cannot_be_written_is_no_fault(specs: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".cache").write_text("in the way")
    assert compiled(specs, tmp_path / "out") == fresh(specs, tmp_path)


def test_without_the_cache_nothing_is_read_or_kept(specs: Path, tmp_path: Path, made: list[str]) -> None:
    for _ in range(2):
        compiled(specs, tmp_path / "out", use_cache=False)
    assert len(made) == 6 and not (tmp_path / "out" / ".cache").exists()


def test_warnings_are_told_each_time(specs: Path, tmp_path: Path, dia: Dia) -> None:
    (specs / "unused.yaml").write_text(UNUSED.replace("{{ n + 0 if false else n }}", "{{ n }}"))
    arguments = ("compile", "specs", "-o", "out", "-q", "--jobs", "1")
    told = [dia(tmp_path, *arguments).stderr for _ in range(2)]
    shutil.rmtree(tmp_path / "out" / "demo-1.0.0-k5")
    told.append(dia(tmp_path, *arguments).stderr)
    assert "unused-parameter" in told[0] and len(set(told)) == 1
    assert dia(tmp_path, *arguments, "--strict").exit == 2


def test_a_tool_that_comes_or_goes_changes_what_is_left_out(
    specs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (specs / "t0.yaml").open("a") as file:
        file.write("requires: {tool: a-new-tool}\n")
    without = compile([specs], out=tmp_path / "out", jobs=1).bundles[0]
    tool = tmp_path / "bin" / "a-new-tool"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent), prepend=":")
    found = compile([specs], out=tmp_path / "out", jobs=1, force=True).bundles[0]
    assert [entry["template"] for entry in without.left_out] == ["t0"] and found.left_out == ()
    assert (without.templates, found.templates) == (2, 3)


def test_the_cache_is_bounded(tmp_path: Path) -> None:
    import os

    for number in range(5):
        file = tmp_path / "file"
        file.write_bytes(bytes(1000))
        Cache(tmp_path, "templates").store(f"key{number}", {}, {"rows": file})
        os.utime(tmp_path / ".cache" / "templates" / f"key{number}", (number, number))
    assert Cache(tmp_path, "templates").read("key0") is not None  # used last, now
    trim(tmp_path, 3500)
    assert sorted(path.name for path in (tmp_path / ".cache" / "templates").iterdir()) == ["key0", "key3", "key4"]


@pytest.mark.parametrize("place", [".cache", ".cache/templates", ".cache/bundles"])
def test_a_link_in_place_of_the_cache_is_not_followed(place: str, specs: Path, tmp_path: Path) -> None:
    precious = tmp_path / "home"
    for name in ("templates/thesis", "bundles/thesis", "thesis/chapter"):
        (precious / name).mkdir(parents=True)
        (precious / name / "text").write_bytes(bytes(5000))
    before = sorted(path.relative_to(precious) for path in precious.rglob("*"))
    link = tmp_path / "out" / place
    link.parent.mkdir(parents=True)
    link.symlink_to(precious)
    for _ in range(2):
        assert compile([specs], out=tmp_path / "out", jobs=1).bundles[0].templates == 3
    trim(tmp_path / "out", 100)
    assert sorted(path.relative_to(precious) for path in precious.rglob("*")) == before and link.is_symlink()


def test_an_entry_that_is_a_link_is_made_again(specs: Path, tmp_path: Path, made: list[str]) -> None:
    compile([specs], out=tmp_path / "out", jobs=1)
    first = (tmp_path / "out" / "demo-1.0.0-k5" / "manifest.json").read_bytes()
    entries = [path for kind in ("bundles", "templates") for path in (tmp_path / "out" / ".cache" / kind).iterdir()]
    for entry in entries:
        entry.rename(tmp_path / entry.name)
        entry.symlink_to(tmp_path / entry.name)
    made.clear()
    found = compile([specs], out=tmp_path / "out", jobs=1).bundles[0]
    assert sorted(made) == ["t0", "t1", "t2"] and (found.path / "manifest.json").read_bytes() == first
    assert all((tmp_path / entry.name / "facts.json").exists() for entry in entries)


def test_output_and_other_benchmarks_below_a_folder_are_no_part_of_it(specs: Path) -> None:
    for name in ("build/x.txt", "other/benchmark.yaml", "bundle/manifest.json", ".hidden/x"):
        (specs / name).parent.mkdir()
        (specs / name).write_text("x")
    found = folder_files(specs, specs / "build")
    assert found is not None and set(found) == {"benchmark.yaml", "fruits.txt", "t0.yaml", "t1.yaml", "t2.yaml"}


def test_an_unchanged_compile_imports_nothing_heavy(specs: Path, tmp_path: Path, dia: Dia) -> None:
    arguments = ("compile", str(specs), "-o", "out", "-q")
    first = dia(tmp_path, *arguments)
    command = [sys.executable, "-X", "importtime", "-m", "dia_compiler.commands.cli", *arguments]
    second = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert first.exit == second.returncode == 0 and first.stdout == second.stdout
    imported = {line.rpartition("|")[2].strip() for line in second.stderr.splitlines()}
    heavy = r"(sympy|scipy|numpy|jinja2|yaml|networkx|jsonschema|dia_compiler\.(check|make|prepare))\b"
    assert not {name for name in imported if re.match(heavy, name)} and "dia_compiler.pipeline.api" in imported

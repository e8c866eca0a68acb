"""The wrapper that templates share is read once, and each of them is told what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from dia_compiler.analyze.check import check
from dia_compiler.analyze.prepare import prepare, read_once
from dia_compiler.parse.discover import discover
from dia_language.diagnostics import Diagnostics

BENCHMARK = "language: 1\nbenchmark: small\nversion: 1.0.0\nprompt: |\n  {wrapper}\n"
TEMPLATE = """template: {name}
title: A number
params:
  a: {{type: integer, min: 1, max: 9}}
{more}answer: {{value: a, type: integer}}
prompt: "{{{{ a }}}}"
"""
ASSET = "assets:\n  challenges: {build: html, title: a, body: b}\n"


def wrapped(folder: Path, wrapper: str) -> list[tuple[list[str], str | None]]:
    (folder / "benchmark.yaml").write_text(BENCHMARK.replace("{wrapper}", wrapper))
    for name, more in (("first", ""), ("second", ASSET), ("third", "")):
        (folder / f"{name}.yaml").write_text(TEMPLATE.format(name=name, more=more))
    [item] = check(discover([folder]), defers=True).benchmarks
    scope = {"challenge": "C", "format_instruction": "F", "skip_token": "S", "points": {}}
    found = []
    for template in item.clean:
        faults = Diagnostics()
        made = prepare(template, item.benchmark, faults, item.lists_of(template)).wrapper
        found.append(([entry.code for entry in faults.errors], None if made is None else made(scope)))
    return found


@pytest.mark.parametrize(
    "wrapper, shown", [("{{ challenge }}", "C"), ("{% if challenge == 'C' %}{{ skip_token }}{% endif %}", "S")]
)
def test_all_templates_get_the_wrapper(wrapper: str, shown: str, tmp_path: Path) -> None:
    read_once.cache_clear()
    assert wrapped(tmp_path, wrapper) == [([], shown)] * 3
    assert read_once.cache_info()[:2] == (1, 1)  # the template with an asset reads it by itself


@pytest.mark.parametrize("wrapper, code", [("{{ nothing }}", "E303"), ("{{ challenge", "E311")])
def test_all_templates_are_told_of_its_faults(wrapper: str, code: str, tmp_path: Path) -> None:
    assert wrapped(tmp_path, wrapper) == [([code], None)] * 3


def test_a_named_file_is_checked_without_the_other_templates(tmp_path: Path) -> None:
    (tmp_path / "benchmark.yaml").write_text(BENCHMARK.replace("{wrapper}", "{{ challenge }}"))
    one, other, catalog = (tmp_path / f"{name}.yaml" for name in ("one", "other", "catalog"))
    one.write_text(TEMPLATE.format(name="one", more=""))
    other.write_text("# a draft\n\ntemplate: other\nprompt: {{ a }}\n")
    catalog.write_text("catalog: c\nentries: {{ a }}\n")

    def files(path: Path) -> list[str]:
        entries = check(discover([path]), skips_others=True).diagnostics.errors
        return sorted(Path(entry.position.file).name for entry in entries if entry.position)

    assert files(one) == ["catalog.yaml"]
    assert files(tmp_path) == files(other) == ["catalog.yaml", "other.yaml"]

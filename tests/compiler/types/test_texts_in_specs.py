"""Text-like parameter types in whole specs: each compiles, and a fault stands at its option."""

from __future__ import annotations

from pathlib import Path

import pytest
from dia_compiler.pipeline.api import compile
from dia_language.diagnostics import DiaError

SPEC = {
    "words": "{type: words, from: {from: fruits}, count: 3}",
    "sentence": "{type: sentence, words: 8}",
    "paragraph": "{type: paragraph}",
    "name": "{type: name, pronouns: true, full: true}",
    "username": "{type: username}",
    "email": "{type: email, domain: [example.com, example.org]}",
    "ip_address": '{type: ip_address, network: "10.0.0.0/8"}',
    "domain": "{type: domain, suffix: [com, co.uk]}",
    "url": "{type: url, query: {min: 1, max: 3}}",
    "user_agent": "{type: user_agent}",
    "uuid": "{type: uuid}",
    "timestamp": "{type: timestamp, min: 2024-01-01T00:00:00Z, max: 2024-12-31T23:59:59Z, step: 60}",
    "date": "{type: date, min: 2024-01-01, max: 2024-12-31, weekday: friday}",
}


def test_a_spec_of_each_type_compiles(tmp_path: Path) -> None:
    folder = tmp_path / "specs"
    folder.mkdir()
    lists = "lists: {fruits: [apple, pear, plum, fig]}\n"
    (folder / "benchmark.yaml").write_text(f"language: 1\nbenchmark: texts\n{lists}", encoding="utf-8")
    for kind, use in SPEC.items():
        shown = "x.name" if kind == "name" else "x"
        spec = f"template: {kind}_\ntitle: Hash of a {kind}\nparams:\n  x: {use}\nanswer: {{value: 'hex(sha256(utf8({shown})))', type: text}}\n"
        (folder / f"{kind}.yaml").write_text(
            f"{spec}prompt: 'What is the hash of {{{{ {shown} }}}}?'\n", encoding="utf-8"
        )
    compilation = compile([folder], k=4, out=tmp_path / "out", jobs=1)
    assert len(list(compilation.bundles)) == 1 and compilation.warnings == ()


def test_a_fault_stands_at_its_option(tmp_path: Path) -> None:
    (tmp_path / "benchmark.yaml").write_text("language: 1\nbenchmark: texts\n", encoding="utf-8")
    spec = 'template: t\ntitle: A day\nparams:\n  d:\n    type: date\n    min: 2024-02-30\nanswer: {value: d, type: text}\nprompt: "{{ d }}"\n'
    (tmp_path / "t.yaml").write_text(spec, encoding="utf-8")
    with pytest.raises(DiaError) as caught:
        compile([tmp_path], out=tmp_path / "out", jobs=1)
    (entry,) = caught.value.diagnostics
    assert entry.position is not None and (entry.position.line, entry.position.column, entry.code) == (6, 10, "E403")

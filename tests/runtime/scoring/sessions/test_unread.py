"""Conversations with a reply that could not be read: every screen that shows their verdict says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dia_compiler import compile
from dia_compiler.commands.cli import run as dia

SPEC = """template: again
title: Asked again
params: {n: {type: integer, min: 100, max: 999}}
sessions:
  desk:
    turns:
      - user: Is {{ n }} odd (A) or even (B)? {{ format_instruction }}
        reply: {name: first, format: letter, of: [A, B]}
      - when: answered(first)
        user: Please answer again. {{ format_instruction }}
        reply: {name: second, format: letter, of: [A, B]}
grade:
  skipped: not answered(second)
  correct: second == ('A' if n % 2 else 'B')
figures:
  gave_in: {value: answered(first) and second != first, over: answered, summary: share}
"""


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("spec").mkdir()
    Path("spec/benchmark.yaml").write_text("language: 2\nbenchmark: talk\nskip: I-DO-NOT-KNOW\n", encoding="utf-8")
    Path("spec/again.yaml").write_text(SPEC, encoding="utf-8")
    (bundle,) = compile(["spec"], k=2, out="out").bundles
    assert dia(["run", str(bundle.path), "--model", "says:(A) it is", "-o", "a.run", "-q"]) == 0
    return "again/0"


def test_a_conversation_that_ends_at_an_unreadable_reply(talk: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert dia(["show", "a.run", talk]) == 0
    assert capsys.readouterr().out.endswith("[skipped; `first` could not be read]\n")
    assert dia(["show", "a.run", talk, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["replies"][0]["unread_replies"] == ["first"]
    assert dia(["score", "a.run"]) == 0
    screen = " ".join(capsys.readouterr().out.split())
    assert "Questions with a reply that could not be read, although their template grades them as skipped" in screen
    assert "says:(A) it is (2). `dia show a.run QUESTION` prints the conversation." in screen
    assert dia(["audit", "a.run", "--chains", "standard,lenient"]) == 0
    audit = capsys.readouterr().out
    assert audit.startswith("talk 0.0.0: 2 of 2 replies differ between standard and lenient\n")
    assert "\n  standard  unread: first  -  skipped\n  lenient   -              -  skipped\n" in audit


def test_a_turn_that_another_chain_would_have_asked_is_missing(talk: str, capsys: pytest.CaptureFixture[str]) -> None:
    for chain, ledger in (("standard", {"unread": 2}), ("lenient", {"absent": 2})):
        capsys.readouterr()
        assert dia(["score", "a.run", "--chain", chain, "--json"]) == 0
        block = json.loads(capsys.readouterr().out)["models"][0]["sessions"]["again"]
        assert {name: number for name, number in block["ledger"].items() if number} == ledger | {
            "of": {"first" if chain == "standard" else "second": ledger}
        }
        assert block["accuracy"]["answered"]["value"] is None
        assert block["figures"]["gave_in"]["value"] is None  # nothing shows that the model kept its answer

"""From specs to a shipped bundle by the commands alone: what they print keeps the schemas, canaries stand everywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from dia_compiler import compile
from dia_compiler.commands.cli import run
from dia_compiler.freeze.output import CompileOptions, refuse_foreign
from dia_language.diagnostics import DiaError
from dia_runtime.bundle import key_file, sealed_file
from dia_runtime.bundle.canary import sentence
from helpers.failures import refused_call
from helpers.schemas import faults, schema

NAMES = ("keygen", "sign", "seal", "unseal", "prove", "pack", "unpack", "scan", "signature", "commitment", "proof",
         "seal-header")  # fmt: skip
GUID = "3d0c1f5a-8a55-4c0e-9d5e-0b6b0f2a7c11"
BENCHMARK = f"language: 1\nbenchmark: mine\nversion: 1.0.0\ncanary: {GUID}\n"
TEMPLATE = """template: square
title: A square
params:
  n: {type: integer, min: 2, max: 999}
answer: {value: n**2, type: integer}
prompt: What is the square of the number {{ n }}?
explanation: |
  It is {{ answer }}."""
Print = Callable[..., Any]


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DIA_PASSPHRASE", "seven quiet herons")
    monkeypatch.setattr(sealed_file, "COST", {"n": 2, "r": 1, "p": 1})
    monkeypatch.setattr(key_file, "ROUNDS", 2)
    Path("mine").mkdir()
    Path("mine/benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
    Path("mine/square.yaml").write_text(TEMPLATE, encoding="utf-8")
    return compile(["mine"], k=4, seed="c0ffee1d9b3a5784" * 4, jobs=1).bundles[0].path


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_one_and_describes_itself(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))
    assert schema(name)["$id"].endswith(f"/{name}.schema.json") and schema(name)["description"]
    assert faults(name, {"models": []})


def test_the_commands_print_their_facts(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def printed(name: str, *arguments: str, code: int = 0) -> Any:
        capsys.readouterr()
        assert run([*arguments, "--json"]) == code
        found = json.loads(capsys.readouterr().out)
        assert faults(name, found) == []
        return found

    printed("keygen", "keygen", "-o", "key")
    made = printed("seal", "seal", str(bundle), "-o", "sealed")
    signed = printed("sign", "sign", "sealed", "--key", "key")
    assert signed["bundle_id"] == made["digest"]
    assert faults("signature", json.loads(Path("sealed/signature.json").read_bytes())) == []
    found = printed("verify", "verify", "sealed", "--public-key", "key.pub")
    assert (found["sealed"], found["signature"]["valid"], found["valid"]) == (True, True, True)
    found = printed("verify", "verify", str(bundle), "--public-key", "key.pub", code=3)
    assert [problem["kind"] for problem in found["problems"]] == ["signature"]
    assert printed("unseal", "unseal", "sealed", "-o", "back")["digest"] == made["unsealed"]
    printed("proof", "prove", "sealed", "square/0", "-o", "proof.json")
    assert printed("prove", "prove", "sealed", "--check", "proof.json")["valid"] is True
    packed = printed("pack", "pack", "sealed")
    assert printed("unpack", "unpack", packed["path"], "-o", "out")["digest"] == made["digest"]
    found = printed("scan", "scan", "out/questions.jsonl", "--bundle", "sealed")
    assert (found["exact"]["questions"], found["canaries"][0]["count"]) == (4, 4)
    assert faults("scan", {**found, "exact": {}})


def test_a_canary_stands_in_every_public_text(bundle: Path) -> None:
    said = sentence(GUID)
    assert GUID in said and "training data" in said
    assert run(["seal", str(bundle), "-o", "sealed", "-q"]) == 0
    assert run(["keygen", "-o", "key", "-q"]) == 0 and run(["sign", "sealed", "--key", "key", "-q"]) == 0
    for target in ("jsonl", "dia-bench", "inspect", "lm-eval"):
        assert run(["export", str(bundle), "--to", target, "-o", f"exports/{target}", "-q"]) == 0
    texts = [path for folder in (bundle, Path("sealed"), Path("exports")) for path in folder.rglob("*")
             if path.is_file() and path.name != "sealed.bin"]  # fmt: skip
    assert len(texts) > 14
    bare = [path.as_posix() for path in texts if said not in path.read_text(encoding="utf-8")]
    assert bare == []
    for path in texts:
        if path.suffix == ".jsonl":
            assert all(said in line for line in path.read_text(encoding="utf-8").splitlines()), path


def test_the_canary_changes_no_question_and_is_found_again(bundle: Path, tmp_path: Path) -> None:
    assert run(["verify", str(bundle), "--recompile"]) == 0
    assert (bundle / "specs" / "square.yaml").read_text(encoding="utf-8") == f"# {sentence(GUID)}\n{TEMPLATE}"
    made = json.loads((bundle / "manifest.json").read_bytes())
    Path("mine/benchmark.yaml").write_text(re.sub("canary.*\n", "", BENCHMARK), encoding="utf-8")
    (bare,) = compile(["mine"], k=4, seed="c0ffee1d9b3a5784" * 4, out=tmp_path / "bare", jobs=1).bundles
    assert bare.questions_root == made["questions_root"] and bare.digest != made["checksum"]
    assert (bare.path / "specs" / "square.yaml").read_text(encoding="utf-8") == TEMPLATE
    prompts = [[json.loads(raw)["messages"] for raw in (place / "questions.jsonl").read_bytes().splitlines()]
               for place in (bundle, bare.path)]  # fmt: skip
    assert prompts[0] == prompts[1]


def test_what_a_seal_was_made_from_is_kept(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["seal", str(bundle), "-q"]) == 0
    assert Path("build/mine-1.0.0-k4-sealed").is_dir()
    for place, told in ((bundle, "belongs to the seal"), (Path("build/mine-1.0.0-k4-sealed"), "is sealed")):
        with pytest.raises(DiaError, match=told):
            refuse_foreign(place, CompileOptions())
    error = "`build/mine-1.0.0-k4-sealed` contains no specs, so it cannot be compiled again\n  help: unseal it first"
    refused_call("E712", error, capsys, "verify", "build/mine-1.0.0-k4-sealed", "--recompile", exit_code=3)

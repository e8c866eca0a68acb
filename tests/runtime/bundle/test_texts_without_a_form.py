"""Half characters and other texts without a canonical form: no bundle that holds one counts as sound, nothing crashes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run
from dia_runtime.bundle.canonical import manifest_bytes
from dia_runtime.bundle.manifest import with_checksum
from dia_runtime.bundle.merkle import root
from dia_runtime.bundle.records import leaf_or_none
from dia_runtime.bundle.verify import verify

Make = Callable[..., Path]
TARGETS = ("lm-eval", "inspect", "lighteval", "promptfoo", "jsonl", "dia-bench")


def forged(folder: Path) -> Path:
    """The folder with a manifest that agrees with it, the root made as `verify` itself would."""
    lines = (folder / "questions.jsonl").read_bytes().splitlines()
    leaves = [leaf_or_none(json.loads(text)) or bytes(32) for text in lines]
    manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_bytes())
    for name in manifest["files"]:
        held = (folder / name).read_bytes()
        manifest["files"][name] = {"size": len(held), "sha256": hashlib.sha256(held).hexdigest()}
    manifest = {**manifest, "questions_root": root(leaves)}
    manifest.pop("checksum")
    (folder / "manifest.json").write_bytes(manifest_bytes(with_checksum(manifest)))
    return folder


@pytest.fixture
def halved(tiny: Make) -> Path:
    """A bundle whose first prompt holds half a character."""
    path = tiny()
    held = (path / "questions.jsonl").read_bytes()
    (path / "questions.jsonl").write_bytes(held.replace(b"What is", b"What\\ud800 is", 1))
    return forged(path)


def test_a_question_that_no_root_covers_is_no_valid_one(
    tiny: Make, halved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert verify(forged(tiny("other"))) == []
    (problem,) = verify(halved)
    assert problem.kind == "record" and "has no canonical form" in problem.message
    monkeypatch.setenv("DIA_PASSPHRASE", "seven quiet herons")
    assert run(["verify", str(halved)]) == 3
    assert run(["seal", str(halved), "--weak", "-o", str(tmp_path / "sealed")]) == 3
    assert not (tmp_path / "sealed").exists()


@pytest.mark.parametrize("target", TARGETS)
def test_an_export_of_half_a_character_is_refused(
    halved: Path, tmp_path: Path, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", str(halved), "--to", target, "-o", str(tmp_path / "out")]) == 3
    assert "half a character" in capsys.readouterr().err
    assert not (tmp_path / "out").exists() and not list(tmp_path.glob(".dia-*"))

"""The page about seals is enough to write a reader from: the one that stands there opens a bundle that dia sealed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from dia_runtime.bundle import cipher
from dia_runtime.bundle.open import open_bundle
from dia_runtime.bundle.seal import seal
from helpers.places import ROOT

Make = Callable[..., Path]
PAGE = ROOT / "docs" / "explanation" / "seals.md"
SECRET = "sieben stille Reiher über dem Wehr"


def test_the_reader_of_the_page_unseals_a_bundle(tiny: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cipher.COST, "n", 1 << 12)  # a reader takes it from the seal
    found = re.search(r'```python title="read_seal.py"\n(.*?)```', PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    code = found[1]
    imported = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(ast.parse(code))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    assert {name.partition(".")[0] for name in imported} <= {*sys.stdlib_module_names, "cryptography"}
    (tmp_path / "read_seal.py").write_text(code, encoding="utf-8")
    (tmp_path / "passphrase.txt").write_text(f"{SECRET}\n", encoding="utf-8")
    whole = tiny(templates=20, k=20, seed="0f1e2d3c4b5a69788796a5b4c3d2e1f0")
    sealed = seal(whole, SECRET, tmp_path / "sealed")
    command = [sys.executable, "read_seal.py", "sealed", "passphrase.txt"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == open_bundle(whole).id == sealed.original, done.stderr
    (tmp_path / "passphrase.txt").write_text("another\n", encoding="utf-8")
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode != 0

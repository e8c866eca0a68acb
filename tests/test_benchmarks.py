"""Scripts that nothing runs every day still find what they import."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest
from helpers.places import ROOT

SCRIPTS = sorted([*(ROOT / "benchmarks").glob("*.py"), *(ROOT / "docs" / "studies").glob("*.py")])


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_finds_what_it_imports(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(path.parent))
    before = set(sys.modules)
    try:
        runpy.run_path(str(path), run_name="imported")
    finally:
        for name in set(sys.modules) - before:
            if (path.parent / f"{name}.py").exists():  # a neighbour, which other folders may name alike
                del sys.modules[name]

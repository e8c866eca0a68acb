"""Commands whose standard streams are closed: the same exit codes, and no message inside of a file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SPEC = """template: square
title: A square
params:
  n: {type: integer, min: 2, max: 999}
answer: {value: n**2, type: integer}
prompt: What is the square of {{ n }}?
"""
CLOSED = "<&- >&- 2>&-"


@pytest.mark.long
def test_commands_run_with_closed_standard_streams(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "benchmark.yaml").write_text(
        "language: 2\nbenchmark: mine\nversion: 1.0.0\n", encoding="utf-8"
    )
    (tmp_path / "mine" / "square.yaml").write_text(SPEC, encoding="utf-8")
    dia = f"'{sys.executable}' -m dia_compiler"
    script = f"""
    {dia} compile mine --k 3 {CLOSED}; echo $? >>codes
    {dia} run build/mine-1.0.0-k3 --model oracle -o asked.run {CLOSED}; echo $? >>codes
    {dia} verify missing {CLOSED}; echo $? >>codes
    {dia} verify build/mine-1.0.0-k3 && {dia} score asked.run --json
    """
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert (tmp_path / "codes").read_text(encoding="utf-8").split() == ["0", "0", "2"]
    assert done.returncode == 0 and "complete, valid" in done.stdout, done.stderr

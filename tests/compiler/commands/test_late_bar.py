"""The progress bar of check and compile: it appears only where there is something to wait for."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from pathlib import Path

import pytest
from dia_compiler.commands import console


class Terminal(io.StringIO):
    """Standard error that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("late", "is_shown"), [(60.0, False), (0.0, True)])
def test_a_bar_appears_after_a_while(monkeypatch: pytest.MonkeyPatch, late: float, is_shown: bool) -> None:
    monkeypatch.setattr(console, "LATE", late)
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with console.progress(quiet=False) as report:
        assert report is not None
        report("sums", 1, 3)
        end = time.monotonic() + 20
        while is_shown and "sums" not in sys.stderr.getvalue() and time.monotonic() < end:  # type: ignore[attr-defined]
            time.sleep(0.01)
        report("sums", 3, 3)
    assert ("sums" in sys.stderr.getvalue()) is is_shown  # type: ignore[attr-defined]


SCRIPT = """
import sys
from dia_compiler.commands import console
sys.stderr.isatty = lambda: True
with console.progress(False) as report:
    report("sums", 0, 3)
    report("sums", 3, 3)
assert not [name for name in sys.modules if name.startswith("rich")]
"""


def test_a_quick_command_does_not_import_it(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, timeout=60, cwd=tmp_path)

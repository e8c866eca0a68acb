"""Work that takes long says so on a terminal, and nowhere else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
    import sys, time
    from dia_runtime.commands import progress
    progress.SECONDS = 0.1
    try:
        with progress.activity("reading \\x1b[31mall", quiet="quiet" in sys.argv):
            time.sleep(float(sys.argv[1]))
            if "fails" in sys.argv:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
"""


def said(*arguments: str, is_terminal: bool = True) -> str:
    """What the program says on standard error."""
    ours, theirs = pty.openpty() if is_terminal else os.pipe()
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), *arguments]
    with subprocess.Popen(command, stderr=theirs, env={**os.environ, "TERM": "xterm"}) as child:
        os.close(theirs)
        parts = []
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # how a terminal tells its end
                part = b""
            if not part:
                break
            parts.append(part)
        os.close(ours)
    assert child.returncode == 0
    return b"".join(parts).decode()


def test_a_terminal_sees_what_is_under_way_and_for_how_long() -> None:
    found = said("0.5")
    assert "reading" in found and "0:00:00" in found
    assert "\x1b[31m" not in found  # what a file name holds stays text
    assert found.endswith(("\x1b[2K", "\x1b[?25h", "\x1b[2K\x1b[?25h", "\x1b[1A\x1b[2K"))  # the line is gone again


@pytest.mark.parametrize(("arguments", "is_terminal"), [(["0"], True), (["0.3"], False), (["0.3", "quiet"], True)])
def test_short_work_pipes_and_the_quiet_see_nothing(arguments: list[str], is_terminal: bool) -> None:
    assert said(*arguments, is_terminal=is_terminal) == ""


def test_an_interrupt_leaves_a_clean_line() -> None:
    found = said("0.3", "fails")
    assert "reading" in found and found.endswith("interrupted\r\n") and "Traceback" not in found

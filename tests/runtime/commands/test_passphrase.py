"""Where a passphrase comes from, and that a prompt shows nothing of it."""

from __future__ import annotations

import os
import pty
import re
import select
import sys
import time
from pathlib import Path

import pytest
from dia_runtime.commands.passphrase import passphrase
from helpers.failures import refusal

SECRET = b"seven quiet herons"


def test_a_file_wins_over_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIA_PASSPHRASE", "from the environment")
    assert passphrase(None, "a key") == "from the environment"
    for raw, expected in ((b"one\ntwo\n", "one"), (b"one", "one"), (b" one \r\n", " one "), ("é".encode(), "é")):
        (tmp_path / "file").write_bytes(raw)
        assert passphrase(tmp_path / "file", "a key") == expected
    (tmp_path / "file").write_bytes(b"\xef\xbb\xbfone\r\n")  # as Notepad saves it; nobody could type that mark
    assert passphrase(tmp_path / "file", "a key") == "one"
    (tmp_path / "file").write_bytes("é".encode() * 700)
    refusal("E718", "is longer than 1,024 bytes\n  help: write", lambda: passphrase(tmp_path / "file", "a key"))
    for raw, words in ((b"", "is empty\n  help: write"), (b"\nsecond", "is empty"), (b"\xff\xfe", "is not UTF-8\n")):
        (tmp_path / "file").write_bytes(raw)
        refusal("E718", words, lambda: passphrase(tmp_path / "file", "a key"))
    refusal("E718", f"cannot read the passphrase file `{tmp_path}`", lambda: passphrase(tmp_path, "a key"))


def test_without_a_terminal_nobody_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DIA_PASSPHRASE", raising=False)
    with (tmp_path / "empty").open("w+") as file:
        monkeypatch.setattr(sys, "stdin", file)
        refusal("E718", "no passphrase for a key\n  help: use --passphrase-file", lambda: passphrase(None, "a key"))


@pytest.mark.parametrize("again", [SECRET, b"another"])
def test_a_prompt_shows_nothing_and_asks_twice(tmp_path: Path, again: bytes) -> None:
    import subprocess

    outer, inner = pty.openpty()
    command = [sys.executable, "-m", "dia_compiler.commands.cli", "keygen", "-o", "key"]
    here = {name: value for name, value in os.environ.items() if name != "DIA_PASSPHRASE"}
    script = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "  # a shell's background jobs ignore it
        "os.setsid(); os.close(os.open(os.ttyname(0), os.O_RDWR)); os.execv(sys.argv[1], sys.argv[1:])"
    )
    with subprocess.Popen([sys.executable, "-c", script, *command], cwd=tmp_path, stdin=inner, stdout=inner,
                          stderr=inner, env=here) as process:  # fmt: skip
        os.close(inner)
        said = answered(outer, [SECRET, again] + [b"\x03"] * (again != SECRET))
        code = process.wait(20)
    assert SECRET not in said and b"Passphrase for the new key key" in said
    assert (code, (tmp_path / "key").exists()) == ((0, True) if again == SECRET else (130, False))


PROMPT = re.compile(rb"(Passphrase for [^\n]*|Repeat for confirmation): \Z")


def answered(terminal: int, lines: list[bytes]) -> bytes:
    """What a process says to its terminal, after each of these lines was typed at a prompt."""
    said, shown, ends = b"", 0, time.monotonic() + 20
    while time.monotonic() < ends:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                part = os.read(terminal, 4096)
            except OSError:  # the process has gone
                break
            if not part:
                break
            said += part
        if lines and PROMPT.search(said) and len(said) > shown:
            shown = len(said)
            time.sleep(0.1)
            os.write(terminal, lines[0] + b"\n" * (lines[0] != b"\x03"))
            del lines[0]
    os.close(terminal)
    return said

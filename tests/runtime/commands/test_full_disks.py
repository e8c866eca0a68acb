"""A disk that takes nothing is told in one line, and leaves what was there."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands import cli
from dia_compiler.commands.cli import run
from dia_runtime.bundle import archive, atomic_output
from dia_runtime.bundle.archive import pack

Make = Callable[..., Path]


def full(*given: Any, **named: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_result_that_finds_no_room_leaves_the_old_one(
    tiny: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, place = tiny(), tmp_path / "found" / "scan.txt"
    call = ["scan", str(path), "--bundle", str(path), "-q", "-o"]
    assert run([*call, str(place)]) == 0
    held = place.read_text()
    capsys.readouterr()
    monkeypatch.setattr(atomic_output.os, "fsync", full)
    assert run([*call, str(place)]) == 2
    assert "error[E602]" in capsys.readouterr().err
    assert place.read_text() == held and list(place.parent.iterdir()) == [place]


def test_results_go_to_devices_and_through_links_as_they_are(tiny: Make, tmp_path: Path) -> None:
    path = tiny()
    call = ["scan", str(path), "--bundle", str(path), "-q", "-o"]
    (tmp_path / "link").symlink_to(tmp_path / "behind")
    assert run([*call, os.devnull]) == 0 and not Path(os.devnull).is_file()
    assert run([*call, str(tmp_path / "link")]) == 0
    assert (tmp_path / "link").is_symlink() and "whole prompts" in (tmp_path / "behind").read_text()
    assert run([*call, str(tmp_path)]) == 2
    if Path("/dev/full").exists():
        assert run([*call, "/dev/full"]) == 2


def test_a_packed_bundle_that_cannot_be_unpacked_to_be_verified(
    tiny: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pack(tiny(), tmp_path / "x.tar.zst")
    monkeypatch.setattr(archive, "_extract_member", full)
    assert run(["verify", str(tmp_path / "x.tar.zst")]) == 2
    assert "TMPDIR" in capsys.readouterr().err


def test_a_bug_is_told_also_where_no_log_can_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*given: Any) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(cli.dia, "invoke", broken)
    monkeypatch.setattr("tempfile.mkstemp", full)
    assert run(["doctor"]) == 70
    assert capsys.readouterr().err == "error[E900]: a bug in dia: RuntimeError: broken\n  help: --debug shows it\n"


@pytest.mark.parametrize(("module", "code"), [("jsonschema_rs.core", 2), ("dia_language.gone", 70)])
def test_only_a_missing_module_of_dia_is_a_bug(
    module: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*given: Any) -> None:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr(cli.dia, "invoke", broken)
    monkeypatch.setattr("tempfile.mkstemp", full)
    assert run(["doctor"]) == code
    printed = capsys.readouterr().err
    assert ("E606" in printed and "`jsonschema_rs`" in printed and "install dia again" in printed) == (code == 2)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_behind_standard_output_is_no_bug(
    tiny: Make, unbuffered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    words = [sys.executable, "-m", "dia_compiler.commands.cli", "show", str(tiny())]
    with open("/dev/full", "wb") as out:  # noqa: PTH123
        done = subprocess.run(words, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2 and done.stderr.startswith(
        "error[E603]: the operating system refused: no space left on device\n"
    )
    assert "Exception ignored" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of Windows fail otherwise")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_of_the_output_that_has_gone_is_no_failure(
    tiny: Make, unbuffered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    words = [sys.executable, "-m", "dia_compiler.commands.cli", "show", str(tiny())]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(words, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["check", "compile", "verify", "show", "calibrate"])
def test_a_name_that_no_file_can_have_is_no_bug(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "a" * 300]) == 2
    told = capsys.readouterr().err
    assert "file name too long" in told
    assert "E900" not in told

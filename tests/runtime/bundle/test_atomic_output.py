"""`--force` replaces a result that can be made again, never the source or the folder where one works."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dia_compiler.commands.cli import run
from dia_language.diagnostics import DiaError
from dia_runtime.bundle import seal, sealed_file
from dia_runtime.bundle.archive import pack
from dia_runtime.bundle.atomic_output import atomic_file
from dia_runtime.bundle.open import open_bundle

Make = Callable[..., Path]


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where somebody works, with a paper in it."""
    monkeypatch.setattr(sealed_file, "COST", {"n": 2, "r": 1, "p": 1})
    monkeypatch.setenv("DIA_PASSPHRASE", "seven quiet herons")
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "paper.tex").write_text("years of work")
    return folder


def refused(capsys: pytest.CaptureFixture[str], work: Path, *command: object) -> None:
    before = sorted(work.rglob("*"))
    assert run([*map(str, command), "--force"]) == 2
    assert "is not replaced" in capsys.readouterr().err
    assert sorted(work.rglob("*")) == before and (work / "paper.tex").read_text() == "years of work"


def test_the_folder_where_one_works_stays(
    tiny: Make, work: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tiny()
    pack(bundle, tmp_path / "x.tar.zst")
    (work / "below").mkdir()
    monkeypatch.chdir(work / "below")
    for place in (work, Path(".."), tmp_path):
        refused(capsys, work, "unpack", tmp_path / "x.tar.zst", "-o", place)
        refused(capsys, work, "seal", bundle, "--weak", "-o", place)
        refused(capsys, work, "export", bundle, "--to", "jsonl", "-o", place)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(work))
    refused(capsys, work, "unpack", tmp_path / "x.tar.zst", "-o", work)


def test_what_exists_is_refused_with_the_options_that_the_command_has(
    tiny: Make, work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle, packed = tiny(), work / "x.tar.zst"
    pack(bundle, packed)

    def help_of(*command: object) -> str:
        capsys.readouterr()
        assert run(list(map(str, command))) == 2
        problem, help = capsys.readouterr().err.splitlines()[-2:]
        assert problem.endswith("already exists")
        return help.removeprefix("  help: ")

    both = "replace it with --force, or choose another location with -o"
    assert help_of("pack", bundle, "-o", packed) == both
    assert help_of("unpack", packed, "-o", work) == both
    assert help_of("seal", bundle, "--weak", "-o", work) == both
    elsewhere = "choose another location with -o"
    assert help_of("pack", bundle, "-o", work) == elsewhere  # a file does not replace a folder
    assert help_of("pack", bundle, "-o", work, "--force") == elsewhere
    (work / "dia.key").touch()
    assert help_of("keygen", "-o", work / "dia.key") == elsewhere  # it has no --force
    assert run(["keygen", "-o", str(work / "other.key")]) == 0
    (bundle / "signature.json").touch()
    assert help_of("sign", bundle, "--key", work / "other.key") == "replace it with --force"  # it has no -o


def test_what_a_result_is_made_of_stays(tiny: Make, work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = tiny()
    home = bundle.rename(work / "bundle")
    pack(home, work / "x.tar.zst")
    assert run(["seal", str(home), "--weak", "-o", str(work / "sealed")]) == 0
    refused(capsys, work, "seal", home, "--weak", "-o", work)
    refused(capsys, work, "unseal", work / "sealed", "-o", work)
    refused(capsys, work, "unpack", work / "x.tar.zst", "-o", work)
    refused(capsys, work, "export", home, "--to", "jsonl", "-o", work)


def test_another_result_is_replaced(tiny: Make, work: Path) -> None:
    bundle = tiny()
    (work / "old").mkdir()
    (work / "old" / "paper.tex").write_text("an old one")
    assert run(["seal", str(bundle), "--weak", "-o", str(work / "old"), "--force"]) == 0
    assert open_bundle(work / "old").is_sealed and not (work / "old" / "paper.tex").exists()


def test_whoever_comes_first_stays(tiny: Make, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle, place = tiny(), work / "sealed"
    held = seal.manifest_bytes

    def late(*given: Any) -> bytes:
        place.mkdir(exist_ok=True)
        (place / "theirs").write_text("theirs")
        return held(*given)

    monkeypatch.setattr(seal, "manifest_bytes", late)
    assert run(["seal", str(bundle), "--weak", "-o", str(place)]) == 2
    assert [path.name for path in place.iterdir()] == ["theirs"]


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_a_result_is_as_private_as_its_owner_wants(tiny: Make, work: Path) -> None:
    bundle = tiny()
    before = os.umask(0o077)
    try:
        assert run(["seal", str(bundle), "--weak", "-o", str(work / "sealed")]) == 0
        assert run(["unseal", str(work / "sealed"), "-o", str(work / "back")]) == 0
    finally:
        os.umask(before)
    made = [work / "back", *(work / "back").rglob("*")]
    assert not any(path.stat().st_mode & 0o077 for path in made)


def test_nothing_is_written_into_the_bundle_itself(tiny: Make, work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = tiny()
    for command in (["pack"], ["seal", "--weak"], ["export", "--to", "jsonl", "--force"]):
        assert run([*command, str(bundle), "-o", str(bundle / "specs" / "made")]) == 2
        assert "is inside" in capsys.readouterr().err
    assert run(["verify", str(bundle)]) == 0


def test_a_sealed_bundle_is_told_from_one_that_was_not_given(
    tiny: Make, work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle, table = tiny(), work / "replies.jsonl"
    ids = [question["id"] for question in open_bundle(bundle).questions()]
    table.write_text("".join(json.dumps({"id": id, "reply": "<xml>1</xml>"}) + "\n" for id in ids))
    sealed, held = str(work / "sealed"), str(work / "a.run")
    assert run(["seal", str(bundle), "--weak", "-o", sealed]) == 0
    assert run(["import", str(table), "--from", "jsonl", "--bundle", sealed, "-o", held]) == 0
    capsys.readouterr()
    assert run(["score", held, "--bundle", sealed]) == 2
    assert "is sealed" in capsys.readouterr().err
    assert run(["score", held, "--bundle", str(bundle)]) == 0


@pytest.mark.parametrize(
    ("reason", "help"),
    [
        (errno.ENOSPC, "free some disk space, or choose another location with -o"),
        (errno.EDQUOT, "free some disk space, or choose another location with -o"),
        (errno.EACCES, "choose another location with -o"),
        (errno.EIO, "choose another location with -o"),
    ],
)
def test_only_a_full_disk_needs_free_space(reason: int, help: str, tmp_path: Path) -> None:
    with pytest.raises(DiaError) as caught, atomic_file(tmp_path / "a"):
        raise OSError(reason, os.strerror(reason))
    entry = caught.value.diagnostics[0]
    message = f"`{tmp_path / 'a'}` cannot be written: {os.strerror(reason)}"
    assert (entry.code, entry.message, entry.help, caught.value.exit_code) == ("E602", message, help, 2)


@pytest.mark.parametrize("out", ["file/x", "file/x/y", "link/x"])
def test_a_path_through_a_file_names_the_file(
    out: str, tiny: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    bundle = tiny()
    Path("file").write_text("in the way")
    Path("link").symlink_to("nowhere")
    obstacle = out.partition("/")[0]
    for command, failure in (
        (["pack", str(bundle)], f"`{out}` cannot be written"),
        (["export", str(bundle), "--to", "jsonl"], f"cannot write the export to `{out}`"),
    ):
        place = "folder" if command[0] == "export" else "location"
        assert run([*command, "-o", out, "-q"]) == 2
        help = f"choose another {place} with -o"
        assert capsys.readouterr().err == f"error[E602]: {failure}: `{obstacle}` is not a folder\n  help: {help}\n"

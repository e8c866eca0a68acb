"""Bundles of the hostile list: exit code 3 from `verify` and `run`, nothing written, no model asked."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from dia_compiler.commands.cli import run
from helpers.places import SHARED

HOSTILE = SHARED / "data" / "hostile" / "hostile.jsonl"
Make = Callable[..., Path]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def flipped(bundle: Path) -> Path:
    held = (bundle / "questions.jsonl").read_bytes()
    (bundle / "questions.jsonl").write_bytes(held[:50] + bytes([held[50] ^ 4]) + held[51:])
    return bundle


def unlisted(bundle: Path) -> Path:
    (bundle / "more.txt").write_text("x")
    return bundle


def outside(bundle: Path) -> Path:
    text = (bundle / "manifest.json").read_text()
    (bundle / "manifest.json").write_text(text.replace('"templates.jsonl":', '"../../.bashrc":'))
    return bundle


def zipped(bundle: Path) -> Path:
    with zipfile.ZipFile("evil.zip", "w") as held:
        held.writestr("../../evil.txt", "x")
        held.writestr("/abs.txt", "x")
    return Path("evil.zip")


def linked(bundle: Path) -> Path:
    clear = io.BytesIO()
    with tarfile.open(fileobj=clear, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        tar.add(bundle / "manifest.json", "b/manifest.json")
        for name, kind, target in (
            ("../evil", tarfile.REGTYPE, ""),
            ("b/link", tarfile.SYMTYPE, "/etc"),
            ("b/link/passwd", tarfile.REGTYPE, ""),
            ("b/hard", tarfile.LNKTYPE, "/etc/passwd"),
            ("b/null", tarfile.CHRTYPE, ""),
        ):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, target
            tar.addfile(entry)
    Path("evil.tar.zst").write_bytes(zstandard.ZstdCompressor().compress(clear.getvalue()))
    return Path("evil.tar.zst")


def twice(bundle: Path) -> Path:
    with zipfile.ZipFile("twice.zip", "w") as held:
        held.writestr("answers.jsonl", "1")
        held.writestr("answers.jsonl", "2")
    return Path("twice.zip")


def not_a_number(bundle: Path) -> Path:
    text = (bundle / "manifest.json").read_text()
    (bundle / "manifest.json").write_text(text.replace('"k":3', '"k":NaN'))
    return bundle


def mixed(bundle: Path) -> Path:
    shutil.copy(bundle.parent / "other" / "answers.jsonl", bundle)
    return bundle


CASES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "h083": (flipped, "questions.jsonl"),
    "h086": (unlisted, "more.txt"),
    "h087": (outside, "leads out of the folder"),
    "h088": (zipped, "zip archive"),
    "h089": (linked, ""),
    "h090": (twice, "zip archive"),
    "h094": (not_a_number, "manifest.json"),
    "h098": (mixed, "answers.jsonl"),
}
ELSEWHERE = {"h100", "h101"}  # tests of runs: a bundle that changes meanwhile, a run of other questions


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("id", CASES)
def test_each_is_refused_with_nothing_written(
    id: str, tiny: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny("other", templates=3)
    damage, told = CASES[id]
    place = damage(tiny())
    before = sorted(tmp_path.rglob("*"))
    for command in (["verify", str(place)], ["run", str(place), "--model", "oracle", "-o", "a.run"]):
        assert run(command) == 3
        said = "".join(capsys.readouterr())
        assert told in said and "Traceback" not in said
    if place.is_file():
        assert run(["unpack", str(place), "-o", "out"]) == 3
    assert sorted(tmp_path.rglob("*")) == before
    assert not (tmp_path.parent / "evil.txt").exists() and not (tmp_path.parent / "evil").exists()


def test_a_run_of_other_questions_is_not_scored(tiny: Make) -> None:
    assert run(["run", str(tiny("a", templates=1)), "--model", "oracle", "-o", "a.run", "-q"]) == 0
    assert run(["score", "a.run", "--bundle", str(tiny("b", templates=2))]) == 3


def test_no_case_of_the_list_is_missing_here() -> None:
    if not HOSTILE.exists():
        pytest.skip("the list of hostile inputs is not here")
    lines = map(json.loads, HOSTILE.read_text(encoding="utf-8").splitlines())
    assert {entry["id"] for entry in lines if entry["kind"] == "bundle"} == {*CASES, *ELSEWHERE}

"""A packed bundle is the same file everywhere, and a foreign archive leaves nothing behind."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from dia_compiler.commands.cli import run
from dia_language.diagnostics import DiaError
from dia_runtime.bundle import archive
from dia_runtime.bundle.archive import pack, unpack
from dia_runtime.bundle.open import open_bundle
from helpers.failures import refusal, refused_call

Make = Callable[..., Path]
Member = tuple[tarfile.TarInfo, bytes]


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def members_of(packed: Path) -> list[Member]:
    """The members of a packed bundle, read by another program's hand."""
    clear = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed.read_bytes())).read()
    with tarfile.open(fileobj=io.BytesIO(clear)) as tar:
        return [(entry, tar.extractfile(entry).read() if entry.isreg() else b"") for entry in tar]  # type: ignore[union-attr]


def written(place: Path, members: list[Member], form: int = tarfile.USTAR_FORMAT) -> Path:
    """A packed tar of these members."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=form) as tar:
        for entry, content in members:
            entry.size = len(content) if entry.isreg() else 0
            tar.addfile(entry, io.BytesIO(content))
    place.write_bytes(zstandard.ZstdCompressor().compress(held.getvalue()))
    return place


def member(name: str, content: bytes = b"x", **facts: Any) -> Member:
    entry = tarfile.TarInfo(name)
    for key, value in facts.items():
        setattr(entry, key, value)
    return entry, content


def refused(place: Path) -> str:
    """What is said of an archive; nothing may be left behind."""
    before = set(place.parent.iterdir())
    with pytest.raises(DiaError) as error:
        unpack(place, place.parent / "out")
    assert error.value.exit_code == 3, error.value
    assert set(place.parent.iterdir()) == before
    for command in (["verify", str(place)], ["run", str(place), "--model", "oracle"], ["unpack", str(place)]):
        assert run(command) == 3
    assert set(place.parent.iterdir()) == before
    return str(error.value)


@pytest.fixture
def packed(tiny: Make, tmp_path: Path) -> Path:
    pack(tiny(), tmp_path / "x.tar.zst")
    return tmp_path / "x.tar.zst"


def test_the_same_bundle_gives_the_same_file(tiny: Make, tmp_path: Path) -> None:
    path = tiny()
    (path / "signature.json").write_text("{}")
    shutil.copytree(path, tmp_path / "elsewhere" / "other")
    for file in (tmp_path / "elsewhere").rglob("*"):
        os.utime(file, (1, 1))
    (tmp_path / "elsewhere" / "other" / "answers.jsonl").chmod(0o600)
    pack(path, tmp_path / "one.tar.zst")
    pack(tmp_path / "elsewhere" / "other", tmp_path / "two.tar.zst")
    assert (tmp_path / "one.tar.zst").read_bytes() == (tmp_path / "two.tar.zst").read_bytes()
    bundle = unpack(tmp_path / "one.tar.zst", tmp_path / "back")
    assert tree(tmp_path / "back") == tree(path) and bundle.id == open_bundle(path).id
    entries = [entry for entry, _ in members_of(tmp_path / "one.tar.zst")]
    assert {(entry.mtime, entry.uid, entry.gid, entry.uname, entry.mode) for entry in entries} == {(0, 0, 0, "", 0o644)}
    assert entries[0].name == "tiny-1-k3/manifest.json"


@pytest.mark.skipif(shutil.which("tar") is None, reason="tar is not installed")
def test_tar_unpacks_it(tiny: Make, packed: Path, tmp_path: Path) -> None:
    (tmp_path / "x.tar").write_bytes(zstandard.ZstdDecompressor().stream_reader(packed.read_bytes()).read())
    subprocess.run(["tar", "-xf", "x.tar"], cwd=tmp_path, check=True)
    assert tree(tmp_path / "tiny-1-k3") == tree(tmp_path / "bundle")


def test_a_packed_bundle_is_verified_as_it_is(packed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", str(packed)]) == 0 and f"{packed}: complete, valid" in capsys.readouterr().out
    error = "is a packed file, not the folder of a bundle\n  help: use `dia unpack`"
    refused_call("E725", error, capsys, "show", packed, exit_code=3)


def test_nothing_is_replaced_unless_forced(packed: Path, tmp_path: Path) -> None:
    held = packed.read_bytes()
    assert run(["pack", str(tmp_path / "bundle"), "-o", str(packed)]) == 2
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("mine")
    assert run(["unpack", str(packed), "-o", str(tmp_path / "out")]) == 2
    assert packed.read_bytes() == held and (tmp_path / "out" / "mine").exists()
    assert run(["unpack", str(packed), "-o", str(tmp_path / "out"), "--force"]) == 0
    assert tree(tmp_path / "out") == tree(tmp_path / "bundle")
    assert run(["pack", str(tmp_path / "bundle"), "-o", str(packed), "--force"]) == 0


HOSTILE: dict[str, tuple[Member, str]] = {
    "traversal": (member("tiny-1-k3/../../evil.txt"), "leads out of the folder"),
    "absolute": (member("/abs.txt"), "absolute"),
    "backslash": (member("tiny-1-k3/..\\evil.txt"), "backslash"),
    "outside": (member("elsewhere/x.txt"), "does not list"),
    "unlisted": (member("tiny-1-k3/x.txt"), "does not list"),
    "symbolic": (member("tiny-1-k3/specs/l", type=tarfile.SYMTYPE, linkname="/etc"), "symbolic link"),
    "through": (member("tiny-1-k3/specs/l", type=tarfile.LNKTYPE, linkname="../../x"), "hard link"),
    "character": (member("tiny-1-k3/null", type=tarfile.CHRTYPE, devmajor=1, devminor=3), "a device"),
    "block": (member("tiny-1-k3/disk", type=tarfile.BLKTYPE), "a device"),
    "pipe": (member("tiny-1-k3/pipe", type=tarfile.FIFOTYPE), "a pipe"),
    "folder": (member("tiny-1-k3/specs", type=tarfile.DIRTYPE), "a folder"),
    "twice": (member("tiny-1-k3/answers.jsonl"), "twice"),
    "manifest": (member("tiny-1-k3/manifest.json"), "twice"),
    "beside": (member("tiny-1-k3/signature.json", bytes(2 << 20)), "does not have the size in its manifest"),
    "control": (member("tiny-1-k3/\x1b[31m"), "control characters"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_member_that_does_not_belong_refuses_the_archive(packed: Path, name: str) -> None:
    (entry, content), told = HOSTILE[name]
    place = written(packed.parent / "bad.tar.zst", [*members_of(packed), (entry, content)])
    message = refused(place)
    assert told in message and "\x1b" not in message


def test_a_long_name_of_another_format_is_refused(packed: Path) -> None:
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        extra = member("tiny-1-k3/" + "é" * 300)
        assert "not a regular file" in refused(
            written(packed.parent / "bad.tar.zst", [*members_of(packed), extra], form)
        )


def test_an_archive_without_its_manifest_first_is_refused(packed: Path) -> None:
    first, *rest = members_of(packed)
    bad = packed.parent / "bad.tar.zst"
    assert "does not start with" in refused(written(bad, [*rest, first]))
    assert "does not start with" in refused(written(bad, rest))
    assert "does not start with" in refused(written(bad, []))
    assert "damaged or not from dia" in refused(written(bad, [(first[0], b'{"format": NaN}'), *rest]))
    assert "damaged or not from dia" in refused(written(bad, [(first[0], first[1].replace(b'"k":3', b'"k":4')), *rest]))


def test_a_member_that_is_missing_or_changed_is_found(packed: Path) -> None:
    held, bad = members_of(packed), packed.parent / "bad.tar.zst"
    assert "is missing" in refused(written(bad, held[:2] + held[3:]))
    for at in range(1, len(held) - 1):
        entry, content = held[at]
        changed = [*held[:at], (entry, content[:-1] + b"?"), *held[at + 1 :]]
        assert "differs from the manifest: expected sha256" in refused(written(bad, changed))
        assert "does not have the size in its manifest" in refused(
            written(bad, [*held[:at], (entry, content + b"?"), *held[at + 1 :]])
        )


def test_every_changed_or_missing_byte_is_found(packed: Path, tmp_path: Path) -> None:
    held, chance = packed.read_bytes(), random.Random(5)
    bad = tmp_path / "bad.tar.zst"
    for at in sorted(chance.sample(range(4, len(held)), 70)):
        bad.write_bytes(held[:at] + bytes([held[at] ^ (1 << at % 8)]) + held[at + 1 :])
        with pytest.raises(DiaError) as error:
            unpack(bad, tmp_path / "out")
        assert error.value.exit_code == 3 and not (tmp_path / "out").exists()
    for size in (*chance.sample(range(len(held)), 40), len(held) - 1):
        bad.write_bytes(held[:size])
        with pytest.raises(DiaError) as error:
            unpack(bad, tmp_path / "out")
        assert error.value.exit_code == 3 and not (tmp_path / "out").exists()
    for more in (b"\0", held, zstandard.ZstdCompressor().compress(b"more")):
        bad.write_bytes(held + more)
        assert "after its end" in refused(bad)


def test_bombs_end_at_once(packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = tmp_path / "bad.tar.zst"
    bad.write_bytes(zstandard.ZstdCompressor().compress(bytes(16 << 20)) * 40)
    refusal("E725", "`dia unpack` accepts only archives from `dia pack`", lambda: unpack(bad, tmp_path / "x"), 3)
    huge = [
        (entry, content + bytes(16 << 20) * (entry.name.endswith("answers.jsonl")))
        for entry, content in members_of(packed)
    ]
    assert "does not have the size in its manifest" in refused(written(bad, huge))
    clear = zstandard.ZstdDecompressor().stream_reader(packed.read_bytes()).read()
    bad.write_bytes(zstandard.ZstdCompressor().compress(clear + bytes(32 << 20)))
    assert "after its end" in refused(bad)
    monkeypatch.setattr(archive, "FREE", 100)
    monkeypatch.setattr(archive, "RATIO", 1)
    assert "unpacks to more than 1 times its size" in refused(packed)
    error = "would be refused as a decompression bomb\n  help: pack it with `tar --zstd -cf`"
    refusal("E726", error, lambda: pack(tmp_path / "bundle", tmp_path / "y.tar.zst"))
    assert not (tmp_path / "y.tar.zst").exists()


def test_other_archives_are_refused(tmp_path: Path, tiny: Make) -> None:
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as zipped:
        zipped.writestr("../../evil.txt", "x")
        zipped.writestr("/abs.txt", "x")
    with tarfile.open(tmp_path / "plain.tar", "w") as tar:
        tar.add(tiny(), "tiny")
    with tarfile.open(tmp_path / "plain.tar.gz", "w:gz") as tar:
        tar.add(tmp_path / "bundle", "tiny")
    (tmp_path / "text.tar.zst").write_bytes(zstandard.ZstdCompressor().compress(b"no tar file at all" * 100))
    (tmp_path / "cut.tar.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    for name in ("evil.zip", "plain.tar", "plain.tar.gz", "text.tar.zst", "cut.tar.zst"):
        refused(tmp_path / name)
    assert run(["unpack", str(tmp_path / "none.tar.zst")]) == 2


def test_a_path_that_tar_cannot_hold_is_told(tiny: Make, manifest_writer: Callable[..., Path], tmp_path: Path) -> None:
    path = tiny()
    deep = path / "specs" / "/".join(["d" * 60] * 5)
    deep.mkdir(parents=True)
    (deep / "x.yaml").write_text("x")
    manifest_writer(path, {k: v for k, v in json.loads((path / "manifest.json").read_bytes()).items() if k != "files"})
    error = "x.yaml` is too long for a path in tar (USTAR)\n  help: shorten the file names in specs/"
    refusal("E726", error, lambda: pack(path, tmp_path / "x.tar.zst"))
    (path / "provenance.json").write_bytes(bytes((1 << 20) + 1))
    error = "`provenance.json` is larger than 1 MiB, so `dia unpack` would refuse the archive\n  help: remove it"
    refusal("E726", error, lambda: pack(path, tmp_path / "x.tar.zst"))
    assert not (tmp_path / "x.tar.zst").exists()
